import { problemError, type SkillError } from '#core';

export { EXIT } from './exit-codes.ts';

/** An invalid command line: printed with its hint, exit code 2. */
export function usageError(message: string, hint: string): SkillError {
  return problemError({ code: 'usage', message, hint });
}

export function isUsageError({ raised }: SkillError): boolean {
  return raised?.code === 'usage';
}
