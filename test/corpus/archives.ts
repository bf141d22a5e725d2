/** Archives that strangers may send: hostile ones, each with the code of its refusal, and those that must be accepted. */
import { BENIGN_TARS, BENIGN_ZIPS, type BenignArchive } from './archives-benign.ts';
import { HOSTILE_TARS } from './archives-hostile-tar.ts';
import { HOSTILE_ZIPS } from './archives-hostile-zip.ts';
import type { SampleArchive } from './archives-sample.ts';

export type { BenignArchive } from './archives-benign.ts';
export type { SampleArchive } from './archives-sample.ts';

export const HOSTILE_ARCHIVES: readonly SampleArchive[] = [...HOSTILE_ZIPS, ...HOSTILE_TARS];
export const BENIGN_ARCHIVES: readonly BenignArchive[] = [...BENIGN_ZIPS, ...BENIGN_TARS];

export interface AttackRow {
  /** Its number in the list of attacks. */
  readonly attack: number;
  readonly name: string;
  /** The code of the refusal; `accepted` where nothing in it can do harm. */
  readonly result: string;
}

/** What is attacked, and what comes of it, in the order of the list. */
export function attackTable(): readonly AttackRow[] {
  return [...HOSTILE_ARCHIVES, ...BENIGN_ARCHIVES]
    .flatMap(({ attack, name, code }) => (attack === undefined ? [] : [{ attack, name, result: code ?? 'accepted' }]))
    .toSorted((one, other) => one.attack - other.attack);
}
