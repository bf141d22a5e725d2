import { isSkillError, problemError, type SkillError } from '#core';

export { EXIT } from './exit-codes.ts';

/** An invalid command line: printed with its hint, exit code 2. */
export function usageError(message: string, hint: string): SkillError {
  return problemError({ code: 'usage', message, hint });
}

export function isUsageError({ raised }: SkillError): boolean {
  return raised?.code === 'usage';
}

/** For values that come from the command line: invalid input is an invalid command line. */
export function orUsageError<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw isSkillError(error) && error.code === 'input/invalid' ? usageError(error.message, error.hint) : error;
  }
}
