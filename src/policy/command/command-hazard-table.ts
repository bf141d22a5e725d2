/**
 * Options and operands that make a program run other programs, load code or configuration, or access files that a rule for the program does
 * not name. The table lists known cases and is not complete; allowing a program that is not listed allows everything it can do.
 */

import { namesIn, sortOptions } from './command-options.ts';
import type { Spelling } from './command-options.ts';

/**
 * Options as typed. `-x` is a letter, also inside `-abx`; `--name` also matches abbreviations and values; `-name` is one word with one or
 * two dashes; `name` is a subcommand.
 */
interface HazardRule {
  readonly runs?: string;
  readonly writes?: string;
  /** Letters whose value follows in the same word. */
  readonly valued?: string;
  /** Words that match this are hazards. */
  readonly operand?: RegExp;
  /** Whether such a word contains or names code. */
  readonly isCode?: boolean;
  /** Complete long options that look like an abbreviation of a hazard. */
  readonly safe?: string;
  /** Known subcommands; anything else is run as a program. */
  readonly known?: string;
  /** Whether subcommands can be abbreviated. */
  readonly isAbbreviated?: boolean;
  /** Whether subcommands nest: `docker container run`. */
  readonly isNested?: boolean;
  /** Whether options are single-dash words that cannot be combined. */
  readonly isWordy?: boolean;
}

export interface HazardEntry {
  readonly runs: Spelling;
  readonly writes: Spelling;
  readonly valued: string;
  readonly operand: RegExp | undefined;
  readonly isCode: boolean;
  readonly safe: ReadonlySet<string>;
  readonly known: ReadonlySet<string> | undefined;
  readonly isAbbreviated: boolean;
  readonly isNested: boolean;
}

const NODE_PACKAGES =
  'exec x dlx explore config c set edit pkg init create innit node -c -C --node-options --script-shell --shell --userconfig --globalconfig --prefix --call --editor --viewer --git --node-gyp --registry --dir --cwd --use-yarnrc --modules-folder';
const DATABASE = '--init-command --defaults-file --defaults-extra-file --plugin-dir --pager --tee --login-path';
const EXEC_SUBCOMMANDS = 'run exec create build buildx builder compose cp commit plugin import load debug attach';
const LATEX =
  '-shell-escape -shell-restricted -enable-write18 -enable-pipes -output-directory -output-dir -jobname -fmt -ini -progname';

const RULES: Readonly<Record<string, HazardRule>> = {
  tar: {
    runs: '-I -F -T --checkpoint-action --to-command --use-compress-program --rsh-command --rmt-command --info-script --new-volume-script --files-from',
    writes: '-P -g --absolute-names --listed-incremental --index-file',
    operand: /^(?!\.{1,2}\/)[^/]+:/,
    safe: '--file --checkpoint',
  },
  cpio: { runs: '--rsh-command --rmt-command', writes: '-F -O --file --absolute-filenames' },
  zip: { runs: '-T --unzip-command --test', writes: '-b -O --output-file --temp-path' },
  rsync: {
    runs: '-e -M --rsh --rsync-path --remote-option --daemon --config --early-input --connect-program',
    writes:
      '--write-batch --only-write-batch --read-batch --log-file --files-from --password-file --backup-dir --temp-dir --partial-dir',
    valued: 'fBT',
    safe: '--partial --backup',
  },
  'ssh slogin': { runs: '-o -F -S -I -w', writes: '-E -L -R -D -W -i -J' },
  'scp sftp': { runs: '-o -F -S -D -s -b', writes: '-i -J' },
  'ssh-keygen ssh-add ssh-agent': { runs: '-D -s -w', writes: '-f -M' },
  curl: {
    runs: '-K --config --engine --expand- --variable',
    writes:
      '-o -O -J -T -F -x -D -c -n -E --output --output-dir --remote-name --remote-name-all --remote-header-name --upload-file --form --form-string --proxy --preproxy --socks4 --socks4a --socks5 --socks5-hostname --unix-socket --abstract-unix-socket --dump-header --cookie-jar --trace --trace-ascii --stderr --netrc --netrc-file --netrc-optional --libcurl --etag-save --hsts --alt-svc --proto-default --proto-redir --cert --key --connect-to --resolve --doh-url',
    valued: 'HdAbeumXwrtyYzCP',
    safe: '--cookie --proto',
    operand: /^[^=:/{"']*@|^-[a-zA-Z]*[dHbw]@|^(?!https?:\/\/)[^/?"\s]*:\/\/|^file:|%output\{/i,
  },
  wget: {
    runs: '-e --execute --use-askpass --config',
    writes:
      '-O -o -a -i -P -x --output-document --output-file --append-output --input-file --post-file --body-file --directory-prefix --save-cookies --load-cookies --warc-file --rejected-log --input-metalink --hsts-file',
    valued: 'UtTwQlARDIX',
    operand: /^file:/i,
  },
  'sort gsort': {
    runs: '--compress-program',
    writes: '-o -T --output --temporary-directory --files0-from',
    valued: 'ktS',
  },
  'split gsplit': { runs: '--filter' },
  jq: { runs: '-f -L --from-file --library-path', writes: '--rawfile --slurpfile' },
  yq: {
    runs: '--from-file',
    writes: '-i -s --inplace --in-place --split-exp --split-exp-file',
    operand: /\b(?:load|env)/,
  },
  openssl: {
    runs: '-engine -provider -provider-path -config',
    writes: '-out -writerand -keyout -CAserial',
    isWordy: true,
  },
  pandoc: {
    runs: '-F -L -d --filter --lua-filter --pdf-engine --pdf-engine-opt --defaults --data-dir',
    writes: '--extract-media --log',
    valued: 'frtwoMVHBATc',
    operand: /\.lua(?:[+-][\w+-]*)?$/,
    isCode: true,
  },
  'pdflatex xelatex lualatex latex tex pdftex luatex xetex etex': {
    runs: `${LATEX} -lua -luaonly`,
    operand: /write18|\\|\|/,
    isCode: true,
    isWordy: true,
  },
  latexmk: {
    runs: `-e -r ${LATEX} -latexoption -usepretex -outdir -auxdir`,
    operand: /^-.*latex=/,
    isCode: true,
    isWordy: true,
  },
  'gs ghostscript': {
    runs: '-c -dNOSAFER -dDELAYSAFER',
    operand: /%pipe|^-I|^-sOutputFile=.*\|/,
    isCode: true,
    isWordy: true,
  },
  exiftool: {
    runs: '-config -if -execute -use -api -@',
    writes: '-w -o -W -csv',
    operand: /<|^-.*\$/,
    isCode: true,
    isWordy: true,
  },
  'soffice libreoffice': { runs: '-env --accept', operand: /^(?:macro:|vnd\.|-env:)/, isCode: true },
  tcpdump: { runs: '-z', writes: '-w' },
  'tshark dumpcap': { runs: '-X', writes: '-w' },
  nmap: {
    runs: '--script --script-args --script-args-file --datadir --servicedb --versiondb -script',
    writes: '-o -i',
  },
  'nc ncat netcat': { runs: '-e -c --exec --sh-exec --lua-exec' },
  gpg: {
    runs: '--agent-program --dirmngr-program --photo-viewer --options --homedir --exec-path --keyserver --pinentry-mode',
    writes: '-o --output --batch-file',
  },
  patch: { runs: '-e --ed', writes: '-o -B -d -r --output --prefix --directory --reject-file' },
  'rg ripgrep': { runs: '--pre --hostname-bin' },
  'fd fdfind': { runs: '-x -X --exec --exec-batch' },
  'ag ack bat batcat delta': { runs: '--pager' },
  ip: { runs: '-b -batch', operand: /^exec$/, isCode: true, isWordy: true },
  'make gmake': {
    runs: '-f -C -E -I -e --file --makefile --directory --eval --include-dir --environment-overrides',
    valued: 'jlOoW',
    operand: /^[^-/][^/]*=/,
    isCode: true,
  },
  cmake: { runs: '-P -E', operand: /LAUNCHER|COMMAND|_COMPILER|TOOLCHAIN|PROGRAM/, isCode: true },
  'gcc g++ cc c++ clang clang++': {
    runs: '-wrapper -B -specs -Xclang -load',
    operand: /^@|^-(?:fplugin|specs|B)/,
    isCode: true,
  },
  go: {
    runs: 'run generate tool -exec -toolexec -vettool -overlay -modfile -ldflags -gcflags -asmflags -gccgoflags -compiler -w',
    writes: '-o -C',
    isWordy: true,
  },
  cargo: { runs: '--config --manifest-path install', writes: '--target-dir' },
  'mvn mvnw': {
    runs: '-f -s -t --file --settings --toolchains',
    valued: 'DP',
    operand: /exec[:.]|-maven-plugin|maven\.ext|argLine|javaagent/,
    isCode: true,
  },
  'gradle gradlew': { runs: '-I -b -p -c --init-script --build-file --project-dir --settings-file' },
  npm: { runs: NODE_PACKAGES, isAbbreviated: true, safe: '--global' },
  // Both run any program on the path if its name is not a subcommand.
  'pnpm yarn': {
    runs: NODE_PACKAGES,
    safe: '--global',
    known:
      'add i install ci remove rm update up upgrade link unlink run test t start why list ls outdated audit publish pack prune dedupe rebuild import fetch patch store root bin licenses info workspaces workspace version --version',
  },
  'pip pip3': {
    runs: 'config --config-settings --global-option --build-option --install-option --python',
    writes:
      '-r -e -c -i -f -t --requirement --editable --constraint --index-url --pypi-url --extra-index-url --find-links --trusted-host --proxy --target --prefix --root --src --log --report',
    safe: '--pre',
    operand: /[/:@\\]|^\.|\.(?:whl|gz|zip|bz2|xz|tgz)$/,
  },
  uv: {
    runs: 'run tool x --python --with',
    writes: '-r --requirement --requirements --index --index-url --extra-index-url --default-index --find-links',
  },
  'poetry pipenv hatch pdm rye conda mamba micromamba pixi': { runs: 'run exec config plugin self' },
  'doppler op aws-vault chamber direnv asdf mise nix rbenv pyenv rustup heroku railway vagrant flyctl fly': {
    runs: 'run exec x shell develop ssh',
  },
  'bundle composer': { runs: 'exec config run-script' },
  'docker podman nerdctl': { runs: EXEC_SUBCOMMANDS, writes: '-H --host --config --context', isNested: true },
  'docker-compose podman-compose': { runs: `${EXEC_SUBCOMMANDS} up start`, writes: '-f --file' },
  'kubectl oc k3s': { runs: 'exec run debug cp attach plugin config edit proxy --kubeconfig --editor', isNested: true },
  helm: { runs: 'plugin --post-renderer --kubeconfig' },
  gh: { runs: 'alias extension ext extensions codespace cs config' },
  'aws gcloud az': { runs: 'configure alias config extension components' },
  psql: {
    runs: '-f --file',
    writes: '-o -L --output --log-file',
    valued: 'cdhpUv',
    operand: /\\(?!d[a-zA-Z]*\+?(?:\s|$)|l\+?(?:\s|$))|`|\bprogram\b/i,
    isCode: true,
  },
  'mysql mariadb': {
    runs: DATABASE,
    valued: 'ehpPuD',
    operand: /\\|\b(?:system|source|pager|tee|outfile|dumpfile)\b/i,
    isCode: true,
  },
  sqlite3: {
    runs: '-cmd -init -vfs -A',
    isWordy: true,
    operand:
      /^\s*\.[a-z]|\b(?:load_extension|writefile|readfile|edit|fts3_tokenizer)\s*\(|\bvacuum\s+into\b|\battach\b/i,
    isCode: true,
  },
  'yt-dlp youtube-dl': {
    runs: '--exec --exec-before-download --config-locations --plugin-dirs --external-downloader --external-downloader-args --downloader --downloader-args --ffmpeg-location --postprocessor-args --use-postprocessor --netrc-cmd --ppa',
    writes: '-a --batch-file --load-info-json --cookies --cookies-from-browser --print-to-file --enable-file-urls',
    safe: '--config',
  },
  aria2c: { runs: '--on- --conf-path', writes: '-i -l --input-file --log --save-session' },
  hg: { runs: '-e --config --config-file --rsh --ssh --remotecmd --tool --editor', writes: '-R --repository --cwd' },
  svn: { runs: '--config-option --config-dir --diff-cmd --diff3-cmd --editor-cmd' },
  rclone: { runs: '--password-command --config --sftp-ssh --rc', writes: '--log-file' },
  'restic borg': { runs: '-o --option --password-command --rsh --remote-path', writes: '--password-file' },
  'rpm rpmbuild rpmquery': { runs: '-E -D --eval --pipe --define --rcfile --macros --load' },
  'apt apt-get apt-cache aptitude': { runs: '-o -c --option --config-file', operand: /^[./].*\.deb$/ },
  'yum dnf zypper pacman apk': {
    runs: '-c --config --plugin --pluginpath --hookdir',
    operand: /^[./].*\.(?:rpm|apk)$/,
  },
  'ansible ansible-playbook': { runs: '-a -m -e -M -i --args --module-name --extra-vars --module-path --inventory' },
  'stack cabal bazel bazelisk gem rake just ninja ant scons tox nox': {
    runs: 'exec run repl ghci open -f -e -r -c -C -I --file --justfile --rakefile --buildfile --shell --shell-arg --set --require --execute',
  },
  ghc: { runs: '-e -F -pgmF -optF' },
  smbclient: { runs: '-c --command' },
  'iptables ip6tables': { runs: '-M --modprobe' },
  dd: { operand: /^of=/ },
  'shuf iconv tree': { writes: '-o --output' },
  xmllint: { runs: '--shell --load-trace', writes: '--output -o' },
  'convert magick mogrify identify composite montage': {
    runs: '-script',
    writes: '-write -debug -log',
    operand: /^\||:\||^@|^(?:msl|mvg|ephemeral|url|https?|ftp):/i,
    isCode: true,
    isWordy: true,
  },
  date: { writes: '-s --set' },
  'socat websocat': { runs: '-l', operand: /\b(?:exec|system|shell|open|create|cmd):/i, isCode: true },
};

const ENTRIES: ReadonlyMap<string, HazardEntry> = new Map(
  Object.entries(RULES).flatMap(([names, rule]) => {
    const { valued = '', operand, isCode = false, safe = '', isAbbreviated = false, isNested = false } = rule;
    const runs = sortOptions(rule.runs, rule.isWordy);
    const writes = sortOptions(rule.writes, rule.isWordy);
    const whole = new Set(namesIn(safe));
    const known = rule.known === undefined ? undefined : new Set(namesIn(rule.known));
    return namesIn(names).map(
      (name) => [name, { runs, writes, valued, operand, isCode, safe: whole, known, isAbbreviated, isNested }] as const,
    );
  }),
);

export function hazardEntryOf(program: string): HazardEntry | undefined {
  return ENTRIES.get(program);
}

/** Programs that offer a shell or are meant for interactive use. */
export const INTERACTIVE: ReadonlySet<string> = new Set(
  namesIn(`
  less more most man info pg vi vim vim.basic vim.tiny nvim view vimdiff ex rvim rview gvim nano pico ed red emacs emacsclient joe jed mg
  micro screen tmux ftp lftp telnet w3m lynx links elinks mutt top htop nnn mc ranger gdb lldb cgdb expect crontab at batch m4 dc xdg-open
  open tclsh wish run-mailcap see mail mailx sendmail msfconsole openvpn irb pry ghci ipython sqlplus
`),
);

/** Programs that run their operands as another user, in another session or repeatedly; they change too much to look through. */
export const RUNNERS: ReadonlySet<string> = new Set(
  namesIn(`
  sudo doas su runuser pkexec gosu su-exec chroot unshare nsenter setpriv capsh strace ltrace perf valgrind watch script flock parallel
  busybox toybox bwrap firejail proot fakeroot systemd-run start-stop-daemon run-parts taskset chrt numactl prlimit setarch linux32 linux64
  catchsegv torsocks proxychains proxychains4 eatmydata entr dbus-run-session xvfb-run unbuffer rlwrap daemonize cpulimit ssh-agent
  ldd hyperfine watchexec nodemon concurrently cross-env dotenv xcrun wsl nix-shell choom softlimit chpst dumb-init tini trickle cgexec
`),
);

/** Programs whose first operand is a program, a package or a service: a rule must name it. */
export const NAMES_WHAT_RUNS: ReadonlySet<string> = new Set(
  namesIn('npx pnpx bunx uvx pipx systemctl service launchctl corepack'),
);
