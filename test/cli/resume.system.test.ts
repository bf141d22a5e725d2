import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { runAgent } from '../../src/agent/agent.ts';
import type { AgentOptions, AgentResult } from '../../src/agent/agent-options.ts';
import { readRun } from '../../src/journal/journal-reader.ts';
import { played, world, type Line } from '../agent/support.ts';
import { continuation, resumingCommand } from '../../src/cli/agent/resume-command.ts';
import { runCli, type CliResult } from './run-cli.ts';

interface Ended {
  readonly id: string;
  readonly folder: string;
  readonly resume: (...words: readonly string[]) => Promise<CliResult>;
}

/** A run that ended after these answers, and the command that goes on with it. */
async function ended(lines: readonly Line[], options: Partial<AgentOptions> = {}): Promise<Ended> {
  const { runtime, root, project } = await world();
  const { run = '', path: folder = '' } = await runAgent({
    runtime,
    model: played(lines),
    request: 'count the rows of a table for a report',
    ...options,
  });
  const roots = ['--root', path.join(root, 'skills'), '--only-root'];
  const env = { HOME: path.join(root, 'home') };
  return {
    id: run,
    folder,
    resume: (...words) => runCli(project, ['runs', 'resume', run, '--model', 'rules', ...words, ...roots], env),
  };
}

const LOAD: Line = { calls: [['load_skill', { skill: 'report' }]] };

describe('runs resume', () => {
  test('goes on with a run whose budget was used up, says which model, and gives the answer', async () => {
    const { id, folder, resume } = await ended([LOAD], { budget: { turns: 1 } });
    const { status, out, err } = await resume('--budget', 'turns=6', '--json');
    expect([status, err.split('\n')[0]]).toEqual([0, 'model rules: it was requested by name']);
    const result = JSON.parse(out) as { readonly path: string; readonly run: string };
    expect(result).toMatchObject({ resumes: id, outcome: 'done', used: { turns: expect.any(Number), toolCalls: 1 } });
    const { info, lines } = readRun(result.path);
    expect([path.dirname(result.path), info.outcome]).toEqual([path.dirname(folder), 'done']);
    expect([...lines][0]?.event).toMatchObject({ agent: { resumes: { run: id, answers: 1, calls: 1 } } });
  });

  test('shows what happens as it goes on', async () => {
    const { resume } = await ended([LOAD], { budget: { turns: 1 } });
    const { status, out, err } = await resume('--budget', 'turns=6');
    expect(status).toBe(0);
    expect(out).toMatch(/\S/);
    expect(err).toContain('whose 1 answer and 1 action are read from its record and not repeated');
    // What was done before is not listed as if it were done again.
    expect(err).not.toMatch(/^load_skill/m);
    expect(err).toMatch(/\ndone after \d+ turns,.*; details:\n {2}skillwright runs show \S+\n$/);
    const { resume: again } = await ended([LOAD], { budget: { turns: 1 } });
    expect(await again('--budget', 'turns=6', '--quiet')).toMatchObject({ status: 0, err: '' });
  });

  test('says that the workspace is new if a program had run', async () => {
    const run = { execution: { executor: 'local', artifacts: false } } as const;
    const count: Line = { calls: [['run_script', { skill: 'report', script: 'count.sh' }]] };
    const { resume } = await ended([LOAD, count], { budget: { turns: 2 }, run });
    const { err } = await resume('--budget', 'turns=6', '--executor', 'local');
    expect(err).toContain('note: "continued in a new workspace; files that programs made or changed are gone');
  });

  test('repeats what programs could reach in the command that continues a refused run', () => {
    const given = {
      project: 'write',
      mount: ['data:rw'],
      allow: ['a.example', 'b.example'],
      executor: 'none',
      log: 'quiet',
      json: true,
      source: 'project',
      approve: ['used'],
    };
    const words =
      'runs resume ID --project write --mount data:rw --allow a.example --allow b.example --source project --approve T';
    expect(resumingCommand('ID', given)('T').join(' ')).toBe(words);
    expect(resumingCommand('ID', { project: 'none' })('T')).toContain('none');
    const after = (outcome: AgentResult['outcome']): string | undefined =>
      continuation({ outcome, run: 'ID' }, { model: 'rules', budget: ['turns=2'] });
    expect([after('degraded'), after('cancelled'), after('done')]).toEqual([
      'continue with: skillwright runs resume ID --model rules --budget NAME=N',
      'continue with: skillwright runs resume ID --model rules --budget turns=2',
      undefined,
    ]);
  });

  test('exits 4 for a run that is done, and 2 for a budget that is none', async () => {
    const { resume } = await ended([{ text: 'fine' }]);
    expect(await resume()).toMatchObject({
      status: 4,
      out: '',
      err: expect.stringMatching(/\nimpossible: it is done\n$/),
    });
    expect(await resume('--budget', 'coins=3')).toMatchObject({ status: 2, err: expect.stringContaining('coins') });
    expect(await resume('--budget', 'turns=-1')).toMatchObject({ status: 2 });
  });

  test('asks before a program as the run itself would have: naming an executor is no yes to what it runs', async () => {
    const { root, project } = await world();
    const env = { HOME: path.join(root, 'home') };
    const table = path.join(project, 'rows.csv');
    writeFileSync(table, 'a,b\n1,2\n');
    const rules = ['--model', 'rules', '--executor', 'local', '--json'];
    const begun = ['run', 'What is in this CSV file?', '--in', table, '--budget', 'turns=2', ...rules];
    expect(await runCli(project, begun, env)).toMatchObject({ status: 1 });
    const resumed = await runCli(project, ['runs', 'resume', 'last', '--budget', 'turns=9', ...rules], env);
    expect([resumed.status, resumed.err]).toEqual([3, expect.stringContaining('--approve')]);
    const { path: folder } = JSON.parse(resumed.out) as { readonly path: string };
    const programs = [...readRun(folder).lines].flatMap(({ event }) =>
      event.type === 'observation' && event.observation.action === 'run_script' ? [event.observation.type] : [],
    );
    expect(programs).toEqual(['failed']);
  });
});
