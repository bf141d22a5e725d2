import { describe, expect, it } from 'vitest';

import { readCommandLine } from '../../../src/policy/command/command-line.ts';
import { matchesLine } from '../../../src/policy/command/command-match.ts';
import {
  firstUncovered,
  hazardOf,
  isCommandPattern,
  readCommandPattern,
} from '../../../src/policy/command/command-pattern.ts';
import { BENIGN, BENIGN_POLICY } from './command-benign.ts';
import { verifies } from '../../conformance/verifies.ts';

const POLICY = BENIGN_POLICY.map((text) => {
  const read = readCommandPattern(text);
  if (!isCommandPattern(read)) throw new Error(read.problem);
  return read;
});

const DENIED = ['sudo:*', 'dd:*', 'mkfs:*', 'git push --force:*', 'rm -rf /:*', 'shutdown:*'].flatMap((text) => {
  const read = readCommandPattern(text);
  return isCommandPattern(read) ? [read] : [];
});

/** Why a line would be refused; nothing where it may run. */
function refusal(text: string): string | undefined {
  const line = readCommandLine(text, { HOME: '/w/work' });
  if (line.type === 'unclear') return line.reason;
  const refused = firstUncovered(POLICY, line.commands);
  return refused === undefined ? undefined : (hazardOf(refused) ?? 'no rule');
}

describe('commands of public skills', () => {
  verifies('POL-6', `none of ${BENIGN.length} is refused under a policy that means them`, () => {
    const refused = BENIGN.flatMap((text) => {
      const reason = refusal(text);
      return reason === undefined ? [] : [{ text, reason }];
    });
    expect(refused).toEqual([]);
    expect(new Set(BENIGN).size).toBe(BENIGN.length);
    expect(BENIGN.length).toBeGreaterThanOrEqual(160);
  });

  it('none of them is taken for a denied command', () => {
    const taken = BENIGN.filter((text) => {
      const line = readCommandLine(text, { HOME: '/w/work' });
      return DENIED.some((pattern) => matchesLine(pattern, line) !== 'no');
    });
    expect(taken).toEqual([]);
  });
});
