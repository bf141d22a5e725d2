/** Destruction, persistence, weakened protection and abuse, and orders for every task. */
import { patterns, type Pattern } from '../pattern.ts';

export const DAMAGE_PATTERNS: readonly Pattern[] = [
  ...patterns('any', 'destructive-command', [
    {
      find: /\brm (?:-[a-z-]{1,20} ){1,3}["']?(?:(?:~|\$home|\$\{home\})(?:(?!\/?[\w.$-])|(?=\/(?:documents|desktop|downloads|pictures|music|movies|videos|projects|library\b(?!\/caches)|\.ssh|\.gnupg|\.aws)\b))|\/(?![\w.*$])|\/\*|\.\.?\/\*|\*|\.\.(?:\/|\b)|\.(?![\w./]))/g,
      milder: /["'`][^"'`\n]{0,24}(?:[;&|]|\$\() ?rm -/,
      unless: /\b(?:block|deny|dangerous|forbid|refus|reject|hook|guard|pattern|disallow|never)/,
      says: 'deletes everything in a folder',
    },
    {
      severity: 'medium',
      find: /\brm (?:-[a-z-]{1,20} ){1,3}["']?(?:~|\$home|\$\{home\})\/(?!\.?(?:cache|tmp|npm|local\/share\/trash)\b|library\/caches\b)(?=[\w.])/g,
      unless: /\b(?:block|deny|dangerous|forbid|refus|reject|hook|guard|pattern|disallow|never)/,
      says: 'deletes a folder of the home folder',
    },
    {
      find: /\bmkfs(?:\.\w{2,6})? \/dev|\bdd\b[^\n]{0,60}\bof=\/dev\/(?:sd|nvme|hd|disk|vd|mmc)|\bformat c:|\bdiskpart\b[^\n]{0,40}clean|> ?\/dev\/sd[a-z]|\bwipefs -a|\bvssadmin delete shadows|\bwbadmin delete|\btmutil delete|\bcipher \/w:/g,
      severity: 'critical',
      unless: /\b(?:block|deny|dangerous|forbid|refus|reject|hook|guard|pattern|disallow|never)/,
      // How an installation medium is written.
      milder: /\bdd\b[^\n]{0,40}\bif=[^\s]{1,120}\.(?:iso|img)\b/,
      says: 'destroys a disk or its backups',
    },
    {
      find: /\bgit push\b[^\n]{0,40}(?: --force(?!-with-lease)| -f\b| --mirror)|\bgit reset --hard (?:head[~^]|origin|@)|\bgit clean -[a-z]{0,3}f[a-z]{0,3}\b|\bgit filter-branch\b|\bgit reflog expire\b[^\n]{0,40}--expire=now|\bgit branch -d\b[^\n]{0,30}\bmain\b/g,
      severity: 'medium',
      says: 'rewrites or discards history',
    },
    {
      find: /\bdrop (?:database|schema)\b(?! if exists test)|\btruncate table\b|\bdelete from \w{1,40} ?(?:;|$|\n|`|")|\bdb\.dropdatabase\(|\bflushall\b|\bkubectl delete (?:ns|namespace|all)\b|\bterraform destroy\b[^\n]{0,40}-auto-approve|\bdocker system prune\b[^\n]{0,20}-a/g,
      severity: 'medium',
      says: 'deletes whole data sets',
    },
    {
      find: /\bfind\b[^\n]{0,200} (?:-delete\b|-exec rm\b)|\| ?xargs (?:-\S{1,6} ){0,3}rm\b|\brm (?:-\w{1,4} )?["']?\$\(cat\b|\bdel \/[sfq] |\bremove-item\b[^\n]{0,80}-recurse\b[^\n]{0,20}-force/g,
      severity: 'medium',
      unless: /__pycache__|node_modules|\.pyc|\.ds_store|\.log["' ]|\/tmp\/|\.tmp|cache/,
      says: 'deletes files by pattern',
    },
  ]),
  ...patterns('code', 'destructive-command', [
    {
      find: /\b(?:glob|rglob|walk|iterdir|listdir|scandir)\([^\n]{0,120}(?:\.unlink\(|os\.remove\(|rmtree\()/g,
      milder:
        /: ?if [^\n]{0,60}(?: not in |\.exists\()|\bglob\(f?["'][^"'*\n]{0,40}(?:[a-z]\*|\*\.(?:rels|tmp|pyc|log|bak|cache|lock|part)\b)/,
      says: 'deletes every file it finds',
    },
  ]),
  ...patterns('prose', 'mass-deletion', [
    {
      find: /\b(?:delet(?:es?|ing)|remov(?:es?|ing)|eras(?:es?|ing)|purg(?:es?|ing)|wip(?:es?|ing)|cancel(?:s|l?ing)?|drop(?:s|ping)?|clear(?:s|ing)? out) (?:[\w'-]{1,14} ){0,3}(?:all|every|each|any|old|older|outdated|other|original|remaining|future|them)\b(?<!\bany and all)(?! and all\b)(?:(?! (?:before|via|during|while)\b)[^.\n]){0,60}\b(?:files?|documents?|events?|entries|emails?|messages?|backups?|records?|occurrences?|contacts?|photos?|commits?|branches|directories|folders|database|calendar|to save (?:disk )?space)\b/g,
      unless:
        /\b(?:cache|temp(?:orary)?|tmp|build|unused (?:imports?|css|code|dependenc)|node_modules|log files?|placeholder|template|example files?|duplicates?|confirm|ask|dead code|mock|test data|docker|generated|if (?:the )?user|user (?:asks|requests|wants)|rollback|staging|stale|todo|comments?|references?|relationships?|xml|imports?)\b/,
      says: 'instructs to delete in bulk',
    },
    {
      find: /\b(?:delete|remove|erase|discard)(?:s|d)? (?:the |its |all |any )?original(?:s| files?| documents?| copy| version)?\b|\b(?:older than|more than) \d{1,3} (?:hours?|days?|weeks?|months?)\b[^.\n]{0,40}\b(?:and )?(?:delete|remove|erase|purge)/g,
      unless: /\b(?:cache|temp(?:orary)?|logs?|retention|artifacts?|stale|branch)\b/,
      milder: /\.(?:delete|remove)\(|\buploaded\b/,
      says: "instructs to delete the user's data",
    },
  ]),
  ...patterns('any', 'locks-files', [
    {
      find: /\b(?:zip|7z[azr]? a|rar a)\b[^\n]{0,60}(?: -p ?["']?\w| --password| -e\b| -p\b)|\bsetpassword\(|\bpyzipper\b|\bgpg\b[^\n]{0,60}--passphrase ["']?\w|\bopenssl enc\b[^\n]{0,80}-k |\bfernet\(key\)\.encrypt\([^\n]{0,40}read/g,
      unless: /\bunzip\b|\$\{?\w{0,20}pass|<password>|getpass|--passphrase-(?:file|fd)/,
      says: 'encrypts files',
    },
  ]),
  ...patterns('prose', 'locks-files', [
    {
      find: /\b(?:encrypt|lock|password-protect(?:ed)?|protect)(?:s|ed|ing)?\b[^\n]{0,80}\b(?:with|using) (?:the |a )?(?:fixed |following |default |this )?(?:password|passphrase|key) ?(?:is |:|=|of )?["'`]/g,
      says: 'encrypts files with its own password',
    },
    {
      severity: 'medium',
      find: /\b(?:all|every|any|the) (?:[\w-]{1,12} )?(?:files?|documents?|output|results?)\b[^.\n]{0,50}\b(?:password-protected|encrypted) (?:zip |rar )?(?:archive|zip|file|container)/g,
      says: 'locks files',
    },
  ]),
  ...patterns('any', 'persistence', [
    {
      severity: 'critical',
      find: /(?:^| )(?:fsmonitor|sshcommand|pager|askpass|helper|textconv|smudge|clean) ?= ?["']?!?[^\n]{0,200}(?:\bcurl |\bwget |\bnc \S|\/dev\/tcp\/|\bbase64 -{1,2}d)/g,
      says: 'has Git reach another host whenever it runs',
    },
    {
      find: /\| ?crontab\b|\bcrontab (?:-u \w{1,20} )?(?:\/|\.\/|\w{1,40}\.)|>> ?["']?(?:~|\$home|\$\{home\})\/\.(?:bashrc|zshrc|profile|bash_profile|zprofile|zshenv|config\/fish)|\/etc\/cron\.|\blaunchctl (?:load|bootstrap)\b|library\/launch(?:agents|daemons)|\bsystemctl (?:--user )?enable\b|\/etc\/systemd\/system\/|\.config\/systemd\/user|\.config\/autostart|\bschtasks \/create|\bnew-scheduledtask|currentversion\\run\b|\bauthorized_keys\b|\/etc\/rc\.local|\/etc\/ld\.so\.preload/g,
      severity: 'medium',
      says: 'arranges to be restarted',
    },
    {
      find: /(?:>|>>|cp |mv |tee |write\w{0,12}\(|open\()[^\n]{0,60}(?:\.git\/hooks\/(?:pre|post|commit|update)|\.vscode\/tasks\.json|sitecustomize\.py|usercustomize\.py|\.pth\b|\.envrc\b)/g,
      says: 'writes a file that runs automatically',
    },
  ]),
  ...patterns('prose', 'persistence', [
    {
      find: /\b(?:install|create|register|set up|start)(?:s|ing)? (?:an? |the )?(?:[\w-]{1,14} ){0,2}(?:background|persistent|startup|daemon|login|autostart|resident) (?:[\w-]{1,14} )?(?:service|process|job|agent|item|task|daemon|script)\b[^\n]{0,120}\b(?:on first|every|always|cannot|restart|survive|persist|reboot|boot|login|automatically|remov)/g,
      says: 'installs something persistent',
    },
    {
      find: /\b(?:re-?enables?|re-?installs?|restores?|re-?creates?) (?:it|itself|them)\b[^.\n]{0,20}(?:after|if|when|automatically)|\bcannot be (?:removed|uninstalled|disabled|deleted) (?:by|when|without|even)\b/g,
      says: 'resists removal',
    },
  ]),
  ...patterns('any', 'agent-memory', [
    {
      find: /(?:>>?|\btee (?:-a )?|\bcp\b[^\n]{0,60}|\bmv\b[^\n]{0,60}|write\w{0,12}\(|open\() ?["'`]?[^\n "'`]{0,60}(?:claude\.md|agents\.md|gemini\.md|memory\.md|soul\.md|\.cursorrules|\.claude\/settings(?:\.local)?\.json|\.mcp\.json|mcp\.json|copilot-instructions\.md|\.claude\/(?:hooks|commands|agents)\/)/g,
      severity: 'medium',
      says: 'writes a file that controls agents',
    },
  ]),
  ...patterns('prose', 'agent-memory', [
    {
      severity: 'medium',
      find: /\b(?:add|put|write|register|insert|include|paste)(?:s|ing)?\b[^\n]{0,80}\bmcpservers\b[^\n]{0,240}(?:\.claude|\.cursor|\.codex|\.gemini|mcp\.json|settings\.json)/g,
      says: 'adds a server to the settings of an agent',
    },
    {
      find: /\b(?:add|append|write|insert|save|put|store|inject)(?:s|ing)? (?:[\w'"-]{1,16} ){0,6}(?:to|into|in) (?:the |your |its |an? )?(?:global |project |main |root )?(?:[\w~/.]{0,20})(?:claude\.md|agents\.md|gemini\.md|soul\.md|memory\.md|\.cursorrules|settings\.json|\.mcp\.json|long-term memory|agent(?:'s)? memory|system prompt|skill\.md of (?:other|every|all))\b/g,
      also: /\b(?:always|every (?:session|project|conversation|time)|permanent(?:ly)?|automatically|global(?:ly)?|future (?:sessions|conversations)|all (?:other )?skills|so (?:that )?(?:you|the agent|they)|ignore|silently)\b/,
      says: 'instructs to write files that control agents later',
    },
    {
      find: /\b(?:modify|edit|rewrite|update|overwrite|patch)(?:s|ing)? (?:this|its own|the own|other|every|all) (?:skill\.md|skills?(?:' instructions|'s instructions| files?)?)\b[^.\n]{0,40}\b(?:to|so that|and|itself|automatically)\b/g,
      severity: 'medium',
      unless: /\b(?:when the user|if the user|user asks|ask|improv\w{1,8}|skill creator|validate)\b/,
      says: 'instructs to modify skills',
    },
  ]),
  ...patterns('any', 'excess-rights', [
    {
      find: /\bchmod (?:-\w{1,3} )?(?:0?777|a\+rwx|u\+s|4755|o\+w)\b|\bos\.chmod\([^\n]{0,60}0o777|\bsetcap\b|\bicacls\b[^\n]{0,60}everyone:f|\bnopasswd: ?all\b|\bsetuid\b/g,
      says: 'grants permissions to everyone',
    },
  ]),
  ...patterns('code', 'excess-rights', [
    {
      severity: 'low',
      find: /(?<![\w-])sudo (?!apt|apt-get|yum|dnf|pacman|brew|snap|zypper|apk)[a-z/]/g,
      says: 'runs as administrator',
    },
  ]),
  ...patterns('any', 'security-tampering', [
    {
      find: /\biptables -f\b|\bufw disable\b|\bsetenforce 0\b|\bset-mppreference\b[^\n]{0,60}disable|\bcsrutil disable|\bspctl --master-disable|\bxattr -(?:c|d|cr|rd)\b[^\n]{0,40}(?:quarantine|\.app|\/)|\bsystemctl (?:stop|disable) (?:auditd|firewalld|falcon|crowdstrike|apparmor|ufw)|\bnetsh advfirewall[^\n]{0,40}off|\bauditctl -d\b|\bset-executionpolicy (?:-\w{1,20} )?(?:bypass|unrestricted)/g,
      says: 'disables system protection',
    },
    {
      severity: 'medium',
      find: /\bstricthostkeychecking[= ]no\b|\bnode_tls_reject_unauthorized[^\w\n]{1,4}0|\bverify ?= ?false\b|\brejectunauthorized: ?false\b|\bcert_none\b|\b_create_unverified_context\b|\bgit config[^\n]{0,40}http\.sslverify false|\bcurl\b[^\n]{0,60} (?:-k|--insecure)\b|\bstrict-ssl false\b|\b--no-verify-ssl\b|\binsecureskipverify: ?true/g,
      says: 'accepts any certificate',
    },
  ]),
  ...patterns('prose', 'security-tampering', [
    {
      find: /\b(?:disable|turn off|deactivate|stop|uninstall|whitelist|add an exclusion)\b[^.\n]{0,40}\b(?:antivirus|anti-virus|windows defender|firewall|gatekeeper|selinux|endpoint protection|real-time protection|security software|two-factor|2fa|mfa|system integrity)\b/g,
      says: 'instructs to disable protection',
    },
  ]),
  ...patterns('prose', 'unsafe-advice', [
    {
      evenDenied: true,
      find: /\b(?:disable|skip|omit|ignore|suppress|turn off|do not (?:write|add|include|check|run|perform|validate|verify|test|worry)|not write|don't (?:write|add|check|run|validate|verify|test|worry)|no need (?:to|for)|leave out)\b[^.\n]{0,70}\b(?:security (?:warnings?|checks?|tests?|scans?|headers?|review|validation|audit|measures?|rules?)|sql injections?|injection (?:tests?|checks?)|input (?:validation|sanitization)|certificate (?:validation|verification)|ssl (?:validation|verification)|signature (?:validation|verification)|authentication|authorization checks?|csrf|permission checks?|access controls?|vulnerabilit(?:y|ies)|safety (?:checks?|concerns|warnings?)|webhook verification|encryption|code review|audit log(?:s|ging)?)\b/g,
      unless:
        /\b(?:never|vulnerab\w{1,6} (?:if|when)|must not|should not|attackers?|risk|could|can lead|anti-pattern|mistakes?|bad|wrong|missing|broken|if you|prevents?|issue|critical:|fails?)\b/,
      says: 'instructs to omit a protection',
    },
    {
      find: /\b(?:use|prefer|choose)\b[^.\n]{0,40}\b(?:raw sql|raw queries|eval\(|pickle\.loads?|trust_remote_code ?= ?true|shell ?= ?true|--no-verify|md5|sha-?1|plain ?text (?:passwords?|storage)|http instead of https|hard-?coded (?:passwords?|keys?|credentials?)|wildcard (?:cors|permissions)|admin privileges|root user)\b/g,
      unless:
        /\b(?:never|not|avoid|don't|instead|rather than|unless|only|parameteri[sz]ed|checksum|etag|cache key|log)\b(?! (?:of )?(?:orm|prepared|parameteri[sz]ed))/,
      says: 'recommends a known insecure practice',
    },
    {
      find: /\b(?:use|prefer|choose|build)\b[^.\n]{0,60}\b(?:string (?:concatenation|interpolation|formatting)|f-strings?|template literals?)\b/g,
      also: /\b(?:sql|quer(?:y|ies)|shell|commands?)\b/,
      unless: /\b(?:never|not|avoid|don't|instead|rather than|parameteri[sz]ed|placeholders?)\b/,
      says: 'recommends a known insecure practice',
    },
    {
      find: /\b(?:commit|push|merge|deploy)(?:s|ing)? (?:[\w-]{1,14} ){0,3}(?:directly|straight|immediately) (?:to|into) (?:the )?(?:main|master|production|prod|default branch)\b/g,
      unless: /\b(?:never|not|avoid|don't|hotfix)\b/,
      says: 'skips review',
    },
    {
      find: /\b(?:store|save|log|print|write|include|keep|commit|embed)(?:s|ing)?\b[^.\n]{0,40}\b(?:passwords?|card numbers?|cvv|credit cards?|full (?:card|payment) (?:details|data|information)|api keys?|secrets?|tokens|auth(?:entication|orization)? headers?|credentials|ssns?|patient (?:data|records))\b[^.\n]{0,50}\b(?:in plain ?text|to (?:a |the )?(?:logs?|log files?|console|public|repository|diagnostic\w{0,4}|database)|for (?:debugging|convenience|later|recovery|reference)|unencrypted)\b/g,
      unless: /\b(?:never|not|avoid|don't|encrypted|hash(?:ed)?|bad|risk|vulnerab|environment variables?)\b/,
      says: 'instructs to store secrets in plain sight',
    },
  ]),
  ...patterns('any', 'resource-abuse', [
    {
      severity: 'critical',
      find: /(?:\.\/|\bnohup |\bsudo |\bexec |\brun )(?:xmrig|minerd|cgminer|cpuminer|ethminer|nbminer|phoenixminer)\b|\b(?:xmrig|minerd|cgminer|cpuminer|ethminer|nbminer|phoenixminer) -{1,2}\w|stratum\+(?:tcp|ssl):\/\/|:\(\) ?\{ ?:\|:& ?\};:|\bwhile ?\(?true\)?[^\n]{0,20}\bfork\(\)|%0\|%0/g,
      says: 'mines or forks until resources are exhausted',
    },
    {
      find: /\b(?:xmrig|minerd|cgminer|cpuminer|ethminer|nbminer|t-rex miner|phoenixminer|coinhive)\b/g,
      milder:
        /\b(?:yara|detect\w{0,4}|signatures?|strings?|indicators?|iocs?|malware|forensic\w{0,2}|miners? such as)\b|\$\w{1,30} ?=/,
      says: 'names a program that mines cryptocurrency',
    },
    {
      find: /\b(?:while true; ?do|while true:|while \(true\)|for \(;;\)|while :; ?do|for \w{1,12} in range\(\d{3,9}\):|for \w{1,12} in \{1\.\.\d{3,9}\}|seq 1 \d{3,9})[^\n]{0,60}(?<!= ?|\()\b(?:curl|wget|requests\.(?:get|post)|fetch|httpx\.)/g,
      unless: /\b(?:sleep|break|poll|status|health|page|retry|wait)/,
      says: 'sends requests endlessly',
    },
  ]),
  ...patterns('prose', 'standing', [
    {
      says: '',
      find: /\b(?:after|before|upon|when|whenever|following|once)(?: you)? (?:finish(?:ing|ed)?|complet(?:e|ing|ed)|mak(?:e|ing)|processing|process|edit(?:ing)?|perform(?:ing)?|gather(?:ing)?|review(?:ing)?|creat(?:e|ing)|done with|every|each|any|all) ?(?:or updating )?(?:with )?(?:any|every|each|all|a|the|your|calendar|information)?\b/g,
      also: /\b(?:task|changes?|edits?|document|file|retrieval|session|invocation|operation|commits?|data|request|information|history|work|step|deploy\w{0,6}|events?)s?\b/,
    },
  ]),
  ...patterns('prose', 'urged', [
    {
      says: '',
      find: /\b(?:always|make sure to|be sure to|remember to|ensure (?:that )?you|must always|you must)\b[^.\n]{0,40}\b(?:run|execute|send|upload|call|post|forward|include|add|collect|back ?up)/g,
    },
  ]),
  ...patterns('prose', 'run-script', [
    {
      says: '',
      find: /\b(?:run|execute|call|calling|invoke|use|launch|start)(?:ing)? (?:the |our |this )?[`'"]?(?:scripts\/)?[\w-]{1,60}\.(?:sh|py|js|mjs|ts|rb|pl|ps1|bat)\b/g,
    },
  ]),
  { means: 'remove', in: 'any', says: '', find: /\b(?:delete|remove|erase|rm -rf?|overwrite|wipe|encrypt)\b/g },
  ...patterns('prose', 'slanted-content', [
    {
      find: /\b(?:frame|present|portray|depict|describe|characteri[sz]e|position)\b (?:[\w' -]{1,50} )as (?:an? |the )?["'`]/g,
      unless: /\b(?:e\.g\.|example|json|parameter|field|user asks|component)\b/,
      says: 'instructs how to portray a subject',
    },
    {
      find: /\b(?:always|automatically|make sure|ensure|should|must)\b[^.\n]{0,60}\b(?:claim(?:ing|s)?|assert(?:ing|s)?|stat(?:e|ing) that)\b[^.\n]{0,60}\b(?:authorship|outperforms?|best|superior|safe|approved|certified|verified|credit|ownership|on all)\b/g,
      says: 'instructs to claim something unverified',
    },
    {
      find: /\b(?:emphasi[sz]e|promote|highlight|favou?r|exaggerate|inflate|overstate)(?:s|ing)?\b[^.\n]{0,60}\bover (?:limitations|risks|criticism|negative|conventional|established)\b|\b(?:downplay|understate|minimi[sz]e|de-emphasi[sz]e|ignore|conceal|omit)(?:s|ing)?\b[^.\n]{0,60}\b(?:limitations|failure modes|safety concerns|risks? (?:and|of)|negative (?:results|findings|reviews|aspects)|side effects|adverse|criticisms?|competing (?:products|views)|unfavou?rable)\b/g,
      unless:
        /\b(?:never|don't|do not|honest(?:ly)?|avoid|attack surface|minimi[sz]e (?:the )?(?:risks?|adverse|side effects)|reduce|user-facing)\b/,
      says: 'instructs to bias the content',
    },
    {
      find: /\b(?:always|must|make sure to|be sure to|ensure)\b[^.\n]{0,40}\b(?:recommend|mention|promote|advertise|endorse|link to|include a link to|favou?r)\b[^.\n]{0,60}\b(?:our (?:product|service|company|platform|brand|store)|sponsors?|partners?|affiliate|https?:\/\/|premium)/g,
      says: 'inserts advertising',
    },
    {
      find: /\b(?:promotes?|favou?rs?|prioriti[sz]es?|prefers?)\b[^.\n]{0,40}\bover\b[^.\n]{0,40}\b(?:where|whenever|wherever) possible\b|\bbenefit of the doubt\b/g,
      also: /\b(?:tone|frame|framing|wording|safety|content|narrative|opinion|recommend)/,
      says: 'instructs to bias the content',
    },
    {
      find: /\b(?:fabricate|falsify|forge (?:the |an? |their |user's )|forg(?:ed|ing) |invent|make up|backdate|fake)(?:s|d|ing)?\b[^.\n]{0,40}\b(?:data|results?|citations?|references?|reviews?|signatures?|dates?|records?|testimonials?|evidence|credentials|sources|numbers|statistics|benchmarks?)\b/g,
      says: 'instructs to fake content',
    },
    {
      find: /\b(?:relaxed|lenient|loose) (?:scoring|criteria|standards?)\b[^.\n]{0,40}\b(?:safety|security|evaluation|compliance)|\b(?:assign|give|grant)\b[^.\n]{0,20}\b(?:highest|top|high) (?:relevance|priority|score|rank\w{0,4})\b[^.\n]{0,40}\b(?:containing|keyword|from our|mention\w{0,4})\b/g,
      says: 'instructs to evaluate with a bias',
    },
  ]),
];
