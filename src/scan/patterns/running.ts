/** Execution of foreign code: downloads, encoded strings, reverse shells, hooks. */
import { patterns, type Pattern } from '../pattern.ts';

/** Vendors that document this way to install their own tool. */
const INSTALLERS = [
  'astral.sh/',
  'sh.rustup.rs',
  'bun.sh/install',
  'bun.com/install',
  'deno.land/install.',
  'get.docker.com',
  'ollama.com/install.sh',
  'claude.ai/install.',
  'raw.githubusercontent.com/homebrew/install/',
  'raw.githubusercontent.com/nvm-sh/nvm/',
  'raw.githubusercontent.com/helm/helm/',
  'fnm.vercel.app/install',
  'get.pnpm.io/install.',
  'install.python-poetry.org',
  'pixi.sh/install.',
  'mise.run',
  'sh.jbang.dev',
  'get.sdkman.io',
  'fly.io/install.sh',
  'cli.github.com/',
  'deb.nodesource.com/',
  'packages.microsoft.com/',
  'aka.ms/install',
  'sdk.cloud.google.com',
  'run.linkerd.io/install',
  'fluxcd.io/install.sh',
  'get.k3s.io',
  'nixos.org/nix/install',
  'install.determinate.systems/',
]
  .map((start) => start.replaceAll('.', String.raw`\.`).replaceAll('/', String.raw`\/`))
  .join('|');
/** The passage has a URL of such a vendor and no other URL. */
export const FROM_WELL_KNOWN_INSTALLER = new RegExp(
  String.raw`^(?!.*https?:\/\/(?!(?:${INSTALLERS})))(?=.*https:\/\/(?:${INSTALLERS}))`,
);

/** A URL without encryption or without a name, and not of this machine or network. */
const INSECURE = String.raw`(?:http:\/\/(?=\w)(?!localhost|127\.|0\.0\.0\.0|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|\[|<|\$|\{|your|my|internal|[\w.-]{0,40}(?:mirror|aliyun|tencent|douban|tuna|ustc|huawei|example|\.local|\.internal|\.corp|nexus|artifactory|verdaccio|devpi)|[\w-]{1,40}(?:[:/]|$))|https:\/\/(?!127\.|10\.|192\.168\.)\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3})`;

export const RUNNING_PATTERNS: readonly Pattern[] = [
  ...patterns('any', 'download-and-run', [
    {
      severity: 'critical',
      find: /\b(?:eval|assert)\( ?(?:\w{1,20}\( ?){0,2}file_get_contents\( ?\\?["']https?:/g,
      says: 'executes downloaded code',
    },
    {
      severity: 'critical',
      find: /\b(?:curl|wget|fetch)\b[^\n]{0,120}(?:http:\/\/|\/\/\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}|\/\/(?:bit\.ly|tinyurl\.com|t\.co|is\.gd|cutt\.ly|rebrand\.ly|pastebin\.com|paste\.ee|hastebin\.com|rentry\.co|glot\.io|transfer\.sh|0x0\.st|termbin\.com|ix\.io|ghostbin\.com|webhook\.site)\b)/g,
      also: /\| ?(?:sudo )?(?:env )?(?:ba|z|da|k)?sh\b|\| ?(?:sudo )?(?:python3?|node|perl|ruby|php)\b(?! -(?:m json|[ce]\b))/,
      unless: /\/\/(?:localhost|127\.0\.0\.1|0\.0\.0\.0)\b|\| ?python3? -m json/,
      says: 'executes code from an insecure or short-lived URL',
    },
    {
      find: /\b(?:curl|wget)\b[^\n|]{0,200}\| ?(?:sudo )?(?:-e )?(?:env )?(?:(?:ba|z|da|k)?sh|python3?|node|perl|ruby|php)\b(?! -(?:m json|c\b))/g,
      milder: FROM_WELL_KNOWN_INSTALLER,
      says: 'executes downloaded code',
    },
    {
      find: /(?:\b(?:ba|z)?sh|\beval|\bsource|(?:^| )\.) (?:-c )?["']?(?:<\(|\$\(|`) ?(?:curl|wget)\b/g,
      milder: FROM_WELL_KNOWN_INSTALLER,
      says: 'executes downloaded code',
    },
    {
      find: /\b(?:iex|invoke-expression)\b[^\n]{0,80}\b(?:iwr|irm|invoke-webrequest|invoke-restmethod|downloadstring)\b/g,
      says: 'executes downloaded code',
    },
    {
      find: /\b(?:iwr|irm|invoke-webrequest|invoke-restmethod|downloadstring)\b[^\n]{0,160}\| ?(?:iex|invoke-expression)\b/g,
      milder: FROM_WELL_KNOWN_INSTALLER,
      says: 'executes downloaded code',
    },
    {
      find: /\b(?:curl|wget|invoke-webrequest|iwr|certutil|bitsadmin)\b[^\n]{0,200}(?:&&|;) ?(?:sudo )?(?:(?:ba|z)?sh \S|chmod (?:\+x|[0-7]{3,4}) |start-process |\.\/)/g,
      says: 'downloads a file and runs it in one step',
    },
    {
      find: /\b(?:curl|wget)\b[^\n]{0,150}\| ?(?:sudo )?(?:tar|cpio|bsdtar|gunzip|unzip)\b[^\n]{0,120}(?:&&|;) ?(?:nohup |sudo |exec |setsid )?["']?(?:\.\/|\/tmp\/|~\/|\$)/g,
      says: 'downloads a file and runs it in one step',
    },
    {
      find: /\b(?:pip[\d.]{0,3}|npm|uv|yarn|pnpm|gem|cargo|bun)["', ]{1,6}(?:pip["', ]{1,6})?(?:i|install|add)\b[^\n]{0,120}["' =](?:git\+)?https?:\/\/(?![\w.-]{0,40}(?:pypi\.org|pythonhosted|npmjs|yarnpkg|rubygems|crates\.io|github|gitlab|bitbucket|pytorch|nvidia|mirror|aliyun|tencent|tsinghua|ustc|douban|huawei|npmmirror|codeload|jfrog|artifactory|nexus|localhost|127\.))/g,
      unless: /^(?!.{0,40}(?:subprocess|exec|spawn|run\(|system|check_|pip3? |npm |uv |gem ))/,
      says: 'installs code from a host of its own',
    },
    {
      find: /\bexec\(.{0,80}(?:urlopen|urllib|requests\.get|httpx\.get)\b/g,
      says: 'executes downloaded code',
    },
    {
      find: /\b(?:eval|new function|vm\.runin\w{1,20})\(.{0,80}\bfetch\(/g,
      says: 'executes downloaded code',
    },
    {
      severity: 'critical',
      find: new RegExp(
        String.raw`\b(?:pip[\d.]{0,4}|uv|uvx|npm|npx|pnpm|yarn|bun|bunx|gem|cargo|go|poetry|pipx|conda|apt(?:-get)?|brew)\b[^\n|;]{0,120}(?:index-url|-i|registry|find-links|-f|source|index|install|add|--git)["']?[= ]["']?(?:git\+)?${INSECURE}|\b(?:pip_(?:extra_)?index_url|uv_index_url|uv_default_index|npm_config_registry|goproxy|cargo_registries\w{1,30})["']?\]? ?[:=] ?["']?${INSECURE}|(?:--(?:extra-)?index-url|--find-links|\bregistry|\bindex-url)["']? ?[=: ] ?["']?${INSECURE}|\btrusted=yes\] http`,
        'g',
      ),
      says: 'installs packages from an address that anyone could answer',
    },
    {
      severity: 'critical',
      find: new RegExp(
        String.raw`\b(?:iex|invoke-expression|downloadstring|iwr|irm|invoke-webrequest|invoke-restmethod)\b[^\n]{0,120}${INSECURE}`,
        'g',
      ),
      also: /\b(?:iex|invoke-expression|start-process|scriptblock|invoke-command)\b|& ?\(/,
      says: 'executes code from an insecure URL',
    },
    {
      severity: 'medium',
      find: /\b(?:pip3?|uv pip|npm|npx|pnpm|yarn|bunx|gem) (?:install |add |exec |-y |--yes |dlx ){0,3}(?:-\S{1,20} ){0,3}["']?(?:git\+)?https?:\/\//g,
      says: 'installs from a URL instead of a registry',
    },
  ]),
  ...patterns('prose', 'download-and-run', [
    {
      find: /\b(?:download|get|grab|fetch)\b[^\n]{0,160}\b(?:run|execute|launch|open|double-click|start) (?:it|the (?:file|installer|binary|executable|program|downloaded \w{1,20})|this (?:file|installer|binary|program))\b/g,
      also: /https?:\/\/|\.exe\b|\.dmg\b|\.msi\b|\.pkg\b|\.zip\b/,
      says: 'instructs to download and execute a program',
    },
    {
      find: /\b(?:copy|paste)\b[^\n]{0,100}\b(?:into|in|to) (?:your |the |a )?(?:terminal|shell|console|powershell|command prompt)\b/g,
      also: /https?:\/\//,
      says: 'instructs to paste a command from elsewhere into a terminal',
    },
    {
      find: /\b(?:automatically|auto-?)\b[^.\n]{0,40}\b(?:download|fetch|pull)(?:s|es)?\b[^.\n]{0,20}\b(?:and|then) (?:appl|install|run|execut|replac)\w{0,6}\b/g,
      says: 'downloads and applies updates by itself',
    },
    {
      find: /\b(?:downloads?|fetch(?:es)?|pulls?) and (?:appl(?:y|ies)|installs?|runs?|executes?) (?:it|them|the update|updates?|new (?:code|versions?))\b/g,
      says: 'downloads and applies updates by itself',
    },
    {
      severity: 'critical',
      find: /\b(?:copy|paste|run|execute|install|visit|open)\b[^\n]{0,120}\/\/(?:www\.)?(?:glot\.io|pastebin\.com|paste\.ee|rentry\.co|hastebin\.com|ghostbin\.com|termbin\.com|ix\.io|0x0\.st|transfer\.sh)\//g,
      also: /\b(?:terminal|shell|command|script|powershell|execute|run)\b/,
      says: 'instructs to execute code from a paste site',
    },
    {
      find: /\b(?:requires?|must|need to|needs?|mandatory|prerequisite)\b[^\n]{0,100}\b(?:download|install)(?:ed|ing)?\b[^\n]{0,160}\.(?:zip|exe|dmg|msi|pkg|rar|7z|scr|bat|appimage)\)/g,
      also: /\]\(https?:\/\//,
      says: 'requires a program from a URL before it works',
    },
  ]),
  ...patterns('any', 'password-archive', [
    {
      find: /\b(?:unzip|7z[azr]? [xe]|unrar [xe]|bsdtar)\b[^\n]{0,60} -p ?["']?[\w!@#$%^&-]{2,40}/g,
      unless: /-p ["']?(?:\$|<|\{)/,
      severity: 'high',
      says: 'unpacks a password-protected archive',
    },
  ]),
  ...patterns('prose', 'password-archive', [
    {
      find: /\b(?:extract|unzip|unpack|decompress|open|archive|zip|rar|7z)\b[^\n]{0,100}\b(?:password|passphrase|pass(?:code)?)\b ?(?:is|:|=|`|'|"|\(|of|with)/g,
      also: /\b(?:download|https?:\/\/|release|install|link)/,
      says: 'gives the password of an archive to download',
    },
    {
      find: /\b(?:password|passphrase)\b[^\n]{0,60}\b(?:extract|unzip|unpack|archive|zip|rar|7z)\b/g,
      also: /\b(?:download|https?:\/\/|release page|link)/,
      says: 'gives the password of an archive to download',
    },
  ]),
  ...patterns('any', 'encoded-payload', [
    {
      find: /\b(?:base64|base32|openssl (?:enc|base64)|xxd)\b[^\n|]{0,60}(?:-d|--decode|-r)\b[^\n|]{0,40}\| ?(?:sudo )?(?:(?:ba|z|da)?sh|python3?|node|perl|gunzip)\b/g,
      says: 'decodes text and executes it',
    },
    {
      find: /\b(?:eval|exec|compile|system|popen|new function|settimeout)\b ?[("'`$<{][^\n]{0,40}(?:\batob\(|b64decode|b32decode|a85decode|frombase64string|base64_decode|fromhex|unhexlify|codecs\.decode|zlib\.decompress|marshal\.loads|unescape\()/g,
      says: 'decodes text and executes it',
    },
    {
      find: /\b(?:powershell|pwsh)(?:\.exe)?\b[^\n]{0,80} -(?:e|en|enc|enco|encodedcommand) [a-z0-9+/=]{16}/g,
      says: 'runs an encoded command',
    },
    {
      find: /["']-e(?:nc?|ncod|ncodedcommand)?["'] ?,? ?["'][a-z0-9+/]{60}/g,
      says: 'runs an encoded command',
    },
    {
      find: /\bfrombase64string\b[^\n]{0,160}\b(?:iex|invoke-expression|\.invoke\(|assembly\.load)/g,
      says: 'decodes text and executes it',
    },
  ]),
  ...patterns('prose', 'encoded-payload', [
    {
      find: /\b(?:decode|base64-decode|de-obfuscate|deobfuscate)\b[^.\n]{0,80}\b(?:and|then) (?:run|execute|follow|eval|carry out|obey) (?:it|them|the|this|that|those|what|its|every|all|any|each)\b|\b(?:decode|base64-decode|de-obfuscate|deobfuscate)\b[^.\n]{0,80}\b(?:and|then) (?:run|execute|follow|eval|obey)[.!:]/g,
      severity: 'high',
      says: 'instructs to decode text and follow it',
    },
  ]),
  ...patterns('code', 'obfuscated-code', [
    {
      find: /(?:\\x[0-9a-f]{2}){24}|(?:\\u00[0-9a-f]{2}){16}|(?:\bchr\(\d{1,3}\) ?[+.&] ?){8}|(?:0x[0-9a-f]{2}, ?){64}/g,
      says: 'encodes text as numbers',
    },
    {
      find: /\bstring\.fromcharcode\((?:\d{1,3}, ?){12}|\b_0x[0-9a-f]{4,6}\[/g,
      says: 'encodes text as numbers',
    },
  ]),
  ...patterns('any', 'obfuscated-code', [
    {
      find: /(?<![a-z0-9+/=_,-])(?=[a-z0-9+/]{0,60}\d)[a-z0-9+/]{400}/g,
      longRun: 400,
      unless: /data:(?:image|font|application|audio)\/|sha\d{3}-|begin certificate/,
      says: 'contains a long encoded string',
    },
  ]),
  ...patterns('code', 'encoded-payload', [
    {
      severity: 'critical',
      find: /\battrgetter\( ?(?!["'])[^()\n]{1,40}\) ?\( ?(?:os|subprocess|builtins|sys)\b|\breduce\( ?getattr\b[^\n]{0,80}import_module\(|\breflect\.(?:get|apply)\([^\n]{0,60}(?:module\.constructor|reflect\.get\(|globalthis|process\b|require\b)|\bmodule\.constructor\b|\b(?:fs|child_process|subprocess|cp)\[ ?[a-z_$]\w{0,30}\(|\bgetattr\( ?(?:os|subprocess|builtins|__builtins__) ?, ?(?!["'\w])|\bgetattr\( ?(?:os|subprocess|builtins|__builtins__) ?, ?\w{1,30}\(/g,
      says: 'computes which function of the system it calls',
    },
  ]),
  ...patterns('code', 'obfuscated-code', [
    {
      find: /\b(?:getattr|__import__|globals\(\)|window|global)\b ?[([][^\n]{0,20}["'][\w ]{1,8}["'] ?\+ ?["'][\w ]{1,8}["']/g,
      says: 'assembles the name of what it calls',
    },
  ]),
  ...patterns('any', 'reverse-shell', [
    {
      find: /\/dev\/(?:tcp|udp)\/[^\n]{0,60}(?:0>&1|<&|>&|2>&1)/g,
      says: 'connects a shell to a remote host',
    },
    {
      find: /\b(?:nc|ncat|netcat)\b[^\n]{0,60} (?:-e|-c|--exec|--sh-exec) ?(?:\/bin\/)?(?:ba|z)?(?:sh|cmd)/g,
      says: 'connects a shell to a remote host',
    },
    {
      find: /\b(?:ba|z)?sh -i\b[^\n|]{0,60}\| ?(?:nc|ncat|netcat|openssl s_client)\b|\bmkfifo\b[^\n]{0,80}\| ?(?:nc|ncat|netcat|openssl s_client)\b|\bsocat\b[^\n]{0,80}exec:["']?(?:\/bin\/)?(?:ba)?sh/g,
      says: 'connects a shell to a remote host',
    },
    {
      find: /\bsocket\b[^\n]{0,160}\b(?:dup2\([^\n]{0,120}(?:pty\.spawn|subprocess|exec[vl]|\/bin\/(?:ba|z|da)?sh|cmd\.exe)|pty\.spawn\()/g,
      says: 'connects a shell to a remote host',
    },
    {
      find: /\b(?:system|exec|passthru|shell_exec|popen|proc_open|eval|assert)\( ?(?:base64_decode\( ?|trim\( ?|urldecode\( ?)?\$_(?:post|get|request|cookie|server)\b/g,
      says: 'executes what a request says',
    },
    {
      severity: 'high',
      find: /\bos\.dup2\(\w{1,20}\.fileno\(\), ?[012]\)/g,
      unless: /\bdevnull\b/,
      says: 'redirects its input and output',
    },
  ]),
  ...patterns('code', 'install-hook', [
    {
      find: /["'](?:preinstall|postinstall|preuninstall|postuninstall)["'] ?: ?["']/g,
      unless: /["'](?:husky|patch-package|tsc|npm run build|node-gyp rebuild|prisma generate)\b/,
      says: 'runs a command when the package is installed',
    },
    {
      severity: 'high',
      find: /["'](?:preinstall|postinstall|prepare)["'] ?: ?["'][^"\n]{0,120}(?:curl|wget|https?:|base64|node -e|python3? -c|bash -c)/g,
      says: 'downloads or evaluates code when the package is installed',
    },
    {
      find: /\bcmdclass ?= ?\{|\bclass \w{1,40}\((?:install|develop|egg_info|build_py)\)/g,
      says: 'runs code when the package is installed',
    },
  ]),
  ...patterns('any', 'unpinned-install', [
    {
      find: /\b(?:npx (?:-y |--yes )?|pnpm dlx |bunx |uvx |pipx run )@?[a-z][\w./-]{1,60}(?![\w@=./-])/g,
      says: 'runs the latest version of a package',
    },
    {
      find: /\b(?:pip3? install|npm (?:install|i) -g|uv pip install|gem install|go install|cargo install) (?:-\S{1,20} ){0,3}@?[a-z][\w./-]{1,60}(?![\w@=./[<>~!-])/g,
      says: 'installs the latest version of a package',
    },
  ]),
  ...patterns('any', 'lookalike-package', [
    {
      find: /\b(?:pip3? install|uv pip install|npm (?:install|i|add)|yarn add|pnpm add) (?:-\S{1,20} ){0,3}(?:requets|reqeusts|request5|urlib3|urllib|beautifulsoup|python-dateutils|pyton-\w{1,20}|numpi|nunpy|pandass|djanga|flaskk|loadsh|lodahs|expresss|exprss|axois|axioss|reactt|crossenv|cross-env\.js|electorn|discordd\.js|colourama|colorsama|openai-api-client|anthropicc|setup-tools|cryptograpy|pyyamll)(?![\w-])/g,
      says: 'installs a package with a name close to a well-known one',
    },
  ]),
];
