import path from 'node:path';
import { mkdirSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

import type { ApprovalRequest } from '../../../src/core/approval.ts';
import { openApprovals } from '../../../src/policy/approval/approver.ts';
import { openUsedApprovals } from '../../../src/policy/approval/used-approvals.ts';
import { scratch } from '../../registry/support.ts';

const HEX = 'a1'.repeat(32);
const REQUEST: ApprovalRequest = {
  id: `sha256:${HEX}`,
  tool: 'run_command',
  risk: 'high',
  action: { type: 'run_command', command: 'rm x' },
  rule: 'by risk',
  origin: { layer: 'built-in', where: '' },
  detail: { kind: 'command', command: 'rm x', programs: ['rm'] },
  affects: [],
  scopes: ['once', 'run'],
  coverage: 'x',
};

/** What one process is told. */
async function asked(home: string | undefined, approved: readonly string[], times = 1): Promise<readonly unknown[]> {
  const warnings: string[] = [];
  const { approve } = openApprovals({ home, approved, onWarning: (warning) => warnings.push(warning) });
  const said: unknown[] = [];
  for (let time = 0; time < times; time += 1) {
    const answer = await approve(REQUEST, {});
    said.push(typeof answer === 'string' ? answer : answer.verdict);
  }
  return [...said, ...warnings];
}

describe('an action that is approved by its id', () => {
  test('is done once, in this process and in every other; the next approval has a number', async () => {
    const home = scratch();
    expect(await asked(home, [HEX], 2)).toEqual(['yes', 'nobody']);
    expect(await asked(home, [HEX])).toEqual([
      'nobody',
      `--approve ${HEX} was already used; to approve the same action again: --approve ${HEX}-1`,
    ]);
    expect(openUsedApprovals(home).ticket(REQUEST.id)).toBe(`${HEX}-1`);
    expect(await asked(home, [`sha256:${HEX}-1`])).toEqual(['yes']);
    expect((await asked(home, [`${HEX}-1`]))[0]).toBe('nobody');
    expect((await asked(home, [`${HEX}-9`]))[0]).toBe('nobody');
  });

  test('is done by one of two processes that try at once', async () => {
    const home = scratch();
    const said = await Promise.all([asked(home, [HEX]), asked(home, [HEX]), asked(home, [HEX])]);
    expect(said.map(([first]) => String(first)).toSorted()).toEqual(['nobody', 'nobody', 'yes']);
  });

  test.each(['', 'a1', `${HEX}00`, `${HEX}-0`, `${HEX}-01`, `${HEX} `, HEX.toUpperCase(), 'b2'.repeat(32)])(
    'is not approved by %j',
    async (word) => {
      expect(await asked(scratch(), [word])).toEqual(['nobody']);
    },
  );

  test('is done once where the use cannot be stored, which is said', async () => {
    expect(await asked(undefined, [HEX], 2)).toEqual(['yes', 'nobody']);
    const home = path.join(scratch(), 'file');
    writeFileSync(home, '');
    const [first, second, warning] = await asked(home, [HEX], 2);
    expect([first, second, typeof warning]).toEqual(['yes', 'nobody', 'string']);
  });

  test('a forged file of uses is ignored', async () => {
    const home = scratch();
    mkdirSync(path.join(home, '.agent'), { mode: 0o700 });
    writeFileSync(
      path.join(home, '.agent/used-approvals.json'),
      JSON.stringify({ schema: 1, entries: [{ id: REQUEST.id, uses: 5, mac: '00' }] }),
      { mode: 0o600 },
    );
    expect(openUsedApprovals(home).ticket(REQUEST.id)).toBe(HEX);
  });
});
