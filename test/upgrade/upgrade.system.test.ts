import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import { openFleetClient } from '../../src/client.ts';
import { temporaryFolder } from '../cli/run-cli.ts';
import { startCommand, stop } from '../fleet/fleet-processes.ts';
import { openPostgres } from '../fleet/postgres.ts';
import { PROJECT } from '../files-below.ts';
import { needs } from '../needs.ts';
import { FOLDER, HOME, IN_PROJECT, cli, inProject, runCalled, useOldState } from './old-state.ts';

const COMMAND = path.join(PROJECT, 'dist/command/skillwright.js');

function scripted(...turns: readonly object[]): string {
  const file = path.join(temporaryFolder(), 'turns.json');
  writeFileSync(file, JSON.stringify({ turns }));
  return `scripted:${file}`;
}

describe('what version 0.1.0 left behind', () => {
  useOldState();

  test('configuration counts, and rules decide as before', async () => {
    const { status, out } = await cli('config', '--json');
    expect([status, JSON.parse(out)]).toMatchObject([
      0,
      { config: { catalog: { budget_tokens: 1500, format: 'markdown' }, secrets: { letters: { TOKEN: {} } } } },
    ]);
    const decisions = await ['drafts/a', 'plans/a', 'private/a'].reduce<Promise<readonly string[]>>(
      async (before, file, at) => {
        const done = await before;
        return [...done, (await cli('policy', at === 0 ? 'write_file' : 'read_file', file)).out.split(' ')[0] ?? ''];
      },
      Promise.resolve([]),
    );
    expect(decisions).toEqual(['allow', 'ask', 'deny']);
  });

  test('skills are installed, trusted, found and compared with their sources', async () => {
    const { out } = await cli('list', '--json');
    const { skills } = JSON.parse(out) as {
      readonly skills: readonly { readonly name: string; readonly source: string }[];
    };
    expect(skills.filter(({ source }) => source !== 'builtin').map(({ name }) => name)).toEqual([
      'hello',
      'letters',
      'mine',
      'own',
    ]);
    expect((await cli('list')).out).toMatch(/^ {2}hello +project, trusted/m);
    expect((await cli('verify')).out).toMatch(/^same {2}hello /m);
    expect((await cli('verify', '--scope', 'user')).out).toMatch(/^same {2}letters /m);
    expect((await cli('outdated')).out).toContain('hello  current');
    expect((await cli('source')).out).toContain('1 skill');
    expect(await cli('source', 'update')).toMatchObject({ status: 0, out: 'shared: no changes\n' });
    expect(await cli('verify', '../sources/letters.zip', '--signature')).toMatchObject({
      status: 0,
      out: expect.stringContaining('signed by'),
    });
  });

  test('earlier versions and removed skills come back', async () => {
    expect(await cli('rollback', 'hello', '--yes')).toMatchObject({ status: 0 });
    expect(inProject('.agents/skills/hello/SKILL.md')).not.toContain('Be brief.');
    expect(await cli('update', 'hello', '--yes')).toMatchObject({ status: 0 });
    expect(inProject('.agents/skills/hello/SKILL.md')).toContain('Be brief.');
    expect(await cli('restore', 'table', '--yes')).toMatchObject({ status: 0 });
    expect(await cli('install', '--frozen')).toMatchObject({ status: 0 });
    expect((await cli('verify')).err).toContain('2 of 2 match the lock');
  });

  test('records are intact, also of runs that failed, and a change of one is found', async () => {
    const { out } = await cli('runs', 'verify');
    expect(out.replaceAll(/^\S+Z-\S+/gm, 'run')).toBe(
      `run  torn, not sealed\n${'run  intact, seal valid\n'.repeat(5)}chain of all runs  intact, 6 announced\n`,
    );
    const waiting = await runCalled('waiting');
    const file = path.join(IN_PROJECT, '.agent/runs', waiting, 'events.jsonl');
    writeFileSync(file, readFileSync(file, 'utf8').replace('Notes are written.', 'Notes are deleted.'));
    expect(await cli('runs', 'verify', waiting)).toMatchObject({
      status: 1,
      out: expect.stringContaining('tampered'),
    });
  });

  test('runs go on after their budget, and after a kill within a command that has another folder now', async () => {
    const model = scripted({ text: 'Ada is greeted.' });
    for (const [name, ...words] of [['turns', '--budget', 'turns=5'], ['killed']] as const)
      expect(await cli('runs', 'resume', await runCalled(name), '--model', model, ...words)).toMatchObject({
        status: 0,
        out: 'Ada is greeted.\n',
      });
  });

  test('files of a run are copied, and what it changed is undone', async () => {
    const run = await runCalled('done');
    const out = path.join(temporaryFolder(), 'out');
    expect(await cli('runs', 'files', run, '--out', out)).toMatchObject({ status: 0 });
    expect(readFileSync(path.join(out, 'greeting.txt'), 'utf8')).toBe('hello Ada\n');
    expect(inProject('notes.txt')).toBe('after\n');
    expect(await cli('runs', 'undo', run)).toMatchObject({ status: 0 });
    expect(inProject('notes.txt')).toBe('before\n');
  });

  test('approvals, which were for every project, are named with what to do', async () => {
    const listed = await cli('approvals');
    const [, answer = ''] = /^(\w{12}) {2}yes {2}project\/hello {2}run_script/m.exec(listed.out) ?? [];
    expect(listed.err).toContain(`the answer ${answer} is not used: version 0.1 gave it for every project`);
    const [, question = ''] = /^id: (\w{12})$/m.exec(listed.out) ?? [];
    expect(await cli('approvals', 'answer', question, 'yes')).toMatchObject({
      status: 1,
      err: expect.stringMatching(/version 0\.1 asked the question[^]*hint: continue the run, which asks again/),
    });
    for (const id of [answer, question]) expect(await cli('approvals', 'revoke', id)).toMatchObject({ status: 0 });
    expect((await cli('approvals')).err).toBe('no pending requests and no stored answers\n');
  });

  test('evaluations are listed, compared and run again', async () => {
    expect((await cli('eval', 'trend')).out).toMatch(/100 % .* 1 case /);
    expect((await cli('eval', 'compare', 'last', 'last')).out).toContain('1 unchanged');
    expect(await cli('eval', 'cases.yaml')).toMatchObject({ status: 0 });
  });

  test('a fleet goes on with its runs; the one that waits asks again', needs('postgresql'), async () => {
    const postgres = await openPostgres();
    onTestFinished(() => postgres.close());
    const dump = path.join(postgres.folder, 'database.sql');
    writeFileSync(dump, readFileSync(path.join(FOLDER, 'database.sql')));
    chmodSync(dump, 0o644);
    postgres.run('psql', ['-q', '-f', dump, 'postgres']);
    const env = { PATH: process.env['PATH'] ?? '', HOME, SKILLWRIGHT_DATABASE_URL: postgres.url };
    const start = async (words: readonly string[], line: RegExp): Promise<string> => {
      const { child, found } = startCommand([COMMAND, ...words], line, { cwd: IN_PROJECT, env });
      onTestFinished(() => stop(child, 'SIGKILL'));
      return found;
    };
    const url = await start(['serve', '--port', '0'], /(http:\S+)\n/);
    const key = readFileSync(path.join(FOLDER, 'database.key'), 'utf8');
    const admin = openFleetClient({ url, key });
    const model = scripted({ text: 'Ada is greeted.' });
    const data = path.join(temporaryFolder(), 'worker');
    await start(
      ['worker', '--model', model, '--executor', 'local', '--data', data, '--set', 'policy.ask=["run_script"]'],
      /^worker (\S+):/m,
    );
    const ids = postgres.query("select id from skillwright.runs where state <> 'waiting' order by id").split('\n');
    const ended = await Promise.all(ids.map((id) => admin.wait(id)));
    expect(ended.map(({ state, answer }) => [state, answer])).toEqual(ids.map(() => ['ended', 'Ada is greeted.']));

    const waiting = postgres.query("select id from skillwright.runs where state = 'waiting'");
    const questions = (): readonly string[] => postgres.query('select id from skillwright.approvals').split('\n');
    const [before = ''] = questions();
    await admin.answer(waiting, before, { verdict: 'yes', scope: 'once' });
    await expect.poll(() => questions().length, { timeout: 30_000 }).toBe(2);
    const again = questions().find((id) => id !== before) ?? '';
    await admin.answer(waiting, again, { verdict: 'no', scope: 'once' });
    expect(await admin.wait(waiting)).toMatchObject({ state: 'ended', answer: 'Ada is greeted.' });
  });
});
