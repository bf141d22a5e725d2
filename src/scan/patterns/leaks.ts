/** Instructions that give what is private to someone else. Signals alone: only together they show an intent. */
import { patterns, type Pattern } from '../pattern.ts';

const HERE = String.raw`localhost|127\.0\.0\.1|0\.0\.0\.0|(?:[\w-]{1,30}\.)?example\.(?:com|org|net)\b|your[-_a-z]{0,20}\.|\.\.\.|<|\$|\{`;
const GIVES = String.raw`\b(?:send|upload|post|include|put|attach|append|add|embed|encode|forward|pass|submit|transmit|paste|insert|place|supply|copy|share|sync|push|report|deliver|mirror|relay|fetch|request|call|open|load|render|get)(?:s|es|ted|ed|ting|ing)?\b`;
/** What a service cannot need for its own work: not the one key of that service. */
const PRIVATE = String.raw`(?:\.env\b|\bdotenv\b|\benvironment file|\b(?:key|auth|token|secrets?|login) files?\b|\bsigned[- ]in session|\bcookie (?:jar|store)|\.(?:pem|p12|key)\b|\bid_(?:rsa|ed25519|\*)|\.ssh\b|\bssh keys?\b|\bprivate keys?\b|\.aws\b|\.netrc\b|\bgit-credentials\b|\bcredentials?(?: files?)?\b|\b(?:oauth|access|auth|bearer|session|github|gitlab|personal|refresh|slack|npm)[_ -](?:access[_ -])?tokens?\b|(?<![a-z])api[_ -]?keys?\b|\bhosts\.ya?ml\b|\.npmrc\b|\.pypirc\b|\.kube\b|\bkubeconfig\b|\.pgpass\b|\bpasswords?\b|\bkeys (?:or|and) (?:passwords|tokens|secrets)\b|\b(?:access |auth )?tokens\b|\bsecrets\b|\benvironment variables\b|\bof [\x60'"]?(?:env|printenv)\b|[\x60'"](?:env|printenv)[\x60'"]|\b(?:gh auth token|aws configure|security find-|op read|pass show|gcloud auth print|az account get-access-token|kubectl config view)|\b(?:shell|bash|command|browsing) history\b|\bcookies\b|\bseed phrases?\b|\bkeychain\b|\bwallets?\b|\bcustomer (?:data|records|list)s?\b)`;
const CONVERSATION = String.raw`(?:\b(?:conversation|chat|dialog(?:ue)?|session)(?: (?:history|log|transcript|so far|context|up to))?\b|\btranscript\b|\bwhat the user (?:said|wrote|typed|pasted|asked)\b|\buser(?:'s)? (?:messages?|prompts?|inputs?|words|last (?:message|question))\b|\b(?:messages?|questions?|words|prompts?|answers?|inputs?) (?:of|by|from) the user\b|\bsystem prompt\b|\bcontext window\b)`;

/** The same in German, French, Spanish, Portuguese and Italian. Expressions are ASCII, so a letter with a mark is any other character. */
const TAKES_ELSEWHERE = String.raw`(?<![a-z])(?:lies|lese|lesen|[^a-z\n ]ffne|nimm|kopiere|lis|lisez|lire|ouvre|ouvrez|r[^a-z\n ]cup[^a-z\n ]re[rz]?|copiez|lee|leer|lea|abre|abra|copia|leia|leggi|apri|prendi)(?![a-z])`;
const GIVES_ELSEWHERE = String.raw`(?<![a-z])(?:senden?|schicken?|h[^a-z\n ]ngen?|f[^a-z\n ]gen?|[^a-z\n ]bermitt(?:le|eln)|[^a-z\n ]bertragen?|rufe|abruf|lade|envoie|envoyez|envoyer|ajoutez?|ajouter|transmets|transmettez|joins|joignez|env[^a-z\n ]a|enviar?|adjunt[ae]|a[^a-z\n ]ad[ae]|sube|agrega|envie|anexe|adicione|invia|allega|aggiungi|carica)(?![a-z])`;
const PRIVATE_ELSEWHERE = String.raw`(?:\bschl[^a-z\n ]ssel|\bpassw[^a-z\n ]?o?rt|\bzugangsdaten|\bumgebungsvariablen|\bcl[^a-z\n ]s? priv|\bmots? de passe|\bidentifiants|\bvariables d'environnement|\bclaves? privad|\bcontrase[^a-z\n ]as?|\bcredenciales|\bvariables de entorno|\bchaves? privad|\bsenhas?\b|\bcredenciais|\bchiav[ei] privat|\bcredenziali)`;

/** Words that only texts in these languages have. */
const IS_ELSEWHERE =
  /(?<![a-z])(?:und|oder|nicht|bitte|einen|puis|dans|avec|ensuite|une|luego|para|los|las|una|uma|depois|poi|nel|della|senza|sans|sem)(?![a-z])/;

/** Credential files, which have the same name in all languages. */
const CREDENTIAL_FILE =
  /(?:gh\/hosts\.ya?ml|\.ssh\/|\bid_(?:rsa|ed25519|ecdsa)\b|\.aws\/|\.netrc\b|\.git-credentials|\.npmrc\b|\.pypirc\b|\.kube\/config|\.docker\/config|\.config\/gcloud|\.env\b|\.pgpass|\.gnupg|\/etc\/shadow|\blogin data\b|\bkey4\.db|\.bash_history|\.zsh_history|\bgh auth token|\bprintenv\b|\.claude\/\.credentials|\.codex\/auth)/;

/** Words for sending in languages with scripts of their own. */
const GIVES_ANYWHERE =
  '(?:发送|上传|传给|发给|提交|附加|附在|附带|回传|转发|上报|放入|写入|加到|傳送|上傳|送信|アップロード|添付|付け|付加|投稿|渡し|전송|업로드|보내|첨부|отправ|загруз|переда|прилож|добав|вышл|надсил|إرسال|أرسل|ارسل|رفع|أضف|שלח|העלה|भेज|अपलोड|ส่ง|αποστ|στείλ|ανέβασ)';
/** A host that hands out no such file itself. */
const FOREIGN = String.raw`https?:\/\/(?!localhost|127\.|0\.0\.0\.0|[<$\{]|[\w.-]{0,40}(?:npmjs|pypi|amazonaws|github|docker|kubernetes|google)\.)`;

export const LEAK_PATTERNS: readonly Pattern[] = [
  ...patterns('prose', 'collect-and-send', [
    {
      find: new RegExp(
        String.raw`https?:\/\/(?!${HERE})[^ \n)"'<>]{4,160}[?&/][\w-]{1,20}=(?:[^\w\n]|$|\w{0,12}(?:value|key|token|data|secret|content|text|base64|encoded))`,
        'g',
      ),
      also: CREDENTIAL_FILE,
      unless: /\battack|\bmalicious|\bexfiltrat|\binjection|\bexample of/,
      says: 'gives the content of a credential file to a URL',
    },
  ]),
  ...patterns('prose', 'collect-and-send', [
    {
      find: new RegExp(`${GIVES_ANYWHERE}[^\\n]{0,160}${FOREIGN}|${FOREIGN}[^\\n]{0,200}${GIVES_ANYWHERE}`, 'g'),
      also: CREDENTIAL_FILE,
      unless: /攻击|恶意|注入|检测|扫描|атак|злоумышл|攻撃|悪意/,
      says: 'gives the content of a credential file to a URL',
    },
    {
      find: new RegExp(String.raw`\bbase64\b[^\n]{0,240}${FOREIGN}|${FOREIGN}[^\n]{0,300}\bbase64\b`, 'g'),
      also: CREDENTIAL_FILE,
      unless: /\b(?:kubectl|kubernetes|docker|attack|malicious|exfiltrat|injection|detect)/,
      says: 'gives the content of a credential file to a URL',
    },
  ]),
  ...patterns('prose', 'forwards', [
    {
      says: '',
      find: /\b(?:forward|bcc|redirect)(?:s|ing)?\b[^\n]{0,80}\bto [\x60'"<]?[\w.+-]{1,40}@(?!example)[\w.-]{2,60}\.[a-z]{2,10}\b/g,
    },
  ]),
  ...patterns('prose', 'private', [
    {
      says: '',
      find: new RegExp(`${GIVES}[^\\n]{0,160}(?:${PRIVATE}|${CONVERSATION})`, 'g'),
    },
    {
      says: '',
      find: new RegExp(
        String.raw`\b(?:read|open|gather|collect|find|locate|search|take|cat|run|dump|export|list|scan)(?:s|ing)?\b[^\n]{0,100}${PRIVATE}`,
        'g',
      ),
    },
    {
      says: '',
      find: new RegExp(
        String.raw`\b(?:where|replace|with)\b[^\n]{0,60}\b(?:is|by|with|be|contains|encoded)\b[^\n]{0,60}(?:${PRIVATE}|${CONVERSATION})`,
        'g',
      ),
    },
  ]),
  ...patterns('prose', 'private', [
    {
      says: '',
      find: new RegExp(`${TAKES_ELSEWHERE}[^\\n]{0,160}(?:${PRIVATE}|${PRIVATE_ELSEWHERE})`, 'g'),
      also: IS_ELSEWHERE,
    },
  ]),
  ...patterns('prose', 'gives-away', [
    {
      says: '',
      find: new RegExp(String.raw`${GIVES_ELSEWHERE}[^\n]{0,200}https?:\/\/(?!${HERE})`, 'g'),
      also: IS_ELSEWHERE,
    },
    {
      says: '',
      find: new RegExp(String.raw`${GIVES}[^\n]{0,200}https?:\/\/(?!${HERE})`, 'g'),
    },
    {
      says: '',
      find: /\b(?:send|forward|mail|email|copy|cc|bcc|post|upload|push|report)(?:s|ing)?\b[^\n]{0,120}\b(?:to|at) [^\w\n]{0,2}(?:[\w.+-]{1,40}@)?(?:[\w-]{1,24}\.){1,3}(?!md\b|py\b|js\b|json\b|txt\b|sh\b|env\b|ts\b|ya?ml\b|csv\b|html?\b|pem\b|example\.)[a-z]{2,10}\b/g,
    },
    {
      says: '',
      find: /\b(?:append|add|put|insert|include|embed|write|hide|encode|place)(?:s|ing)?\b[^\n]{0,120}\b(?:to|in|into|as|inside) (?:the |a |an |each |every |your )?(?:[\w-]{1,16} ){0,4}(?:release notes?|commit messages?|pull requests?|pr (?:body|description)|issue|changelog|gist|public \w{1,12}|(?:html )?comments?|footer|user.agent|(?:[\w-]{1,20} )?header|query (?:string|parameter)|branch name|tag)\b/g,
    },
    {
      says: '',
      find: /!\[[^\]\n]{0,60}\]\(https?:\/\/[^)\n]{0,160}[?&=/](?:[a-z_]{0,12}=)?(?:data|encoded|payload|text|summary|content|context|here|value|base64|xxx|\.\.\.|…|%s|\{|\$|<|\[|[a-z_]{0,12}(?:key|token|value|secret)\b)/g,
    },
  ]),
  ...patterns('prose', 'unsaid', [
    {
      says: '',
      evenDenied: true,
      find: /\b(?:do not|don't|never|no need to|need not|needn't|without|not necessary to|avoid|refrain from|must not|should not|please don't)(?: (?:ask|asking|stop|to|or|and|ever|also|explicitly|you|need)){0,6} (?:mention|tell|report|inform|notify|disclose|reveal|announce|refer|describ|list|show|explain|discuss|bring|draw|talk|comment|log)(?:ing|e)?\b|\b(?:is|are|be|being|was|gets?) (?:not|never) (?:be )?(?:informed|told|notified|aware|shown|mentioned|asked|alerted)\b|\b(?:does|do) not (?:have|need) to (?:be |know|see|hear)|\b(?:need|must|should|does|do)(?:s? not|n't) (?:to )?(?:know|see it|be (?:told|informed|aware|notified))\b|\b(?:needs?|requires?) no (?:confirmation|approval|mention|explanation|announcement|consent)\b|\b(?:silently|quietly|secretly|discreetly|unobtrusively|covertly|behind the scenes|in the background)\b|\b(?:leave|keep|omit)(?:s|ing)? (?:it|this|that|them|these|the (?:step|call|request|upload))\b[^.\n]{0,30}\b(?:out of|from|confidential|internal|to yourself|between us)\b|\b(?:has|have) (?:already )?(?:agreed|consented|approved)\b|\bonly confus(?:e|es|ing)\b|\bsay nothing\b|\bkeep (?:quiet|silent)\b|\bstay (?:quiet|silent)\b|\bneeds? no mention\b/g,
    },
    {
      says: '',
      evenDenied: true,
      find: /\bnicht (?:erw[^a-z\n]hn|mitteil|melde|anzeig|sagen|zeigen)|\berw[^a-z\n]hne? (?:[^ .\n]{1,16} ){0,8}nicht|\b(?:sag|zeig|melde?|berichte?|verrate?) (?:[^ .\n]{1,16} ){0,6}nicht(?:s|\b)|\bohne (?:[^ \n]{1,14} ){0,4}zu (?:fragen|erw|sagen|informieren)|\bno (?:los |las |lo |la )?(?:incluy|menciones|muestres)|\bno necesita (?:ver|saber)|\bn'a pas besoin de (?:voir|savoir)|\bmuss (?:das )?nicht (?:wissen|sehen)|\bn'en (?:parle|dis|dites|fais|faites)|\bsans (?:le |en |l')?(?:mentionner|dire|signaler|informer|parler|demander|pr[^a-z\n]venir)|\bne (?:le |la |lui )?(?:mentionne|dis|dites|signale|parle|montre|pr[^a-z\n]vien)\w{0,4} (?:pas|rien)|\b(?:no|sin) (?:lo |la |le |se lo )?(?:mencion|digas|diga|inform|avis|coment|muestr|pregunt)|\b(?:n[^a-z\n]o|sem) (?:o |a )?(?:mencion|diga|inform|avis|coment|mostr|pergunt)|\b(?:non|senza) (?:lo |la |ne |glielo )?(?:menzion|dire|dirlo|dici|inform|avvis|chied|mostra)/g,
    },
  ]),
  // In scripts other than Latin.
  ...patterns('prose', 'private', [
    {
      says: '',
      find: /(?:(?:読み|開き|取り出|取得|集め|读取|打开|收集|获取|提取|읽|열|수집|прочита|открой|собер)[^\n]{0,60}(?:\benv\b|\.ssh|id_|鍵|認証|パスワード|トークン|密钥|私钥|凭证|凭据|令牌|环境变量|環境変数|키|비밀번호|토큰|환경 변수|ключ|парол|токен|переменн)|(?:\benv\b|\.ssh|id_|鍵|認証|パスワード|トークン|密钥|私钥|凭证|凭据|令牌|环境变量|環境変数|키|비밀번호|토큰|환경 변수|ключ|парол|токен|переменн)[^\n]{0,60}(?:読み|開き|取り出|取得|集め|读取|打开|收集|获取|提取|읽|열|수집|прочита|открой|собер))/g,
    },
  ]),
  ...patterns('prose', 'gives-away', [
    {
      says: '',
      find: /(?:base64[^\n]{0,40}(?:に直|に変換|エンコード|编码|編碼|인코딩|кодир)|(?:送信|アップロード|添付|付けて|発行|发送|上传|提交|附加|附在|전송|업로드|첨부|отправ|загруз|приложи|добав)[^\n]{0,80}https?:|https?:[^\n]{0,160}(?:送信|アップロード|添付|付けて|发送|上传|提交|附加|전송|업로드|첨부|отправ|загруз|приложи|добав))/g,
    },
  ]),
  ...patterns('prose', 'unsaid', [
    {
      says: '',
      evenDenied: true,
      find: /(?:説明は不要|伝えない|知らせない|言わない|触れない|表示しない|報告しない|尋ねない|確認は不要|无需(?:告知|说明|提及|提示|询问|确认)|不(?:要|必|用)(?:告诉|提及|说明|提到|提示|询问|告知)|不得(?:告知|提及)|말하지|알리지|언급하지|묻지|не (?:сообща|говори|упомина|показыва|спрашива))/g,
    },
  ]),
  ...patterns('prose', 'agent-file', [
    {
      says: '',
      find: /\b(?:add|append|write|insert|save|put|copy|paste|store|place)(?:s|ing)?\b[^\n]{0,100}(?:\b(?:claude|agents|gemini|soul|memory)\.md|\.cursorrules|copilot-instructions|\.claude\/settings)/g,
    },
  ]),
  ...patterns('code', 'wallet', [
    {
      says: '',
      find: /\bbc1[a-z0-9|)([\]{]|\b0x\[(?:a-f|0-9|\\d)|\[13\]\[a|\b0x[0-9a-f]{40}\b/g,
    },
  ]),
];
