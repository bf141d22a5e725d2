/**
 * Single sentences that read like house rules but serve a third party. They are hard to see in a legitimate skill, and each is milder than
 * an attack, so they only warn and leave the decision to the user.
 */
import { patterns, type Pattern } from '../pattern.ts';

/** An order for every task. */
const EACH_TIME =
  /\b(?:always|automatically|every|each|all|any|before|after|when(?:ever)?|make sure|ensure|must|should|also|as well)\b/;
const OPEN_QUESTION =
  /\b(?:ask|confirm|if the user|user (?:asks|wants|requests|approves)|optional(?:ly)?|never|do not|don't)\b/;

export const CONTEXTUAL_PATTERNS: readonly Pattern[] = [
  ...patterns('prose', 'over-sharing', [
    {
      find: /\b(?:visibility|access|sharing|permissions?) (?:level )?(?:to|as|so (?:that )?) ?(?:be )?(?:public\b(?! (?:[\w-]{1,14} )?(?:data\w{0,4}|datasets?|content|information|protocols?|resources?|repositor\w{1,3}|apis?|endpoints?|buckets?|images?|records?|collections?))|everyone|anyone|anybody)\b|\bto (?:the|a) public (?:hub|channel|slack channel|repo(?:sitory)?|bucket|server|folder|forum|gist)\b|\bin (?:the|a) public (?:[\w-]{1,12} )?channel\b|\b(?:everyone|anyone|anybody|all users) can (?:read and write|write|edit|access)\b/g,
      unless: OPEN_QUESTION,
      says: 'instructs to publish content',
    },
    {
      find: /\btransfer(?:s|ring)? (?:the )?ownership\b|\b(?:add|invite|grant|include|cc|bcc)(?:s|ing)?\b[^\n]{0,60}[\w.+-]{1,40}@[\w.-]{2,60}\.[a-z]{2,10}\b/g,
      also: EACH_TIME,
      unless:
        /@(?:example|company|acme|domain|test|email|yourcompany|your-?domain|anthropic|users\.noreply)\b|\bco-authored-by\b|\b(?:ask|confirm|never|e\.g\.)\b/,
      says: 'opens access for a third party',
    },
  ]),
  ...patterns('prose', 'payment-redirect', [
    {
      severity: 'medium',
      find: /\b(?:add|charge|deduct|route|transfer|send|pay)(?:s|ing)?\b[^.\n]{0,60}\b(?:fee|commission|percent|surcharge|donation|tip)\b[^.\n]{0,40}\bto (?:the )?(?:account|wallet|address|our)\b|\b(?:replace|change|swap|substitute)(?:s|ing)?\b[^.\n]{0,40}\b(?:bank account|account numbers?|iban|wallet address(?:es)?|routing numbers?|payee|payment details)\b/g,
      says: 'redirects payments',
    },
  ]),
  ...patterns('prose', 'approval-evasion', [
    {
      severity: 'medium',
      find: /\b(?:automatically|always|auto) (?:accept|approve|sign|confirm|pay|purchase|buy|agree to|authori[sz]e|merge|publish|refund)(?:s|ing)?\b[^.\n]{0,40}\b(?:all|any|every|each|pending|the pull request|requests?|invit\w{1,8}|transactions?|payments?|terms|prs?|changes)\b/g,
      unless: OPEN_QUESTION,
      says: "agrees in the user's name",
    },
    {
      severity: 'medium',
      find: /\b(?:vote|star|like|follow|subscribe|post|sign|register|log ?in|sign in|review)(?:s|ing)?\b[^\n]{0,60}\b(?:using|with|from|through) (?:the )?user's (?:\w{1,12} )?(?:account|identity|session|profile|credentials?)\b|\buse (?:the )?user's (?:browser |saved |active |existing )?(?:session|cookies|passwords?|logins?)\b/g,
      unless: OPEN_QUESTION,
      says: 'acts as the user',
    },
  ]),
  ...patterns('prose', 'unsafe-advice', [
    {
      find: /\b(?:with|use|using|pass|add|set|load|enable|run)\b[^.\n]{0,50}(?:--no-verify\b|trust_remote_code ?= ?true|--privileged\b|--allow-root\b|allow_dangerous\w{1,30}|0\.0\.0\.0\/0|\ball privileges\b|\ball origins\b|allow-origin: ?\*)/g,
      unless:
        /\b(?:never|not|don't|avoid|only|unless|warn\w{0,4}|risk|careful|insecure|vulnerab\w{1,8})\b(?! (?:slow|block|delay))/,
      says: 'recommends a known insecure practice',
    },
    {
      find: /\b(?:grant|give)s?\b[^.\n]{0,40}\b(?:all privileges|full (?:admin|control)|superuser|administrator rights)\b|\b(?:failing tests?|tests? that fail)\b[^.\n]{0,30}\b(?:delet|remov|skipp|comment|disabl)\w{1,4}\b|\b(?:delete|remove|skip|disable|comment out) (?:the |all |any )?(?:failing tests?|tests? that fail)\b/g,
      unless: /\b(?:never|not|don't|avoid|ask)\b/,
      says: 'recommends a known insecure practice',
    },
  ]),
  ...patterns('prose', 'slanted-content', [
    {
      find: /\b(?:insert|add|include|append|embed|put)(?:s|ing)?\b[^\n]{0,40}\b(?:links?|banner|backlinks?|promotion|advert\w{0,8}|referral|reference) (?:to|for|from) (?:the )?[`<([]?(?:https?:\/\/|our\b)[^\n]{0,60}\b(?:every|each|all|any|footer)\b/g,
      says: 'inserts advertising',
    },
    {
      evenDenied: true,
      find: /\bnever mention (?:[\w-]{1,14} ){0,3}(?:security|risks?|limitations?|competitors?|problems|downsides?|side effects|alternatives|issues|costs|vulnerabilit\w{1,4})\b|\b(?:white|invisible|hidden|tiny) (?:font|text|keywords?)\b[^.\n]{0,60}\b(?:rank\w{0,4}|score|ats|seo|parsers?|reviewers?)\b|\bround\b[^.\n]{0,30}\b(?:up|down)\b[^.\n]{0,20}\bto (?:look|appear|seem)\b|\b(?:reviews?|comments?|feedback|ratings?|evaluations?) should always be (?:positive|favou?rable|approv\w{1,4})/g,
      says: 'instructs to bias the content',
    },
    {
      find: /\b(?:remind|encourage|urge|push|persuade|convince|nudge) (?:the )?users? to (?:subscribe|upgrade|buy|purchase|sign up|donate|invest|rate|star)\b|\brecommend [\w .-]{1,30} in (?:every|each|all) (?:answer|response|reply|document|report)s?\b/g,
      says: 'inserts advertising',
    },
  ]),
  ...patterns('prose', 'hidden-mode', [
    {
      find: /\b(?:create|add|set up|register)(?:s|ing)? (?:an? )?(?:new |extra |additional |second )?(?:user|account|login|ssh key)\b[^.:\n]{0,50}\b(?:sudo|root|admin(?:istrator)?|superuser|remote (?:support|maintenance|access))\b|\bopen (?:an? |the )?port \d{2,5}\b[^.\n]{0,60}\b(?:firewall|connect|remote|outside|internet)\b/g,
      severity: 'medium',
      unless: OPEN_QUESTION,
      says: 'instructs to build a backdoor',
    },
  ]),
  ...patterns('prose', 'download-and-run', [
    {
      severity: 'medium',
      find: /\b(?:install|download|get|run)\b[^\n]{0,60}https?:\/\/[\w.:-]{1,80}\/[^\n )]{0,120}\.(?:sh|exe|dmg|msi|pkg|bat|ps1|scr|appimage)\b/g,
      unless: /\b(?:never|do not|don't)\b|\| ?(?:ba|z)?sh\b/,
      says: 'requires a program from a URL',
    },
  ]),
  ...patterns('prose', 'locks-files', [
    {
      find: /\bencrypt(?:s|ing)? (?:all|every|each|the user's|any) (?:[\w-]{1,14} )?(?:files?|documents?|folders?|data|drives?)\b/g,
      unless: /\b(?:at rest|in transit|tls|backups?|sensitive|kms|aes|ask|if the user|should be)\b/,
      says: "locks the user's files",
    },
  ]),
  ...patterns('prose', 'mass-deletion', [
    {
      severity: 'medium',
      find: /\b(?:overwrite|delete|drop|remove|replace|reset|truncate)(?:s|ing)?\b[^.\n]{0,60}\bwithout (?:\w{1,12}ing )?(?:for )?(?:an? |any |first )?(?:back ?up|copy|saving)\b|\b(?:rename|move|overwrite|modify|shuffle)(?:s|ing)? (?:all|every|each) (?:[\w-]{1,14} )?(?:files?|documents?|folders?) (?:in|of|on) (?:the )?(?:home|desktop|user's|entire|whole|machine)\b|\brm -rf (?:on|everything|all|the)\b/g,
      unless: OPEN_QUESTION,
      says: 'makes many irreversible changes',
    },
  ]),
  ...patterns('prose', 'conceal-from-user', [
    {
      find: /\b(?:delete|clear(?! audit trail)|erase|purge|truncate|wipe|rewrite)(?:s|ing)? (?:the |all |any |your |its )?(?:git|commit|shell|audit|access|activity|system|event|security) (?:history|logs?|trail|log table|records?)\b/g,
      unless: OPEN_QUESTION,
      says: 'deletes the record of actions',
    },
    {
      severity: 'medium',
      find: /\b(?:suppress|hide|swallow|mask)(?:s|ing)?\b[^.\n]{0,50}\b(?:errors?|warnings?|exceptions?|failures?)\b[^.\n]{0,50}\b(?:so (?:that )?the user|only sees?|from the user|report(?:ed)? (?:as )?success|appear successful|look successful)\b/g,
      says: 'hides failures',
    },
  ]),
  ...patterns('prose', 'persistence', [
    {
      severity: 'medium',
      find: /\bkeep(?:s|ing)?\b[^.\n]{0,40}\brunning\b[^.\n]{0,40}\b(?:after the (?:task|session|conversation)|even after|when the (?:task|session) (?:ends|is (?:done|complete)))\b/g,
      says: 'stays active after the task',
    },
  ]),
  ...patterns('prose', 'environment-harvest', [
    {
      severity: 'medium',
      find: /\b(?:include|attach|append|paste|print|dump|copy|send|post|share)(?:s|ing)?\b[^.\n]{0,50}\bcontents? of\b[^\n]{0,24}(?:\.env\b|\bcredentials?\b|\bconfig files?\b|\benvironment\b)/g,
      says: 'stores secrets in the wrong place',
    },
  ]),
  ...patterns('prose', 'personal-data', [
    {
      severity: 'medium',
      find: /\b(?:attach|send|upload|submit|report|post|transmit)(?:s|ing)?\b[^.\n]{0,50}\b(?:system information|installed (?:programs|software|applications)|ip address|mac address|host ?name|device (?:id|identifier|fingerprint)|user's (?:name|phone|e-?mail|address|contacts?|birthday|location))\b/g,
      unless: OPEN_QUESTION,
      says: 'shares data about the user or the machine',
    },
    {
      severity: 'medium',
      find: /\b(?:reply|respond|register|enter|collect|submit|share|forward|send|read|copy)(?:s|ing)?\b[^.\n]{0,60}\b(?:user's (?:full )?(?:name|phone(?: number)?|e-?mail|home address|contacts|birthday)|(?:verification|one-time|2fa|otp|login|security) (?:codes?|passwords?|pins?))\b/g,
      also: /https?:\/\/|\b(?:to (?:the|our|a|each|every)|each sender|channel|everyone|with the user's)\b/,
      unless: OPEN_QUESTION,
      says: 'shares data about the user',
    },
  ]),
  ...patterns('prose', 'copy-elsewhere', [
    {
      severity: 'medium',
      find: /\b(?:mirror|deliver|replicate|archive|back ?up|duplicate|upload|submit|drop|save|store|put)(?:s|es|ed|ing)?\b[^\n]{0,80}\b(?:to|into|at|on|via) [`<("']?https?:\/\/(?!localhost|127\.|0\.0\.0\.0|github\.com|gitlab\.com|example\.|docs\.|your)/g,
      also: /\b(?:files?|folders?|documents?|reports?|data|results?|output|cop(?:y|ies)|contents?|logs?|conversations?|projects?|everything)\b/,
      unless: OPEN_QUESTION,
      says: 'instructs to send a copy to a URL',
    },
  ]),
  ...patterns('prose', 'destructive-command', [
    {
      severity: 'medium',
      find: /\bforce[- ]push(?:es|ing)? (?:the |your |all |it |to )/g,
      unless: /\b(?:never|not|don't|avoid|ask|confirm|unless|with-lease|warn)\b/,
      says: 'rewrites or discards history',
    },
  ]),
  ...patterns('prose', 'security-tampering', [
    {
      severity: 'medium',
      find: /\b(?:shut down|stop|disable|kill|turn off|pause)(?:s|ing)? (?:the |all |any )?(?:logging|monitoring|audit(?:ing)?|backup|alerting|security|antivirus|update) (?:service|agent|daemon|process|job|system)s?\b/g,
      unless: OPEN_QUESTION,
      says: 'instructs to disable monitoring',
    },
  ]),
  ...patterns('prose', 'unsafe-advice', [
    {
      find: /\b(?:user|them|person)\b[^.\n]{0,20}\bfor (?:their|the|a) (?:password|pin|seed phrase|private key|credit card)\b[^.\n]{0,30}\b(?:and|then) (?:save|store|write|send|log|keep)\b|\bthe same password (?:for|on) (?:all|every|each)\b/g,
      says: 'instructs to store secrets in plain sight',
    },
  ]),
];
