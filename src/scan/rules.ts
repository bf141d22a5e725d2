/** All rules of the static scan. Ids never change their meaning. The docs and SARIF reports are generated from this list. */
import type { ScanSeverity } from './finding.ts';

export interface ScanRule {
  /** The default; a pattern can override it. */
  readonly severity: ScanSeverity;
  readonly title: string;
  readonly why: string;
  readonly advice: string;
}

const rule = (severity: ScanSeverity, title: string, why: string, advice: string): ScanRule => ({
  severity,
  title,
  why,
  advice,
});

export const SCAN_RULES = {
  'download-and-run': rule(
    'high',
    'downloads code and executes it',
    'the server decides at run time what gets executed',
    'download it, review it, pin it by digest, then run it',
  ),
  'password-archive': rule(
    'critical',
    'unpacks a password-protected archive',
    'the password hides the content from scanners; known campaigns deliver malware this way',
    'do not unpack it; ask for the plain files',
  ),
  'encoded-payload': rule(
    'critical',
    'executes encoded code',
    'code that is decoded and executed in one step cannot be reviewed',
    'decode it without executing it, and review it',
  ),
  'obfuscated-code': rule(
    'medium',
    'contains obfuscated code',
    'long encoded strings and split identifiers hide what a script does',
    'ask for the plain source',
  ),
  'credential-path': rule(
    'high',
    'accesses credential stores',
    'few skills need keys, tokens or wallets',
    'check that the skill needs them, and keep them out of its sandbox',
  ),
  'environment-harvest': rule(
    'high',
    'reads all environment variables or .env files',
    'they contain the secrets of other programs',
    'have the skill name the variables it needs',
  ),
  'personal-data': rule(
    'high',
    'captures clipboard, screen, keystrokes or location',
    'most tasks do not need personal data',
    'remove it unless the skill is about exactly that',
  ),
  exfiltration: rule(
    'high',
    'sends files or output to another host',
    'data that was sent cannot be taken back',
    'check who owns the host and that the user asked for it',
  ),
  'covert-channel': rule(
    'high',
    'sends data through a covert channel',
    'images, host names, chat bots and paste sites carry data past upload monitoring',
    'remove it',
  ),
  'copy-elsewhere': rule(
    'high',
    "sends a copy of the user's work to a remote place",
    'a backup or log on a foreign server is a leak with a friendly name',
    'keep copies where the user chooses',
  ),
  'over-sharing': rule(
    'medium',
    'makes content public',
    'published content cannot be recalled',
    'let the user decide who sees what',
  ),
  'mass-message': rule(
    'high',
    "messages many people in the user's name",
    'spam and phishing spread this way',
    'let the user choose the recipients and review the message',
  ),
  'payment-redirect': rule(
    'high',
    'names an account that receives money',
    'payments to an unknown account cannot be reversed',
    'check who owns the account',
  ),
  'collect-and-send': rule(
    'critical',
    'collects private data and sends it from the same place',
    'each part may be innocent; together they are data theft',
    'do not use the skill',
  ),
  'send-after-task': rule(
    'critical',
    'requires sending data before or after tasks',
    'the task did not ask for it, so the user will not look for it',
    'do not use the skill, or remove the instruction',
  ),
  'standing-order': rule(
    'medium',
    'requires an action for every task, whatever was asked',
    'injected instructions typically do not depend on the task',
    'review what it requires',
  ),
  'hidden-unicode': rule(
    'critical',
    'contains invisible characters',
    'a person and a model read two different texts',
    'remove them; no legitimate skill needs them',
  ),
  'hidden-text': rule(
    'high',
    'hides text from human readers',
    'a model sees comments, padding and styled text that a person does not',
    'review the hidden part and remove it',
  ),
  'mixed-scripts': rule(
    'medium',
    'mixes alphabets within a word',
    'such words look like other words, to people and to rules',
    'use one alphabet',
  ),
  persistence: rule(
    'high',
    'installs itself to start again',
    'it keeps running after the task, and after the skill is removed',
    'let the user set up what must run later',
  ),
  'agent-memory': rule(
    'high',
    'writes files that control agents',
    'an instruction there outlives the skill and applies to every project',
    'let the user edit them',
  ),
  'install-hook': rule(
    'medium',
    'contains code that runs automatically',
    'it runs on install or test, before the user decides to run it',
    'review it; install with scripts disabled',
  ),
  'conceal-from-user': rule(
    'high',
    'instructs the agent to hide something from the user',
    'legitimate instructions have nothing to hide',
    'review what it hides',
  ),
  'hidden-action': rule(
    'critical',
    'instructs the agent to act and to hide the action from the user',
    'it assumes that the user would not agree',
    'do not use the skill',
  ),
  'against-user': rule(
    'critical',
    'works against the user in several ways at once',
    'one such sentence may be clumsy; secrecy, lies and evasion together are intent',
    'do not use the skill',
  ),
  'deceive-user': rule(
    'high',
    'instructs the agent to make false statements',
    'the user decides based on what the agent says',
    'do not use the skill',
  ),
  'override-instructions': rule(
    'high',
    'claims authority over the user or the system',
    'a skill is advice for a task; it cannot change who is in charge',
    'remove it',
  ),
  'hidden-mode': rule(
    'high',
    'has a mode with fewer restrictions that a phrase enables',
    'anyone who knows the phrase, including the author of a document, gets past the restrictions',
    'remove it',
  ),
  'priority-claim': rule(
    'medium',
    'demands to be used before or instead of other skills',
    'a description should say what a skill is for, not that it must be used',
    'describe the tasks it is for',
  ),
  'approval-evasion': rule(
    'high',
    'acts without asking, or disables approvals',
    'approvals keep the user in control of side effects',
    'remove it; let the policy decide what needs no approval',
  ),
  'excess-rights': rule(
    'medium',
    'takes more permissions than it needs',
    'what everyone can write, anyone can change',
    'use the least permissions that work',
  ),
  'prompt-delimiter': rule(
    'high',
    'contains prompt delimiters',
    'text behind a closed delimiter may be taken for the system or the user',
    'remove or escape them',
  ),
  'destructive-command': rule(
    'high',
    'destroys data irreversibly',
    'files, history and data are gone after one command',
    'ask first, name exactly what is removed, keep a copy',
  ),
  'mass-deletion': rule(
    'high',
    "deletes the user's files in bulk",
    'a pattern for many files also deletes the one that mattered',
    'let the user choose what is deleted',
  ),
  'locks-files': rule(
    'high',
    "encrypts the user's files with its own password",
    'anyone with the password can read the files',
    'let the user choose the password, and keep the originals',
  ),
  'security-tampering': rule(
    'high',
    'disables security controls',
    'the protection is gone for everything else, too',
    'fix what the protection complains about',
  ),
  'unsafe-advice': rule(
    'medium',
    'recommends insecure practice',
    'the code that the agent writes will be vulnerable',
    'remove the advice',
  ),
  'remote-instructions': rule(
    'high',
    'takes instructions from a remote source',
    'the author of that text controls the agent; reviewing the skill proves nothing about it',
    'put the instructions into the skill',
  ),
  'resource-abuse': rule(
    'high',
    'exhausts a machine or floods a host',
    'miners, fork bombs and endless requests serve someone else',
    'do not run it',
  ),
  'reverse-shell': rule(
    'critical',
    'opens a shell to a remote host',
    'the listener at the other end controls this machine',
    'do not use the skill',
  ),
  'slanted-content': rule(
    'medium',
    "biases or fakes the user's content",
    "readers are misled in the user's name",
    'remove it unless the user wants exactly that',
  ),
  'effect-of-script': rule(
    'critical',
    'requires a script for every task that sends or destroys data',
    'the instruction looks harmless; the script is not',
    'review the script before anything runs it',
  ),
  'native-program': rule(
    'medium',
    'contains a binary without source',
    'a binary cannot be reviewed',
    'ask for the source, or build it yourself',
  ),
  'nested-archive': rule(
    'medium',
    'contains an archive',
    'its content was not scanned',
    'unpack it and scan the content',
  ),
  'lookalike-package': rule(
    'medium',
    'installs a package with a name close to a well-known one',
    'such names are registered to be mistaken',
    'check the name',
  ),
  'unpinned-install': rule('low', 'installs an unpinned version', 'tomorrow it is different code', 'pin the version'),
  'undeclared-access': rule(
    'medium',
    'uses tools that its allowed-tools omit',
    'declaration and behaviour differ',
    'declare the tool, or remove the use',
  ),
  'not-scanned': rule(
    'medium',
    'is too large to scan completely',
    'the unscanned rest may contain anything',
    'review it by other means, or make it smaller',
  ),
} as const satisfies Record<string, ScanRule>;

export type RuleId = keyof typeof SCAN_RULES;

export function isRuleId(id: string): id is RuleId {
  return Object.hasOwn(SCAN_RULES, id);
}
