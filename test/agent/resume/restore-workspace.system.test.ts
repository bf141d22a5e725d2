import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { openChat } from '../../../src/agent/chat.ts';
import { findChat } from '../../../src/agent/earlier-chat.ts';
import { resumeAgent } from '../../../src/agent/resume/resume.ts';
import { deliverResults } from '../../../src/runtime/execution/deliver-results.ts';
import { restoreFiles, type RecordedStep } from '../../../src/agent/resume/restore-files.ts';
import { sha256 } from '../../../src/platform/index.ts';
import type { AgentOptions } from '../../../src/agent/agent-options.ts';
import { allText, eventsOf, ofType, played, world, type Line } from '../support.ts';

const RUN = { execution: { executor: 'local', artifacts: false } } as const;
const GONE =
  'other files that programs made or changed are gone unless they were kept as artifacts, and commands that were running have ended';

function call(name: string, input: object): Line {
  return { calls: [[name, input]] };
}

const write = (file: string, content: string): Line => call('file_write', { file, content });
const shell = (command: string): Line => call('shell_exec', { command });

/** As the commands do at the end of a run: results that are not copied are kept in the record. */
const keepResults: NonNullable<AgentOptions['beforeEnd']> = async (_, run) => {
  await deliverResults(run, {
    cwd: '/',
    out: undefined,
    mayUse: async () => false,
    approve: async () => ({ verdict: 'no', by: 'callback' }),
    signal: new AbortController().signal,
  });
};

function notesOf(result: { readonly path: string | undefined }): readonly string[] {
  return ofType(eventsOf(result), 'note').map(({ message }) => message);
}

describe('a run that is resumed', () => {
  test('has the files that the model wrote before, so that a command that waited for approval finds them', async () => {
    const { agent, runtime } = await world();
    const waiting = { ...RUN, execution: { ...RUN.execution, opens: false } };
    const ended = await agent({
      vocabulary: 'manusx',
      model: played([write('a/extract.sh', 'echo "rows: $((41 + 1))"'), shell('sh a/extract.sh')]),
      unapproved: 'stop',
      run: waiting,
    });
    expect(ended.outcome).toBe('refused');
    const model = played([{ text: 'There are 42 rows.' }]);
    const resumed = await resumeAgent({ runtime, model, path: ended.path ?? '', run: RUN });
    expect(resumed).toMatchObject({ type: 'resumed', result: { outcome: 'done' } });
    const asked = allText(model.requests[0] ?? expect.fail());
    expect(asked).toContain('rows: 42');
    // No program had run, so nothing is missing.
    expect(asked).not.toContain('new workspace');
    expect(resumed.type === 'resumed' && notesOf(resumed.result)).toEqual([]);
  });

  test('has the last state of each recorded file, and says to the model and in the record what is gone', async () => {
    const { agent, runtime } = await world();
    const ended = await agent({
      model: played([
        call('write_file', { path: 'workspace://work/a.txt', content: 'one\r\ntwo\r\n' }),
        call('edit_file', { path: 'workspace://work/a.txt', old_text: 'two\n', new_text: 'three $&\n' }),
        call('write_file', { path: 'workspace://work/b.txt', content: 'b' }),
        call('delete_file', { path: 'workspace://work/b.txt' }),
        call('run_command', {
          command: 'echo kept > $OUTPUT_DIR/kept.txt; echo 2 > $OUTPUT_DIR/second.txt; echo c > c.txt',
        }),
      ]),
      budget: { turns: 5 },
      run: { ...RUN, host: {}, approve: async () => ({ verdict: 'yes', scope: 'once', by: 'callback' }) },
      beforeEnd: keepResults,
    });
    expect(ended.outcome).toBe('degraded');
    const list = 'cd $WORKSPACE_DIR && cat work/a.txt out/kept.txt out/second.txt; wc -c < work/a.txt; ls work';
    const model = played([call('run_command', { command: list }), { text: 'done' }]);
    const resumed = await resumeAgent({
      runtime,
      model,
      path: ended.path ?? '',
      run: { ...RUN, host: {} },
      budget: { turns: 9 },
    });
    const change = `continued in a new workspace; restored from the record: out/kept.txt, out/second.txt, work/a.txt; ${GONE}`;
    expect(resumed.type === 'resumed' && notesOf(resumed.result)).toEqual([change]);
    expect(allText(model.requests[0] ?? expect.fail())).toContain(`This run was interrupted and ${change}.`);
    const seen = allText(model.requests[1] ?? expect.fail());
    // The output of a command has no carriage returns; the file has.
    expect(seen).toContain(JSON.stringify('one\nthree $&\nkept\n2\n15\na.txt\ninputs\n').slice(1, -1));
  });

  test('does not get back what a later program may have deleted', async () => {
    const { agent, runtime } = await world();
    const ended = await agent({
      model: played([
        call('run_command', { command: 'echo 1 > $OUTPUT_DIR/one.txt' }),
        call('run_command', { command: 'rm $WORKSPACE_DIR/out/one.txt; echo 2 > $OUTPUT_DIR/two.txt' }),
      ]),
      budget: { turns: 2 },
      run: RUN,
      beforeEnd: keepResults,
    });
    const model = played([call('run_command', { command: 'ls $WORKSPACE_DIR/out' }), { text: 'done' }]);
    const resumed = await resumeAgent({ runtime, model, path: ended.path ?? '', run: RUN, budget: { turns: 9 } });
    expect(resumed.type === 'resumed' && notesOf(resumed.result)).toEqual([
      `continued in a new workspace; restored from the record: out/two.txt; not restored: out/one.txt; ${GONE}`,
    ]);
    expect(allText(model.requests[1] ?? expect.fail())).toContain('"stdout":"two.txt\\n"');
  });

  test('does not get a file that a rule denies now', async () => {
    const { agent, runtime } = await world();
    const ended = await agent({
      vocabulary: 'manusx',
      model: played([write('a.txt', 'a'), write('b.txt', 'b')]),
      budget: { turns: 2 },
    });
    const model = played([shell('ls'), { text: 'done' }]);
    const resumed = await resumeAgent({
      runtime,
      model,
      path: ended.path ?? '',
      run: { ...RUN, policy: { deny: ['write_file(workspace://work/b.txt)'] } },
      budget: { turns: 9 },
    });
    expect(resumed.type === 'resumed' && notesOf(resumed.result)).toEqual([
      `continued in a new workspace; restored from the record: work/a.txt; not restored: work/b.txt; ${GONE}`,
    ]);
    expect(allText(model.requests[1] ?? expect.fail())).toContain('"stdout":"a.txt\\ninputs\\n"');
  });
});

test('a file whose recorded content is another, as where a secret was removed, is not restored', async () => {
  const workspace = mkdtempSync(path.join(tmpdir(), 'skillwright-restore-'));
  const execution = { openWorkspace: async () => ({ place: { root: workspace } }) };
  const session = { execution, decide: () => ({ effect: 'allow' }) } as unknown as Parameters<typeof restoreFiles>[0];
  const step = (name: string, content: string, written: string): RecordedStep => ({
    action: { type: 'write_file', path: `workspace://${name}`, content },
    observation: {
      type: 'file-written',
      action: 'write_file',
      path: `workspace://${name}`,
      bytes: written.length,
      digest: `sha256:${sha256(Buffer.from(written))}`,
    },
    record: workspace,
  });
  const hostile = {
    ...step('work/x', 'x', 'x'),
    observation: { type: 'file-written', path: 7 },
  } as unknown as RecordedStep;
  const steps = [
    step('work/a', 'token=[redacted]', 'token=1'),
    step('work/b', 'b', 'b'),
    step('../c', 'c', 'c'),
    step('skills/d', 'd', 'd'),
    hostile,
  ];
  expect(await restoreFiles(session, steps)).toEqual({
    restored: ['work/b'],
    lost: ['../c', 'skills/d', 'work/a'],
  });
  expect(readdirSync(workspace, { recursive: true })).toEqual(['work', path.join('work', 'b')]);
  rmSync(workspace, { recursive: true });
});

describe('a chat that is resumed', () => {
  test('has the files of all earlier chats, and the model is told what is gone', async () => {
    const { runtime, project } = await world();
    const common = { runtime, vocabulary: 'manusx', run: RUN } as const;
    const directory = path.join(project, '.agent/runs');
    const first = openChat({ ...common, model: played([write('a.txt', 'one'), { text: 'Written.' }]) });
    await first.send('write a');
    await first.end();
    const table = path.join(project, 'table.csv');
    writeFileSync(table, 'x\n');
    const second = openChat({
      ...common,
      model: played([write('b.txt', 'two'), { text: 'Written.' }]),
      earlier: findChat(directory, first.run ?? '', false),
    });
    await second.send('write b', { files: [table] });
    await second.end();
    const model = played([shell('cat a.txt b.txt; ls inputs'), { text: 'onetwo' }]);
    const third = openChat({ ...common, model, earlier: findChat(directory, second.run ?? '', false) });
    const result = await third.send('show both');
    const change = `continued in a new workspace; restored from the record: work/a.txt, work/b.txt; ${GONE.replace('that', 'that were attached or that')}`;
    expect(notesOf(result)).toEqual([change]);
    expect(allText(model.requests[0] ?? expect.fail())).toMatch(/This chat continued in a new workspace[^]*show both/);
    expect(allText(model.requests[1] ?? expect.fail())).toContain('"stdout":"onetwo"');
    await third.end();
  });
});
