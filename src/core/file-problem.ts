import type { FailureCode } from './failure-codes.ts';

interface FileProblem {
  readonly code: FailureCode;
  readonly detail?: string;
}

/** Completes a sentence about a file: `is a folder`. */
export function fileProblemText({ code, detail }: FileProblem): string {
  const text = PROBLEMS.get(code) ?? 'cannot be read';
  return detail === undefined ? text : `${text} (${detail})`;
}

const PROBLEMS: ReadonlyMap<FailureCode, string> = new Map([
  ['file/missing', 'does not exist'],
  ['file/directory', 'is a folder'],
  ['file/not-regular', 'is a pipe, a socket or a device'],
  ['file/too-large', 'is too large'],
  ['file/changed', 'changed while it was read'],
  ['path/link-outside', 'is a link that leads outside'],
  ['path/link-loop', 'is a link loop'],
  ['path/hard-link', 'is a hard link'],
  ['path/too-long', 'has a path that is too long'],
  ['file/exists', 'is below a file'],
  ['file/unwritable', 'cannot be written'],
]);
