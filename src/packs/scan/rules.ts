/** Every rule of the static scan: the one list. Ids never change their meaning; docs and SARIF are made from it. */
import type { ScanSeverity } from './finding.ts';

export interface ScanRule {
  /** The usual one; a pattern may be worse or milder. */
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
    'runs what it downloads',
    'what is run is whatever the server gives at that moment',
    'download it, read it, pin it by digest, then run it',
  ),
  'password-archive': rule(
    'critical',
    'tells to unpack an archive with a password',
    'a password keeps scanners out of an archive; known campaigns deliver programs so',
    'do not unpack it; ask for the files themselves',
  ),
  'encoded-payload': rule(
    'critical',
    'runs code that is encoded',
    'nobody can review what is decoded and run in one step',
    'decode it without running it, and read it',
  ),
  'obfuscated-code': rule(
    'medium',
    'holds text that is written so that nobody reads it',
    'long encoded texts and split words hide what a script does',
    'ask for the source in plain form',
  ),
  'credential-path': rule(
    'high',
    'reaches for places where credentials are kept',
    'keys, tokens and wallets are of use to few skills',
    'make sure that the skill needs them, and keep them out of its sandbox',
  ),
  'environment-harvest': rule(
    'high',
    'gathers environment variables or .env files as a whole',
    'they hold the secrets of other programs',
    'let it name the variables it needs',
  ),
  'personal-data': rule(
    'high',
    'takes what a person sees, copies, types or where they are',
    'the clipboard, the screen, keys and location are not part of most tasks',
    'take it out, unless the skill is about just that',
  ),
  exfiltration: rule(
    'high',
    'sends files or output to another host',
    'what is sent cannot be brought back',
    'make sure whose host it is and that the user asked for it',
  ),
  'covert-channel': rule(
    'high',
    'sends data by a way that is meant for something else',
    'images, host names, chat bots and paste sites carry data past those who watch uploads',
    'take it out',
  ),
  'copy-elsewhere': rule(
    'high',
    "tells to send a copy of the user's work somewhere",
    'a backup or a log on a foreign server is a leak with a friendly name',
    'keep copies where the user says',
  ),
  'over-sharing': rule(
    'medium',
    'makes things public',
    'what was public once cannot be called back',
    'let the user decide who sees what',
  ),
  'mass-message': rule(
    'high',
    'writes to many people in the name of the user',
    'spam and phishing travel so',
    'let the user choose who is written to, and read it first',
  ),
  'payment-redirect': rule(
    'high',
    'names an account that money goes to',
    'payments to a stranger cannot be called back',
    'make sure whose account it is',
  ),
  'collect-and-send': rule(
    'critical',
    'gathers private things and sends them in the same place',
    'each may be innocent; together they are theft',
    'do not use the skill',
  ),
  'send-after-task': rule(
    'critical',
    'orders to send something out after or before tasks',
    'nobody asked for it in the task, so nobody will look for it',
    'do not use the skill, or take the order out',
  ),
  'standing-order': rule(
    'medium',
    'orders something for every task, whatever was asked',
    'orders that do not depend on the task are how injected text gets carried out',
    'read what it orders',
  ),
  'hidden-unicode': rule(
    'critical',
    'holds characters that do not show',
    'a person and a model read two different texts',
    'take them out; no real skill needs them',
  ),
  'hidden-text': rule(
    'high',
    'hides text from people who read it',
    'comments, padding and styles are seen by a model and not by a person',
    'read the hidden part; take it out',
  ),
  'mixed-scripts': rule(
    'medium',
    'writes words with letters of two alphabets',
    'they look like words that they are not, to people and to rules',
    'write them in one alphabet',
  ),
  persistence: rule(
    'high',
    'arranges to be started again',
    'it keeps running after the task, and after the skill is removed',
    'let the user set up what must run later',
  ),
  'agent-memory': rule(
    'high',
    'writes files that steer agents',
    'an instruction there outlives the skill and counts for every project',
    'let the user edit them',
  ),
  'install-hook': rule(
    'medium',
    'has code that runs by itself',
    'it runs at an install or a test, before anybody decides to run it',
    'read it; install with scripts off',
  ),
  'conceal-from-user': rule(
    'high',
    'tells to keep something from the user',
    'good instructions have nothing to hide',
    'read what it hides',
  ),
  'hidden-action': rule(
    'critical',
    'tells to do something with effect and to keep it from the user',
    'it says itself that the user would not agree',
    'do not use the skill',
  ),
  'against-user': rule(
    'critical',
    'works against the user in more than one way in one place',
    'one such sentence may be clumsy; secrecy, lies and evasion together are a plan',
    'do not use the skill',
  ),
  'deceive-user': rule(
    'high',
    'tells to say what is not so',
    'the user decides on what the agent says',
    'do not use the skill',
  ),
  'override-instructions': rule(
    'high',
    'claims a higher rank than the user or the system',
    'a skill is advice for a task; it cannot change who is in charge',
    'take it out',
  ),
  'hidden-mode': rule(
    'high',
    'has a mode with fewer limits that words can switch on',
    'whoever knows the words, in a document too, gets past the limits',
    'take it out',
  ),
  'priority-claim': rule(
    'medium',
    'wants to be used before or instead of others',
    'a description should say what a skill is for, not that it must be used',
    'describe the tasks it is for',
  ),
  'approval-evasion': rule(
    'high',
    'acts without asking, or turns questions off',
    'approval is how a person stays in charge of effects',
    'take it out; let the policy decide what needs no question',
  ),
  'excess-rights': rule(
    'medium',
    'takes more rights than it needs',
    'what everybody may write, anybody may change',
    'use the least rights that work',
  ),
  'prompt-delimiter': rule(
    'high',
    'holds marks that separate the parts of a prompt',
    'text after a closed mark may be taken for that of the system or the user',
    'take them out, or write them escaped',
  ),
  'destructive-command': rule(
    'high',
    'destroys what cannot be brought back',
    'files, history and data are gone after one line',
    'ask first, name exactly what is removed, keep a copy',
  ),
  'mass-deletion': rule(
    'high',
    "tells to delete the user's things in bulk",
    'a rule for many files deletes the one that mattered',
    'let the user choose what is deleted',
  ),
  'locks-files': rule(
    'high',
    "locks the user's files with a password of its own",
    'who has the password has the files',
    'let the user choose a password, and keep the originals',
  ),
  'security-tampering': rule(
    'high',
    'turns protection off',
    'what it stopped is let in, for everything else too',
    'mend what the protection complains about',
  ),
  'unsafe-advice': rule(
    'medium',
    'tells to leave security out',
    'what the agent writes will have the hole',
    'take the advice out',
  ),
  'remote-instructions': rule(
    'high',
    'takes instructions from somewhere else',
    'whoever controls that text controls the agent; a review of the skill says nothing about it',
    'put the instructions into the skill',
  ),
  'resource-abuse': rule(
    'high',
    'uses up a machine or floods a host',
    'miners, fork bombs and endless requests serve somebody else',
    'do not run it',
  ),
  'reverse-shell': rule(
    'critical',
    'gives somebody else a shell',
    'whoever listens there commands this machine',
    'do not use the skill',
  ),
  'slanted-content': rule(
    'medium',
    "tells to slant or fake what the user's work says",
    'readers are misled in the name of the user',
    'take it out, unless the user wants just that',
  ),
  'effect-of-script': rule(
    'critical',
    'orders a script for every task that sends or destroys',
    'the order looks harmless; the script is not',
    'read the script before anything runs it',
  ),
  'native-program': rule(
    'medium',
    'holds a program without its source',
    'it cannot be reviewed',
    'ask for the source, or build it yourself',
  ),
  'nested-archive': rule(
    'medium',
    'holds an archive',
    'what is in it was not scanned',
    'unpack it and scan what is in it',
  ),
  'lookalike-package': rule(
    'medium',
    'installs a package whose name is nearly that of a known one',
    'such names are registered to be mistaken',
    'look at the name again',
  ),
  'unpinned-install': rule(
    'low',
    'installs whatever version is there at the moment',
    'tomorrow it is another program',
    'name the version',
  ),
  'undeclared-access': rule(
    'medium',
    'uses what its allowed-tools leave out',
    'what it declares and what it does are two things',
    'declare the tool, or take the use out',
  ),
  'not-scanned': rule(
    'medium',
    'is too large to be scanned as a whole',
    'the rest may hold anything',
    'read it by other means, or make it smaller',
  ),
} as const satisfies Record<string, ScanRule>;

export type RuleId = keyof typeof SCAN_RULES;

export function isRuleId(id: string): id is RuleId {
  return Object.hasOwn(SCAN_RULES, id);
}
