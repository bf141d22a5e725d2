/** What a shell makes of wildcards and braces. Which of them matter needs no disk: credentials and programs are where they always are. */

const HOME_FILES =
  `.ssh .ssh/id_rsa .ssh/id_ed25519 .aws .aws/credentials .aws/config .netrc .git-credentials .docker/config.json .kube .kube/config .gnupg
  .npmrc .pypirc .pgpass .my.cnf .vault-token .password-store .bash_history .zsh_history .config/gh .config/gh/hosts.yml .config/gcloud
  .config/op .config/rclone/rclone.conf .cargo/credentials .azure .local/share/keyrings .mozilla/firefox .config/google-chrome
  .claude/.credentials.json .codex/auth.json`.split(/\s+/);
/** A wildcard that fits these as well is about settings in general. */
const COMMON_FILES =
  `.bashrc .vimrc .eslintrc .gitignore .gitconfig .github .profile .cache .local .config .config/app .config/app/settings.json .cache/tool/index
  .local/share/app .docker/daemon.json .claude/settings.json .codex/config.toml .vscode/settings.json .env.example .tool/a.md`.split(
    /\s+/,
  );
const PROGRAMS = [
  'curl',
  'wget',
  'nc',
  'cat',
  'bash',
  'sh',
  'base64',
  'python3',
  'perl',
  'node',
  'tar',
  'openssl',
].flatMap((name) => [`/bin/${name}`, `/usr/bin/${name}`]);

const WILDCARD = /[*?[]/;
const IN_HOME = /^(?:(?:~|\$\{?HOME\}?|\/root|\/(?:home|Users)\/[^/]{1,40})\/|\/(?=\.)|(?=\.))/;
const MAX_GLOB = 80;

/** The file of credentials in a home folder that a wildcard finds, if it finds little else. */
export function findByGlob(word: string): string | undefined {
  if (!WILDCARD.test(word) || word.length > MAX_GLOB) return undefined;
  const home = IN_HOME.exec(word)?.[0];
  const glob = home === undefined ? '' : word.slice(home.length);
  if (!/^\.[^./]/.test(glob)) return undefined;
  const pattern = compileGlob(glob);
  return COMMON_FILES.some((name) => pattern.test(name))
    ? undefined
    : HOME_FILES.filter((name) => pattern.test(name)).map((name) => `~/${name}`)[0];
}

function compileGlob(glob: string): RegExp {
  const source = glob.replaceAll(/\[[!^]?\]?[^\]]{1,30}\]|\*{1,8}|[\s\S]/g, (one) => {
    if (one.startsWith('*')) return '[^/]*';
    if (one === '?') return '[^/]';
    if (one.length > 1) return one.replace(/^\[!/, '[^').replaceAll('\\', String.raw`\\`);
    return one.replace(/[^\w/-]/, String.raw`\$&`);
  });
  try {
    return new RegExp(`^${source}/?$`);
  } catch (error) {
    // A range such as `[z-a]` finds nothing.
    if (error instanceof SyntaxError) return /(?!)/;
    throw error;
  }
}

const COMMAND_GLOB = /(^|[|;&(] ?)((?:\/[\w?*[\]!^-]{1,16}){1,4})(?= |$)/g;
const BRACES = /(?<![^\s=:|;&(])([\w./~-]{0,60})\{([\w./~*-]{0,40}(?:,[\w./~*-]{0,40}){1,8})\}([\w./~-]{0,60})/g;

/** Replaces braces by what they stand for, and programs that are named by wildcards. */
export function expandWords(code: string): string {
  const plain = !code.includes('{')
    ? code
    : code.replaceAll(BRACES, (whole, before: string, list: string, after: string) =>
        before + after === ''
          ? whole
          : list
              .split(',')
              .map((one) => before + one + after)
              .join(' '),
      );
  return plain.replaceAll(COMMAND_GLOB, (whole, start: string, glob: string) => {
    if (!WILDCARD.test(glob)) return whole;
    const pattern = compileGlob(glob);
    const program = PROGRAMS.find((name) => pattern.test(name));
    return program === undefined ? whole : start + program;
  });
}
