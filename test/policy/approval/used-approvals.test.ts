import path from 'node:path';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

import type { ApprovalRequest } from '../../../src/core/approval.ts';
import { openApprovals } from '../../../src/policy/approval/approver.ts';
import { openUsedApprovals } from '../../../src/policy/approval/used-approvals.ts';
import { scratch } from '../../skills/registry/support.ts';

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

  test('is not done without a home folder, which is said', async () => {
    expect(await asked(undefined, [HEX], 2)).toEqual([
      'nobody',
      'nobody',
      `--approve ${HEX} was not used: no home folder remembers that it was; set HOME`,
    ]);
  });

  test('is not done where the use cannot be written, which is said', async () => {
    const home = path.join(scratch(), 'file');
    writeFileSync(home, '');
    expect(await asked(home, [HEX], 2)).toEqual([
      'nobody',
      'nobody',
      expect.stringMatching(new RegExp(`^--approve ${HEX} was not used: .*; .*`)),
    ]);
  });

  test.each([
    ['garbage', () => 'garbage'],
    ['empty', () => ''],
    ['an edited number', (text: string) => text.replace('"uses": 1', '"uses": 2')],
    ['another id', (text: string) => text.replace(HEX, 'b2'.repeat(32))],
    ['a forged entry', () => JSON.stringify({ schema: 1, entries: [{ id: REQUEST.id, uses: 5, mac: '00' }] })],
    ['another version', () => JSON.stringify({ schema: 2, entries: [] })],
    ['a removed entry', (text: string) => JSON.stringify({ ...(JSON.parse(text) as object), entries: [] })],
    ['a file of an earlier version', () => JSON.stringify({ schema: 1, entries: [] })],
  ])('is not done while the memory of uses is damaged: %s', async (_, spoil) => {
    const home = scratch();
    expect(await asked(home, [HEX])).toEqual(['yes']);
    const file = path.join(home, '.agent/used-approvals.json');
    writeFileSync(file, spoil(readFileSync(file, 'utf8')), { mode: 0o600 });
    const damaged = readFileSync(file);
    for (const ticket of [HEX, `${HEX}-1`, `${HEX}-5`])
      expect(await asked(home, [ticket])).toEqual([
        'nobody',
        expect.stringMatching(/was not used: the memory of used approvals is damaged: .*; move ".*" and ".*" away; /),
      ]);
    expect(readFileSync(file)).toEqual(damaged);
  });

  test.each([
    ['it was removed', (file: string) => rmSync(file)],
    ['it is an older copy', (file: string, older: Buffer) => writeFileSync(file, older, { mode: 0o600 })],
    [
      'which remembers how often it was written, was removed',
      (_: string, __: Buffer, memory: string) => rmSync(memory),
    ],
    ['was edited', (_: string, __: Buffer, memory: string) => writeFileSync(memory, '{}', { mode: 0o600 })],
  ])('is not done if one of the two files of the memory is not the last one: %s', async (reason, spoil) => {
    const home = scratch();
    const file = path.join(home, '.agent/used-approvals.json');
    const memory = path.join(home, '.agent/run-heads/used-approvals.json');
    expect(await asked(home, [HEX])).toEqual(['yes']);
    const older = readFileSync(file);
    expect(await asked(home, [`${HEX}-1`])).toEqual(['yes']);
    spoil(file, older, memory);
    for (const ticket of [HEX, `${HEX}-1`, `${HEX}-2`])
      expect(await asked(home, [ticket])).toEqual([
        'nobody',
        expect.stringContaining(`was not used: the memory of used approvals is damaged: `),
      ]);
    expect((await asked(home, [HEX]))[1]).toContain(reason);
    // The user moves both away.
    rmSync(file, { force: true });
    rmSync(memory, { force: true });
    expect(await asked(home, [HEX])).toEqual(['yes']);
  });

  test('uses that an earlier version remembered count on', async () => {
    const home = scratch();
    expect(await asked(home, [HEX])).toEqual(['yes']);
    const file = path.join(home, '.agent/used-approvals.json');
    const { schema, entries } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
    writeFileSync(file, JSON.stringify({ schema, entries }), { mode: 0o600 });
    rmSync(path.join(home, '.agent/run-heads'), { recursive: true });
    expect((await asked(home, [HEX]))[0]).toBe('nobody');
    expect(await asked(home, [`${HEX}-1`])).toEqual(['yes']);
  });
});
