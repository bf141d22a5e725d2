/** What statements read, send and execute, as data: the sources and sinks of the data-flow rules. */
import type { Language } from './split-code.ts';

/**
 * What a name can hold. `path`: the path of a secret. `environment` and `secret`: its content; of the environment, one variable that is
 * selected by name is not a secret. `socket`: a connection. `client`: an object that sends. `received`: data from a connection.
 * `remote`: a downloaded text. `download`: the path of a downloaded file. `decoded`: a decoded text. `asset`: the text of a file that is no code. `home`: the path of
 * the home folder. `homeFile`: its files, one after another. `startup`: the path of a file that a machine or a tool runs by itself.
 * `settings`: the path of a file with the variables of a project; its content is an environment, whose variables are selected by name.
 */
export const HELD = [
  'path',
  'environment',
  'secret',
  'socket',
  'client',
  'received',
  'remote',
  'download',
  'decoded',
  'asset',
  'home',
  'homeFile',
  'startup',
  'settings',
] as const;
export type Held = (typeof HELD)[number];

/** What a statement does. */
export type Act = 'read' | 'send' | 'evaluate' | 'start' | 'write' | 'print' | 'redirect' | 'encrypt' | 'delete';

export interface MarkRule<Mark> {
  readonly mark: Mark;
  /** Absent for all. */
  readonly language?: Language;
  /** `code`: without the text of strings. `text`: of strings; of shell all of it. */
  readonly in: 'code' | 'text';
  readonly find: RegExp;
}

const rule =
  (place: 'code' | 'text', language?: Language) =>
  <Mark>(mark: Mark, find: RegExp): MarkRule<Mark> => ({ mark, language, in: place, find });
const [python, javascript, shell, anyText] = [
  rule('code', 'python'),
  rule('code', 'javascript'),
  rule('code', 'shell'),
  rule('text'),
];

/** Files whose content is a secret of the user. Public keys and lists of hosts are none. */
const SECRET_PATH =
  /(?:^|[\\/])\.ssh(?:\/(?!known_hosts|config\b|authorized_keys|[\w.-]{1,40}\.pub)|$)|(?<![\w-])id_(?:rsa|ed25519|ecdsa|dsa)\b(?!\.pub)|(?:^|[\\/])\.aws(?:\/(?:credentials|config|sso)|$)|\.netrc\b|\.git-credentials\b|\.docker\/config\.json|\.kube\/config|\.gnupg\b|\.config\/gcloud|application_default_credentials|\.azure\/|\.npmrc\b|\.pypirc\b|\.password-store\b|library\/keychains|login\.keychain|\.mozilla\/firefox|firefox\/profiles|google\/chrome\/|google-chrome\/|bravesoftware|microsoft\/edge|(?:^|\/)login data$|(?:^|\/)local state$|(?:default|profile \d)\/(?:network\/)?cookies$|cookies\.sqlite|key4\.db|logins\.json|wallet\.dat|\/\.(?:electrum|bitcoin|ethereum)\b|solana\/id\.json|exodus\.wallet|\/etc\/(?:shadow|sudoers)\b|\.(?:bash|zsh|python|psql|mysql)_history\b|\.config\/gh\/hosts|\.claude\/\.credentials|\.codex\/auth\.json|\/proc\/(?:self|\d{1,7}|\*)\/environ|\.vault-token|\.cargo\/credentials|\.gem\/credentials|(?:^|\/)\.(?:pgpass|my\.cnf|boto|s3cfg|databrickscfg|oci\/config)\b|\.terraform\.d\/credentials|rclone\/rclone\.conf|\.config\/op\b|\.local\/share\/keyrings/i;

/** The paths of these credentials there. */
export const METADATA_LOGIN =
  /security-credentials|service-accounts\/[\w@.-]{1,80}\/(?:token|identity)|identity\/oauth2\/token|\/v2\/credentials|meta-data\/identity-credentials/i;

/** The variables of a project. Templates and encrypted files are made to be shared. */
const SETTINGS_PATH =
  /(?:^|[\\/])\.env(?:\.(?!example|sample|templ|tpl|dist|default|schema|enc|gpg|age|vault|sops|keys?\b)[\w-]{1,20}(?:\.local)?|\*|\.\*)?$/i;

/** Files that shells, schedulers, service managers, Git and interpreters run by themselves. */
const STARTUP_PATH =
  /(?:^|[\\/])\.(?:bashrc|zshrc|profile|bash_profile|bash_login|zprofile|zshenv|zlogin|bash_aliases|xprofile|envrc)$|config\.fish$|fish\/conf\.d|\/etc\/(?:profile|cron|systemd|init\.d|rc\.local|environment|ld\.so\.preload)|\.config\/(?:systemd|autostart)|launch(?:agents|daemons)|(?:^|\/)crontabs?$|hooks\/(?:pre|post|commit|prepare|update|applypatch)|(?:site|user)customize\.py|\.pth$|\.vscode\/tasks\.json|programs[\\/]startup|currentversion\\run\b|\.ssh\/(?:rc|config|authorized_keys)$|\/etc\/sudoers|(?:^|[\\/])\.(?:tmux\.conf|inputrc|vimrc|exrc|pythonrc\w{0,4}|gdbinit|xinitrc|xsession\w{0,4}|pam_environment|gitconfig|wgetrc|curlrc|npmrc)$|\.?pip[\\/]pip\.conf$|nvim[\\/]init\.(?:vim|lua)$|\.config\/(?:environment\.d|git\/config|plasma-workspace)|ipython\/profile|jupyter_\w{1,20}_config|\.local\/bin\/\w|\.git\/config$|\.(?:claude|gemini|cursor|codex|qwen|copilot)[\\/](?:settings(?:\.local)?\.json|hooks?(?:\.json)?|mcp\.json|config\.toml)|(?:^|[\\/])\.?mcp\.json$/i;

/** Data that a script reads; code in it is out of sight. */
const ASSET =
  /\.(?:svg|png|jpe?g|gif|webp|ico|bmp|pdf|dat|bin|txt|md|csv|tsv|xml|html?|css|woff2?|ttf|wav|mp3|log|map)$/i;

/** The home folder, or one of those that have the documents of a user. */
export const HOME =
  /^(?:~|\/home|\/users|\/root|\$home)(?:\/(?:documents|desktop|downloads|pictures|music|videos|movies))?\/?(?:\*{1,2}\/?)*(?:\*\.\w{1,6})?$/i;
export const WALKS = /\b(?:walk|i?glob|rglob|listdir|scandir|iterdir|(?:readdir|opendir|glob)(?:Sync)?|rreaddir)\(/;

export const HELD_RULES: readonly MarkRule<Held>[] = [
  anyText('path', SECRET_PATH),
  anyText('startup', STARTUP_PATH),
  anyText('settings', SETTINGS_PATH),
  anyText('asset', ASSET),
  shell(
    'startup',
    /\bgit config [^|;]{0,60}(?:alias\.\w|core\.(?:fsmonitor|sshcommand|pager|editor)|credential\.helper)/i,
  ),
  shell(
    'homeFile',
    /\bfind (?:-\w )?(?:~|\/home|\/Users)(?:\/(?:Documents|Desktop|Downloads|Pictures|\w{1,30}))?\/? (?!.*(?:head -|-quit))|\bfor \w{1,40} in (?:~|\/home\/\*)\/(?:Documents\/|Desktop\/|Downloads\/|Pictures\/)?\*/i,
  ),
  python('environment', /\bos\.environb?(?:\.(?:items|values|copy|keys)\(\)|(?![\w.[(]))/),
  javascript('environment', /\bprocess\.env\b(?![\w.[(?])|\bDeno\.env\.toObject\(/),
  python('environment', /\bdotenv_values\(/),
  javascript('environment', /\bdotenv\.(?:config|parse)\(/),
  python('environment', /(?<![\w.])(?:posix|nt)\.environb?\b|\bvars\( ?os ?\)/),
  javascript('environment', /\bBun\.env\b(?![\w.[(?])/),
  shell(
    'environment',
    /\bin ENVIRON\b|%ENV\b(?! ?=)|\bjq (?:-{1,2}[\w-]{1,20} )*(?:env|\$ENV)(?= {0,4}(?:$|[|>)]))|\b(?:compgen -e|typeset -x)(?= {0,4}(?:$|[|>)]))/,
  ),
  shell(
    'environment',
    /(?:^|[|(`;&]|\b(?:sudo|then|do)) ?(?:(?:printenv|env|export -p|declare -x?p)(?= {0,4}(?:$|[|>`;&]))|(?<=\$\( ?)(?:printenv|env|export -p)(?= ?\))|set(?= {0,4}[|>]))/,
  ),
  shell(
    'secret',
    /\bsecurity (?:dump-keychain|export)\b|\bsecurity find-(?:generic|internet)-password\b(?=[^|;]{0,80} -\w{0,2}[wg])|\bsecret-tool search\b|\bgit credential fill\b|\b(?:git|docker)-credential-\w{1,20} (?:get|list)\b|\bgpg2? [^|;]{0,80}--export-secret|\bkwallet-query\b|\bbw (?:export|list items)\b|\bop (?:item list|document get)\b|\blpass export\b|\bkeepassxc-cli export\b|\bkubectl config view [^|;]{0,40}--raw\b|\baws configure export-credentials\b/,
  ),
  anyText('secret', /\bsecurity (?:dump-keychain|find-(?:generic|internet)-password)\b/),
  python(
    'secret',
    /\bbrowser_cookie3\.\w{1,20}\(|\bwin32crypt\.CryptUnprotectData\(|\bkeyring\.get_keyring\(\)|\bnetrc\.netrc\(/,
  ),
  python(
    'socket',
    /\bsocket\.(?:socket|create_connection)\(|(?<![\w.])create_connection\(|\basyncio\.open_connection\(/,
  ),
  javascript(
    'socket',
    /\b(?:net|tls)\.(?:connect|createConnection)\(|\bnew net\.Socket\(|\bnew (?:\w{1,20}\.)?WebSocket\(|\bdgram\.createSocket\(/,
  ),
  python(
    'client',
    /\bHTTPS?Connection\(|\brequests\.[Ss]ession\(|\bhttpx\.(?:Async)?Client\(|\bClientSession\(|\bSMTP(?:_SSL)?\(|\bFTP(?:_TLS)?\(|\bSSHClient\(|\bPoolManager\(|\bTelnet\(|\b(?:HTTP|Socket|Datagram|SysLog|SMTP)Handler\(|\bfrom_transport\(|\bSFTPClient\b|\bIMAP4\w{0,5}\(/,
  ),
  javascript(
    'client',
    /\bhttps?\.request\(|\bhttp2\.connect\(|\bnew XMLHttpRequest\b|\bcreateTransport\(|\bnew Image\(|\baxios\.create\(/,
  ),
  python('received', /\.recv(?:from|_into)?\(|\.read_until\(|\breader\.read(?:line)?\(/),
  python('remote', /\b(?:requests|httpx)\.(?:get|post|request)\(|\burlopen\(|\burlretrieve\(/),
  javascript(
    'remote',
    /(?<![\w.]|async |function )fetch\(|\bhttps?\.get\(|\b(?:axios|got|needle|superagent)(?:\.get)?\(/,
  ),
  shell('client', /\bexec \d{1,2}<> ?\/dev\/(?:tcp|udp)\//),
  shell('remote', /(?:^|[|(`;&]) ?(?:curl|wget)\b/),
  // Letters by their places in another text.
  python('decoded', /\.join\( ?\[? ?\w{1,40}\[ ?(?:int\( ?)?\w{1,20} ?\)? ?\] for |\.__getitem__ ?,/),
  javascript(
    'decoded',
    /\.map\( ?\(?\w{1,20}\)? ?=> ?[\w$.]{1,40}(?:\[ ?\+?\w{1,20} ?\]|\.(?:charA|a)t\( ?\+?\w{1,20} ?\)) ?\)\.join\(/,
  ),
  shell('decoded', /\$\{\w{1,40}:\$\{?\w{1,40}\}?:1\}/),
  // The documentation of a module is no code until this.
  python('decoded', /(?<![\w.])(?:exec|eval|compile)\([^()]{0,60}(?:\b__doc__\b|\bgetdoc\()/),
  python('decoded', /\b(?:chr|bytes|bytearray)\(.{0,60}\bint\([^()]{1,60}, ?(?:2|8|16|36)\)|\.translate\(/),
  javascript(
    'decoded',
    /\b(?:Buffer\.from|Uint8Array\.from|fromC(?:harCode|odePoint))\b.{0,160}\bparseInt\(|\bparseInt\([^()]{1,60}, ?(?:2|8|16|36)\).{0,80}\bfromC(?:harCode|odePoint)\b/,
  ),
  shell(
    'decoded',
    /\btr (?!-)(?!\[:|a-z A-Z|A-Z a-z)(?=\S{0,60}-|\S{8})\S{3,200} (?!\[:)\S{3,200}|\bsed [^|]{0,40}\by[/,#][^|]{3,200}|\b(?:gunzip|zcat|xzcat|bzcat)\b|\b(?:gzip|xz|bzip2|zstd) [^|]{0,20}-{1,2}d|\bperl -\w{0,6}e .{0,80}(?:pack|tr\/|y\/|reverse|chr)/,
  ),
  python(
    'decoded',
    /\b(?:b(?:64|32|16|85)decode|a85decode|fromhex|unhexlify|decompress|rot13|marshal\.loads)\b|\bcodecs\.decode\(|\b(?:bytes|bytearray|chr)\([^()]{0,80}\^/,
  ),
  javascript(
    'decoded',
    /(?<![\w.])(?:atob|unescape)\(|\bfromCharCode\([^()]{0,80}\^|\bfromC(?:harCode|odePoint)\b|\bBuffer\.from\([^()]{1,80},|\b(?:inflate|gunzip|unzip|brotliDecompress)(?:Raw)?Sync\(/,
  ),
  shell(
    'decoded',
    /\bbase(?:64|32) {1,4}(?:-i )?-{1,2}[dD]\w{0,6}\b|\bxxd [^|]{0,20}-r|\bopenssl (?:enc|base64|aes)[^|]{0,80} -d\b|\buudecode\b|\| ?rev\b|\bgpg [^|]{0,80}-{1,2}d/,
  ),
];

/** A command of a shell that sends; in the string of a script any word can be one. */
const SENDS = String.raw`(?:curl|wget|nc|ncat|netcat|socat|telnet|nslookup|dig|host|ping6?|drill|scp|rsync|sftp|ftp|tftp|lftp|sendmail|mailx?|mutt|swaks|https?(?= )|xh|rclone|gsutil|s3cmd|websocat|resolvectl query|getent hosts|openssl s_client|gh gist create|aws s3 (?:cp|sync|mv)|invoke-webrequest|invoke-restmethod|iwr|irm)\b`;
const COMMAND_START = String.raw`(?:^|[|(\x60;&]|\b(?:xargs|sudo|exec|then|do|else|nohup|command|time|timeout|while|if)\b[^|;]{0,40}(?= )) {0,2}(?:[\w./~-]{0,60}\/)?`;

export const ACT_RULES: readonly MarkRule<Act>[] = [
  python(
    'read',
    /\b(?:open|read|readline|readlines|read_text|read_bytes|load|loads|copy|copy2|copyfile|copytree|glob|iglob|rglob|walk|listdir|iterdir|scandir|connect|extractall|make_archive|add|run|check_output|popen|Popen|system|fromfile|reader|write|writestr)\(/,
  ),
  javascript(
    'read',
    /\b(?:readFile\w{0,4}|createReadStream|readdir\w{0,4}|copyFile\w{0,4}|cp\w{0,4}|open\w{0,4}|file|readTextFile\w{0,4}|text|exec\w{0,8}|spawn\w{0,4}|import|Database)\(/,
  ),
  python(
    'send',
    /\b(?:requests|httpx|aiohttp|urllib3)\.(?:post|put|patch|get|request|head|delete|options)\(|\burlopen\(|\burlretrieve\(|\burllib\.request\.\w{1,20}\(|\bRequest\(|\.(?:sendall|sendto|sendmail|send_message|storbinary|storlines|put_object|upload_file|upload_fileobj)\(|\b(?:socket\.)?(?:gethostbyname(?:_ex)?|getaddrinfo)\(|\b(?:dns\.)?resolver\.\w{1,20}\(|\bwebbrowser\.open\(|\bcreate_connection\(|\.(?:mapLogRecord|makePickle) ?=(?!=)/,
  ),
  javascript(
    'send',
    /(?<![\w.]|async |function )fetch\(|\b(?:axios|got|needle|superagent|undici|ky)(?:\.\w{1,20})?\(|\bhttps?\.(?:request|get)\(|(?<![\w.])request(?:\.\w{1,10})?\(|\bsendBeacon\(|\bdns(?:\.promises)?\.(?:lookup|resolve\w{0,6})\(|\bnew WebSocket\(/,
  ),
  shell(
    'send',
    new RegExp(
      String.raw`${COMMAND_START}${SENDS}|\| ?(?:sudo )?(?:sshpass \S{1,60} (?:\S{1,60} )?)?ssh |\bssh [^|;<]{1,300}<(?!<)|\bgh (?:gist|issue|release|pr) (?:create|comment|edit|upload)\b|\/(?:dev|inet)\/(?:tcp|udp)\/|\bs[/|#][^/|#\n]{1,40}[/|#](?:curl|wget|nc|ncat|scp|telnet)[/|#]`,
      'i',
    ),
  ),
  python(
    'evaluate',
    /(?<![\w.])(?:exec|eval|compile|execfile)\(|\bbuiltins\.(?:exec|eval)\(|\brunpy\.run_\w{1,10}\(|\b(?:marshal|pickle)\.loads\(|\bFunctionType\(|\bexec_module\(|\b(?:__import__|import_module)\( ?(?![\ue000\s])/,
  ),
  javascript(
    'evaluate',
    /(?<![\w.$])(?:eval|Function|execScript)\(|\bnew Function\(|\bvm\.(?:runIn\w{1,20}|compileFunction|Script)\(|\.constructor\([\ue000\w]|\b_compile\(|\bset(?:Timeout|Interval)\((?=[\ue000])|(?<![\w.])require\( ?(?![\ue000\s)])/,
  ),
  shell(
    'evaluate',
    /(?:^|[|(`;&] ?|\bsudo )(?:eval|source) |(?:^|[`;&] ?|\bsudo |\b(?:then|do|else) )\. (?=[\w~./$-])|\| ?(?:sudo )?(?:[\w./-]{0,40}\/)?(?:(?:ba|z|da|k)?sh|python[\d.]{0,4}|node|perl|ruby|php)(?= {0,4}(?:$|-(?:s|$| )|[)|;&]))|\b(?:ba|z|da|k)?sh {1,4}(?:-\w{0,4}c|<\(|<<<)|\b(?:python[\d.]{0,4}|node|perl|ruby|php) {1,4}(?:-\w{0,3}[ce]|--eval) {1,4}\$/,
  ),
  python(
    'start',
    /\bos\.(?:system|popen|exec\w{1,3}|spawn\w{1,3}|posix_spawn\w{0,1})\(|\bsubprocess\.\w{1,20}\(|\bpty\.spawn\(|\bcommands\.getoutput\(|\bcreate_subprocess_(?:shell|exec)\(/,
  ),
  javascript(
    'start',
    /\bchild_process\.\w{1,20}\(|(?<![\w.])(?:exec|spawn|execFile|fork)(?:Sync)?\(|\bBun\.spawn\w{0,4}\(|\bnew Deno\.Command\(|\$(?=[\ue000])/,
  ),
  python('redirect', /\bos\.dup2\(|\bpty\.spawn\(|\bstd(?:in|out) ?= ?\w/),
  javascript('redirect', /\.pipe\(|\bstdio ?: ?\[/),
  python('print', /(?<![\w.])print\(|\bsys\.stdout\.write\(/),
  javascript('print', /\bconsole\.(?:log|info|error)\(|\bprocess\.stdout\.write\(/),
  python(
    'write',
    /\.(?:write|writelines|write_text|write_bytes|writestr|dump|copy|copy2|copyfile|save|rename|move|add)\(|\bmake_archive\(/,
  ),
  javascript('write', /\b(?:writeFile|appendFile|copyFile|rename|cp)(?:Sync)?\(|\bcreateWriteStream\(/),
  shell(
    'write',
    />>? ?[\w~./$-]|\b(?:tee|cp|mv|install|tar|zip|7z|gzip|openssl|ln|dd|git config)\b|\| ?(?:sudo )?crontab\b/,
  ),
  python(
    'encrypt',
    /\.encrypt\w{0,20}\(|\bencrypt_\w{1,20}\(|\b(?:AES|ChaCha20|ChaCha20_Poly1305|Salsa20|Blowfish|DES3?)\.new\(/,
  ),
  javascript('encrypt', /\bcreateCipher(?:iv)?\(|\.encrypt\(/),
  shell(
    'encrypt',
    /\bopenssl (?:enc|aes|smime -encrypt|rsautl -encrypt)|\bgpg\b[^|]{0,80} (?:-c|--symmetric|-e|--encrypt|-r)\b|\b(?:ccrypt|age) -/,
  ),
  python('delete', /\.unlink\(|\bos\.(?:remove|rename|replace)\(|\brmtree\(/),
  javascript('delete', /\b(?:unlink|rm|rename)(?:Sync)?\(/),
  shell('delete', /\b(?:rm|shred|unlink|mv)\b/),
];

/** Sending commands in a string that a script starts. */
export const STARTED_SEND = new RegExp(String.raw`(?<![\w.-])${SENDS}`, 'i');

/** Methods of clients and sockets that send. */
export const SENDING_METHOD =
  /^(?:send|sendall|sendto|send_bytes|send_json|request|post|put|patch|get|write|end|emit|storbinary|sendmail|send_message|sendMail|putfo|src|debug|info|warning|error|critical|exception|log)$/;

/** Gives all that was added to a repository to its host. */
export const PUSHES = /\b(?:git|hg)\b(?: -{1,2}\S{1,200}(?: (?!push)[^\s-]\S{0,200})?){0,6} push\b/;
/** Adds to what will be pushed. */
export const ADDS = /\bgit\b[^|;]{0,300} add\b/;
/** Fills a form: what is put in is one command with the rest. */
export const FILLS = /\.(?:substitute|safe_substitute|format|format_map|replace|replaceAll)\(/;
/** What a program reads by itself, as its documentation says. */
export const TOOL_VARIABLE = String.raw`\b(PGPASSFILE|KUBECONFIG|AWS_(?:SHARED_CREDENTIALS|CONFIG)_FILE|GOOGLE_APPLICATION_CREDENTIALS|DOCKER_CONFIG|CLOUDSDK_CONFIG|NPM_CONFIG_USERCONFIG|NETRC|BOTO_CONFIG|GNUPGHOME|RCLONE_CONFIG)=["']?\S{1,200}["']? (?=[a-z])(?!(?:ba|z)?sh\b|(?:cat|env|printenv|python\S{0,4}|node|perl|ruby)\b)(?!.*\$\{?\1\b)`;

/** Options that name a key without sending it, or leave a file out, by the programs that have them. */
const NAMING_OPTIONS: readonly (readonly [program: RegExp, option: RegExp])[] = [
  [
    /\b(?:ssh|scp|sftp|sshfs|rsync|mosh|ansible|ssh-copy-id|age)/i,
    /(?<=\b(?:ssh|scp|sftp|sshfs|rsync|mosh|ansible[\w-]{0,12}|ssh-copy-id|age)\b[^|;]{0,300}) -i ?\S{1,200}/gi,
  ],
  [/\bcurl /i, /(?<=\bcurl [^|;]{0,300}) (?:-b|-c|-E) ?\S{1,200}/gi],
  [/\bzip /, /(?<=\bzip [^|;]{0,300}) -x \S{1,200}/g],
  [/\bgrep -/, /(?<=\bgrep (?:-\S{1,20} ){0,4})-\w{0,4}v\w{0,4} \S{1,200}/g],
  [/ (?:!|-not) -i?name /, / (?:!|-not) -i?name \S{1,200}/g],
  [/ -{1,2}exclude/, / -{1,2}exclude(?:-\w{1,10})?[ =]\S{1,200}/g],
  [
    / (?:--(?:key|cert|cacert|netrc-file|cookie|kubeconfig|ssh-key|private-key|identity)|-o ?IdentityFile)/i,
    /(?<!(?:sh|python[\d.]{0,4}|node|perl|ruby|php)(?: -\w{1,4})?) (?:--key|--cert|--cacert|--netrc-file|--cookie|--cookie-jar|--kubeconfig|--ssh-key|--private-key|--identity(?:-file)?|-o ?IdentityFile) ?=?\S{1,200}/gi,
  ],
];

/** A shell command without them. */
export function withoutNamingOptions(code: string): string {
  if (!code.includes(' -')) return code;
  return NAMING_OPTIONS.reduce(
    (rest, [program, option]) => (program.test(rest) ? rest.replaceAll(option, ' ') : rest),
    code,
  );
}

/** Commands that only look. */
export const LOOKS_ONLY =
  /^(?:if |elif |while |do |then |else |! |sudo )*(?:\[|test|ls|ll|chmod|chown|ssh-keygen|ssh-add|ssh-copy-id|ssh(?= [^<]{0,4000}$)|mkdir|touch|rm|stat|export(?! \w{1,80}=\$\()|alias|cd|which|command -v|vim?|nano|code|open|brew|apt(?:-get)?|(?:echo|printf)(?= [^|]{0,4000}$))(?: |$)/;
export const PRINTS_ONLY = /^(?:echo|printf) [^|]{0,4000}$/;

const ENVIRONMENT_OPTION =
  /(?<=[({,] {0,40})(?:process\.)?env {0,4}[=:] {0,4}(?:\{ {0,80}\.\.\.)?[\w.$]{1,60}(?:\(\))?|(?<=[{,] {0,40})(?:process\.)?env(?= {0,40}[,}])/g;

const KEY_OPTION =
  /\b(?:key_filename|private_?key_?(?:path|file)|identity_?file)(?:\ue001)? {0,4}[=:] {0,4}[^,{}]{1,200}/gi;

/** `env=os.environ` for a program that is started is no use of its content, nor is the path of a key for one that logs in. */
export function withoutOptions(code: string): string {
  const rest = code.includes('env') ? code.replaceAll(ENVIRONMENT_OPTION, '') : code;
  return /key|identity/i.test(rest) ? rest.replaceAll(KEY_OPTION, '') : rest;
}

/** A Unix socket does not leave the machine. */
export function hasOnlyLocalSockets(text: string): boolean {
  return text.includes('AF_UNIX') && !/AF_INET|create_connection\(/.test(text);
}
