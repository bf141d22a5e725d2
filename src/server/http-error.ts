import type { ServerResponse } from 'node:http';

import { errorOutcome, isSkillError, SkillError } from '#core';
import { respond } from '#platform';

/** An answer with a status of 400 and above. */
export function httpError(status: number, message: string, hint = ''): SkillError {
  const raised = { code: `http/${String(status)}`, message, hint };
  return new SkillError({ code: 'input/invalid', message, hint, data: { expected: '' }, raised });
}

/** Sends an expected error with its status. Returns false for any other, which is a bug. */
export function sendError(response: ServerResponse, error: unknown): boolean {
  if (response.headersSent) {
    response.destroy();
    return true;
  }
  if (!isSkillError(error)) return false;
  const { message, code, hint } = error;
  const [, status] = /^http\/(\d{3})$/.exec(error.raised?.code ?? '') ?? [];
  if (status === undefined) respond(response, errorOutcome(code).status, { error: message, code, hint });
  else respond(response, Number(status), { error: message, hint: hint === '' ? undefined : hint });
  return true;
}
