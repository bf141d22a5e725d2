import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import {
  listPending,
  takeAnswer,
  writePending,
  pendingFolder,
  type PendingFolder,
} from '../../src/policy/approval/pending-approvals.ts';
import {
  openStoredApprovals,
  storedFrom,
  storedId,
  type StoredApproval,
} from '../../src/policy/approval/stored-approvals.ts';
import { openTrust } from '../../src/policy/trust.ts';
import { commandRequest, requestOf } from '../policy/approval-request.ts';
import { scratch, writeSkill } from '../skills/registry/support.ts';
import { needs } from '../needs.ts';
import { runCli, type CliResult } from './run-cli.ts';

interface World {
  readonly cwd: string;
  readonly place: PendingFolder;
  readonly run: (...words: readonly string[]) => Promise<CliResult>;
}

function world(): World {
  const cwd = scratch();
  const home = path.join(cwd, 'home');
  mkdirSync(home);
  return {
    cwd,
    place: { home, folder: pendingFolder(home) },
    run: (...words) => runCli(cwd, words),
  };
}

async function storeOne({ home }: PendingFolder): Promise<StoredApproval> {
  const approval = storedFrom(requestOf(), 'yes', new Date(0));
  if (approval === undefined) throw new Error('no skill');
  await openStoredApprovals(home).save(approval);
  return approval;
}

describe('approvals', () => {
  test('lists what waits, framed, and what is kept', async () => {
    const { place, run } = world();
    const request = commandRequest('ls\nid: ffffffffffff\x1b[2J');
    const { at } = writePending(place, request);
    const approval = await storeOne(place);
    const { status, out } = await run('approvals');
    expect(status).toBe(0);
    expect(out.split('\n')).toEqual([
      `pending since ${at}`,
      'approval needed; risk: medium',
      'tool:',
      '  │ run_command',
      'required by a rule (user):',
      '  │ run_command',
      '  │ /home/me/.agent/config.json',
      'skill with the digest abababababab:',
      '  │ project/release',
      'command, 23 characters:',
      '  │ ls',
      '  │ id: ffffffffffff\\x1b[2J',
      'isolation: bubblewrap',
      'id: 0123456789ab',
      '',
      `${storedId(approval)}  yes  project/release  run_command  "run_command git"  1970-01-01`,
      '',
    ]);
    const json = JSON.parse((await run('approvals', 'list', '--json')).out) as unknown;
    expect(json).toEqual({
      schema: 1,
      pending: [{ at, answered: false, request }],
      approvals: [{ id: storedId(approval), ...approval }],
      problems: [],
    });
  });

  test('answers a question by the id that is shown', async () => {
    const { place, run } = world();
    writePending(place, requestOf());
    expect(await run('approvals', 'answer', '0123456789ab', 'yes', '--scope', 'run')).toMatchObject({
      status: 0,
      out: '0123456789ab: yes, run\n',
    });
    expect(await takeAnswer(place, requestOf().id)).toEqual({ verdict: 'yes', scope: 'run', by: 'file' });
  });

  test('answers in a folder of its own, as JSON', async () => {
    const { cwd, place, run } = world();
    const there = { home: place.home, folder: path.join(cwd, 'there') };
    writePending(there, requestOf());
    const { status, out } = await run('approvals', 'answer', requestOf().id, 'no', '--folder', 'there', '--json');
    expect([status, JSON.parse(out)]).toEqual([0, { schema: 1, id: requestOf().id, verdict: 'no', scope: 'once' }]);
    expect((await takeAnswer(there, requestOf().id))?.verdict).toBe('no');
  });

  test('refuses ids that mean no question or two, scopes that are not offered, and nonsense', async () => {
    const { place, run } = world();
    writePending(place, { ...requestOf(), scopes: ['once'] });
    writePending(place, requestOf({ id: `sha256:${'0123456789ab'.padEnd(64, 'd')}` }));
    const results: CliResult[] = [];
    for (const words of [
      ['approvals', 'answer', '0123456789ab', 'yes'],
      ['approvals', 'answer', '../../../etc', 'yes'],
      ['approvals', 'answer', '0123', 'yes'],
      ['approvals', 'answer', requestOf().id, 'yes', '--scope', 'skill'],
      ['approvals', 'answer', requestOf().id, 'maybe'],
      ['approvals', 'revoke'],
      ['approvals', 'list', '--all'],
    ])
      results.push(await run(...words));
    expect(results.map(({ status }) => status)).toEqual([1, 1, 1, 1, 2, 2, 2]);
    expect(results[0]?.err).toContain('2 pending requests start with "0123456789ab"');
    expect(await takeAnswer(place, requestOf().id)).toBeUndefined();
  });

  test('revokes by id, by skill and all', async () => {
    const { place, run } = world();
    const approval = await storeOne(place);
    expect((await run('approvals', 'revoke', 'other')).status).toBe(1);
    expect((await run('approvals', 'revoke', storedId(approval))).status).toBe(0);
    await storeOne(place);
    expect((await run('approvals', 'revoke', 'release')).out).toContain('revoked: ');
    await storeOne(place);
    const { status, out } = await run('approvals', 'revoke', '--all', '--json');
    expect([status, JSON.parse(out)]).toEqual([
      0,
      { schema: 1, revoked: [{ id: storedId(approval), ...approval }], withdrawn: [] },
    ]);
    expect(openStoredApprovals(place.home).list().approvals).toEqual([]);
  });

  test('withdraws a question and its unused answer', async () => {
    const { place, run } = world();
    writePending(place, requestOf());
    await run('approvals', 'answer', '0123456789ab', 'yes');
    expect((await run('approvals')).out).toContain('answered, not used yet, asked');
    expect(await run('approvals', 'revoke', '0123456789ab')).toMatchObject({
      status: 0,
      out: 'withdrawn: 0123456789ab\n',
    });
    expect(listPending(place)).toEqual({ questions: [], problems: [] });
    expect(await takeAnswer(place, requestOf().id)).toBeUndefined();
  });

  test('tells what does not count', async () => {
    const { place, run } = world();
    mkdirSync(path.join(place.home, '.agent'));
    writeFileSync(path.join(place.home, '.agent/approvals.json'), 'x');
    const { status, err } = await run('approvals');
    expect([status, err.split('\n')[0]]).toEqual([
      0,
      `warning: ${path.join(place.home, '.agent/approvals.json')} is ignored: it is not JSON`,
    ]);
  });
});

describe('trust', () => {
  const folders = (home: string): readonly string[] =>
    openTrust({ home, bind: 'path' })
      .list()
      .folders.map(({ folder }) => folder);

  test('shows the skills, needs --yes without a terminal, and can be revoked', async () => {
    const { cwd, place, run } = world();
    const project = path.join(cwd, 'project');
    const dir = path.join(project, '.agent/skills/release');
    writeSkill(dir);
    const refused = await run('trust', 'project');
    expect([refused.status, refused.out]).toEqual([3, '']);
    expect(refused.err).toMatch(/release {2}0 scripts, 1 file {2}sha256-tree:[0-9a-f]{12}\n/);
    expect(folders(place.home)).toEqual([]);

    expect(await run('trust', 'project', '--yes', '--dry-run')).toMatchObject({ status: 0, out: '' });
    expect(JSON.parse((await run('trust', '--list', '--json')).out)).toMatchObject({ folders: [] });
    expect(await run('trust', 'project', '--yes')).toMatchObject({ status: 0, out: `trusted: ${project}\n` });
    expect(folders(place.home)).toEqual([project]);
    const listed = JSON.parse((await run('trust', '--list', '--json')).out) as unknown;
    expect(listed).toEqual({ schema: 1, ...openTrust({ home: place.home, bind: 'path' }).list() });

    expect(await run('trust', '--revoke', 'project')).toMatchObject({
      status: 0,
      out: `revoked: ${project}\n`,
    });
    expect((await run('trust', '--revoke', 'project')).status).toBe(1);
    expect(folders(place.home)).toEqual([]);
  });

  test('takes the top of the repository one works in', async () => {
    const { cwd, place, run } = world();
    const inside = path.join(cwd, 'project/packages/a');
    mkdirSync(inside, { recursive: true });
    mkdirSync(path.join(cwd, 'project/.git'));
    writeSkill(path.join(inside, '.agent/skills/inner'));
    const { status, out } = await run('-C', inside, 'trust', '--yes', '--json');
    const { folder, trusted, skills } = JSON.parse(out) as Record<string, unknown>;
    expect([status, folder, trusted, (skills as { name: string }[]).map(({ name }) => name)]).toEqual([
      0,
      path.join(cwd, 'project'),
      true,
      ['inner'],
    ]);
    expect(folders(place.home)).toEqual([path.join(cwd, 'project')]);
  });

  test('names an enclosing folder that stays trusted', async () => {
    const { cwd, run } = world();
    mkdirSync(path.join(cwd, 'project/inner'), { recursive: true });
    await run('trust', 'project', '--yes');
    const { status, err } = await run('trust', '--revoke', 'project/inner');
    expect([status, err]).toEqual([
      1,
      `${path.join(cwd, 'project/inner')} is not in the list of trusted folders\nstill trusted, because its parent ${path.join(cwd, 'project')} is trusted\n`,
    ]);
  });

  test('refuses the home folder, what is no folder, and flags that exclude each other', async () => {
    const { place, run } = world();
    const statuses = [
      await run('trust', 'home', '--yes'),
      await run('trust', 'gone', '--yes'),
      await run('-C', place.home, 'trust', '--yes'),
      await run('trust', '--list', '--revoke'),
    ].map(({ status }) => status);
    expect(statuses).toEqual([1, 2, 2, 2]);
  });
});

describe('a file of the machine as an input', needs('bubblewrap'), () => {
  test('is given by --yes only if it is of the project or granted', async () => {
    const { cwd, run } = world();
    const outside = scratch();
    writeSkill(path.join(cwd, 'home/.agents/skills/demo'));
    for (const folder of [cwd, outside]) writeFileSync(path.join(folder, 'notes.txt'), `notes of ${folder}`);
    writeFileSync(path.join(cwd, '.env'), 'KEY=1');
    const call = (file: string, ...more: readonly string[]): Promise<CliResult> => {
      const inputs = [{ from: `host://${file}`, to: 'work/inputs/x' }];
      const input = { skill: 'demo', command: 'cat $WORK_DIR/inputs/x', inputs };
      const flags = [
        '--vocabulary',
        'trpc',
        '--root',
        'home/.agents/skills',
        '--executor',
        'bubblewrap',
        '--yes',
        '-q',
        ...more,
      ];
      return run('call', 'skill_run', JSON.stringify(input), ...flags);
    };
    const given = await call(path.join(cwd, 'notes.txt'));
    expect([given.status, given.out]).toEqual([0, expect.stringContaining(`notes of ${cwd}`)]);
    const file = path.join(outside, 'notes.txt');
    for (const refused of [await call(file), await call(path.join(cwd, '.env')), await call(file, '--auto')])
      expect([refused.status, refused.out]).toEqual([3, '']);
    const granted = await call(file, '--set', `policy.allow=["host_input(${outside}/**)"]`);
    expect([granted.status, granted.out]).toEqual([0, expect.stringContaining(`notes of ${outside}`)]);
  });
});
