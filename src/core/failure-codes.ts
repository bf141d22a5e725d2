import type { Problem } from './problem.ts';

/** All failure codes of actions with their default hints. Codes never change their meaning. */
export const FAILURES = {
  'input/invalid': 'pass the parameters that the tool describes',
  'input/not-allowed': 'use a file that is allowed, or ask the user to allow it in the configuration',
  'input/exists': 'choose another path',
  'artifact/unknown': 'name a saved artifact and version',
  'skill/unknown': 'search for the skill, or choose one from the catalog',
  'skill/not-offered': 'the user can invoke this skill; the model cannot',
  'skill/gone': 'the folder was removed after the skills were listed; choose another skill',
  'skill/invalid': 'correct its SKILL.md, or tell its maintainer',
  'skill/not-loaded': 'load the skill first',
  'body/too-long':
    'read a part of SKILL.md as a file, by section or by lines; its author should split it into references/',
  'path/empty': 'name a file of the skill, relative to its folder',
  'path/absolute': 'give the path relative to the folder of the skill',
  'path/parent': 'stay inside the skill: .. is not allowed',
  'path/control-character': 'use the name from the list of files',
  'path/backslash': 'use / as the separator',
  'path/encoded': 'use the plain name, not an encoded one',
  'path/too-long': 'use the name from the list of files',
  'path/not-offered': 'only references/, assets/, scripts/ and documents (.md, .txt) of a skill can be read',
  'path/link-outside': 'the file is a link that leaves the skill; it is not read',
  'path/link-loop': 'the path contains a link loop',
  'path/hard-link': 'the file is a hard link and is not read; copy it into the skill',
  'file/missing': 'list the files of the skill',
  'file/directory': 'name a file, not a folder',
  'file/not-regular': 'pipes, sockets and devices are not read',
  'file/too-large': 'the file is too large to be shown; process it with a script of the skill',
  'file/changed': 'the file changed while it was read; try again',
  'file/not-utf8': 'the file is not UTF-8; save it as UTF-8',
  'file/unreadable': 'the operating system denies reading this file',
  'lines/invalid': 'use 1-based line numbers inside the file, the first not after the last',
  'script/unknown': 'list the files of the skill',
  'load/conflict': 'name each skill once, or with the same documents each time',
  'load/too-many': 'declare fewer skills, or raise session.max_loaded',
  'execution/unavailable': 'programs cannot be run here; continue without them and say so',
  'execution/missing': 'the script lacks a requirement; tell the user',
  'packages/unavailable': 'the packages of the script cannot be installed; tell the user the reason',
  'execution/failed': 'the program could not be started; see the reason',
  'skill/changed': 'the files of the skill changed after they were approved; ask again',
  'skill/untrusted': 'the folder of this skill is not trusted; tell the user, who can run `skillwright trust`',
  'policy/denied': 'a rule denies this; do something else, or tell the user which rule it was',
  'approval/refused': 'this was not approved; do not try the same again',
  'approval/needed': 'a person must approve this and none is available; tell the user what would have been done',
  'approval/pending': 'the question waits for an answer; continue with something else, or finish and say so',
  'path/outside': 'stay inside the project, the workspace and the loaded skills',
  'file/exists': 'choose another name',
  'file/unwritable': 'the operating system denies writing this file',
  'edit/no-single-match': 'read the file and pass a passage that occurs exactly once',
  'pattern/invalid': 'use a JavaScript regular expression without enclosing slashes',
  'pattern/too-slow': 'use a simpler expression, or search fewer files',
  'network/refused': 'only granted hosts can be reached',
  'network/failed': 'the server gave no usable response; try again later or continue without it',
  'server/unavailable': 'the MCP server or its tool cannot be used; continue without it and say so',
  'server/failed':
    'the MCP server gave no valid answer; it is unknown whether the call was done, so check before repeating it',
  'secret/missing': 'a secret that the skill needs is missing; tell the user',
  'record/failed': 'actions must be recorded and the record cannot be written, so nothing more is done',
  'command/unknown': 'use the session id that was returned when the command was started',
  'run/interrupted': 'it is unknown whether the action was done; check before repeating it',
  'run/ended': 'answer with what you have, and say what could not be done',
} as const satisfies Record<string, string>;

export type FailureCode = keyof typeof FAILURES;

/** Failures that are decisions of the policy, of trust, of the author of a skill or of a person. */
export const REFUSALS: ReadonlySet<FailureCode> = new Set([
  'policy/denied',
  'approval/refused',
  'approval/needed',
  'approval/pending',
  'skill/untrusted',
  'skill/not-offered',
]);

/** Why an action failed, what to do, and what was probably meant. */
export interface ActionProblem extends Problem<FailureCode> {
  /** Existing names that are most similar to the requested one. */
  readonly nearest: readonly string[];
}

/** Returns the problem with the default hint of its code. */
export function failure(
  code: FailureCode,
  message: string,
  more: { readonly hint?: string; readonly nearest?: readonly string[] } = {},
): ActionProblem {
  return { code, message, hint: more.hint ?? FAILURES[code], nearest: more.nearest ?? [] };
}
