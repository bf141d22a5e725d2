import { nameRefusal, tooManyNames } from '../sources/portable-name.ts';
import type { ArchiveLimits } from '../../core/archive-limits.ts';
import { PackRefused, packRefusal } from '../problems.ts';
import type { PackProblem } from '../problems.ts';

/** A refusal of the archive as a whole. */
export function refused(code: PackProblem, message: string): PackRefused {
  return new PackRefused(packRefusal(code, message));
}

/** A refusal for one entry, by the name that the archive gives it. */
export function entryRefused(code: PackProblem, name: string, what: string): PackRefused {
  return new PackRefused(nameRefusal(code, name, what));
}

export function tooMany(limits: ArchiveLimits): PackRefused {
  return new PackRefused(tooManyNames(limits));
}
