import path from 'node:path';

/** The skills that come with the package. */
export function builtinSkillsDirectory(): string {
  return path.join(import.meta.dirname, '../../skills');
}
