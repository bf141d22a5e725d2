import { nameRefusal, tooManyNames } from '../sources/portable-name.ts';
import type { ArchiveLimits } from '../../core/archive-limits.ts';
import { PackRefused, refused } from '../problems.ts';
import type { PackProblem } from '../problems.ts';
import { quoted } from '../../core/text/text.ts';

/** A refusal for one entry, by the name that the archive gives it. */
export function entryRefused(code: PackProblem, name: string, what: string): PackRefused {
  return new PackRefused(nameRefusal(code, name, what));
}

export function tooMany(limits: ArchiveLimits): PackRefused {
  return new PackRefused(tooManyNames(limits));
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A name as bytes. A zip without the mark for UTF-8 has an old code page by the letter, and UTF-8 in practice; what is neither is refused. */
export function decodeName(raw: Uint8Array): string {
  try {
    return UTF8.decode(raw);
  } catch {
    throw refused('archive/name', `the name ${quoted(Buffer.from(raw).toString('latin1'))} is not UTF-8`);
  }
}
