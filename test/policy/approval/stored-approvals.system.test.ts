import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import type { ApprovalRequest, ApprovedSkill } from '../../../src/core/approval.ts';
import {
  openStoredApprovals,
  storedFrom,
  storedId,
  type StoredApproval,
} from '../../../src/policy/approval/stored-approvals.ts';
import { DIGEST, requestOf } from '../approval-request.ts';
import { built, scratch } from '../../skills/registry/support.ts';
import { verifies } from '../../conformance/verifies.ts';

const fileIn = (home: string): string => path.join(home, '.agent/approvals.json');

function approvalOf(more: Partial<ApprovalRequest> = {}, verdict: 'yes' | 'no' = 'yes'): StoredApproval {
  const approval = storedFrom(requestOf(more), verdict, new Date(0));
  if (approval === undefined) throw new Error('no skill');
  return approval;
}

/** A home folder with one answer in it. */
async function withAnswer(): Promise<{ readonly home: string; readonly approval: StoredApproval }> {
  const home = scratch();
  const approval = approvalOf();
  await openStoredApprovals(home).save(approval);
  return { home, approval };
}

const otherSkill = (digest: string): ApprovedSkill => ({ id: 'project/release', name: 'release', digest });

describe('a stored answer', () => {
  verifies('POL-3', 'covers the same of the same bytes, and nothing else', async () => {
    const { home, approval } = await withAnswer();
    const stored = openStoredApprovals(home);
    expect(stored.find(requestOf())).toEqual(approval);
    expect(stored.find(requestOf({ id: 'sha256:other', risk: 'low' }))).toEqual(approval);
    const others: Partial<ApprovalRequest>[] = [
      { skill: otherSkill(DIGEST.replace(/b$/, 'c')) },
      { skill: { id: 'user/release', name: 'release', digest: DIGEST } },
      { coverage: 'run_command rm' },
      { tool: 'start_command' },
      { risk: 'high' },
      { isolation: 'none' },
      { scopes: ['once', 'run'] },
    ];
    expect(others.map((more) => stored.find(requestOf(more)))).toEqual(others.map(() => undefined));
    const { skill: _, ...withoutSkill } = requestOf();
    expect(stored.find(withoutSkill)).toBeUndefined();
  });

  test('a no covers what is riskier as well, and the last answer counts', async () => {
    const home = scratch();
    const stored = openStoredApprovals(home);
    await stored.save(approvalOf());
    await stored.save(approvalOf({}, 'no'));
    expect(stored.list()).toEqual({ approvals: [approvalOf({}, 'no')], problems: [] });
    expect(stored.find(requestOf({ risk: 'high' }))?.verdict).toBe('no');
  });

  test('is in a file of this user alone, and another process sees it', async () => {
    const { home, approval } = await withAnswer();
    expect(statSync(fileIn(home)).mode & 0o777).toBe(0o600);
    const reader = openStoredApprovals(home);
    expect(reader.list().approvals).toEqual([approval]);
    await openStoredApprovals(home).revoke('all');
    expect(reader.list().approvals).toEqual([]);
  });

  test('can be taken back by its id, by its skill, or with all others', async () => {
    const home = scratch();
    const stored = openStoredApprovals(home);
    const [one, two, three] = [
      approvalOf(),
      approvalOf({ coverage: 'two' }),
      approvalOf({ skill: { id: 'user/b', name: 'b', digest: DIGEST } }),
    ];
    for (const approval of [one, two, three]) await stored.save(approval);
    expect(await stored.revoke({ id: storedId(two) })).toEqual([two]);
    expect(await stored.revoke({ id: storedId(two) })).toEqual([]);
    expect(await stored.revoke({ skill: 'b' })).toEqual([three]);
    expect(stored.list().approvals).toEqual([one]);
    expect(await stored.revoke('all')).toEqual([one]);
  });
});

describe('an edited file', () => {
  test.each([
    ['another digest', (text: string) => text.replace(DIGEST, DIGEST.replace(/b$/, 'c'))],
    ['a higher risk', (text: string) => text.replace('"medium"', '"high"')],
    ['less isolation', (text: string) => text.replace('"bubblewrap"', '"none"')],
    ['another verdict', (text: string) => text.replace('"yes"', '"no"')],
    ['another coverage', (text: string) => text.replace('run_command git', 'run_command *')],
    ['another seal', (text: string) => text.replace(/"mac": "../, '"mac": "zz')],
    ['no seal', (text: string) => text.replace('"mac"', '"mark"')],
  ])('%s: the entry does not count, is named, and stays until all is revoked', async (_, edit) => {
    const { home } = await withAnswer();
    writeFileSync(fileIn(home), edit(readFileSync(fileIn(home), 'utf8')));
    const stored = openStoredApprovals(home);
    const problem = `entry 1 (project/release, run_command) of ${fileIn(home)} is ignored: it was edited after it was written`;
    expect(stored.list()).toEqual({ approvals: [], problems: [problem] });
    const other = approvalOf({ coverage: 'other' });
    await stored.save(other);
    expect(stored.list()).toEqual({ approvals: [other], problems: [problem] });
    await stored.revoke('all');
    expect(stored.list()).toEqual({ approvals: [], problems: [] });
  });

  test('an entry of another home folder does not count', async () => {
    const { home } = await withAnswer();
    const elsewhere = scratch();
    mkdirSync(path.join(elsewhere, '.agent'));
    writeFileSync(fileIn(elsewhere), readFileSync(fileIn(home)));
    expect(openStoredApprovals(elsewhere).list().approvals).toEqual([]);
  });

  test('an invalid entry is reported with its position', async () => {
    const { home, approval } = await withAnswer();
    const { entries } = JSON.parse(readFileSync(fileIn(home), 'utf8')) as { readonly entries: readonly unknown[] };
    writeFileSync(fileIn(home), JSON.stringify({ schema: 1, entries: [...entries, null, 'x', { skill: 3 }] }));
    expect(openStoredApprovals(home).list()).toEqual({
      approvals: [approval],
      problems: [2, 3, 4].map(
        (place) => `entry ${String(place)} of ${fileIn(home)} is ignored: it was edited after it was written`,
      ),
    });
  });

  test.each([
    ['it is not JSON', (file: string) => writeFileSync(file, '{"schema": 1, "entr')],
    ['it has no entries', (file: string) => writeFileSync(file, '[]')],
    ['it has another schema version', (file: string) => writeFileSync(file, '{"schema": 2, "entries": []}')],
    ['it is too large', (file: string) => writeFileSync(file, ' '.repeat(5_000_000))],
    ['it is a link', (file: string) => symlinkSync('/etc/hostname', file)],
    ['it is not a regular file', (file: string) => mkdirSync(file)],
    [
      'it is nested too deeply',
      (file: string) => writeFileSync(file, `{"schema":1,"entries":[${'['.repeat(100_000)}${']'.repeat(100_000)}]}`),
    ],
  ])('is not used where %s, is left as it is, and moved aside by the next answer', async (reason, spoil) => {
    const home = scratch();
    mkdirSync(path.join(home, '.agent'), { mode: 0o700 });
    spoil(fileIn(home));
    const stored = openStoredApprovals(home);
    expect(stored.list()).toEqual({ approvals: [], problems: [`${fileIn(home)} is ignored: ${reason}`] });
    const approval = approvalOf();
    await stored.save(approval);
    expect(stored.list()).toEqual({ approvals: [approval], problems: [] });
    const aside = readdirSync(path.dirname(fileIn(home))).filter((name) => name.startsWith('approvals.json.unused-'));
    expect(aside.length).toBe(1);
  });

  test('is not used where the key may be read by others, and nothing is saved then', async () => {
    const { home } = await withAnswer();
    chmodSync(path.join(home, '.agent/seal.key'), 0o644);
    const stored = openStoredApprovals(home);
    expect(stored.find(requestOf())).toBeUndefined();
    expect(stored.list().problems.join('\n')).toContain('other users have access to it');
    await expect(stored.save(approvalOf())).rejects.toMatchObject({ code: 'io/failed' });
  });
});

/** Saves and tells what it has saved. */
const SAVING = `
  const [, module, home, own, rounds] = process.argv;
  const { openStoredApprovals } = await import(module);
  const stored = openStoredApprovals(home);
  for (let at = 0; at < Number(rounds); at += 1) {
    await stored.save({ coverage: own + ' ' + at, skill: { id: 'a/b', name: 'b', digest: 'd' }, tool: 't', risk: 'low',
      isolation: '', verdict: 'yes', at: '2026' });
    process.stdout.write(own + ' ' + at + '\\n');
  }`;

/** Every line that came whole; killed once so many have come. */
function run(
  home: string,
  own: string,
  rounds: number,
  killAfter = Number.POSITIVE_INFINITY,
): Promise<readonly string[]> {
  const module = built('policy/approval/stored-approvals.js');
  const words = ['--input-type=module', '-e', SAVING, module, home, own, String(rounds)];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'], timeout: 170_000 });
  let output = '';
  child.stdout.on('data', (data: Buffer) => {
    output += data.toString();
    if (output.split('\n').length > killAfter) child.kill('SIGKILL');
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => {
      resolve(output.split('\n').slice(0, -1));
    });
  });
}

describe('several processes', () => {
  test('that save at once lose no answer', async () => {
    const home = scratch();
    const told = (await Promise.all(['a', 'b', 'c', 'd'].map((own) => run(home, own, 25)))).flat();
    const { approvals, problems } = openStoredApprovals(home).list();
    expect(problems).toEqual([]);
    expect(told.length).toBe(100);
    expect(approvals.map(({ coverage }) => coverage).toSorted()).toEqual(told.toSorted());
  });

  test('that are killed lose no reported approval and block no other process', async () => {
    const home = scratch();
    const told = (
      await Promise.all(['a', 'b', 'c', 'd'].map((own, place) => run(home, own, 1_000, 5 + place * 3)))
    ).flat();
    const stored = openStoredApprovals(home);
    await stored.save(approvalOf());
    const kept = new Set(stored.list().approvals.map(({ coverage }) => coverage));
    expect(told.length).toBeGreaterThan(20);
    expect(told.filter((coverage) => !kept.has(coverage))).toEqual([]);
    expect(stored.find(requestOf())).toEqual(approvalOf());
  });
});
