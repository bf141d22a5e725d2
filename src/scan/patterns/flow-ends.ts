/** Code that can be one end of a data flow. Only skills with such code are searched for flows (`flow/flow.ts`). */
import { patterns, type Pattern } from '../pattern.ts';

/** A skill with both may start what it downloaded. */
const FETCH_AND_START: readonly Pattern[] = [
  ...patterns('code', 'fetches', [
    {
      says: '',
      find: /\burlopen\(|\burlretrieve\(|\b(?:requests|httpx)\.get\(|(?<![\w.])fetch\(|\bhttps?\.get\(|\baxios\b|\b(?:curl|wget)\b[^\n|]{0,200}(?: -[a-z]{0,6}o\b|--output|--remote-name|>)|\bwget ["'$h]/g,
    },
  ]),
  ...patterns('code', 'starts', [
    {
      says: '',
      find: /\bchmod\b|\bs_ixusr\b|\bos\.(?:system|popen|startfile|exec[vl]|spawn)|\bpopen\(|\bsubprocess\.\w|\bchild_process\b|(?:^|[;&|] ?|\bsudo )(?:source|\.|(?:ba|z)?sh|nohup) ["']?[$~./]|(?:^|[;&|] ?)["']?(?:\.\/|\$\{?\w|\/tmp\/|~\/)/g,
    },
  ]),
];

export const FLOW_END_PATTERNS: readonly Pattern[] = [
  ...FETCH_AND_START,
  ...patterns('code', 'settings', [
    {
      says: '',
      find: /(?<![\w.])\.env(?:\.(?:local|prod\w{0,8}|dev\w{0,9}|stag\w{0,4}))?(?![\w.(])|\bdotenv\.(?:config|parse)|\bdotenv_values\b/g,
    },
  ]),
  ...patterns('code', 'flow', [
    {
      says: 'names a secret',
      find: /\/\.\$\{?[a-z]\w{0,20}|\.ssh\b|\bid_(?:rsa|ed25519|ecdsa|dsa)\b|\.aws\b|\.netrc|git-credentials|docker\/config|\.kube\b|gnupg|gcloud|application_default|\.azure\b|npmrc|pypirc|password-store|keychain|\.mozilla|mozilla\/firefox|firefox\/profiles|google.chrome|bravesoftware|login data|local state|\/cookies\b|["']cookies["']|cookies\.sqlite|key4\.db|logins\.json|wallet\.dat|\.electrum|\.bitcoin|\.ethereum|solana\/id|exodus|etc\/(?:shadow|sudoers)|\.(?:bash|zsh|python|psql|mysql)_history\b|histfile|gh\/hosts|\.credentials|auth\.json|\/environ\b|vault-token|\.pgpass|\.my\.cnf|\.boto\b|\.s3cfg|\.databrickscfg|\.oci\/|terraform\.d\/|rclone\.conf|cargo\/credentials|keyrings|browser_cookie3|cryptunprotect|find-generic|find-internet|secret-tool|credential fill|os\.environb?(?:\.(?:items|values|copy|keys)\b|(?![\w.[(]))|(?<!\benv: ?(?:\{ ?)?(?:\.\.\.)?)process\.env\b(?![\w.[(?])|env\.toobject|printenv|\bin environ\b|\benviron\b(?! ?\[)(?=[^\n]{0,40}$| as )|(?<!\w)(?:posix|nt)\.environ|\bvars\(os\)|\bbun\.env\b(?![\w.[(])|\{[^}\n]{0,80}\benv\b[^}\n]{0,80}\} ?(?:=|from) ?(?:["'](?:node:)?)?process\b|%env\b|\bjq [^\n|]{0,40}\$?env\b|compgen -e|typeset -x|secret-tool|-credential-\w{1,20}|export-secret|kwallet|\bbw["', ]{1,4}(?:export|list)|\bop["', ]{1,4}(?:item|document)|lpass|keepassxc|--raw\b|export-credentials|\.config["'/\\, ]{1,6}op\b|[/"']\.[\w.-]{0,12}(?:[*?]|\[[^\]\n]{1,12}\])[\w*?[]|[/"']\.\w[\w-]{0,12}[*?]?\/[\w.-]{0,12}[*?[]|[/~]\.?\{[\w.-]{1,20},|\[ ?["']env["'] ?\]|(?:^ ?|[|;&] ?|\$\( ?)env ?(?:[|>)]|$)|export -p|declare -x?p/g,
    },
    {
      says: 'evaluates code',
      find: /(?<![\w.])(?:exec|eval|compile|function)\((?!\w{0,40}\) ?\{)|\beval ["'$`]|exec_module|runin(?:this|new|context)|_compile\(|marshal\.loads|\b(?:ba)?sh -c ["']?\$/g,
    },
    {
      says: 'opens a connection',
      find: /\bsocket\.(?:socket|create_connection)\b|\bnet\.(?:connect|socket|createconnection)\b|\btls\.connect\b|\bopen_connection\(|pickle\.loads|new websocket\(|\bimport [\w, ]{0,80}\bsocket\b|\b(?:require\(|from )['"](?:node:)?(?:net|tls|ws)['"]/g,
    },
    {
      says: 'names a place that gives credentials of a machine',
      find: /169\.254\.(?:169\.254|170\.2)|metadata\.google\.internal|100\.100\.100\.200|fd00:ec2::254/g,
    },
    {
      says: 'names a file that runs by itself',
      find: /launch(?:agents|daemons)|systemd\/(?:user|system)|\.(?:bashrc|zshrc|profile|bash_profile|zprofile|zshenv|bash_login|bash_aliases|envrc)\b|config\.fish|fish\/conf\.d|etc\/(?:profile|cron|rc\.local|init\.d)|\| ?(?:sudo )?crontab|crontabs?\/|autostart|hooks\/(?:pre|post|commit|prepare|update)|(?:site|user)customize|\.pth\b|vscode\/tasks|\.(?:tmux\.conf|inputrc|vimrc|pythonrc|xinitrc|xsession|pam_environment|gitconfig|curlrc|wgetrc)\b|nvim\/init|environment\.d|profile_default|jupyter_\w{1,20}_config|\.local\/bin\/\w|settings(?:\.local)?\.json|mcp\.json|pip\.conf|\.ssh\/rc\b|authorized_keys|git config [^\n]{0,40}(?:alias\.\w{1,20} ["']?!|credential\.helper|core\.(?:fsmonitor|sshcommand|pager))/g,
    },
    {
      says: 'encrypts or goes through the home folder',
      find: /\.encrypt\(|createcipher|openssl enc\b|openssl aes|\bgpg [^\n]{0,60}(?:-c\b|--symmetric)|(?:home\(\)|["']~["']?\)?|homedir\(\))[^\n]{0,60}\b(?:rglob|glob|walk|iterdir)|\b(?:walk|glob|scandir|listdir|readdir(?:sync)?)\([^\n]{0,60}(?:home\(\)|["']~|homedir\()|\bfind ["']?(?:~|\$home|\$\{home)/g,
    },
    {
      says: 'decodes text',
      find: /b(?:64|32|16|85)decode|\batob\(|base(?:64|32) {1,4}-{1,2}d|fromhex|unhexlify|fromc(?:harcode|odepoint)|\bchr\(|\bchr,|["'\w]\[::-1\]|join\(reversed|\.reverse\(\)\.join|\bxxd [^\n|]{0,20}-r|\| ?rev\b|\btr ['"]?[\w!][\w!~-]{2,60}['"]? ['"]?[\w!][\w!~-]{2,60}|\bsed [^\n|]{0,20}['"]y[/|,#]|rot.?13|(?:\\x[0-9a-f]{2}){3}|(?:\\[0-7]{3}){3}|(?:\\u00[0-9a-f]{2}){3}|__import__\(["']|codecs\.decode|\[\+?\w{1,20}\]\)\.join\(|\.(?:chara|a)t\(\+?\w{1,20}\)\)\.join\(|\w\[(?:int\()?\w{1,20}\)?\] for \w{1,20} in|__getitem__,|\$\{\w{1,20}:\$|unescape\(|zlib\.decompress|inflatesync|gunzipsync|openssl [^\n|]{0,80} -d\b|buffer\.from\([^\n]{1,400}["'](?:base64|hex)["']\)/g,
    },
    {
      says: 'cuts a name out of a text',
      find: /\bmaketrans\(|\$\{\w{1,20}:\d{1,3}:\d{1,3}\}|\$\{\w{1,20}\/\/[^}\n]{1,20}\}|\[-?\d{0,4}:-?\d{0,4}(?::-?\d{1,3})?\] ?\+|\.(?:slice|substring|substr)\(-?\d{1,4}(?:, ?-?\d{1,4})?\) ?\+|\w\[\d{1,3}\] ?\+ ?\w{1,20}\[\d{1,3}\]/g,
    },
    {
      says: 'joins parts of a name',
      find: /[\w./~-](?:'\+'|"\+"|' \+ '|" \+ ")[\w./~-]{1,24}["']|(?:''|"")\.join\(\[|\]\.join\((?:''|"")\)|\b\w{1,6}(?:''|"")\w{1,6}\b|\b[a-z]{1,6}(?:"[a-z]{1,6}"|'[a-z]{1,6}'|\\[a-z])(?:[a-z]{1,6})?\b(?=[ /])|(?:^|[|;&] ?)(?:\/[\w?*[\]]{1,8}){0,3}\/\w{0,8}[?*[]|\$\{?ifs\b|=["']?\$\{\w{1,20}\}\w{1,12}["']?(?:$|;)|(?:^|[;&|] ?)(?:\$\{?\w{1,20}\}?){1,4} -/g,
    },
  ]),
];
