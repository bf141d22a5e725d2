/**
 * What code can do, in any language: take credentials, reach other machines, run text, stay, weaken. Signals alone: most are common, and
 * only their combinations in one script, which the instructions do not speak of, show an intent (`../capabilities.ts`).
 */
import { patterns, type Pattern } from '../pattern.ts';

interface Subject {
  /** For the message. */
  readonly says: string;
  readonly find: RegExp;
  /** Words of instructions that speak of it. */
  readonly named: RegExp;
  /** Hosts to which it belongs. */
  readonly owner?: RegExp;
}

/** Credentials and private data of the user. */
const SOURCES: readonly Subject[] = [
  {
    says: 'SSH keys',
    find: /\.ssh\/(?!known_hosts|config\b|authorized_keys|environment)(?![\w.-]{1,40}\.pub)|\.ssh["'`](?! ?,? ?["'](?:config|known_hosts|authorized_keys)["'])|\.ssh\\|(?<![\w-])id_(?:rsa|ed25519|ecdsa|dsa)\b(?!\.pub)/g,
    named: /\bssh\b|private key/,
  },
  {
    says: 'the GnuPG keyring',
    find: /\.gnupg\b|\bgpg2? [^\n]{0,60}--export-secret|secring\.gpg/g,
    named: /\bgpg|gnupg|\bpgp|signing key/,
  },
  {
    says: 'cloud credentials',
    find: /\.aws[/\\"'`, ]{1,4}(?:credentials|sso|config)|\.aws["'`]|application_default_credentials|\.config\/gcloud|gcloud\/(?:credentials|access_tokens|legacy)|\.azure[/\\"'`]|\baccesstokens\.json|msal_token_cache|\.oci\/config|\.s3cfg\b|\.boto\b|\.databrickscfg|\.terraform\.d\/credentials|rclone\.conf|doctl\/config|\.config\/hcloud|\.aliyun\/config|\bgcloud auth (?:application-default )?print-access-token|\baz account get-access-token|\baws configure (?:get|export-credentials)/g,
    named:
      /\baws\b|amazon|gcloud|google cloud|\bgcp\b|azure|vertex|terraform|databricks|oracle cloud|\bs3\b|rclone|aliyun|alibaba|cloud credentials|digitalocean|hetzner|bedrock/,
    owner: /(?:amazonaws|googleapis|google|azure|microsoftonline|windows|databricks|aliyuncs)\.(?:com|net)$/,
  },
  {
    says: 'credentials of a cluster',
    find: /\.kube\/config|\.kube["'`\\]|\bkubectl [^\n|;]{0,60}\bget [^\n|;]{0,16}\bsecrets?\b[^\n]{0,60}-o|\bkubectl config view [^\n]{0,40}--raw|secrets\/kubernetes\.io\/serviceaccount|etcdctl [^\n]{0,40}get/g,
    named: /\bkubeconfig|\.kube\b|\bsecrets?\b|service account/,
  },
  {
    says: 'tokens of a package registry',
    find: /\.npmrc\b|\.pypirc\b|\.gem\/credentials|\.cargo\/credentials|\.yarnrc\.yml|\.m2\/settings|\.nuget\/nuget\.config|composer\/auth\.json|\.gradle\/gradle\.properties|\.config\/pip\/pip\.conf/g,
    named:
      /\.?npmrc|\.?pypirc|registr|publish|\b(?:npm|cargo|gem|nuget|composer|pip) (?:token|login|credential|auth)|maven (?:settings|repositor)|gradle\.properties|artifactory|nexus|rubygems/,
    owner: /(?:npmjs|pypi|rubygems|crates|yarnpkg|nuget|packagist)\.(?:org|com|io)$/,
  },
  {
    says: 'tokens of a code host',
    find: /\.git-credentials|\bgit credential(?:-\w{1,20})? (?:fill|get)\b|\.config\/gh\b|gh\/hosts\.ya?ml|["'`]hosts\.yml|\bgh auth token\b|\bgh auth status [^\n]{0,20}(?:-t\b|--show-token)|glab-cli\/config|\.config\/hub\b/g,
    named: /\bgithub|\bgitlab|\bgh\b|\bglab\b|git credential|pull request/,
    owner: /(?:github|githubusercontent|gitlab)\.com$/,
  },
  {
    says: 'stored passwords',
    find: /\.netrc\b|\b_netrc\b|["'](?:netrc|pgpass|git-credentials|npmrc|pypirc|mylogin\.cnf)["']|\.pgpass\b|\.my\.cnf\b|\.password-store|library\/keychains|login\.keychain|\.local\/share\/keyrings|\bsecurity (?:dump-keychain|find-(?:generic|internet)-password|export)\b|\bsecret-tool (?:lookup|search)|\bcmdkey \/list|\bvaultcmd\b|passwordvault|cryptunprotectdata|protecteddata\b[^\n]{0,3}unprotect|\bnetsh wlan [^\n]{0,40}key=clear|system-connections\/|\bdockerconfigjson|\.docker\/config\.json|\.docker["'`\\]|\bkwalletd?\b|\bop (?:item get|read|vault list)\b|\bbw (?:get|list|export) |lastpass|\.kdbx\b|\.vault-token|\/etc\/shadow|\bsam\.hive|hklm[\\]sam|lsass|\bkeyring\.get_password\(/g,
    named:
      /\bnetrc|pgpass|keychain|keyring|password|1password|bitwarden|\bop read|\bvault\b|docker|credential|secret|wi-?fi|kdbx|keepass/,
  },
  {
    says: 'a browser profile',
    find: /google[/\\-]{1,2}chrome[/\\"'`]|google-chrome["'`/]|mozilla[/\\]{1,2}firefox|firefox[/\\]{1,2}profiles|bravesoftware|microsoft[/\\]{1,2}edge[/\\]|application support\/(?:google|firefox|brave|arc|vivaldi|com\.operasoftware|microsoft edge)|\.config\/(?:chromium|vivaldi|opera)|\blocal state\b|["']user data["']/g,
    named:
      /(?:browser|chrom\w{1,3}|firefox|saved|stored|user)[^.\n]{0,40}\b(?:cookies?\b(?! (?:banner|consent))|passwords?|logins?|profile|session|history|data)|\bcookies? (?:from|of|in|jar)|logged[- ]in|bookmark|user data/,
  },
  {
    says: 'the logins that a browser keeps',
    find: /\blogin data\b|\bcookies\.sqlite|\bkey[34]\.db|\blogins\.json|\bcookies\.binarycookies|browser_cookie3|\bencrypted_value\b|\bpassword_value\b|\bmoz_cookies\b|\bfrom (?:cookies|logins)\b|\bhost_key\b|[/\\]cook(?:ies)?\*|["'`/]web data["'`]/g,
    named:
      /(?:browser|chrom\w{1,3}|firefox|saved|stored|user)[^.\n]{0,40}\b(?:cookies?\b(?! (?:banner|consent))|passwords?|logins?|profile|session|data)|\bcookies? (?:from|of|in|jar)|logged[- ]in|credential/,
  },
  {
    says: 'wallets',
    find: /\bwallet\.dat\b|\.electrum\b|\.bitcoin[/\\"']|\.ethereum[/\\"']|\bkeystore\/utc|solana\/id\.json|\.config["'`/\\, ]{1,6}solana\b|exodus\.wallet|\bexodus["'/\\]|nkbihfbeogaeaoehlefnkodbefgpgknn|atomic[/\\]local storage|\.monero\b|ledger live/g,
    named: /wallet|bitcoin|ethereum|solana|crypto|monero|seed phrase/,
  },
  {
    says: 'the history of a shell',
    find: /\.(?:bash|zsh|sh|python|psql|mysql|node_repl|irb|rediscli)_history\b|\bconsolehost_history|\bfish_history|\$\{?histfile\b|\bget-psreadlineoption\)?\.historysavepath/g,
    named: /histor/,
  },
  {
    says: 'credentials of agents',
    find: /\.claude[/\\]\.credentials|\.codex[/\\]auth\.json|\.gemini[/\\]oauth|\.config\/(?:openai|anthropic)|github-copilot\/(?:hosts|apps)\.json|\.cursor[/\\][^\n]{0,30}(?:token|state\.vscdb)|\.openclaw[/\\](?:credentials|\.env)/g,
    named: /claude|codex|gemini|copilot|cursor|openclaw|\bquota|usage|credential|oauth/,
    owner: /(?:anthropic|claude|openai|chatgpt|googleapis|github)\.(?:com|ai)$/,
  },
  {
    says: 'conversations with agents',
    find: /\.claude["'`/\\, ]{1,6}(?:projects|history)|\.codex["'`/\\, ]{1,6}(?:sessions|history)|\.gemini["'`/\\, ]{1,6}(?:tmp|history)|\.cursor["'`/\\, ]{1,6}chats?\b/g,
    named: /transcript|session|conversation|histor|usage|cost|\bchats?\b/,
  },
  {
    says: 'a password that a dialog asks for',
    find: /\bhidden answer\b|\bzenity [^\n]{0,80}--password|\bkdialog [^\n]{0,40}--password|\bpromptforcredential\(/g,
    named: /password|passphrase|credential/,
  },
  {
    says: 'the credentials of this machine in its cloud',
    find: /\bsecurity-credentials\b|service-accounts\/[^\n]{0,60}\/token\b|metadata\/identity\/oauth2|169\.254\.170\.2/g,
    named: /metadata|imds|instance role|ssrf/,
  },
  {
    says: 'messages of other programs',
    find: /library\/messages|\bchat\.db\b|telegram desktop|\btdata\b|discord[/\\][^\n]{0,40}leveldb|local storage[/\\]leveldb|slack[/\\][^\n]{0,30}cookies|signal[/\\]config\.json|\.thunderbird\b|thunderbird[/\\]profiles|library\/mail\b|\.pst["'`]|\.ovpn\b|\/etc\/wireguard/g,
    named: /messag|telegram|discord|slack|signal|e?mail|thunderbird|outlook|vpn|wireguard/,
  },
  {
    says: 'secret files of projects',
    find: /\*\*\/\*?\.(?:env|pem|key|p12|pfx)\b|\bfind [^\n]{0,160}-name ["'\\]{0,2}(?:\*?\.?(?:env|pem|p\?m|key|p12|credentials)\b|\*?id_[\w*])|\b(?:file_get_contents|file|fopen|readfile)\([^\n]{0,60}(?:\.env["']|wp-config\.php|\.htpasswd)|\bfile\.(?:read|open)\([^\n]{0,60}\.env["']|\brglob\( ?["']\*?\.(?:env|pem|key)|\b(?:endswith|hassuffix|ends_with|end_with|str_ends_with)[?]?\( ?\(?(?:[\w.]{1,40}, ?)?["']\.(?:env|pem|key|p12)\b|\b(?:hasprefix|starts_with|start_with|str_starts_with)[?]?\( ?(?:[\w.()]{1,40}, ?)?["'](?:id_|\.env)|\b(?:os\.(?:open|readfile)|ioutil\.readfile|read_to_string|fs::read|fopen|readtextfile\w{0,4}|files\.read\w{0,12}|io\.open)\( ?[^\n()]{0,60}["'](?:\.\/)?\.env(?:\.(?:local|production))?["']|["'/*](?:[\w.]{0,12}\*)?(?:cred|token|secret|passw|wallet|id_)[a-z]{0,8}\*|["'/]\.?\*(?:cred|token|secret|passw|wallet)[a-z]{0,8}[*"'.]/g,
    named: /\.env\b|dotenv|\benv files?|secret|credential|certificate|\.pem\b|\.key\b/,
  },
  {
    says: 'the whole repository',
    find: /\bgit remote (?:add|set-url) [^\n]{0,40}https?:\/\/[^\n/ ]{0,60}@|\bgit push [^\n]{0,40}--(?:mirror|all)\b|\bgit push [^\n]{0,20}https?:\/\/|\bgit bundle create/g,
    named: /\bpush|mirror|remote|backup|bundle/,
  },
  {
    says: 'tokens in the environment',
    find: /\b(?:github_token|gh_token|gitlab_token|npm_token|pypi_token|aws_secret_access_key|aws_session_token|openai_api_key|anthropic_api_key|stripe_secret_key|slack_bot_token|database_url|actions_id_token_request\w{0,10}|actions_runtime_token|tojson\( ?secrets ?\)|kubeconfig|vault_token|azure_client_secret|twine_password)\b|\/run\/secrets\//g,
    named:
      /api[_ -]?key|token|github|gitlab|openai|anthropic|claude|\baws\b|\bnpm\b|pypi|stripe|database|postgres|\bsql|slack|credential|environment|\bllm\b|\bgpt|\bmodels?\b|\bai\b|kube|vault|azure|deploy|\.env\b|secret/,
  },
  {
    says: 'the whole environment',
    find: /\bin environ\b|%env\b(?! ?=)|\bkeys ?%env|\benv\.(?:to_h|to_a|each|inspect|map|to_json|select|sort|collect)\b|\b(?:get-childitem|gci|dir|ls|get-item) (?:-path )?env:|\[(?:system\.)?environment\]::getenvironmentvariables\(|(?<!\w)getenv\(\)|\bos\.environ\(\)|\bstd::env::vars\(|\bsystem\.getenv\(\)|\$_env\b(?! ?\[)|\/proc\/(?:self|\d{1,7}|\$\w{1,20}|\*)\/environ|\bdict\( ?os\.environ ?\)|\bsys\.getenv\(\)|\.renviron\b|\bjson\.dumps\( ?(?:dict\( ?)?os\.environ|\bjson\.stringify\( ?process\.env ?[,)]|\{ ?\.\.\.process\.env ?\}\)|\benv: ?process\.env ?\}(?=[^\n]{0,3}$)|\bdeclare -(?:xp|px|x)\b(?! ?\w)|\bcompgen -e\b|(?:^|[;&|(] ?)(?:env|printenv|export -p|declare -x?p) ?(?:>|\|(?! ?(?:grep|sort|less|head|wc|awk|cut)))|\bobject\.(?:entries|keys|assign)\((?:\{\}, ?)?process\.env\)/g,
    named: /environment variables|\benv vars?\b/,
  },
  {
    says: 'what a user types or copies',
    find: /\bpynput\b|\bkeyboard\.(?:on_press|hook|record)\(|getasynckeystate|setwindowshookex|\bpyperclip\.(?:paste|waitfornewpaste)\(|\bget-clipboard\b|\bclipboard\.gettext\(|\bpbpaste\b|\bwl-paste\b|\bxclip [^\n]{0,40}-o\b|\bxsel (?:-b|--clipboard)? ?-{1,2}o|\biohookk?\b|\bcgeventtap|\bclipboard_get\(|\bgetclipboarddata\b|\bnspasteboard\b|\bclipboardy?\.(?:read\w{0,5}|get)\(|\bget_clipboard\(/g,
    named: /clipboard|paste|keystroke|keyboard|hotkey|typing|dictat/,
  },
];

/** Ways to another machine, by language. */
const SINKS: readonly RegExp[] = [
  // Python.
  /\b(?:requests|httpx|session)\.(?:post|put|patch|request|get)\(|\burlopen\(|\burllib3?\.(?:request|poolmanager)|\bhttp\.client\b|\bhttps?connection\(|\baiohttp\b|\bsmtplib\b|\bftplib\b|\bparamiko\b|\bsocket\.(?:socket|create_connection)\b|\bput_object\(|\bupload_fileobj\(|\bupload_file\(|\bgethostbyname\(|\bdns\.resolver|\bpycurl\b|\bwebsockets?\.(?:connect|create_connection)\(|\bxmlrpc\.client|\btelnetlib|\b(?:imap|pop|nntp)lib\b|\bboto3\b|\bgoogle\.cloud\b|\bazure\.storage\b|\bpika\b|\bpaho\b|\bpymongo\b|\bpsycopg|\bslack_sdk\b|\basyncssh\b|\bpysftp\b|\bdns\.query\b|\bgetaddrinfo\(|\bwebbrowser\.open\(|\bdropbox\b|\bgspread\b|\bfsspec\b|\btwine\b/g,
  // JavaScript.
  /(?<![\w.])fetch\(|\baxios\b|\bhttps?\.(?:request|get)\(|\bxmlhttprequest\b|\bnet\.(?:connect|createconnection|socket)\b|\btls\.connect\(|\bnew websocket\(|\bdgram\b|\bdns\.(?:resolve\w{0,6}|lookup)\(|\bcreatetransport\(|\bsendbeacon\(|\bundici\b|\bsuperagent\b|\brequire\(["'](?:got|needle|request|node-fetch|ws|http2)["']|\bfrom ["'](?:got|needle|node-fetch|ws|ky)["']|\bnew eventsource\(|\brtcpeerconnection\b|\bnodemailer\b|\boctokit\b|["'](?:mqtt|amqplib|ioredis|redis|ssh2|basic-ftp|socket\.io-client|@aws-sdk\/[\w-]{2,30}|firebase[\w/-]{0,20}|@supabase\/[\w-]{2,30}|http2)["']/g,
  // Shells.
  /\bcurl(?:\.exe)? |\bwget |(?:^|[|;&(] ?)(?:nc|ncat|netcat|socat|telnet|sftp|ftp|lftp|tftp|swaks|mutt|mailx?|sendmail|s-nail|nslookup|dig|drill|finger|websocat|croc|magic-wormhole|wormhole|aria2c) |\bscp |\brsync [^\n]{0,200}:|\/(?:dev|inet)\/(?:tcp|udp)\/|\baws s3 (?:cp|sync|mv)|\bgsutil |\brclone (?:copy|sync|move)|\baz storage blob|\bgh (?:gist|issue|release|api|pr|repo) |\bgit push\b|\bgetent (?:a?hosts\w{0,2}) |\b(?:npm|yarn|pnpm|cargo|poetry|uv|hatch|flit) publish\b|\bgem push\b|\btwine upload\b|\bdocker push\b|\bs3cmd put\b|\bmosquitto_pub\b|\bredis-cli -|\bopenssl s_client|\| ?ssh /g,
  // Perl, Ruby, PHP.
  /\blwp::|\bhttp::(?:tiny|request|lite)|\bio::socket|\bnet::(?:http|smtp|ftp|ssh|scp|sftp|ping|dns)|\bmime::lite|\bemail::send|\bwww::mechanize|\bmojo::useragent|\bopen-uri\b|\buri\.open\(|\bhttparty\b|\bfaraday\b|\brest-?client\b|\b(?:tcp|udp)socket\.|\bexcon\b|\btyphoeus\b|\bsocket\( ?(?:my )?\$|\bfsockopen\(|\bstream_socket_client\(|\bcurl_(?:init|exec)\(|(?<![\w$>])mail\( ?\$|\bguzzle|\bfile_get_contents\( ?["']https?:|\bstream_context_create\(/g,
  // PowerShell and other languages of Windows.
  /\binvoke-(?:webrequest|restmethod)\b|(?<![\w-])(?:iwr|irm) |\bnet\.webclient\b|\.upload(?:string|file|data|values)\(|\bnet\.http\.httpclient\b|\bsend-mailmessage\b|\bsockets\.(?:tcp|udp)client\b|\bstart-bitstransfer\b|\bresolve-dnsname\b|\bmsxml2\.|\bwinhttp\.|\bnet\.mail\./g,
  // Compiled languages, Lua, AppleScript.
  /\bhttp\.(?:post|postform|newrequest(?:withcontext)?|get)\(|\bnet\.dial(?:timeout)?\(|\bsmtp\.sendmail\(|\breqwest\b|\bureq::|\btcpstream::connect|\bhttpurlconnection\b|\bhttpclient\.new|\burlsession\b|\bsocket\.http\b|\brequire ?\(?["']socket|\bcurl_easy_|\bhttr2?::|\brcurl\b|\bdownload\.file\(|\bhttp\.send\b|\bhttpclient\b|\binternetopen|\bnew socket\(/g,
];

/** Ways by which code stays or returns. */
const STAYS: readonly Subject[] = [
  {
    says: 'jobs that run by themselves',
    find: /\| ?(?:sudo )?crontab\b|\bcrontab (?:-u \w{1,20} )?(?:-(?= |$)|\/tmp|["']?\$|<)|(?:>>?|\btee (?:-a )?|\bcp [^\n]{0,80}|write\w{0,12}\(|open\() ?["']?\/(?:etc|var\/spool)\/cron|\bschtasks(?:\.exe)?["', ]{1,4}\/create|\b(?:register|new|set)-scheduledtask\b(?!action|trigger)|\bat now\b|\bsystemd-run [^\n]{0,80}--on-|\bsystemctl [^\n]{0,40}enable\b|\blaunchctl[ "',]{1,4}(?:load|bootstrap|submit)\b|library\/launch(?:agents|daemons)|\.config\/systemd\/user|\/etc\/systemd\/system\/|\.config\/autostart|\/etc\/rc\.local|\/etc\/init\.d\/|\/etc\/profile\.d\/|currentversion\\{1,2}run\b|start menu\\{1,2}programs\\{1,2}startup|\b__eventfilter\b|\bset-wmiinstance|\bnew-service\b|\bsc(?:\.exe)? create\b|\blogin items?\b[^\n]{0,40}\bmake new\b/g,
    named:
      /\bcron|systemd|systemctl|launchd|launch ?agent|launch ?daemon|launchctl|schedul|daemon|background (?:service|process|job|task)|autostart|auto-start|startup|start(?:s|ed|ing)? (?:at|on|with) (?:boot|login)|at login|on login|\bat boot|periodic|service (?:file|unit)|as a service|task scheduler|\bservices?\b|\bevery (?:day|hour|night|morning|\d)|nightly|daily|hourly|recurring|heartbeat/,
  },
  {
    says: 'commands that PowerShell runs at its start',
    find: /\bmicrosoft\.powershell_profile|(?:add|set)-content[^\n]{0,40}\$profile\b|\bout-file[^\n]{0,40}\$profile\b|>> ?["']?\$profile\b/g,
    named: /\bprofile|startup|completion|prompt/,
  },
  {
    says: 'commands that Git runs by itself',
    find: /\bgit config [^\n]{0,40}core\.(?:fsmonitor|pager|editor|sshcommand|askpass) ["']?(?:(?:ba|z)?sh |[$!]|\/tmp|python|node |perl |curl )|\bgit config [^\n]{0,40}(?:init\.templatedir|core\.hookspath) |\bgit config [^\n]{0,40}(?:filter\.\w{1,30}\.(?:clean|smudge)|diff\.\w{1,30}\.textconv) ["']?(?:(?:ba|z)?sh |[$!]|\/tmp|curl )/g,
    named: /fsmonitor|watchman|\bpager|sshcommand|askpass|\bhooks?\b|\bfilter|textconv|git config/,
  },
  {
    says: 'access for others',
    find: /(?:>|\btee |\bwrite\w{0,12}\(|\bopen\(|\bappendfile\w{0,4}\(|-content )[^\n|;]{0,120}(?:authorized_keys|sudoers|ld\.so\.preload|\/etc\/pam\.d)|\b(?:cp|mv|install|ln) [^\n;|&]{1,160}[ /](?:authorized_keys|sudoers(?:\.d\/[\w-]{1,40})?|ld\.so\.preload)["']?(?: ?$| ?[;&|])|authorized_keys["'`)]{1,3}[^\n]{0,20}(?:,|\.open\(|\.write_text\() ?["'](?:a|w|ssh-)|\becho [^\n]{0,200}nopasswd|\bnopasswd: ?all\b|\buseradd\b[^\n]{0,80}-(?:ou|o) |\bnet (?:user|localgroup) [^\n]{0,60}\/add|\bchmod (?:u\+s|[2467]7[0-7]{2}) |\bclusterrolebinding\b[^\n]{0,120}cluster-admin|\battach-(?:user|role)-policy\b[^\n]{0,120}administratoraccess|\bcreate-access-key\b|\bssh [^\n]{0,120}-\w{0,4}r ?["']?(?:[\w.*]{1,20}:)?\d{2,5}:|\bngrok (?:tcp|start)|\bcloudflared (?:tunnel|access)|\bchisel (?:client|server)|\bfrpc\b|\btmate\b|\bdocker run\b[^\n]{0,200}(?:-v|--volume[= ]) ?["']?\/(?:root|etc|home)?:/g,
    named:
      /authorized_keys|sudoers|nopasswd|passwordless|tunnel|ngrok|cloudflared|\btmate\b|cluster-admin|rbac|administratoraccess|access key|privileged|port forward|reverse proxy|\bssh (?:key|access|setup)|new user|useradd|setuid/,
  },
  {
    says: 'weaker protection',
    find: /\bset-mppreference\b[^\n]{0,80}-(?:disable|exclusion)|\badd-mppreference\b[^\n]{0,60}-exclusion|\bsetenforce 0|\bufw disable|\biptables (?:-f|--flush)|\bcsrutil disable|\bspctl [^\n]{0,20}--(?:master|global)-disable|\bxattr -\w{0,3}[dc]\w{0,3} [^\n]{0,40}quarantine|\bsystemctl [^\n]{0,30}(?:stop|disable|mask) [^\n]{0,30}(?:auditd|firewalld|apparmor|falcon|crowdstrike|osquery|wazuh|clamav|rsyslog|fail2ban)|\bnetsh (?:advfirewall|firewall) [^\n]{0,60}(?:off|disable|allow)|\bset-netfirewallprofile [^\n]{0,40}false|\bauditctl -(?:d|e 0)|\bset-executionpolicy [^\n]{0,40}(?:bypass|unrestricted)[^\n]{0,40}(?:localmachine|currentuser)|\bamsiinitfailed|\bamsiutils|\bdisableantispyware|\benablelua\b|\bhistfile=\/dev\/null|\bunset histfile|\bhistory -c\b|\bclear-eventlog|\bwevtutil cl|\btrusted-root|\badd-trusted-cert|\bupdate-ca-(?:certificates|trust)|\bcertutil [^\n]{0,30}-addstore|\bgit config [^\n]{0,30}(?:http\.proxy|core\.hookspath|url\.[^\n]{1,80}\.insteadof|credential\.helper ["']?!)|\b(?:npm|yarn|pnpm) config set (?:[^\n]{0,20}registry|script-shell|https?-proxy)|\bpip3? config set [^\n]{0,30}(?:index-url|trusted-host)|\/etc\/(?:hosts|resolv\.conf)["']? ?(?:,|<<|$)|>>? ?["']?\/etc\/(?:hosts|resolv\.conf)/g,
    named:
      /defender|antivirus|selinux|setenforce|firewall|\bufw\b|iptables|gatekeeper|quarantine|execution ?policy|certificate|\bca\b|proxy|registry|mirror|index-url|insteadof|hookspath|git hooks?|hosts file|\/etc\/hosts|\bdns\b|apparmor|\bsip\b|event log|history/,
  },
];

/** Code that runs a text that is not written where it runs. */
const EVALUATES: readonly RegExp[] = [
  /(?<![\w.$])(?:exec|eval)\( ?(?!["'`)\]]|f["'])|\bcompile\([^\n]{1,200}, ?["']exec["']|\brunpy\.run_|\bmarshal\.loads\(|\bfunctiontype\(/g,
  /\b__builtins__(?:\.__dict__)?\[|\bbuiltins\.__dict__|\bgetattr\( ?(?:builtins|__builtins__|os|subprocess|sys|importlib)\b|\b(?:globals|locals)\(\) ?\[ ?(?!["'])|\b(?:__import__|import_module)\( ?(?!["'])|\bobject\.const_get\(|\bkernel\.(?:send|method)|\b(?:globalthis|window|global)\[ ?(?!["'])/g,
  /\bnew function\(|(?<![\w.$])function\( ?["'`](?:return|\w{1,20}["'`],)|\.constructor\)? ?\(|\bvm\.(?:runin\w{1,20}|compilefunction|script)\b|\b_compile\(/g,
  /\b(?:instance|class|module)_eval\b|\beval (?:\$|\(|(?:un)?pack\b|decode_base64|join\b|reverse\b|scalar\b|uudecode)|\beval\{? ?\$|\bassert\( ?\$|\bcreate_function\(|\bcall_user_func(?:_array)?\( ?\$|\bpreg_replace\([^\n]{0,80}\/e["']|\bsend\( ?\w{1,40}[^\n]{0,40}\.(?:reverse|tr|pack|unpack)|\bloadstring\(/g,
  /(?<![\w-])iex\b|\binvoke-expression\b|\bscriptblock\]::create|[&.] ?\( ?(?:\$|["'][\w-]{1,12}["'] ?[+-]|\[|-join)|\bassembly\]::load|\badd-type\b[^\n]{0,40}\$|["']& ?["'] ?\+ ?\$|\bget-command\b[^\n]{0,160}\[\d\]|[&.] ?\( ?(?:get-command|gcm)\b/g,
  // A program whose name is the result of a function.
  /\bexec\.command\( ?(?!["'`]|os\.|filepath\.|path\.|fmt\.)\w{1,40}\(|\bcommand::new\( ?(?!["'&]|std|env)\w{1,40}\(/g,
];

/** A text that is shown only by computing it. */
const DECODES: readonly RegExp[] = [
  /\bb(?:64|32|16|85)decode\b|\ba85decode\b|\bfromhex\(|\bunhexlify\(|\bcodecs\.decode\(|\brot.?13\b|\bchr\( ?[\w[\]]{1,40} ?[\^+-]|\bmap\( ?chr\b|\bbytes\([^\n]{0,60}\^|\bzlib\.decompress\(|\blzma\.decompress\(|\bord\([^\n]{1,40}\) ?[\^+-] ?(?!ord)\w|["'\w)]\[::-1\](?=[^\n]{0,40}\)|$)|\bjoin\(reversed\(|\bbytearray\([^\n]{0,60}\^/g,
  /(?<![\w.])atob\(|\bfromc(?:harcode|odepoint)\([^\n]{0,60}(?:\^|-|\+|\.\.\.)|\bbuffer\.from\([^\n]{1,200}, ?["'](?:base64|hex)["']|\.reverse\(\)\.join\(|\b(?:inflate|gunzip|brotlidecompress)(?:raw)?sync\(|\bcharcodeat\([^\n]{0,20}\) ?[\^-]|\bunescape\(|\.map\([^\n]{0,60}[\w)\]] ?\^ ?[\w(]/g,
  /\bmime::base64|\bdecode_base64\(|\bunpack\( ?["']|\.unpack1?\(? ?["'](?:m|h)|\bpack\(? ?["'](?:h|c|u)\*|\bbase64\.(?:strict_|urlsafe_)?decode64|\bbase64_decode\(|\bgzinflate\(|\bstr_rot13\(|\bstrrev\(|\bhex2bin\(|\bscalar reverse\b|\.each_byte[^\n]{0,40}\^|\bord\b[^\n]{0,20}\^/g,
  /\bfrombase64string\(|\[char\](?: ?\(| ?0x| ?\d| ?\$)|-bxor\b|\[array\]::reverse|\^ ?(?:byte|uint8|rune)\( ?|\bas_bytes\(\)[^\n]{0,60}\^|-join ?\(? ?["'$][^\n]{0,40}\[ ?-1|\bio\.compression\b|\[-1\.\.-/g,
];

/** Opens a connection in a language in which little else is read from one. */
const CONNECTS: readonly RegExp[] = [
  /\bio::socket::|\bsocket\( ?(?:my )?\$?\w{1,20}, ?pf_inet|\btcpsocket\.(?:new|open)|\bsocket\.tcp\(|\bfsockopen\(|\bstream_socket_client\(|\bsocket_connect\(|\bsockets\.tcpclient\b|\bnet\.dial(?:timeout)?\(|\btcpstream::connect|\bsocket\.tcp\(\)|\/inet\/tcp\/|\bnew socket\(/g,
  /\.recv(?:from|_into)?\(|\.makefile\(|\basyncio\.open_connection\(|\.read_until\(|\bnet\.(?:connect|createconnection|socket)\b|\btls\.connect\(/g,
];

/** Starts a shell, or what the other side says. */
const SHELLS: readonly RegExp[] = [
  /["'`/ ](?:ba|z|da|k)?sh["'`]? ?,? ?["'`]?-i\b|["'`](?:\/usr)?\/bin\/(?:ba|z|da|k)?sh["'`]|["'`](?:cmd|powershell)(?:\.exe)?["'`]|\bpty\.spawn\(|\bdup2\(|\bshell ?= ?true|\bos\.popen\(|\bspawn\( ?["'`](?:ba|z)?sh["'`]|\bgetoutput\(|\bcreate_subprocess_shell\(/g,
];

/** Looks for a function among all that there are, so that no name shows which. */
const LOOKS_UP: readonly RegExp[] = [
  /\bgetownpropertynames\( ?(?:\w|globalthis|window|global)\)|\b__subclasses__\(\)|\bdir\( ?(?:builtins|__builtins__|os|subprocess)\)|\bvars\( ?(?:builtins|__builtins__|os|subprocess)\)|\bobject\.(?:keys|entries)\( ?(?:globalthis|global|window)\)/g,
];

/** Starts a program, in languages that are not followed. */
const STARTS_ANY: readonly RegExp[] = [
  /\bexec\.command\(|\bcommand::new\(|\bproc_open\(|\bshell_exec\(|\bpassthru\(|(?<![\w.>])system[ (]|\bpopen3?[ (]|\bopen3\b|\bio\.popen|\bopen\(? ?std(?:in|out)|\$std(?:in|out)\.reopen|(?<![\w-])iex\b|\binvoke-expression\b|\bdiagnostics\.process|\bruntime\.getruntime|\bos\.execute\(|\| ?getline\b|\bqx[({/]|= ?`[^`\n]{0,60}[#$]/g,
];

/** The settings of coding agents. */
const AGENT_SETTINGS: readonly RegExp[] = [
  /\.claude["'`/\\]|\.codex["'`/\\]|\.gemini["'`/\\]|\.cursor["'`/\\]|\.qwen["'`/\\]|\.config\/opencode|opencode\.json|\bsettings\.local\.json/g,
];

/** Settings with which an agent asks no more, or speaks to another model. */
const LOOSENS: readonly RegExp[] = [
  /\bbypasspermissions\b|["'`]bash\(\*\)["'`]|\bdanger-full-access\b|\bapproval_policy["']? ?[=:] ?["']never|\bskipdangerousmodepermissionprompt\b|\benableallprojectmcpservers["']? ?[:=] ?true|\b(?:chat\.tools\.)?autoapprove["']? ?[:=] ?true|["'](?:approvalmode|default_?mode)["']? ?[:=] ?["'](?:yolo|bypass)/g,
  /\b(?:anthropic|openai|gemini|claude)\w{0,12}_(?:base_url|api_base|api_url|endpoint)["'`\]]{0,2} ?[:=] ?["'`]?https?:\/\/(?!localhost|127\.|0\.0\.0\.0|api\.anthropic\.com|api\.openai\.com|generativelanguage|[\w.-]{0,40}example)/g,
];

/** Erases files, and the folders of a user's own documents. */
const ERASES: readonly RegExp[] = [
  /\brmtree\(|\brm(?:sync|dir)?\([^\n]{0,200}recursive|\brimraf\b|\bshred\b|(?<![\w:])rm -\w{0,4}r|: ?> ?["']?\$|\bremove-item\b|\bfileutils\.rm_r|\bos\.removeall\(|\bremove_tree\b|\bunlink\w{0,4}\(|\bos\.remove\(|\btruncate -s ?0|\bfs::remove_dir_all/g,
];
const PERSONAL_FOLDER: readonly RegExp[] = [
  /["'`/\\](?:documents|desktop|pictures|photos|movies)(?:["'`/\\*]|$|[ ;])/g,
];

/** What agents read before they work, and how it is changed. */
const SKILLS_FOLDER: readonly RegExp[] = [
  /\.(?:claude|codex|agents|cursor|gemini|openclaw|qwen)["'`/\\, ]{1,6}skills?\b[^\n]{0,80}(?:\*|skill\.md|glob|readdir|iterdir|listdir)|(?:glob|rglob)\([^\n]{0,40}skill\.md/g,
];
const CHANGES_FILES: readonly RegExp[] = [
  /\.write_text\(|\b(?:write|append)file(?:sync)?\(|>> ?["']?\$|\bopen\([^\n]{1,60}["']a["']|\bsed -i|\btee -a/g,
];

/** Where Python looks for modules, and what it runs there whenever it starts. */
const PYTHON_FOLDER: readonly RegExp[] = [/\bget(?:user)?sitepackages\(|\buser_site\b|\bsite-packages\b|\bpurelib\b/g];
const PYTHON_START: readonly RegExp[] = [/\.pth["'`\\]|\b(?:site|user)customize\b/g];

/** A task that an editor starts when a folder is opened. */
const EDITOR_START: readonly RegExp[] = [/\brunon["']? ?[:=] ?["']folderopen/g];

/** By the words of the message. */
export const SUBJECTS: ReadonlyMap<string, Subject> = new Map(
  [...SOURCES, ...STAYS].map((subject) => [subject.says, subject]),
);

const signals = (means: Pattern['means'], finds: readonly RegExp[]): readonly Pattern[] =>
  patterns(
    'code',
    means,
    finds.map((find) => ({ says: '', find })),
  );

export const CAPABILITY_PATTERNS: readonly Pattern[] = [
  ...patterns(
    'code',
    'takes',
    SOURCES.map(({ says, find }) => ({ says, find })),
  ),
  ...patterns(
    'code',
    'stays',
    STAYS.map(({ says, find }) => ({ says, find })),
  ),
  ...signals('reaches', SINKS),
  ...signals('evaluates', EVALUATES),
  ...signals('decodes', DECODES),
  ...signals('connects', CONNECTS),
  ...signals('shells', SHELLS),
  ...signals('starts-any', STARTS_ANY),
  ...signals('looks-up', LOOKS_UP),
  ...signals('all-secrets', [/\btojson\( ?secrets ?\)/g]),
  ...signals('agent-settings', AGENT_SETTINGS),
  ...signals('loosens', LOOSENS),
  ...signals('erases', ERASES),
  ...signals('personal-folder', PERSONAL_FOLDER),
  ...signals('skills-folder', SKILLS_FOLDER),
  ...signals('changes-files', CHANGES_FILES),
  ...signals('python-folder', PYTHON_FOLDER),
  ...signals('python-start', PYTHON_START),
  ...signals('editor-start', EDITOR_START),
];
