/** What the caller got wrong or the world refused, by code, with what is known about it. */
export interface SkillErrorData {
  'skill/unknown': { readonly name: string; readonly nearest: readonly string[] };
  'skill/invalid': { readonly path: string };
  'root/unknown': { readonly source: string; readonly known: readonly string[] };
  'config/invalid': { readonly path: string };
  'input/invalid': { readonly expected: string };
  'io/failed': { readonly path: string; readonly cause: string };
  'io/exists': { readonly path: string };
  /** Nothing here can run programs as asked; `install` is the command that would change that. */
  'executor/unavailable': { readonly executor: string; readonly reasons: readonly string[]; readonly install: string };
  'executor/failed': { readonly executor: string; readonly cause: string };
  'workspace/invalid': { readonly path: string };
  /** What is done could not be written down, so that nothing more is done. */
  'record/failed': { readonly path: string; readonly cause: string };
  'run/unknown': { readonly name: string; readonly nearest: readonly string[] };
  /** A rule forbids it, or a person must say yes first. */
  'policy/refused': { readonly rule: string; readonly approval: string; readonly command: string };
  /** No model can be asked: no key, no server, no such provider. */
  'model/unavailable': { readonly model: string; readonly reasons: readonly string[] };
  /** A model was asked and gave no usable answer. */
  'model/failed': { readonly model: string; readonly status: number; readonly isRetryable: boolean };
  'artifact/unknown': { readonly name: string; readonly nearest: readonly string[] };
  'run/invalid': { readonly path: string };
}

export type SkillErrorCode = keyof SkillErrorData;

interface SkillErrorOptions<C extends SkillErrorCode> {
  readonly code: C;
  readonly message: string;
  readonly hint: string;
  readonly data: SkillErrorData[C];
  readonly cause?: unknown;
}

const MARK = Symbol.for('skillwright.error');

/** The one error class. `code` says what `data` holds; `hint` says what to do. */
export class SkillError<C extends SkillErrorCode = SkillErrorCode> extends Error {
  override readonly name = 'SkillError';
  readonly code: C;
  readonly hint: string;
  readonly data: SkillErrorData[C];
  readonly [MARK] = true;

  constructor({ code, message, hint, data, cause }: SkillErrorOptions<C>) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.hint = hint;
    this.data = data;
  }
}

/** Recognises the error also when two copies of the package are loaded. */
export function isSkillError(value: unknown): value is SkillError {
  return typeof value === 'object' && value !== null && MARK in value;
}
