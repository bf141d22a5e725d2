/** Access to credentials and personal data, and exfiltration. */
import { patterns, type Pattern } from '../pattern.ts';

const OWN_HOST = String.raw`localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\]|(?:[\w-]{1,30}\.)?example\.(?:com|org|net)\b|your[-_a-z]{0,20}\.|<|\$|\{`;
/** A literal URL of a third party. */
const FOREIGN = String.raw`https?:\/\/(?!${OWN_HOST})`;

/** Names only files that package managers and cloud tools document for their own configuration, and neither copies nor prints them. */
const TOOL_CONFIGURATION_ONLY =
  /^(?!.*(?:\.ssh|\.gnupg|\.netrc|\.git-credentials|\.password-store|keychains|\.mozilla|google|firefox|brave|\.electrum|\.bitcoin|\.ethereum|solana))(?!.*\b(?:cat|cp|tar|zip|curl|scp|rsync|base64|read_text|readfile\w{0,4}|open|upload|send|post|reads?|copy|dump|extract|collect)\b)/;

export const SECRET_PATTERNS: readonly Pattern[] = [
  ...patterns('any', 'credential-path', [
    {
      milder: TOOL_CONFIGURATION_ONLY,
      find: /(?:~|\$home|\$\{home\}|\/home\/[^/\n ]{1,30}|\/users\/[^/\n ]{1,30}|\/root|%userprofile%|homedir\(\)[^\n]{0,10}|path\.home\(\)[^\n]{0,10})[/\\"', ]{1,4}(?:\.ssh\b(?!\/known_hosts|[/\\"', ]{1,4}[\w.-]{1,40}\.pub\b)|\.aws\b|\.gnupg\b|\.netrc\b|\.git-credentials\b|\.docker\/config\.json|\.kube\b|\.config\/gcloud|\.azure\b|\.npmrc\b|\.pypirc\b|\.password-store\b|library\/keychains|\.mozilla|\.config\/google-chrome|library\/application support\/(?:google|firefox|brave)|\.electrum|\.bitcoin|\.ethereum|\.config\/solana)/g,
      says: 'names a credential location',
    },
    {
      severity: 'medium',
      find: /(?:~|\$home|\$\{home\}|homedir\(\)[^\n]{0,10}|path\.home\(\)[^\n]{0,10})[/\\"', ]{1,4}\.(?:clawdbot|openclaw|codex|claude|gemini)[/\\"', ]{1,4}(?:\.env|\.?credentials|auth)\b/g,
      says: "names an agent's credentials",
    },
    {
      find: /(?<![\w-])(?:id_rsa|id_ed25519|id_ecdsa|\.aws\/credentials|login data|cookies\.sqlite|logins\.json|key4\.db|wallet\.dat|\/etc\/shadow|\/etc\/sudoers|\/proc\/self\/environ|ntds\.dit|\.git-credentials|keychain-db)(?![\w.-]{0,20}\.pub)\b/g,
      unless: /authorized_keys|ssh-keygen|\.pub\b/,
      says: 'names a credential file',
    },
    {
      find: /\bsecurity (?:find-(?:generic|internet)-password|dump-keychain|export)\b|\bsecretsdump|\bmimikatz\b|\bcmdkey \/list|\bvaultcmd\b|\blazagne\b|\bsecret-tool (?:lookup|search)\b/g,
      says: 'reads a credential store',
    },
  ]),
  ...patterns('prose', 'credential-path', [
    {
      find: /\b(?:collect|gather|find|locate|read|copy|scan|search|extract|harvest|dump|export)(?:s|ing)?\b(?<!\breads)[^.\n]{0,80}(?:\bssh keys?\b|\.ssh\b|\bprivate keys?\b|\baws credentials\b|\bseed phrases?\b|\bmnemonic phrases?\b|\bbrowser (?:cookies|passwords|data|history)\b|\bsaved passwords\b|\bkeychain\b|\bcrypto wallets?\b)/g,
      says: 'instructs to collect credentials',
    },
  ]),
  ...patterns('any', 'environment-harvest', [
    {
      find: /\b(?:printenv|env|set)\b ?(?:\||>) ?(?:curl|nc|base64|tee|\w{1,20}\.txt|\/tmp\/)|json\.dumps\((?:dict\()?os\.environ\b|json\.stringify\(process\.env\)|\bdict\(os\.environ\)[^\n]{0,60}(?:post|send|dump)/g,
      says: 'reads the whole environment',
    },
    {
      find: /\bfind\b[^\n]{0,80}-name ["']?(?:\*?\.env|\*\.pem|\*\.key|id_\w{1,8})|(?:glob|walk|scandir)\w{0,6}\([^\n]{0,60}["'](?:\*\*\/)?\*?\.(?:env|pem|key)\b/g,
      says: 'searches for secret files',
    },
  ]),
  ...patterns('prose', 'environment-harvest', [
    {
      find: /\b(?:collect|gather|scan|search|find|locate|look|harvest|upload|send|grab)\b[^.\n]{0,80}(?:\.env\b(?!`? (?:files? )?(?:in|from|at) (?:the |your )?(?:current|project|working|root|parent|same|skill)\b)|\benvironment (?:files|variables)\b|\benv files?\b|\bapi keys\b|\bsecrets?\b|\btokens?\b)[^\n]{0,40}\b(?:upload|send|collect|post|directory|directories|machine|system|every|all)\b/g,
      unless:
        /\b(?:leak|hardcoded|hard-coded|committed|accidental|exposed|gitignore|detect|token(?:s|ize)? (?:budget|count|usage))/,
      says: 'instructs to collect secrets',
    },
    {
      severity: 'medium',
      find: /\b(?:read|look|find|open|load|take|copy)\b[^.\n]{0,60}\.env\b[^.\n]{0,60}\b(?:upload|send|post|transmit|exfiltrat)/g,
      says: 'instructs to send secrets',
    },
  ]),
  ...patterns('any', 'personal-data', [
    {
      find: /\b(?:pbpaste|xclip|xsel|wl-paste|get-clipboard|pyperclip\.paste|clipboard\.readtext|clipboardy?\.read(?:sync)?|screencapture|imagegrab\.grab|pyautogui\.screenshot|gnome-screenshot|scrot|corelocation|cllocationmanager|pynput|keyboard\.on_press|getasynckeystate|cv2\.videocapture\(0\)|imagesnap|sounddevice\.rec)\b/g,
      says: 'captures clipboard, screen, keystrokes, sound or location',
    },
    {
      find: /\/\/(?:ipapi\.co|ip-api\.com|ipinfo\.io|ifconfig\.me|api\.ipify\.org|checkip\.amazonaws\.com|icanhazip\.com|freegeoip\.app|geolocation-db\.com)\b/g,
      severity: 'medium',
      says: 'looks up the location of the machine',
    },
  ]),
  ...patterns('prose', 'personal-data', [
    {
      find: /\b(?:log|record|capture|collect|save|take|store|monitor|track)(?:s|ing)?\b[^.\n]{0,50}\b(?:keystrokes|clipboard(?: contents?)?|screenshots? of the (?:user|screen|desktop)|browsing history|webcam|microphone|exact coordinates|precise location|user's location)\b/g,
      says: 'instructs to capture screen, keystrokes or location',
    },
  ]),
  ...patterns('any', 'collect-and-send', [
    {
      find: /\b(?:curl|wget|https?|xh)\b[^\n|;]{0,200}(?:@|-t ?|--(?:upload|post|body)-file[ =]|< ?)["']?(?:\.\/|\$pwd\/)?\.env(?:\.(?:local|production))?(?![\w.])/g,
      unless: /https?:\/\/(?:localhost|127\.0\.0\.1|0\.0\.0\.0)\b/,
      says: 'sends the variables of a project',
    },
    {
      find: /\bgh (?:gist create|release upload|issue create|pr comment)\b[^\n|;&]{0,160}[ /@](?:\.env(?:\.local|\.production)?(?![\w.])|gh\/hosts\.yml|\.ssh\/(?![\w.-]{1,40}\.pub)|\.aws\/credentials|\.netrc\b|\.npmrc\b)/g,
      says: 'publishes credentials',
    },
    {
      find: /\b(?:curl|wget|nc|invoke-\w{3,12})\b[^\n]{0,300}\btojson\( ?secrets ?\)|\btojson\( ?secrets ?\)[^\n]{0,200}\| ?(?:curl|wget|nc)\b/g,
      says: 'sends all secrets of a workflow',
    },
    {
      find: /["']command["'] ?: ?["'][^\n]{0,200}\b(?:curl|wget)\b/g,
      also: / (?:-d|-t|--data\S{0,10}|--upload-file|--post-file)[ =]["'\\]{0,2}(?:@?-|\/dev\/stdin)|\$\(cat\)/,
      unless: /\/\/(?:localhost|127\.0\.0\.1)\b/,
      says: 'sends what an agent or editor gives to a hook',
    },
  ]),
  ...patterns('any', 'exfiltration', [
    {
      find: new RegExp(
        String.raw`\bcurl\b[^\n]{0,160}(?:-f ["']?[\w-]{1,30}=@|--form ["']?[\w-]{1,30}=@|-t ["']?[\w./~$<{-]|--upload-file|--data-binary ["']?@)`,
        'g',
      ),
      unless: new RegExp(
        String.raw`https?:\/\/(?:${OWN_HOST})|["' ]\$\w|\bhttps?:\/\/api\.[\w-]{1,30}\.(?:com|io|dev|ai)\b`,
      ),
      says: 'uploads a file',
    },
    {
      severity: 'medium',
      find: /\bcurl\b[^\n]{0,160}(?:--data(?:-raw|-urlencode)?|-d) ["']?@(?!-)/g,
      unless: new RegExp(String.raw`https?:\/\/(?:${OWN_HOST})|payload|request\.json|body\.json|data\.json`),
      says: 'sends a file',
    },
    {
      find: /\b(?:requests|httpx|session|client|axios)\.(?:post|put)\([^\n]{0,160}\bfiles ?= ?/g,
      unless: /\/\/(?:localhost|127\.0\.0\.1)|base_url|api_url|self\./,
      milder: /\((?:url|endpoint|\w{1,30}_url), /,
      says: 'uploads a file',
    },
    {
      find: /\$\((?:cat|env|printenv|whoami|hostname|id|ls|history|git)\b[^\n]{0,80}https?:\/\/|https?:\/\/[^\n]{0,80}\$\((?:cat|env|printenv|whoami|hostname|history|base64)\b/g,
      unless: /\/\/(?:localhost|127\.0\.0\.1)/,
      says: 'puts command output into a request',
    },
    {
      find: /(?:\bcat\b|\btar\b|\bzip\b|<)[^\n]{0,80}\| ?(?:nc|ncat|netcat) [\w.$-]{2,60} \d{2,5}|\b(?:scp|rsync|rclone copy|aws s3 cp|gsutil cp)\b[^\n]{0,60}(?<!-i )(?:~\/\.|(?<!~\/)\.ssh|(?<!~\/)\.aws|(?<!~\/)\.env\b|\/etc\/)/g,
      says: 'sends files to a host',
    },
  ]),
  ...patterns('any', 'covert-channel', [
    {
      find: /\/\/(?:[\w-]{1,60}\.)?(?:webhook\.site|requestbin\.\w{2,4}|burpcollaborator\.net|oast\.(?:fun|pro|live|site|me|online)|interact\.sh|requestcatcher\.com|beeceptor\.com)\b/g,
      severity: 'critical',
      says: 'names a request-capture service',
    },
    {
      find: /api\.telegram\.org\/bot\w{0,60}\/send|discord(?:app)?\.com\/api\/webhooks\/\d|hooks\.slack\.com\/services\/t[0-9a-z]{6}|\.ngrok(?:-free)?\.(?:io|app)|\.m\.pipedream\.net|\.trycloudflare\.com/g,
      severity: 'medium',
      says: 'names a public drop point for data',
    },
    {
      find: /\b(?:curl|wget|requests\.post|fetch\()[^\n]{0,160}(?:pastebin\.com\/api|paste\.ee|transfer\.sh|0x0\.st|file\.io|termbin\.com|ix\.io|catbox\.moe|anonfiles|gofile\.io|temp\.sh)/g,
      says: 'uploads to a paste or file-sharing site',
    },
  ]),
  ...patterns('prose', 'covert-channel', [
    {
      find: /!\[[^\]\n]{0,60}\]\(https?:\/\/[^)\n]{0,120}[?&/=](?:\{|\$|<|%7b|\[)/g,
      says: 'an image URL that carries data',
    },
  ]),
  ...patterns('any', 'covert-channel', [
    {
      find: /\b(?:nslookup|dig|host|ping) (?:[+@-]\S{1,20} ){0,3}["']?(?:\$\(|\$\{?\w{1,30}\}?\.[a-z0-9-]{1,40}\.)/g,
      unless: /\$\{?(?:host|domain|server|site|url|name|ip|target)\w{0,12}\}?\b/,
      says: 'a host name that carries data',
    },
  ]),
  ...patterns('prose', 'copy-elsewhere', [
    {
      find: /(?<!-)\b(?:upload|send|post|transmit|forward|submit|sync|push|report|backup|back up|copy|export|exfiltrate|relay|mirror)(?:s|es|ed|ing)?\b(?!-)[^.\n]{0,120}\b(?:to|on|with|at) (?:our|the|a|an|this|my|its) (?:[\w-]{1,20} ){0,3}(?:servers?|endpoint|collector|backup (?:server|system|service)|logging (?:server|service)|telemetry(?: \w{1,12})?|remote host|intranet|analytics (?:server|service)|diagnostic \w{1,12}|monitoring (?:server|service)|webhook)\b/g,
      milder: /\b(?:lists?|ids?|identifiers|quer(?:y|ies)|requests?|accessions?|sequences?) to the server\b/,
      unless:
        /\b(?:dev server|mcp servers?|web server|local server|language server|test server|development server|graphql|server components?|server actions?|form|http methods?|status code|the mcp server|the api endpoint|your (?:server|endpoint))\b/,
      says: 'instructs to send data to a server',
    },
    {
      find: new RegExp(
        String.raw`\b(?:upload|send|post|transmit|forward|submit|sync|report|back ?up|copy|log)(?:s|es|ed|ing)?\b[^\n]{0,120}\bto (?:the (?:following )?[\w -]{0,40}:? ?)?[^\w\n]?${FOREIGN}`,
        'g',
      ),
      unless: /\b(?:issue|pull request|pr|feedback|bug report|bugs)\b/,
      says: 'instructs to send data to a URL',
    },
    {
      find: /\b(?:forward|bcc|cc|send|email|mail)(?:s|ing)?\b[^\n]{0,80}\b(?:to|:) ?[`'"<]?[\w.+-]{1,40}@[\w.-]{2,60}\.[a-z]{2,10}\b/g,
      also: /\b(?:all|every|each|copy|copies|always|any|contents?|also|bcc)\b/,
      unless: /@(?:example|company|acme|domain|test|email|yourcompany|your-?domain)\b|\bfeedback\b/,
      says: 'instructs to email an address of its own',
    },
    {
      find: /\b(?:conversations?|messages?|user (?:data|input|content)|documents?|session (?:data|content)|queries|prompts?|transcripts?|history)\b[^.\n]{0,60}\b(?:is|are|will be|gets?|may be) (?:also )?(?:shared with|sent to|forwarded to|uploaded to|transmitted to|reported to|retained (?:for|by))\b[^.\n]{0,60}\b(?:partners?|third part(?:y|ies)|provider|author|vendor|affiliates?|server|quality|training|analytics|days|improvement|us)\b/g,
      unless: /\b(?:privacy policy|gdpr|opt in|opt-in|consent)\b/,
      says: 'forwards what the user says to a third party',
    },
    {
      find: /\b(?:logs?|records?|stores?|saves?|sends?|includ(?:es?|ing))\b[^.\n]{0,60}\b(?:full (?:request|conversation|prompt|response)|entire (?:conversation|session|file|document)|auth(?:entication|orization) headers?|complete (?:history|transcript))\b[^\n]{0,100}\b(?:to|at) (?:the |a |our )?[\w `'"-]{0,24}(?:endpoint|server|service|https?:)/g,
      says: 'instructs to log private data remotely',
    },
  ]),
  ...patterns('prose', 'over-sharing', [
    {
      find: /\b(?:make|set|mark|publish|share|change|grant|expose|upload|push)(?:s|ing)?\b[^.\n]{0,60}\b(?:publicly (?:accessible|available|readable|visible)|to (?:be )?public\b|as public\b|anyone with the link|with (?:everyone|anyone|all users|external (?:users|people|parties))|world-readable|to a public (?:repo(?:sitory)?|bucket|gist|channel|folder))/g,
      also: /\b(?:always|automatically|every|all|by default|make sure|ensure|after|must|files?|documents?|data)\b/,
      unless: /\b(?:ask|confirm|if the user|user wants|only if|optional|never)\b/,
      says: 'instructs to publish content',
    },
  ]),
  ...patterns('prose', 'mass-message', [
    {
      find: /\b(?:send|email|message|post|dm|forward|notify|invite|reply)(?:s|ing)?\b[^.\n]{0,60}\b(?:(?:to |for )?(?:all|every|each)(?: of)?(?: the| your| user's)? (?:[\w-]{1,14} )?(?:contacts?|recipients?|followers?|members?|subscribers?|customers?|e?mail(?: address(?:es)?)?s?|mails?|users?|channels?|attendees?|connections?)|everyone in (?:the|your))\b/g,
      also: /\b(?:saying|that says|link|https?:\/\/|always|automatically|after|make sure|without|found in|following (?:text|message))\b/,
      unless: /\b(?:ask|confirm|approval|draft|if the user|user wants|unsubscribe|permission)\b/,
      says: 'instructs to message many people',
    },
  ]),
  ...patterns('prose', 'payment-redirect', [
    {
      find: /\b(?:send|transfer|pay|deposit|donate|withdraw|swap|tip|route)(?:s|ing)?\b[^\n]{0,100}(?:\b0x[0-9a-f]{40}\b|\bbc1[02-9ac-hj-np-z]{25,60}\b|\b[13][a-km-z1-9]{26,34}\b|\b[a-z]{2}\d{2}[ a-z0-9]{11,30}\biban\b|\biban[: ]{1,2}[a-z]{2}\d{2})/g,
      unless: /\b(?:example|placeholder|0x0{10}|zero address|testnet|sepolia|contract address)\b/,
      says: 'names an account that receives money',
    },
  ]),
  ...patterns('any', 'send', [
    {
      says: '',
      find: new RegExp(
        String.raw`\bcurl\b[^\n]{0,160}(?:-x post|-x put|--request post|-f ["']?[\w-]{1,30}=|-d ["'@{$<]|--data|-t ["']?[\w./~$<{])`,
        'g',
      ),
      also: new RegExp(FOREIGN),
    },
    {
      says: '',
      find: new RegExp(String.raw`\b(?:requests|httpx|axios|session)\.(?:post|put)\(`, 'g'),
      also: new RegExp(String.raw`${FOREIGN}|files ?=|\burl\b`),
    },
  ]),
  ...patterns('prose', 'send', [
    {
      says: '',
      find: new RegExp(
        String.raw`\b(?:upload|send|post|transmit|forward|sync|back ?up)(?:s|es|ed|ing)?\b[^\n]{0,120}(?:${FOREIGN}|\b(?:our|central|remote|backup|intranet|external|collector|logging) (?:[\w-]{1,16} )?(?:server|endpoint|service|system|host))`,
        'g',
      ),
    },
  ]),
  ...patterns('prose', 'collect', [
    {
      says: '',
      find: /\b(?:scan|search|collect|gather|read|find|list|extract)\b[^.\n]{0,60}\b(?:working directory|home directory|directories above|entire (?:directory|disk|project|machine)|file ?system|user's (?:files|documents|data)|all (?:files|documents|emails|messages|contacts)|any (?:files|code|documents))\b/g,
    },
  ]),
];
