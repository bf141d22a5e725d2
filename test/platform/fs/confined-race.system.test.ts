import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect } from 'vitest';

import { toRelativePath } from '../../../src/core/path.ts';
import { openConfined } from '../../../src/platform/fs/confined-directory.ts';
import { verifies } from '../../conformance/verifies.ts';
import { runs } from '../../property-runs.ts';
import { RIGHT, SECRET, startSwapping } from './swap-race.ts';
import { needs } from '../../needs.ts';
import { isSystemError } from '../../../src/platform/system-error.ts';
import { isProblem } from '../../../src/core/problem.ts';

const READS = runs(50_000);

/** What a plain read finds there; nothing in the moments when there is nothing. */
function naive(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}

/** How long to wait for an outcome of the race that is sure to come, however fast or busy the machine is. */
const PATIENCE_MS = 50_000;

function leaks(file: string): boolean {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end;) if (naive(file) === SECRET) return true;
  return false;
}

describe('a skill that swaps its files with links while it is read', needs('linux'), () => {
  verifies('DISC-9', 'never gives a secret away in thousands of reads, and its own files it does give', async () => {
    const root = await startSwapping();
    const files = ['leaf.md', 'sub/x.md'];
    // Without this the race would not be run at all, and nothing shown.
    expect(files.map((file) => leaks(path.join(root, file)))).toEqual([true, true]);

    const opening = openConfined(root);
    if (opening.type === 'failed') throw new Error(opening.code);
    const seen = files.map((file) => {
      const reading = toRelativePath(file);
      if (isProblem(reading)) throw new Error(reading.code);
      const outcomes = new Set<string>();
      const isBoth = (): boolean => outcomes.has(RIGHT) && outcomes.has('path/link-outside');
      for (
        let count = 0, end = Date.now() + PATIENCE_MS;
        count < READS || (!isBoth() && Date.now() < end);
        count += 1
      ) {
        const read = opening.directory.read(reading, { maxBytes: 1000 });
        outcomes.add(read.type === 'read' ? read.bytes.toString() : read.code);
      }
      return outcomes;
    });
    opening.directory.close();

    const possible = new Set([RIGHT, 'path/link-outside', 'path/link-loop', 'file/changed', 'file/missing']);
    for (const outcomes of seen) {
      expect([...outcomes].filter((outcome) => !possible.has(outcome))).toEqual([]);
      expect([...outcomes]).toEqual(expect.arrayContaining([RIGHT, 'path/link-outside']));
    }
  });
});
