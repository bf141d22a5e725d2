import type { SkillError } from '#core';

/** An answer with a status of 400 and above. */
export class HttpError extends Error {
  readonly status: number;
  readonly hint: string | undefined;

  constructor(status: number, message: string, hint?: string) {
    super(message);
    this.status = status;
    this.hint = hint;
  }
}

const UNAVAILABLE: ReadonlySet<SkillError['code']> = new Set([
  'model/unavailable',
  'executor/unavailable',
  'package/missing',
]);

/** The status for an error of the library. */
export function toHttpStatus(code: SkillError['code']): number {
  if (code === 'skill/unknown' || code === 'run/invalid') return 404;
  if (code === 'policy/refused') return 403;
  if (code === 'io/failed' || code === 'record/failed') return 500;
  return UNAVAILABLE.has(code) ? 503 : 400;
}
