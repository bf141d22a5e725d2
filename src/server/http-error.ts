import { isSkillError, SkillError } from '#core';

/** An answer with a status of 400 and above. */
export function httpError(status: number, message: string, hint = ''): SkillError {
  const raised = { code: `http/${String(status)}`, message, hint };
  return new SkillError({ code: 'input/invalid', message, hint, data: { expected: '' }, raised });
}

/** Statuses of errors of the library; all others are 400. */
const STATUSES: Partial<Record<SkillError['code'], number>> = {
  'skill/unknown': 404,
  'run/invalid': 404,
  'policy/refused': 403,
  'io/failed': 500,
  'record/failed': 500,
  'model/unavailable': 503,
  'executor/unavailable': 503,
  'package/missing': 503,
};

export interface ErrorAnswer {
  readonly status: number;
  readonly body: { readonly error: string; readonly code?: string; readonly hint?: string };
}

/** The answer for an expected error. Returns undefined for any other, which is a bug. */
export function toErrorAnswer(error: unknown): ErrorAnswer | undefined {
  if (!isSkillError(error)) return undefined;
  const { message, code, hint } = error;
  const [, status] = /^http\/(\d{3})$/.exec(error.raised?.code ?? '') ?? [];
  if (status !== undefined)
    return { status: Number(status), body: { error: message, hint: hint === '' ? undefined : hint } };
  return { status: STATUSES[code] ?? 400, body: { error: message, code, hint } };
}
