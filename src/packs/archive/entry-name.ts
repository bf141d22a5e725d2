import { nameRefusal, tooManyNames } from '../sources/portable-name.ts';
import { problemError, quoted, type SkillError } from '#core';
import { refused, type PackProblem } from '../problems.ts';
import type { ArchiveLimits } from '../archive-limits.ts';

/** A refusal for one entry, by its name in the archive. */
export function entryRefused(code: PackProblem, name: string, what: string): SkillError {
  return problemError(nameRefusal(code, name, what));
}

export function tooMany(limits: ArchiveLimits): SkillError {
  return problemError(tooManyNames(limits));
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Decodes a name as UTF-8. Zip entries without the UTF-8 flag should use an old code page, but contain UTF-8 in practice; anything else is
 * refused.
 */
export function decodeName(raw: Uint8Array): string {
  try {
    return UTF8.decode(raw);
  } catch {
    throw refused('archive/name', `the name ${quoted(Buffer.from(raw).toString('latin1'))} is not UTF-8`);
  }
}
