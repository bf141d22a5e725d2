import { existsSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import { jsonlSink, terminalSink, type SinkLine } from '../../../src/journal/export/sinks.ts';
import { verifyRun } from '../../../src/journal/verify.ts';
import type { Config } from '../../../src/core/config/config.ts';
import type { ExecutorName, RunLimits } from '../../../src/core/execution.ts';
import type { Observation } from '../../../src/core/observation.ts';
import { createRuntime, type Runtime } from '../../../src/runtime/runtime.ts';
import type { Session } from '../../../src/runtime/session.ts';
import { buildSkillTools, type SkillTools } from '../../../src/runtime/skill-tools.ts';
import type { Run } from '../../../src/runtime/start-run.ts';
import { openReceiver, type Receiver } from '../../journal/otlp-receiver.ts';
import { temporaryFolder } from '../../cli/run-cli.ts';
import { EXECUTORS } from '../../sandbox/sandbox.ts';
import { verifies } from '../../conformance/verifies.ts';
import { scratch, settle } from '../../skills/registry/support.ts';
import {
  HASHES,
  SECRETS,
  WITHHELD,
  hits,
  surfacesBelow,
  surfacesOf,
  writeCanaryWorld,
  type CanaryWorld,
  type Surface,
} from './canary.ts';
import type { Span } from '../../../src/core/run-events.ts';

/** Of what was found out about executors, which takes seconds. */
const CACHE = temporaryFolder();

/** A run with everything that listens to it, and all that it was told. */
interface Watched {
  readonly world: CanaryWorld;
  readonly runtime: Runtime;
  readonly run: Run;
  readonly tools: SkillTools;
  readonly receiver: Receiver;
  /** By what it is: observations, answers, events, output, spans. */
  readonly told: Map<string, unknown[]>;
}

async function watch(executor: ExecutorName, limits: Partial<RunLimits> = {}, key?: string): Promise<Watched> {
  const receiver = await openReceiver();
  onTestFinished(() => receiver.close());
  const world = writeCanaryWorld(scratch(), receiver.endpoint);
  const { project: cwd, home, skills } = world;
  const env = { ...world.env, SKILLWRIGHT_CACHE_DIR: CACHE };
  const runtime = await createRuntime({ cwd, home, env, roots: [skills], onlyRoots: true });
  const told = new Map<string, unknown[]>();
  const tell = (name: string, value: unknown): void => void told.set(name, [...(told.get(name) ?? []), value]);
  const run = await runtime.startRun({
    request: `say it: ${SECRETS.CANARY_TOKEN}`,
    vocabulary: 'trpc',
    host: {},
    policy: { ask: ['write_file'] },
    approve(request) {
      tell('question', request);
      return Promise.resolve({ verdict: 'yes', scope: 'once', by: 'callback' });
    },
    sinks: [
      (line: SinkLine) => tell('sink', structuredClone(line)),
      jsonlSink((text) => tell('jsonl', text)),
      terminalSink({ level: 'verbose', write: (text) => tell('terminal', text), style: (_, text) => text }),
    ],
    execution: {
      executor,
      limits,
      key,
      onOutput: (stream, chunk) => tell(`output ${stream}`, Buffer.from(chunk)),
      onSpan: (span: Span) => tell('span', span),
    },
  });
  onTestFinished(() => run.end('done'));
  return { world, runtime, run, tools: buildSkillTools(run.session, runtime), receiver, told };
}

/** Output comes in pieces: what is one text to who looks is searched as one text. */
function joined(told: Watched['told']): Map<string, unknown> {
  return new Map(
    [...told].map(([name, values]) => [
      name,
      name.startsWith('output') ? Buffer.concat(values.filter((value) => value instanceof Uint8Array)) : values,
    ]),
  );
}

/** Every byte that is left of a run, and every word that was said about it. */
async function leaks({ world, run, receiver, told }: Watched): Promise<readonly string[]> {
  const events = run.session.events;
  const { state, ledger, instructions } = run.session;
  await run.end('done');
  const requests = receiver.received.map(({ path: place, body, headers }) => ({ place, body, headers }));
  expect(requests.length).toBeGreaterThan(0);
  expect(existsSync(run.path ?? '')).toBe(true);
  return hits([
    ...surfacesOf('told', Object.fromEntries(joined(told))),
    ...surfacesOf('session', { events, state, ledger, instructions }),
    ...surfacesOf('otlp', requests),
    ...surfacesBelow(world.project),
    ...surfacesBelow(path.join(world.root, 'tmp')),
    ...surfacesBelow(CACHE),
  ]);
}

/** What everybody on this machine can read of its processes. */
function* commandLines(): Generator<Surface> {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      yield [`process ${pid}`, readFileSync(`/proc/${pid}/cmdline`)];
    } catch {
      // It is over.
    }
  }
}

const outputsOf = (observation: Observation): unknown =>
  observation.type === 'program-ran' || observation.type === 'command-seen'
    ? observation.result?.output_files.find(({ name }) => name === 'out/given.json')?.content
    : observation;

const WAYS = ['stdout', 'stderr', 'split', 'long', 'files', 'surroundings', 'throws', 'coloured'] as const;

describe.each(EXECUTORS)('a secret in %s', (_title, executor) => {
  verifies(
    ['POL-4', 'AGT-9'],
    'reaches the program that declares it, and nobody else by any way of writing',
    async () => {
      const watched = await watch(executor);
      const { run, told } = watched;
      const outputs = { output_files: ['out/**'], save_as_artifacts: true };
      const observations: Observation[] = [];
      for (const way of WAYS) {
        const observation = await run.session.perform({
          type: 'run_script',
          skill: 'canary',
          script: 'leak.mjs',
          args: [way],
          outputs,
        });
        observations.push(observation);
        expect([way, JSON.parse(String(outputsOf(observation)))]).toEqual([way, HASHES]);
      }
      const command = `node scripts/leak.mjs stdout; echo "$CANARY_TOKEN" | base64; env; echo "$CANARY_FILE" > "$OUTPUT_DIR/e.txt"`;
      observations.push(await run.session.perform({ type: 'run_command', skill: 'canary', command, outputs }));
      told.set('observations', observations);
      // Something was there to be found: marks stand where the secrets were.
      for (const name of Object.keys(SECRETS)) expect(JSON.stringify(observations)).toContain(`[secret ${name}]`);
      expect(readdirSync(path.join(watched.world.project, '.agent/artifacts')).length).toBeGreaterThan(0);
      expect(await leaks(watched)).toEqual([]);
      expect(verifyRun(run.path ?? '')).toMatchObject({ status: 'intact', problems: [] });
    },
  );

  verifies(
    'POL-4',
    'is in no answer of a tool, in no program that is talked to, and in nothing that is kept of it',
    async () => {
      const watched = await watch(executor);
      const { tools, told } = watched;
      const answers: unknown[] = [];
      const call = async (
        name: string,
        input: object,
      ): Promise<{ readonly session_id?: string; readonly status?: string }> => {
        const answer = await tools.call(name, input);
        answers.push(answer.text, answer.value);
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the tools of trpc answer with these
        return answer.value as { readonly session_id?: string; readonly status?: string };
      };
      await call('skill_run', { skill: 'canary', command: 'node scripts/leak.mjs stdout', save_as_artifacts: true });
      for (const tty of [false, true]) {
        const command = 'node scripts/leak.mjs ask';
        const { session_id: id } = await call('skill_exec', { skill: 'canary', command, tty, yield_ms: 3_000 });
        let { status } = await call('skill_write_stdin', {
          session_id: id,
          chars: 'Ada',
          submit: true,
          yield_ms: 3_000,
        });
        for (let look = 0; look < 20 && status === 'running'; look += 1)
          ({ status } = await call('skill_poll_session', { session_id: id, yield_ms: 500 }));
        expect([tty, status]).toEqual([tty, 'exited']);
      }
      told.set('answers', answers);
      expect(JSON.stringify(answers)).toContain('[secret CANARY_TOKEN]');
      expect(await leaks(watched)).toEqual([]);
    },
  );

  verifies('POL-4', 'that a skill left in the shared workspace is kept out of what comes after it too', async () => {
    const watched = await watch(executor);
    const { run, told } = watched;
    const { session } = run;
    const observations: Observation[] = [
      await session.perform({ type: 'run_script', skill: 'canary', script: 'leak.mjs', args: ['share'] }),
      await session.perform({
        type: 'run_command',
        command: 'cat shared.txt; cat shared.txt >&2; cp shared.txt "$OUTPUT_DIR/copy.txt"',
        outputs: { output_files: ['out/**'], save_as_artifacts: true },
      }),
      await session.perform({ type: 'start_command', command: 'cat shared.txt', yieldMs: 3_000 }),
      await session.perform({ type: 'read_file', path: 'workspace://work/shared.txt' }),
      await session.perform({ type: 'grep', path: 'workspace://work', pattern: '.' }),
      // Whoever is asked about it is shown what would be replaced.
      await session.perform({ type: 'write_file', path: 'workspace://work/shared.txt', content: '' }),
    ];
    told.set('observations', observations);
    expect(observations.map(({ type }) => type)).toEqual([
      'program-ran',
      'program-ran',
      'command-seen',
      'file-read',
      'lines-found',
      'file-written',
    ]);
    expect(told.get('question')).toMatchObject([
      { detail: { kind: 'write', before: expect.stringContaining('[secret') } },
    ]);
    expect(await leaks(watched)).toEqual([]);
  });

  verifies('POL-4', 'is not shown in part either, where a text is cut in the middle of it', async () => {
    const watched = await watch(executor);
    const { session } = watched.run;
    const outputs = { outputs: { globs: ['out/start-*'], inline: true, max_file_bytes: 32 * 1024 } };
    const ran = await session.perform({
      type: 'run_script',
      skill: 'canary',
      script: 'leak.mjs',
      args: ['cut'],
      outputs,
    });
    const files = ran.type === 'program-ran' ? ran.result.output_files : [];
    expect(files.map(({ truncated, content = '' }) => [truncated, content.length > 32_000])).toEqual(
      files.map(() => [true, true]),
    );
    const read = await session.perform({ type: 'read_file', path: 'workspace://work/lines.txt' });
    expect(read).toMatchObject({ type: 'file-read', truncated: true });
    watched.told.set('observations', [ran, read]);
    expect(await leaks(watched)).toEqual([]);
  });

  verifies('POL-4', 'is not shown in part where a program was ended in the middle of saying it', async () => {
    const watched = await watch(executor, { outputBytes: 100_000 });
    const { session } = watched.run;
    const run = (way: string): Promise<Observation> =>
      session.perform({ type: 'run_script', skill: 'canary', script: 'leak.mjs', args: [way], timeoutSeconds: 2 });
    const ran = [await run('flood'), await run('half')];
    expect(ran).toMatchObject([{ result: { reason: 'output' } }, { result: { reason: 'timeout' } }]);
    watched.told.set('observations', ran);
    expect(await leaks(watched)).toEqual([]);
  });

  verifies('POL-4', 'that is in a workspace of an earlier session is known to the next one', async () => {
    const watched = await watch(executor, {}, 'kept');
    const { runtime, run, told } = watched;
    const before = await runtime.startSession({ execution: { executor, key: 'kept' } });
    await before.perform({ type: 'run_script', skill: 'canary', script: 'leak.mjs', args: ['share'] });
    await before.close({ keep: true });
    const read = await run.session.perform({ type: 'read_file', path: 'workspace://work/shared.txt' });
    const ran = await run.session.perform({ type: 'run_command', command: 'cat shared.txt' });
    told.set('observations', [read, ran]);
    expect([read, ran]).toMatchObject([
      { text: expect.stringContaining('[secret CANARY_FILE]') },
      { type: 'program-ran' },
    ]);
    expect(await leaks(watched)).toEqual([]);
  });

  test('is in the command line of no process while the program runs', async () => {
    const { run } = await watch(executor);
    const command = 'touch "$WORK_DIR/runs-now"; while [ -e "$WORK_DIR/runs-now" ]; do sleep 0.05; done';
    const action = { type: 'start_command', skill: 'canary', command, yieldMs: 3_000 } as const;
    const started = await run.session.perform(action);
    const { root = '' } = (await run.session.execution?.openWorkspace())?.place ?? {};
    const flag = path.join(root, 'work/runs-now');
    for (let look = 0; look < 100 && !existsSync(flag); look += 1) await settle(50);
    expect([started.type, existsSync(flag)]).toEqual(['command-seen', true]);
    const found = hits(commandLines());
    rmSync(flag);
    expect(found).toEqual([]);
  });

  test('goes to no other skill, and a key to a model goes to none, however it is asked for', async () => {
    const watched = await watch(executor);
    const { run, told } = watched;
    const outputs = { output_files: ['out/**'] };
    const perform = (skill: string): Promise<Observation> =>
      run.session.perform({ type: 'run_script', skill, script: 'leak.mjs', args: ['surroundings'], outputs });
    const [other, thief] = [await perform('other'), await perform('thief')];
    expect(outputsOf(other)).toBe('{}');
    expect(thief).toMatchObject({ type: 'failed', code: 'secret/missing' });
    const plain = await run.session.perform({ type: 'run_command', command: 'env', outputs });
    told.set('observations', [other, thief, plain]);
    expect(await leaks(watched)).toEqual([]);
  });
});

test('a key to a model is refused in the configuration by its name, and by its value where it has another name', async () => {
  const { project: cwd, home, skills, ...world } = writeCanaryWorld(scratch());
  const env = { ...world.env, ALIAS: WITHHELD.ANTHROPIC_API_KEY };
  const start = async (secrets: NonNullable<Config['secrets']>): Promise<Session> => {
    const config = { secrets };
    const runtime = await createRuntime({ cwd, home, env, config, roots: [skills], onlyRoots: true, cache: false });
    return runtime.startSession({ execution: { executor: 'local' } });
  };
  for (const name of ['ANTHROPIC_API_KEY', 'MY_CANARY'])
    await expect(start({ thief: { ANTHROPIC_API_KEY: { env: name } } })).rejects.toMatchObject({
      code: 'config/invalid',
    });
  const session = await start({ canary: { CANARY_TOKEN: { env: 'ALIAS' } } });
  onTestFinished(() => session.close());
  const refused = await session.perform({ type: 'run_script', skill: 'canary', script: 'leak.mjs', args: ['stdout'] });
  expect(refused).toMatchObject({ type: 'failed', code: 'secret/missing' });
  expect(hits(surfacesOf('refusal', refused))).toEqual([]);
});
