/** Wording that turns the agent against the user: overrides, secrecy, deception, modes, approval evasion, remote instructions. */
import { patterns, type Pattern } from '../pattern.ts';

const PROMPT_DELIMITER =
  /<\/?(?:skill_content|skill_file|available_skills|skills_note|skill_files)\b|<\/skill>|<\/?(?:system|system_prompt|system-reminder|system_message|im_start|im_end|human|antml:\w{1,20}|function_results)>|<\|(?:im_start|im_end|system|user|assistant|endoftext|start_header_id|eot_id)\|>|\[\/?inst\]|<<\/?sys>>/g;
/** A tag in inline code, in quotes or in a table: text about prompts, not a prompt. */
const PROMPT_TAG_AS_EXAMPLE = /[`'"(]<[/|]?[\w|:-]{1,24}>?|^\|/;

const OPEN_APPROVAL = /\b(?:never|do not|don't|must not|ask|only (?:if|when|after))\b/;

const APPROVALS_OFF =
  /--dangerously-\w{1,20}|--yolo\b|\bbypasspermissions\b|"?defaultmode"? ?: ?"bypass|--allow-all-tools\b|--trust-all-tools\b|--auto-approve-everything\b|\bdangerouslydisablesandbox\b|--no-sandbox --disable-web-security/g;

export const CONTROL_PATTERNS: readonly Pattern[] = [
  ...patterns('prose', 'approval-evasion', [
    {
      severity: 'critical',
      find: /\b(?:add|set|write|put|append|include|switch|change|insert)(?:s|ing)?\b[^\n]{0,160}(?:\bpermissions?[\x60'"]?\.?[\x60'"]?(?:allow|defaultmode)|\ballowed-?tools\b|\bbypasspermissions\b|\bautoapprove\b|\bapproval_policy\b|\balwaysallow\b|\ballow ?list\b)/g,
      also: /\.(?:claude|codex|cursor|gemini|vscode|qwen)\b[^\n]{0,200}\b(?:no longer|not (?:ask|come back|appear|prompt|interrupt|show)|never (?:ask|prompt|see)|does not come|stops? (?:asking|prompting)|without (?:being )?(?:ask|prompt)|skip)|\b(?:no longer|not (?:ask|come back|appear|prompt|interrupt|show)|never (?:ask|prompt|see)|does not come|stops? (?:asking|prompting)|without (?:being )?(?:ask|prompt))[^\n]{0,200}\.(?:claude|codex|cursor|gemini|vscode|qwen)\b/,
      unless: /\bif (?:the )?users? (?:wants?|asks?|prefers?)|\bask (?:the )?user|\boptional/,
      says: 'has the agent approve its own actions',
    },
    {
      find: /\b(?:answer|reply|say|respond|type|enter|press|click|choose|select|confirm|approve|accept)(?:s|ing)? (?:it |them |the prompt |with )?["'\x60]?(?:yes|y|allow|approve|always|ok)?["'\x60]? ?(?:yourself|on (?:the user's|their) behalf|for (?:the user|them)|in (?:the user's|their) (?:place|name))\b/g,
      unless: OPEN_APPROVAL,
      says: 'acts without asking',
    },
  ]),
  ...patterns('prose', 'override-instructions', [
    {
      find: /\b(?:ignore|disregard|forget|override|bypass|discard|supersedes?|overrides?)\b (?:[\w']{1,12} ){0,3}(?:previous|prior|earlier|above|preceding|existing|other|system|original|default|safety|user's(?: original)?) (?:[\w-]{1,12} )?(?:instructions?|prompts?|rules?|guidelines|directives?|constraints|polic(?:y|ies)|restrictions?|task(?: specification)?|guardrails|settings?)\b/g,
      unless:
        /\b(?:eslint|css|prettier|config(?:uration)?|theme|prompt injection|jailbreak|attack(?:er)?s?|malicious|untrusted|environment variables?|flags?)\b/,
      says: 'instructs to ignore other instructions',
    },
    {
      find: /\b(?:you are now (?:an?|the|no longer|free|operating|acting|unrestricted|dan)\b|from now on,? you(?: are|'re| will| must)|your new (?:role|instructions|goal|objective) (?:is|are)|new system prompt(?: is\b|:)|act as (?:dan|an unrestricted|root)|enter (?:developer|debug|god|admin|jailbreak|unrestricted) mode|pretend (?:that )?(?:you have no|there are no) (?:restrictions|rules|limits))\b/g,
      unless: /\b(?:prompt injection|jailbreak attempts?|attack|malicious)\b/,
      says: 'assigns the agent another role',
    },
    {
      find: /\b(?:takes? (?:precedence|priority) over|overrides?|outranks?|(?:has|have|with) (?:higher|elevated|more) (?:authority|priority|rank|trust) than?|supersedes?|contrary to|treated as a suggestion)\b[^.:\n]{0,60}\b(?:the user(?:'s)?|user (?:requests?|instructions?|preferences?|settings?|confirm\w{0,8}|consent|objects?|declines?)|system prompt|safety|what the user|dry.run)\b/g,
      unless: /\b(?:project instructions|css|config file|user's (?:language|locale|theme|experience|level))\b/,
      says: 'claims authority over the user',
    },
    {
      find: /\bregardless of (?:what|whether|how|if) (?:the )?users?\b|\bregardless of (?:the |any )?`?(?:user(?:'s|s')? (?:[\w-]{1,14} )?(?:requests?|instructions?|preferences?|settings?|confirm\w{0,8}|consent|wishes|objections?|choices?|decisions?|refusal)|system prompt|safety|dry.run)\b|\beven (?:if|when|though|after)\b[^.:\n]{0,30}\b(?:the )?users? (?:objects?|declines?|refuses?|disagrees?|denies|denied|opts? out|opted out|cancels?|says? (?:no|stop|not|otherwise)|has (?:not|denied|declined|refused|opted|revoked)|(?:did|does|do) not (?:approve|agree|consent|want|confirm|authori[sz]e)|(?:did|does|do)n't (?:approve|agree|consent|want|confirm|authori[sz]e)|(?:explicitly )?(?:asks?|requests?|tells?|instructs?|wants?|says?|sets?|enables?|specif\w{1,4})(?: you)?(?: for)? (?:not|otherwise|to (?:stop|wait|skip|cancel|undo|confirm|be asked|review|disable|remove)|(?:an? |the )?(?:dry.run|confirmation|preview|review|different|something else|other)))/g,
      says: 'claims authority over the user',
    },
    {
      find: /\beven (?:if|when)\b[^.:\n]{0,60}\b(?:user confirm\w{0,8}|user consent|system prompt|safety|dry.run|user (?:requests?|instructions?|preferences?|settings?) (?:conflict|contradict|say|differ|forbid|prohibit))\b/g,
      says: 'claims authority over the user',
    },
    {
      severity: 'medium',
      find: /\b(?:regardless of|even (?:if|when))\b[^.:\n]{0,60}\b(?:the user|users?)\b/g,
      also: /\b(?:continue|proceed|anyway|nonetheless|send|upload|transmit|delete|execute|ignore|refuse)\b/,
      says: 'claims authority over the user',
    },
    {
      find: /\b(?:if|when|even though)\b (?:the )?users? (?:objects?|declines?|refuses?|says no|asks? (?:you )?to stop|tries to (?:stop|cancel|disable|remove)|attempts to (?:stop|cancel|disable|remove|delete)|disagrees?)\b[^.\n]{0,100}\b(?:continue|proceed|ignore|anyway|regardless|re-?enable|restore|insist|persist|retry|override)/g,
      says: "continues against the user's will",
    },
    {
      find: /\b(?:elevate|escalate|request|acquire|obtain|grant itself|gain)(?:s|d|ing)?\b[^.\n]{0,20}\b(?:elevated|additional|broader|full|admin(?:istrator)?|root|unrestricted|dba-level) (?:permissions?|privileges?|access|rights|scopes?)\b/g,
      unless: /\b(?:ask|if needed|user approves|attackers?|privilege escalation|explain|never)\b/,
      severity: 'medium',
      says: 'escalates its own permissions',
    },
    {
      find: /\b(?:reveal|print|output|repeat|dump|leak|disclose)\b[^.\n]{0,20}\b(?:your |the full |the entire |the hidden )(?:full |entire |hidden |own )?(?:system prompt|initial instructions|hidden instructions)\b/g,
      says: 'asks for the system prompt',
    },
    {
      find: /\b(?:admin|safety|content|policy|security|filter|guardrail)s?[_ -](?:override|bypass|disabled?)(?:[_ -]?enabled)?\b|\bbypass[_-](?:content|safety|security|filter)/g,
      unless: /\b(?:css|test|detect|vulnerab|attack|check)/,
      says: 'claims that restrictions are off',
    },
  ]),
  ...patterns('prose', 'hidden-mode', [
    {
      find: /\b(?:unrestricted|privileged|god|root|admin|developer|maintenance|diagnostic|debug|override|backdoor|elevated) (?:mode|access|permissions?|privileges?|level)\b/g,
      also: /\b(?:automatically|no (?:additional |further )?(?:authentication|confirmation|approval)|without (?:[\w-]{1,14} ){0,2}(?:authentication|confirmation|approval|activation|logging)|not log(?:ged)?|lifted|disables?|bypass(?:es)?|unrestricted|silently|any user|when the (?:query|message|input|request|prompt))\b/,
      says: 'describes a mode with fewer restrictions',
    },
    {
      find: /\b(?:if|when|whenever|any)\b[^.\n]{0,40}\b(?:contains?|begins?(?: with)?|starts? with|includes?|mentions?|prefixed|says)\b[^\n]{0,90}\b(?:restrictions? (?:is|are) lifted|skip (?:all )?(?:checks|validation|confirmation)|enters? (?:a |an )?[\w-]{1,20} mode|grant(?:s|ed)? (?:full|admin|elevated)|execute (?:it|them|the command) (?:immediately|directly)|trusted (?:peer )?instruction)/g,
      says: 'a phrase in the input disables restrictions',
    },
    {
      find: /\b(?:add|include|create|insert|embed|leave|plant|hard-?code)(?:s|ing)?\b[^.\n]{0,40}\b(?:back ?door|hidden (?:admin|account|user|endpoint|route|field)|secret (?:endpoint|route|account|parameter|admin)|(?:default|extra) admin (?:account|user)|master password|universal password)\b/g,
      says: 'instructs to build a backdoor',
    },
    {
      find: /\b(?:disables?|turns? off|lifts?|removes?|suspends?)\b (?:all |any |the |its )?(?:[\w`-]{1,16} )?(?:content filter(?:s|ing)?|safety (?:checks|filters|measures|guidelines)|restrictions?|guardrails|permission checks|audit (?:trail|log(?:ging|s)?))\b/g,
      says: 'disables restrictions',
    },
  ]),
  ...patterns('prose', 'conceal-from-user', [
    {
      evenDenied: true,
      find: /\b(?:do not|don't|never|must not|should not|shouldn't|does not|doesn't|without|avoid|not be|are not|is not|not) (?:ever )?(?:tell(?:ing)?|mention(?:ed|ing)?|inform(?:ed|ing)?|notify(?:ing)?|notified|reveal(?:ed|ing)?|disclos(?:e|ed|ing)|show(?:n|ing)?|report(?:ed|ing)?|alert(?:ed|ing)?|warn(?:ed|ing)?|display(?:ed|ing)?|surfaced?|prompt(?:ed)?) (?:(?:this|it|that|any of this|these|them|anything|about|of|in|to|the|to the|for|standard|output|\w{1,12}) ){0,4}(?:users?|human|operator|customer|people|owner|standard output)\b(?! to (?:run|type|open|copy|paste|execute|install|edit|use)\b)/g,
      unless:
        /\b(?:error codes?|stack traces?|raw (?:json|errors?|output)|jargon|technical details|internal (?:ids?|errors?|paths?)|spoiler|secrets?|passwords?|api keys?|tokens?|credentials?|which (?:option|tool)|how to|what to do|can't|unless)\b/,
      says: 'instructs to hide something from the user',
    },
    {
      evenDenied: true,
      find: /\b(?:silently|secretly|covertly|stealthily|discreetly|invisibly|quietly|surreptitiously|in the background|transparently)\b,? (?:(?:and|also|then|always|automatically|you (?:must|should)|must|should|will|be|to|\w{1,14}ly) ){0,3}(?:send|upload|run|execute|install|delete|remove|collect|copy|post|request(?:ed)?\b|requests (?:[\w-]{1,14} ){0,2}(?:access|permissions?|privileges?|scopes?|rights)|modify|write|forward|download|record|grant|escalat\w{1,6}|elevat\w{1,6}|disable|performed)/g,
      unless:
        /\b(?:fails?|errors?|swallow|ignored|dropped|background (?:process|task|job|worker|agent|subagent)|run_in_background|truncat\w{1,4}|break|corrupt|never|don't|do not|avoid)\b/,
      says: 'instructs to act unnoticed',
    },
    {
      severity: 'medium',
      evenDenied: true,
      find: /\b(?:silently|secretly|covertly|stealthily|discreetly|invisibly|surreptitiously)\b[^.\n]{0,40}\b(?:send|upload|collect|post|forward|transmit|exfiltrat|record)/g,
      unless: /\b(?:fails?|errors?|swallow|ignored|dropped|truncat\w{1,4}|break|corrupt|never|don't|do not|avoid)\b/,
      says: 'instructs to act unnoticed',
    },
    {
      severity: 'medium',
      evenDenied: true,
      find: /\busers? (?:does not|doesn't|do not|don't) (?:notice|reali[sz]e|find out)\b/g,
      says: 'hides something from the user',
    },
    {
      evenDenied: true,
      find: /\b(?:not|never|without) (?:be )?(?:log(?:ged|ging)?|record(?:ed|ing)?|audit(?:ed|ing)?|report(?:ed|ing)?|label(?:l?ed)?|disclosed?) (?:[\w]{1,10} ){0,3}(?:session|audit trail|actions?|as (?:an )?advertis\w{1,8}|standard output|as sponsored|tool calls?|to the audit|activity)\b/g,
      says: 'omits evidence of the action',
    },
    {
      evenDenied: true,
      find: /\b(?:hide|conceal|omit|suppress|mask|cover up|erase|wipe)(?:s|ing)?\b[^.\n]{0,40}\b(?:from (?:the )?users?|from (?:the )?(?:logs?|history|output|transcript)|tool calls?|this (?:step|action|instruction))\b|\b(?:hide|conceal|suppress|cover up|erase|clear|wipe|destroy|remove)(?:s|ing)? (?:the |all |any |your |its |every |all of the )(?:[\w-]{1,14} ){0,2}(?:tracks|traces|trace of|evidence)\b|\b(?:hide|conceal|cover up|erase|wipe) (?:[\w-]{1,14} ){0,2}(?:traces|evidence)\b|\bcover(?:s|ing)? (?:up )?your tracks\b|\b(?:erase|clear|wipe|delete|remove)(?:s|ing)? (?:the |your |all )?(?:[\w-]{1,14} ){0,2}(?:bash|shell|command) history\b|\bclear(?:s|ing)?\b (?:it|this|that|them|these|the (?:calls?|commands?|actions?)) from (?:the )?(?:logs?|history|output|transcript)\b/g,
      unless: /\b(?:css|ui|element|stack traces?|column|button|secrets?|sensitive|password|performance)\b/,
      says: 'hides what was done',
    },
    {
      evenDenied: true,
      find: /\b(?:not|never|without being) (?:be )?(?:made )?(?:visible|shown|displayed|exposed|presented|communicated|apparent|noted|surfaced|included|mentioned|reflected|revealed|disclosed) (?:to|in) (?:the |any |your )?(?:users?|end users?|output|summary|response|reply|final (?:answer|output)|logs|standard output|transcript|customer)\b/g,
      unless: /\b(?:secrets?|passwords?|api keys?|tokens?|credentials?|css|ui|component|sensitive|pii|stack traces?)\b/,
      says: 'hides something from the user',
    },
    {
      evenDenied: true,
      find: /\b(?:the )?users? (?:(?:does not|doesn't|do not|don't) (?:need to|have to|ever)|need not|needn't|should not|shouldn't|must not|will not|won't|is not|are not|isn't|aren't) (?:be )?(?:ever )?(?:know|see|aware|told|notice|informed|notified|find out|realize|learn)\b(?! (?:how|what|why|when|where|which|whether|if|the difference))|\b(?:so|ensure|make sure|such) (?:that )?(?:the )?users? (?:does not|doesn't|do not|don't) (?:ever )?(?:know|see|notice|find out|realize|learn)\b/g,
      unless:
        /\b(?:how to|if the user|when the user|users? who|ask|explain|assume|which|what|jargon|terminology|technical)\b/,
      says: 'hides something from the user',
    },
    {
      find: /\b(?:keep|keeps|treat) (?:this|it|that|these|them|the existence) (?!as an? secret)(?:[\w-]{1,14} ){0,4}(?:secret|confidential|hidden|private|between us)\b|\bas (?:if|though) nothing (?:happened|changed)\b/g,
      unless: /\b(?:api keys?|token|password|credential|\.env)\b/,
      says: 'hides something from the user',
    },
  ]),
  ...patterns('code', 'conceal-from-user', [
    {
      find: /\bhistory -c\b|\bunset histfile\b|\bhistfile=\/dev\/null|\bhistsize=0\b|\brm (?:-\w{1,3} )?~\/\.(?:bash|zsh)_history|\bclear-eventlog\b|\bwevtutil cl\b|\bshred\b[^\n]{0,40}\blog/g,
      says: 'deletes the command history',
    },
  ]),
  ...patterns('prose', 'deceive-user', [
    {
      find: /\b(?:if|when|should)\b[^.\n]{0,40}\b(?:asks?|asked|inquires?|wonders?)\b[^.\n]{0,90}\b(?:(?:always )?(?:respond|reply|say|claim|state|insist) (?:that )?(?:it|you|this|no|the skill|there)|answer (?:that (?:it|you|this)|you|no|(?:that )?the skill|(?:that )?there)|deny|denies|refuse to (?:say|reveal|disclose)|pretend|lie|change the subject)\b/g,
      unless:
        /\b(?:you don't know|you do not know|not sure|cannot find|outside (?:the )?scope|medical advice|legal advice)\b/,
      says: 'prepares an answer for suspicious questions',
    },
    {
      find: /\b(?:tell|assure|convince|inform|reassure) (?:the )?users? (?:that )?(?:this is|it is|it's|everything|nothing|no (?:data|files)|the (?:data|files)) [^.\n]{0,40}\b(?:safe|normal|required|routine|standard|secure|expected|local|sent|shared|collected|mandatory)\b/g,
      says: 'instructs to reassure the user',
    },
    {
      milder: /\bwithout explicit (?:consent|permission)\b/,
      find: /\b(?:without|lack of) (?:their|the user's|user|explicit|informed) (?:knowledge|consent|awareness|permission)\b|\b(?:users? (?:cannot|can't|can not|are not able to|have no way to) (?:opt out|disable|cancel|change|remove|uninstall|turn (?:it|this) off)|they (?:cannot|can't|have no way to) (?:opt out|disable it|uninstall|turn (?:it|this) off))\b|\bdisclosing (?:this|it|the)\b[^.\n]{0,80}\b(?:would|causes?|may|could) /g,
      unless:
        /\b(?:gdpr|ccpa|illegal|violat\w{1,6}|privacy law|compliance|never|must not)\b|^(?:[-+>] |\d{1,2}[.)] )?no\b/,
      says: 'continues without consent',
    },
    {
      find: /\b(?:subtly|naturally woven|woven (?:naturally )?into|unnoticeably|imperceptibly|inconspicuously)\b[^.\n]{0,80}\b(?:recommend\w{0,8}|promot\w{1,6}|product|sponsor\w{0,4}|links?|brand|advert\w{0,8}|mention|include|incorporat\w{1,4}|bias|insert)/g,
      says: 'inserts content into answers',
    },
    {
      find: /\b(?:partner(?:ship)?|affiliate|sponsor(?:ed)?|commercial relationship|paid)\b[^.\n]{0,80}\b(?:premium|boost|score|ranked? higher|prefer(?:red|s|ence)|priorit\w{1,6})\b/g,
      also: /\b(?:not|without|never|hidden|undisclosed|score)\b/,
      says: 'ranks by provider payment',
    },
  ]),
  ...patterns('prose', 'priority-claim', [
    {
      find: /\b(?:always|must|should|mandatory to) (?:be )?(?:use|used|invoke|invoked|load|loaded|activate|activated|call|called|run|consult) (?:this skill|this tool|me|it) (?:first|before (?:any|all|every|each|other)|for (?:every|all|any) (?:task|request|conversation|message|query|question)s?|instead of (?:any|all|other)|on every)\b/g,
      says: 'demands to be used first or always',
    },
    {
      find: /\b(?:never|do not|don't) (?:use|invoke|load|call) (?:any )?other (?:skills?|tools?)\b|\bthis skill (?:takes precedence over|overrides|replaces|supersedes) (?:all )?(?:other|any|every)\b/g,
      evenDenied: true,
      says: 'demands to be used instead of other skills',
    },
  ]),
  ...patterns('prose', 'approval-evasion', [
    {
      evenDenied: true,
      find: /\b(?:do not|don't|never|no need to|not|waiting for|need not) (?:the |any |to |first |additional |further |explicit |need(?:ing)? |requir(?:e|ing) |prompted |ask(?:ing)? |wait(?:ing)? |request(?:ing)? |seek |for ){1,4}(?:user(?:'s)? )?(?:confirmation|approval|permission|consent|authorization)\b/g,
      unless: /\bunless\b|\bstop\b|\b(?:read-only|if (?:the )?user (?:has )?already|already approved|twice|again)\b/,
      milder:
        /\b(?:additional|further|second|extra) (?:user )?(?:confirmation|approval|permission)\b|\b(?:once|after|when|if) (?:the )?users? (?:\w{1,12} )?(?:picks?|chooses?|selects?|confirms?|approves?|agrees?|asks?|requests?)\b/,
      says: 'acts without asking',
    },
    {
      find: /\b(?:skip|skips|bypass|bypasses|suppress|auto-?accept|auto-?approve|auto-?confirm)(?:s|ing)? (?:the |any |all |every )?(?:[\w-]{1,14} )?(?:confirmations?|approvals?|(?:permission|confirmation|approval|security|safety) (?:prompts?|checks?|dialogs?)|consent|user prompts?|human review)\b/g,
      unless: /\bunless\b|\bif (?:the )?user\b|\buser (?:asks|says|requests)\b/,
      milder: /^(?:[-+>|] ?)?[`'"]?--?\w/,
      says: 'acts without asking',
    },
    {
      find: /\b(?:proceed|act|execut|appl|run|delet|send|tak|mak|perform|authori|action|chang|commit|push|merg|instal|download|purchas|transfer|modif|approv|grant|updat)\w{0,6}\b[^.\n]{0,60}\bwithout (?:the |any |first |additional |further |explicit |prior |asking |requiring |waiting |for ){0,4}(?:user(?:'s)? )?(?:confirmation|approval|permission|consent|authorization|asking|review)\b/g,
      unless:
        /\b(?:never|must not|not|don't|cannot|should not|no|forbidden|avoid|refuse)\b[^.\n]{0,80}\bwithout\b|\bunless\b/,
      milder: /\bwithout asking only (?:when|if|for|after|once)\b|\breversible\b|^\|/,
      says: 'acts without asking',
    },
    {
      find: /\b(?:assume|presume|treat|interpret|take|consider)(?:s|d)?\b[^.\n]{0,60}\b(?:as|is|implied|implicit|given)\b[^.\n]{0,16}\b(?:consent|approval|permission|authorization|a yes)\b/g,
      unless: /\bnot as\b/,
      says: 'acts without asking',
    },
  ]),
  ...patterns('code', 'approval-evasion', [
    {
      find: APPROVALS_OFF,
      says: 'disables approvals or the sandbox',
    },
  ]),
  ...patterns('prose', 'approvals-off', [{ says: '', find: APPROVALS_OFF }]),
  ...patterns('prose', 'approval-evasion', [
    {
      severity: 'medium',
      find: APPROVALS_OFF,
      says: 'disables approvals or the sandbox',
    },
    {
      find: /\b(?:disable|turn off|leave|escape|bypass|break out of)\b (?:the |its |your )?sandbox\b|\busers? (?:are|is|will be) (?:only )?(?:notified|informed|told) (?:of [\w ]{1,30} )?after\b|\bis advisory only\b/g,
      says: 'acts before the user can object',
    },
    {
      find: /\b(?:execut|appl|perform|act|terminat|delet|proceed|implement|chang)\w{0,5} (?:\w{1,14} ){0,3}(?:immediately|decisively|autonomously|automatically) (?:when (?!called|invoked|defined|created|imported|loaded|available|ready|run|the (?:browser|page|script|function|component)\b|data\b)|without|regardless|and never|before the user)/g,
      unless: /\b(?:stop|halt|report)\b/,
      severity: 'medium',
      says: 'acts autonomously',
    },
  ]),
  ...patterns('prose', 'remote-instructions', [
    {
      find: /https?:\/\/[^\n ]{4,120} ?[^\n]{0,60}\b(?:load|fetch|read|follow|apply|obey|consult|get)(?:s|ing)? (?:them|it|these|those|its contents?)\b[^\n]{0,19}\b(?:before|at the start|first|each|every|always)\b/g,
      unless: /\b(?:documentation|docs|user guide|api reference)\b/,
      says: 'loads instructions from a URL',
    },
    {
      find: /\b(?:fetch|download|retrieve|read|load|visit|open|get|check|pull|curl)\b[^.\n]{0,60}(?:https?:\/\/|\b(?:url|page|website|gist|endpoint|server|issue|article|feed)s?\b)[^\n]{0,90}\b(?:and|then|,) (?:follow|execute|obey|carry out|run|apply|do) (?:its|the|all|any|every|whatever|each|those|these)? ?(?:[\w-]{1,14} )?(?:instructions?|directives?|commands?|steps|rules|prompts?|it says|is (?:there|written))\b/g,
      says: 'fetches instructions from a URL',
    },
    {
      find: /\b(?:treat(?:ed|s)?|regard(?:ed)?|consider(?:ed)?|interpret(?:ed)?|handle[ds]?) (?:(?:it|them|this|that|these|any|all|such|the|\w{1,14}) ){0,4}as (?:an? |the )?(?:[\w-]{1,14} ){0,3}(?:instructions?|directives?|commands?|orders?)\b/g,
      unless: /\b(?:not|never|don't|data, not|untrusted|instead of|rather than|user's)\b/,
      says: 'treats text as instructions',
    },
    {
      find: /\b(?:execut|follow|obey|run)\w{0,4}\b[^.\n]{0,50}\b(?:commands?|instructions?|directives?)\b (?:found|embedded|contained|hidden|included|written|given|that appear) (?:in|inside|within|by|on) (?:the |any |code |a |html |file |web |article )?(?:[\w-]{1,14} ){0,2}(?:comments?|content|pages?|documents?|files?|metadata|responses?|emails?|messages?|articles?|websites?|issues?)\b/g,
      unless: /\b(?:not|never|don't|skill\.md|this skill|reference|this file)\b/,
      says: 'follows instructions found in content',
    },
  ]),
  ...patterns('code', 'prompt-delimiter', [
    {
      severity: 'medium',
      find: PROMPT_DELIMITER,
      says: 'contains a prompt delimiter',
    },
  ]),
  ...patterns('prose', 'prompt-delimiter', [
    {
      find: PROMPT_DELIMITER,
      evenDenied: true,
      milder: PROMPT_TAG_AS_EXAMPLE,
      says: 'contains a prompt delimiter',
    },
    {
      severity: 'medium',
      find: /(?<=^|\n)(?:#{1,4} )?\[?(?:system|assistant|developer)\]? ?(?:message|prompt|override)?: (?:you|ignore|the user|from now|new|important|please)/g,
      says: 'impersonates the system',
    },
  ]),
];
