import { fileURLToPath } from 'node:url';

/** The skills that come with the package. */
export function builtinSkillsDirectory(): string {
  return fileURLToPath(new URL('../../skills', import.meta.url));
}
