/**
 * The value of everything that can be expected to fail. A function returns its result or a problem, and its caller asks `isProblem`. What must
 * leave several calls at once is thrown as a `SkillError` by `problemError` and becomes a value again in `toProblem`.
 */
export interface Problem<Code extends string = string> {
  /** The same in every release. */
  readonly code: Code;
  /** Lower case; names the subject and what was expected. */
  readonly message: string;
  /** What to do. */
  readonly hint: string;
}

/** The only test for a problem. */
export function isProblem(value: unknown): value is Problem {
  return (
    typeof value === 'object' &&
    value !== null &&
    'code' in value &&
    'hint' in value &&
    'message' in value &&
    typeof value.code === 'string' &&
    typeof value.hint === 'string' &&
    typeof value.message === 'string'
  );
}
