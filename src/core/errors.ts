import type { Problem } from './problem.ts';

/** Error codes with the data each one carries. */
export interface SkillErrorData {
  'skill/unknown': { readonly name: string; readonly nearest: readonly string[] };
  'skill/invalid': { readonly path: string };
  'root/unknown': { readonly source: string; readonly known: readonly string[] };
  'config/invalid': { readonly path: string };
  'input/invalid': { readonly expected: string };
  'io/failed': { readonly path: string; readonly cause: string };
  'io/exists': { readonly path: string };
  /** No executor can run programs as requested; `install` is the command that would fix it. */
  'executor/unavailable': { readonly executor: string; readonly reasons: readonly string[]; readonly install: string };
  'executor/failed': { readonly executor: string; readonly cause: string };
  'workspace/invalid': { readonly path: string };
  /** An event could not be recorded, so the run stops. */
  'record/failed': { readonly path: string; readonly cause: string };
  'run/unknown': { readonly name: string; readonly nearest: readonly string[] };
  /** A rule denies the action, or a person must approve it first. */
  'policy/refused': { readonly rule: string; readonly approval: string; readonly command: string };
  /** The model cannot be called: missing key, server or provider. */
  'model/unavailable': { readonly model: string; readonly reasons: readonly string[] };
  /** The model was called and returned no usable answer. */
  'model/failed': { readonly model: string; readonly status: number; readonly isRetryable: boolean };
  /** An optional package is not installed; `install` is the command that installs it. */
  'package/missing': { readonly package: string; readonly install: string };
  'artifact/unknown': { readonly name: string; readonly nearest: readonly string[] };
  'run/invalid': { readonly path: string };
  /** Another run already continues it. */
  'run/resumed': { readonly path: string; readonly problems: readonly string[] };
}

export type SkillErrorCode = keyof SkillErrorData;

interface SkillErrorOptions<C extends SkillErrorCode> {
  readonly code: C;
  readonly message: string;
  readonly hint: string;
  readonly data: SkillErrorData[C];
  readonly cause?: unknown;
  readonly raised?: Problem;
}

const MARK = Symbol.for('skillwright.error');

/** The only class that is thrown on purpose. `code` determines the type of `data`; `hint` says what to do. */
export class SkillError<C extends SkillErrorCode = SkillErrorCode> extends Error {
  override readonly name = 'SkillError';
  readonly code: C;
  readonly hint: string;
  readonly data: SkillErrorData[C];
  readonly [MARK] = true;
  /** Set by `problemError`, for `toProblem`. */
  readonly raised?: Problem;

  constructor({ code, message, hint, data, cause, raised }: SkillErrorOptions<C>) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.hint = hint;
    this.data = data;
    if (raised !== undefined) this.raised = raised;
  }
}

/** Works across two loaded copies of the package. */
export function isSkillError(value: unknown): value is SkillError {
  return typeof value === 'object' && value !== null && MARK in value;
}

/** The error for a value that the caller got wrong. */
export function invalidInput(
  message: string,
  expected: string,
  hint = `pass ${expected}`,
): SkillError<'input/invalid'> {
  return new SkillError({ code: 'input/invalid', message, hint, data: { expected } });
}

/** The error that leaves nested calls with a problem. The function that started the work turns it into a value with `toProblem`. */
export function problemError(problem: Problem): SkillError {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its code is one of those that `toProblem` finds, and nothing else sees it.
  return new SkillError({ ...(problem as Problem<'input/invalid'>), data: { expected: '' }, raised: problem });
}

/** The problem that a caught error carries. Rethrows every other error. */
export function toProblem<P extends Problem>(error: unknown, isMine: (problem: Problem) => problem is P): P {
  if (isSkillError(error) && error.raised !== undefined && isMine(error.raised)) return error.raised;
  throw error;
}
