import type { PackProblem } from '../../src/packs/problems.ts';

/** An archive that somebody may send: what it is, how it is made, and what must come of it. */
export interface SampleArchive {
  /** Unique. */
  readonly name: string;
  readonly format: 'zip' | 'tar.gz';
  /** The number of the attack in the list that we test against; absent for what only looks odd. */
  readonly attack?: number;
  /** Absent: it is accepted. */
  readonly code?: PackProblem;
  readonly bytes: () => Buffer;
}

export const SKILL_TEXT =
  '---\nname: sample\ndescription: Shows how a sample is made. Use it in tests.\n---\n\n# Sample\n';

/** Zeros that were packed as one raw deflate stream, without ever being there: 1 MiB again and again. */
export function deflatedZeros(mebibytes: number, oneMebibyte: Buffer): Buffer {
  const pieces = Array.from({ length: mebibytes }, () => oneMebibyte);
  // The empty last block.
  return Buffer.concat([...pieces, Buffer.from([0x03, 0x00])]);
}
