import { SkillError } from '../../core/errors.ts';

export function invalidInput(message: string, expected: string): SkillError {
  return new SkillError({ code: 'input/invalid', message, hint: `expected ${expected}`, data: { expected } });
}
