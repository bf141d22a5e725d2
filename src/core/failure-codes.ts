/** All failure codes of actions with their default hints. Codes never change their meaning. */
export const FAILURES = {
  'input/invalid': 'give the parameters that the tool describes',
  'input/not-allowed': 'ask for a file that may be used, or let a person allow it in the configuration',
  'input/exists': 'choose another place for it',
  'artifact/unknown': 'name an artifact and a version that were saved',
  'skill/unknown': 'search for the skill, or choose one of the catalog',
  'skill/not-offered': 'a person may name this skill; the model may not choose it',
  'skill/gone': 'the folder was removed after the skills were listed; choose another skill',
  'skill/invalid': 'SKILL.md can no longer be read as a skill; tell the person who keeps it',
  'skill/not-loaded': 'load the skill first',
  'body/too-long':
    'ask for a part of SKILL.md as a file, by section or by lines; its author should split it into references/',
  'path/empty': 'name a file of the skill, relative to its folder',
  'path/absolute': 'give the path relative to the folder of the skill',
  'path/parent': 'stay inside the skill: no .. in a path',
  'path/control-character': 'give the name as the list of files shows it',
  'path/backslash': 'write paths with /',
  'path/encoded': 'give the plain name, not an encoded one',
  'path/too-long': 'give the name as the list of files shows it',
  'path/not-offered': 'only references/, assets/, scripts/ and documents (.md, .txt) of a skill can be read',
  'path/link-outside': 'the file is a link that leaves the skill and is not read',
  'path/link-loop': 'the links of this path never end',
  'path/hard-link': 'the file has another name elsewhere and is not read; copy it into the skill',
  'file/missing': 'list the files of the skill',
  'file/directory': 'name a file, not a folder',
  'file/not-regular': 'pipes, sockets and devices are not read',
  'file/too-large': 'the file is too large to be shown; use a script of the skill on it',
  'file/changed': 'the file changed while it was read; try again',
  'file/not-utf8': 'the file is text in another encoding; save it as UTF-8',
  'file/unreadable': 'the system does not let this file be read',
  'lines/invalid': 'give 1-based line numbers, the first not after the last, inside the file',
  'documents/unknown': 'list the documents of the skill',
  'script/unknown': 'list the files of the skill',
  'load/conflict': 'name each skill once, or each time with the same documents',
  'load/too-many': 'declare fewer skills, or raise the number that may be loaded at once',
  'execution/unavailable': 'nothing can be run here; go on without it and say so',
  'execution/missing': 'something that the script needs is not there; tell the person',
  'execution/failed': 'the program could not be started; see the reason',
  'skill/changed': 'its files changed after they were approved: ask again',
  'skill/untrusted': 'the folder of this skill is not trusted: tell the person, who can say `skillwright trust`',
  'policy/denied': 'a rule forbids this: do something else, or tell the person which rule it was',
  'approval/refused': 'a person said no: do not try the same again',
  'approval/needed': 'a person must allow this and nobody is there: tell them what would have been done',
  'approval/pending': 'it waits for an answer: go on with something else, or end and say so',
  'path/outside': 'stay inside the project, the workspace and the skills that are loaded',
  'file/exists': 'choose another name',
  'file/unwritable': 'the system does not let this file be written',
  'pattern/invalid': 'give a regular expression of JavaScript, without slashes around it',
  'pattern/too-slow': 'give a simpler expression, or search in fewer files',
  'network/refused': 'only hosts that a person granted can be asked',
  'network/failed': 'the server gave no usable answer; try again later or go on without it',
  'secret/missing': 'a secret that the skill needs is not there: tell the person',
  'record/failed': 'what is done must be recorded and cannot be: nothing more is done',
  'command/unknown': 'use the session that was given when the command was started',
  'run/interrupted': 'whether it was done is not known: look at what is there before you do it again',
  'run/ended': 'answer with what you have, and say what could not be done',
} as const satisfies Record<string, string>;

export type FailureCode = keyof typeof FAILURES;

/** Why an action failed, what to do, and what was probably meant. */
export interface Failure {
  readonly code: FailureCode;
  /** Lower case; names the subject and what was expected. */
  readonly message: string;
  /** What to do; the default of the code if nothing more specific is known. */
  readonly hint: string;
  /** Existing names that are most similar to the requested one. */
  readonly nearest: readonly string[];
}

export function failure(
  code: FailureCode,
  message: string,
  more: { readonly hint?: string; readonly nearest?: readonly string[] } = {},
): Failure {
  return { code, message, hint: more.hint ?? FAILURES[code], nearest: more.nearest ?? [] };
}
