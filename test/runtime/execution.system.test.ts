import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import type { Action } from '../../src/core/action.ts';
import type { Executor, ExecutorName } from '../../src/core/execution.ts';
import type { Observation } from '../../src/core/observation.ts';
import type { RunResult } from '../../src/core/outputs.ts';
import type { ExecutionOptions } from '../../src/sandbox/execution/parts.ts';
import type { Session } from '../../src/runtime/session.ts';
import { openSkillTools } from '../../src/packs/open-runtime.ts';
import { EXECUTORS } from '../sandbox/sandbox.ts';
import { verifies } from '../conformance/verifies.ts';
import { scratch, writeSkill } from '../skills/registry/support.ts';
import { knownExecutor } from '../sandbox/known-executor.ts';
import { runtimeOver } from './support.ts';
import { needs } from '../needs.ts';
import type { Span } from '../../src/core/run-events.ts';

/** A skill with a script in each language that is surely here. */
function writeTools(root: string): void {
  const dir = path.join(root, 'tools');
  writeSkill(dir, { body: '# Tools\n' });
  mkdirSync(path.join(dir, 'scripts'));
  writeFileSync(path.join(dir, 'scripts/echo.mjs'), 'process.stdout.write(JSON.stringify(process.argv.slice(2)));\n');
  writeFileSync(
    path.join(dir, 'scripts/copy.sh'),
    '#!/bin/sh\nset -e\ncat > "$OUTPUT_DIR/stdin.txt"\ncp inputs/* out/ 2>/dev/null || true\necho "$SKILL_NAME in $PWD"\n',
    { mode: 0o755 },
  );
  writeFileSync(path.join(dir, 'scripts/windows.sh'), '#!/bin/sh\r\necho crlf\r\n');
}

interface OpenOptions extends ExecutionOptions {
  readonly executor: ExecutorName;
}

async function open(
  { executor, ...execution }: OpenOptions,
  find: (name: ExecutorName) => Executor | ExecutorName = knownExecutor,
): Promise<{ readonly session: Session; readonly root: string }> {
  const root = scratch();
  writeTools(root);
  const artifacts = path.join(root, 'artifacts');
  const session = await (
    await runtimeOver(root)
  ).startSession({ execution: { artifacts, executor: find(executor), ...execution } });
  onTestFinished(() => session.close());
  return { session, root };
}

async function run(session: Session, action: Action): Promise<RunResult> {
  const observation = await session.perform(action);
  if (observation.type !== 'program-ran') throw new Error(JSON.stringify(observation));
  return observation.result;
}

const codeOf = (observation: Observation): string =>
  observation.type === 'failed' ? observation.code : observation.type;

describe.each(EXECUTORS)('programs in %s', (_title, executor) => {
  verifies(
    ['EXEC-6', 'EXEC-7'],
    'a script gets its arguments as they are, and the result says what isolated it',
    async () => {
      // By its name, so the session probes it.
      const { session } = await open({ executor }, (name) => name);
      const args = ['a b', '$(id)', '`x`', '-rf', '', 'new\nline', '"quoted"'];
      const result = await run(session, { type: 'run_script', skill: 'tools', script: 'echo.mjs', args });
      expect(JSON.parse(result.stdout)).toEqual(args);
      expect(result.stdout_digest).toBe(`sha256:${createHash('sha256').update(JSON.stringify(args)).digest('hex')}`);
      expect(result).toMatchObject({
        exit_code: 0,
        timed_out: false,
        reason: 'exited',
        executor,
        isolation: executor === 'local' ? 'none' : executor,
      });
      expect(result.warnings).toEqual(
        executor === 'local'
          ? expect.arrayContaining(['the program ran without isolation'])
          : // That memory is only watched, as for most ordinary users, is said by doctor.
            [],
      );
    },
  );

  verifies(
    'EXEC-10',
    'a script that lacks what it needs does not begin; what others need is said with its result',
    async () => {
      const root = scratch();
      const dir = path.join(root, 'needy');
      writeSkill(dir, {
        fields: ['compatibility: Needs git, soffice-of-nobody and pandoc; an ACME_API_TOKEN.'],
        body: '# Needy\n',
      });
      mkdirSync(path.join(dir, 'scripts'));
      writeFileSync(path.join(dir, 'scripts/works.sh'), 'echo works\n');
      const lacking =
        '# /// script\n# dependencies = ["no-such-package-of-skillwright"]\n# ///\nopen("/workspace/out/ran", "w")\n';
      writeFileSync(path.join(dir, 'scripts/lacks.py'), lacking);
      const execution = { executor: knownExecutor(executor), artifacts: false, packages: { isOffline: true } } as const;
      const session = await (await runtimeOver(root)).startSession({ execution });
      onTestFinished(() => session.close());
      const script = (name: string): Action => ({ type: 'run_script', skill: 'needy', script: name, args: [] });
      // An executor that can mount packages tries to install them.
      const lackingCode = executor === 'local' ? 'execution/missing' : 'packages/unavailable';
      const needs = [
        'programs do not get the variable "ACME_API_TOKEN"',
        'the Python package "no-such-package-of-skillwright" is missing',
      ];
      // The second time it is remembered.
      for (const _ of ['first', 'second']) {
        const { stdout, warnings } = await run(session, script('works.sh'));
        expect([stdout, warnings.filter((warning) => needs.includes(warning))]).toEqual(['works\n', needs]);
        expect(await session.perform(script('lacks.py'))).toMatchObject({
          type: 'failed',
          code: lackingCode,
          message: expect.stringMatching(/^the script (?:cannot run|needs).*no-such-package-of-skillwright/),
        });
      }
      const other = await (await runtimeOver(root)).startSession({ execution });
      onTestFinished(() => other.close());
      expect(await other.perform(script('lacks.py'))).toMatchObject({ type: 'failed', code: lackingCode });
    },
    needs('python3'),
  );

  verifies('EXEC-10', 'a script does not begin either where an earlier file of its skill needs the same', async () => {
    const root = scratch();
    const dir = path.join(root, 'twice');
    writeSkill(dir, { body: '# Twice\n' });
    mkdirSync(path.join(dir, 'scripts'));
    for (const name of ['a.x', 'b.x', 'c.x'])
      writeFileSync(path.join(dir, 'scripts', name), '#!/usr/bin/env no-such-program-of-skillwright\n');
    const execution = { executor: knownExecutor(executor), artifacts: false } as const;
    const session = await (await runtimeOver(root)).startSession({ execution });
    onTestFinished(() => session.close());
    const codes = [];
    for (const script of ['b.x', 'a.x', 'c.x']) {
      const observation = await session.perform({ type: 'run_script', skill: 'twice', script, args: [] });
      codes.push(observation.type === 'failed' ? observation.code : observation.type);
    }
    expect(codes).toEqual(['execution/missing', 'execution/missing', 'execution/missing']);
  });

  verifies(
    ['EXEC-1', 'EXEC-3', 'EXEC-4', 'EXEC-5', 'EXEC-9'],
    'inputs go in, files come out, and artifacts are inputs of the next run',
    async () => {
      const { session, root } = await open({ executor, hostInputs: [path.join('/tmp')] });
      writeFileSync(path.join(root, 'data.txt'), 'from the host');
      const first = await run(session, {
        type: 'run_script',
        skill: 'tools',
        script: 'scripts/copy.sh',
        args: [],
        stdin: 'typed',
        inputs: [{ from: `host://${root}/data.txt` }],
        outputs: { output_files: ['$OUTPUT_DIR/*.txt'], save_as_artifacts: true, artifact_prefix: 'kept/' },
      });
      expect(first.stdout).toMatch(/^tools in .*\/skills\/tools\n$/);
      expect(first.output_files.map(({ name, content }) => [name, content])).toEqual([
        ['out/data.txt', 'from the host'],
        ['out/stdin.txt', 'typed'],
      ]);
      expect(first.artifact_files).toEqual([
        { name: 'kept/out/data.txt', version: 0 },
        { name: 'kept/out/stdin.txt', version: 0 },
      ]);
      const second = await session.perform({ type: 'run_command', command: 'ls', cwd: '$WORK_DIR/..' });
      expect(codeOf(second)).toBe('path/parent');
      const third = await run(session, {
        type: 'run_command',
        command: 'cat inputs/again.txt && ls ../out',
        inputs: [{ from: 'artifact://kept/out/data.txt@0', to: 'work/inputs/again.txt' }],
      });
      expect(third.stdout).toBe('from the hostdata.txt\nstdin.txt\n');
    },
  );

  verifies('EXEC-8', 'time, output and a wish to stop end a program, each with its own reason', async () => {
    const { session } = await open({ executor, limits: { outputBytes: 100_000 } });
    const slow = await run(session, { type: 'run_command', command: 'sleep 60', timeoutSeconds: 1 });
    expect(slow).toMatchObject({ reason: 'timeout', timed_out: true, exit_code: -1 });
    const loud = await run(session, { type: 'run_command', command: 'yes' });
    expect(loud.reason).toBe('output');
    const controller = new AbortController();
    const stopped = session.perform(
      { type: 'run_command', command: 'echo go; sleep 60' },
      { signal: controller.signal },
    );
    setTimeout(() => controller.abort(new Error('enough')), 500);
    expect(await stopped).toMatchObject({ type: 'program-ran', result: { reason: 'cancelled' } });
    expect(await run(session, { type: 'run_command', command: 'exit 3' })).toMatchObject({
      exit_code: 3,
      reason: 'exited',
    });
  });

  verifies('EXEC-2', 'five spellings of one script, Windows line ends and an editor all work', async () => {
    const { session } = await open({ executor });
    const spellings = ['scripts/echo.mjs', './scripts/echo.mjs', 'echo.mjs'];
    for (const script of spellings)
      expect((await run(session, { type: 'run_script', skill: 'tools', script, args: ['x'] })).stdout).toBe('["x"]');
    const lines = [
      'node scripts/echo.mjs x',
      'cd . && node scripts/echo.mjs x',
      'node "$SKILL_DIR/scripts/echo.mjs" x',
    ];
    for (const command of lines)
      expect((await run(session, { type: 'run_command', skill: 'tools', command })).stdout).toBe('["x"]');
    expect((await run(session, { type: 'run_script', skill: 'tools', script: 'windows.sh', args: [] })).stdout).toBe(
      'crlf\n',
    );
    const edited = await run(session, {
      type: 'run_command',
      command: 'eval "$EDITOR note.txt" && cat note.txt',
      editorText: "it's written\n",
    });
    expect(edited.stdout).toBe("it's written\n");
  });

  test('what the model may not give is refused before anything runs, with the nearest real names', async () => {
    const { session } = await open({ executor });
    const wrong: readonly (readonly [Action, string])[] = [
      [{ type: 'run_script', skill: 'tools', script: 'ech.mjs', args: [] }, 'script/unknown'],
      [{ type: 'run_script', skill: 'tools', script: '../../etc/passwd', args: [] }, 'path/parent'],
      [{ type: 'run_script', skill: 'nothing', script: 'x', args: [] }, 'skill/unknown'],
      [{ type: 'run_command', command: 'x', env: { LD_PRELOAD: '/x' } }, 'input/invalid'],
      [{ type: 'run_command', command: 'x', cwd: '/etc' }, 'path/absolute'],
      [{ type: 'run_command', command: 'x', inputs: [{ from: 'host:///etc/passwd' }] }, 'approval/needed'],
      [{ type: 'poll_command', session: 'nothing' }, 'command/unknown'],
    ];
    for (const [action, code] of wrong) {
      session.startTurn();
      expect([action.type, codeOf(await session.perform(action))]).toEqual([action.type, code]);
    }
    expect(await session.perform({ type: 'run_script', skill: 'tools', script: 'ech.mjs', args: [] })).toMatchObject({
      nearest: ['scripts/echo.mjs'],
    });
  });

  test('a command is talked to: it asks, is answered, and its files come back', async () => {
    const { session } = await open({ executor });
    const started = await session.perform({
      type: 'start_command',
      skill: 'tools',
      command: 'printf "Name: "; read name; echo "hello $name" | tee "$OUTPUT_DIR/hello.txt"',
      yieldMs: 5_000,
    });
    if (started.type !== 'command-seen') throw new Error(JSON.stringify(started));
    expect(started).toMatchObject({ status: 'running', output: 'Name: ', question: { kind: 'prompt' } });
    const answered = await session.perform({
      type: 'write_input',
      session: started.session,
      chars: 'Ada',
      submit: true,
      yieldMs: 20_000,
    });
    if (answered.type !== 'command-seen') throw new Error(JSON.stringify(answered));
    let seen: Observation = answered;
    for (let look = 0; look < 50 && seen.type === 'command-seen' && seen.status === 'running'; look += 1)
      seen = await session.perform({ type: 'poll_command', session: started.session, yieldMs: 1_000 });
    expect(seen).toMatchObject({
      status: 'exited',
      exitCode: 0,
      result: {
        stdout: 'Name: hello Ada\n',
        stderr: '',
        stdout_ref: expect.stringMatching(/^workspace:\/\/runs\/run-\d+\/stdout\.txt$/),
        output_files: [{ name: 'out/hello.txt' }],
      },
    });
  });

  test('a program opens its input by name, also if it is empty', async () => {
    const { session } = await open({ executor });
    for (const stdin of ['abc\n', '', undefined]) {
      const command = 'cat /dev/stdin; wc -c < /dev/fd/0 | tr -d " "';
      const { stdout, stderr } = await run(session, { type: 'run_command', command, stdin });
      expect([stdout.startsWith(stdin ?? ''), stderr]).toEqual([true, '']);
    }
  });

  test('a program opens its outputs by name, as many scripts do', async () => {
    const { session } = await open({ executor });
    const command = 'echo one > /dev/stderr; echo two > /dev/stdout; echo three | tee /dev/stderr';
    expect(await run(session, { type: 'run_command', command })).toMatchObject({
      stdout: 'two\nthree\n',
      stderr: 'one\nthree\n',
      exit_code: 0,
    });
  });

  test('a closed session leaves no workspace behind', async () => {
    const { session } = await open({ executor });
    await run(session, { type: 'run_command', command: 'touch "$WORK_DIR/x"' });
    const workspace = await session.execution?.openWorkspace();
    const folder = workspace?.place.root ?? '';
    expect(readdirSync(folder)).toContain('work');
    await session.close();
    expect(existsSync(folder)).toBe(false);
    const late = await session.perform({ type: 'run_command', command: 'true' });
    expect(late).toMatchObject({ type: 'failed', code: 'execution/failed', hint: 'start a new session' });
    expect(existsSync(folder)).toBe(false);
    await session.close({ keep: true });
  });
});

test('without an execution nothing is run and no tool that runs anything is offered', async () => {
  const root = scratch();
  writeTools(root);
  for (const vocabulary of ['skillwright', 'trpc', 'skills-agent'] as const) {
    const runtime = await runtimeOver(root);
    // The page of trpc-agent-go registers skill_run by itself, so there it has to be declined.
    const execution = vocabulary === 'trpc' ? false : undefined;
    const closed = await openSkillTools({ runtime, vocabulary, execution });
    expect(closed.tools.filter(({ name }) => /run|exec|stdin|session/.test(name))).toEqual([]);
    expect(codeOf(await closed.session.perform({ type: 'run_command', command: 'id' }))).toBe('execution/unavailable');
    const opened = await openSkillTools({ runtime, vocabulary, execution: { executor: 'local', artifacts: false } });
    onTestFinished(() => opened.session.close());
    expect(opened.tools.some(({ name }) => /run/.test(name))).toBe(true);
    expect(opened.instructions).not.toBe(closed.instructions.slice(0, 10));
  }
});

test('a script called like an address or a home folder runs by its name', async () => {
  const { session, root } = await open({ executor: 'local' });
  const scripts = ['ab:c.sh', '~x.sh'];
  for (const script of scripts) writeFileSync(path.join(root, 'tools/scripts', script), 'echo went\n');
  for (const script of scripts)
    expect((await run(session, { type: 'run_script', skill: 'tools', script, args: [] })).stdout).toBe('went\n');
});

test('a skill that changes after it was staged runs as it was', async () => {
  const { session, root } = await open({ executor: 'local' });
  const script = path.join(root, 'tools/scripts/echo.mjs');
  expect((await run(session, { type: 'run_script', skill: 'tools', script: 'echo.mjs', args: ['1'] })).stdout).toBe(
    '["1"]',
  );
  writeFileSync(script, 'process.stdout.write("changed");\n');
  expect((await run(session, { type: 'run_script', skill: 'tools', script: 'echo.mjs', args: ['1'] })).stdout).toBe(
    '["1"]',
  );
  expect(readFileSync(script, 'utf8')).toContain('changed');
});

verifies('EXEC-11', 'each step of a run is told to whoever traces, with names and counts and no contents', async () => {
  const spans: Span[] = [];
  const calls: (number | undefined)[] = [];
  const { session } = await open({
    executor: 'local',
    onSpan(span, call) {
      spans.push(span);
      calls.push(call);
    },
  });
  await run(session, {
    type: 'run_command',
    skill: 'tools',
    command: 'echo secret-text > "$OUTPUT_DIR/a.txt"; exit 3',
  });
  await session.close();
  expect(spans.map(({ name, attributes, isFailed }) => [name, attributes, isFailed])).toEqual([
    ['workspace.create', { executor: 'local' }, false],
    ['workspace.stage.skill', { skill: 'tools', digest: expect.stringMatching(/^sha256-tree:/) }, false],
    ['workspace.stage.inputs', { count: 0 }, false],
    ['workspace.run', { program: 'bash', cwd: 'skills/tools', reason: 'exited', exit_code: 3 }, false],
    ['workspace.collect', { patterns: 2, count: 1, skipped: 0 }, false],
    ['workspace.inline', {}, false],
    ['workspace.cleanup', { keep: false }, false],
  ]);
  expect(spans.every(({ durationMs, startedAt }) => durationMs >= 0 && startedAt > 0)).toBe(true);
  expect(JSON.stringify(spans)).not.toContain('secret-text');
  expect(calls).toEqual([1, 1, 1, 1, 1, 1, undefined]);
});
