import { SkillError } from '#core';

/** The executor cannot be used on this machine. `install` is the command or setting that fixes it (default: the hint). */
export function executorUnavailable(
  executor: string,
  message: string,
  about: { readonly hint: string; readonly reasons: readonly string[]; readonly install?: string },
): SkillError<'executor/unavailable'> {
  const { hint, reasons, install = hint } = about;
  return new SkillError({ code: 'executor/unavailable', message, hint, data: { executor, reasons, install } });
}

/** A program could not be run, although the executor can be used. */
export function executorFailed(
  executor: string,
  message: string,
  { hint, cause }: { readonly hint: string; readonly cause: string },
): SkillError<'executor/failed'> {
  return new SkillError({ code: 'executor/failed', message, hint, data: { executor, cause } });
}
