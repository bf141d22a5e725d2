import path from 'node:path';

/** The skills that come with the package. */
export function builtinSkillsDirectory(): string {
  return path.join(import.meta.dirname, '../../skills');
}

/** Where questions wait unless somebody says where: a folder that a person's own command looks into. */
export function pendingFolder(home: string): string {
  return path.join(home, '.agent/pending');
}
