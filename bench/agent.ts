import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import type {
  LanguageModelV3,
  LanguageModelV3Content,
  LanguageModelV3GenerateResult,
  LanguageModelV3StreamPart,
} from '@ai-sdk/provider';
import { generateText, stepCountIs, streamText } from 'ai';

import { runAgent } from '../src/agent/agent.ts';
import type { AgentResult } from '../src/agent/agent-options.ts';
import type { Model } from '../src/core/model.ts';
import { createRuntime } from '../src/runtime/runtime.ts';
import type { Runtime } from '../src/runtime/runtime.ts';
import { openSkillTools } from '../src/runtime/skill-tools.ts';
import { median } from './median.ts';
import type { BenchRow } from './row.ts';

const ANSWER = 'All notes are read.';
const TURNS = 20;
const FILES = 4;
const ROUNDS = 25;
/** Both loops are compiled by then. */
const WARM_ROUNDS = 25;
const RUNS = 1_000;
/** Runs before memory is looked at for the first time: caches are full and code is compiled. */
const WARM_RUNS = 200;
const PROCESSES = 9;
const MOST_BYTES_A_RUN = 2_048;

/** What a turn costs beside the model; what runs leave in memory; what the rule model adds to a script. */
export async function benchAgent({
  project,
  workDir,
}: {
  readonly project: string;
  readonly workDir: string;
}): Promise<readonly BenchRow[]> {
  const folder = path.join(workDir, 'agent');
  const runtime = await openProject(folder);
  return [...(await benchTurns(runtime)), await benchMemory(runtime, folder), ...benchRules(project, folder)];
}

async function openProject(folder: string): Promise<Runtime> {
  const skill = path.join(folder, 'skills/notes');
  mkdirSync(path.join(skill, 'references'), { recursive: true });
  writeFileSync(
    path.join(skill, 'SKILL.md'),
    '---\nname: notes\ndescription: Keeps notes. Use it when notes are asked for.\n---\n\n# Notes\n\nRead them.\n',
  );
  for (let place = 0; place < FILES; place += 1)
    writeFileSync(path.join(skill, `references/${String(place)}.md`), `# Note ${String(place)}\n\nShort.\n`);
  const home = path.join(folder, 'home');
  mkdirSync(home, { recursive: true });
  const roots = [path.join(folder, 'skills')];
  return createRuntime({ cwd: folder, home, env: {}, roots, onlyRoots: true, cache: false });
}

/** The same answers for both loops: a file of a skill each turn, then an answer. */
function inputOf(turn: number): string | undefined {
  return turn < TURNS ? JSON.stringify({ skill: 'notes', path: `references/${String(turn % FILES)}.md` }) : undefined;
}

function ourModel(turns: number): Model {
  let turn = TURNS - turns;
  return {
    id: 'bench',
    call() {
      const input = inputOf(turn);
      turn += 1;
      const toolCalls = input === undefined ? [] : [{ id: `call-${String(turn)}`, name: 'read_resource', input }];
      const text = input === undefined ? ANSWER : '';
      return Promise.resolve({ text, toolCalls, finish: 'stop', usage: {}, retries: 0 });
    },
  };
}

function theirModel(): LanguageModelV3 {
  let turn = 0;
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };
  const next = (): Pick<LanguageModelV3GenerateResult, 'content' | 'finishReason'> => {
    const input = inputOf(turn);
    turn += 1;
    return {
      content:
        input === undefined
          ? [{ type: 'text', text: ANSWER }]
          : [{ type: 'tool-call', toolCallId: `call-${String(turn)}`, toolName: 'read_resource', input }],
      finishReason: { unified: input === undefined ? 'stop' : 'tool-calls', raw: undefined },
    };
  };
  return {
    specificationVersion: 'v3',
    provider: 'bench',
    modelId: 'bench',
    supportedUrls: {},
    doGenerate: () => Promise.resolve({ ...next(), usage, warnings: [] }),
    doStream() {
      const { content, finishReason } = next();
      const parts = content.flatMap(streamed);
      const all: readonly LanguageModelV3StreamPart[] = [
        { type: 'stream-start', warnings: [] },
        ...parts,
        { type: 'finish', usage, finishReason },
      ];
      return Promise.resolve({ stream: ReadableStream.from(all) });
    },
  };
}

function streamed(part: LanguageModelV3Content): readonly LanguageModelV3StreamPart[] {
  if (part.type === 'tool-call') return [part];
  return part.type === 'text'
    ? [
        { type: 'text-start', id: 't' },
        { type: 'text-delta', id: 't', delta: part.text },
        { type: 'text-end', id: 't' },
      ]
    : [];
}

const BUDGET = { turns: 1_000, toolCalls: 1_000, contextTokens: 1_000_000, tokens: 1_000_000_000 };

async function work(runtime: Runtime, turns: number): Promise<AgentResult> {
  const result = await runAgent({ runtime, model: ourModel(turns), request: 'read my notes', budget: BUDGET });
  if (result.outcome !== 'done' || result.used.turns !== turns + 1) throw new Error(`it ended as ${result.outcome}`);
  return result;
}

/** All loops do the same work with the same tools. Ours also judges each call, counts budgets and writes the journal to the disk. */
async function benchTurns(runtime: Runtime): Promise<readonly BenchRow[]> {
  const times: Readonly<Record<'ours' | 'whole' | 'stream', number[]>> = { ours: [], whole: [], stream: [] };
  const loops = {
    ours: () => work(runtime, TURNS),
    whole: () => theirs(runtime, async (request) => (await generateText(request)).steps.length),
    stream: () =>
      theirs(runtime, async (request) => {
        const result = streamText(request);
        await result.consumeStream();
        return (await result.steps).length;
      }),
  };
  for (let round = -WARM_ROUNDS; round < ROUNDS; round += 1)
    for (const name of ['ours', 'whole', 'stream'] as const) {
      const ms = await timed(loops[name]);
      if (round >= 0) times[name].push(ms / (TURNS + 1));
    }
  const ratio = median(times.ours) / median(times.whole);
  return [
    { name: 'a turn of an agent, judged and recorded', value: median(times.ours), unit: 'ms' },
    { name: 'a step of generateText, neither', value: median(times.whole), unit: 'ms' },
    { name: 'the first over the second', value: ratio, unit: 'x', bound: '<= 0.5', ok: ratio <= 0.5 },
    { name: 'the first over a step of streamText', value: median(times.ours) / median(times.stream), unit: 'x' },
  ];
}

async function theirs(
  runtime: Runtime,
  loop: (request: Parameters<typeof generateText>[0] & Parameters<typeof streamText>[0]) => Promise<number>,
): Promise<void> {
  const skills = await openSkillTools({ runtime });
  const { instructions: system, aiSdk: tools } = skills;
  const steps = await loop({
    model: theirModel(),
    system,
    tools,
    stopWhen: stepCountIs(TURNS + 5),
    prompt: 'read my notes',
  });
  if (steps !== TURNS + 1) throw new Error('the other loop stopped early');
  await skills.session.close();
}

async function timed(act: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await act();
  return performance.now() - start;
}

async function benchMemory(runtime: Runtime, folder: string): Promise<BenchRow> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const used = (): number => {
    collect();
    collect();
    return process.memoryUsage().heapUsed;
  };
  let before = 0;
  for (let run = 0; run < WARM_RUNS + RUNS; run += 1) {
    if (run === WARM_RUNS) before = used();
    await work(runtime, 1);
    if (run % 100 === 0) rmSync(path.join(folder, '.agent/runs'), { recursive: true, force: true });
  }
  const value = (used() - before) / RUNS;
  return {
    name: 'memory kept for each of 1,000 runs of two turns',
    value: Math.max(0, value),
    unit: 'bytes',
    bound: `<= ${String(MOST_BYTES_A_RUN)}`,
    ok: value <= MOST_BYTES_A_RUN,
  };
}

/** From the shell: the script alone, and a request that ends up running it, in a sandbox. */
function benchRules(project: string, folder: string): readonly BenchRow[] {
  const table = path.join(project, 'skills/csv-report/evals/files/orders.csv');
  const env = { PATH: process.env['PATH'] ?? '', HOME: path.join(folder, 'home') };
  const start = (words: readonly string[]): number => {
    const began = performance.now();
    execFileSync(process.execPath, [...words], { cwd: folder, env, stdio: 'ignore', timeout: 60_000 });
    return performance.now() - began;
  };
  const script = [path.join(project, 'skills/csv-report/scripts/report.mjs'), table, '--format', 'md'];
  const request = ['run', 'What is in this CSV file?', '--in', table, '--model', 'rules', '--yes'];
  const alone: number[] = [];
  const asked: number[] = [];
  for (let round = -1; round < PROCESSES; round += 1) {
    const times = [start(script), start([path.join(project, 'dist/command/skillwright.cjs'), ...request])] as const;
    if (round < 0) continue;
    alone.push(times[0]);
    asked.push(times[1]);
  }
  const ratio = median(asked) / median(alone);
  return [
    { name: 'csv-report on 12 rows, the script alone', value: median(alone), unit: 'ms' },
    {
      name: 'run --model rules that ends up running it, over that',
      value: ratio,
      unit: 'x',
      bound: '<= 3',
      ok: ratio <= 3,
      note: `${median(asked).toFixed(0)} ms`,
    },
  ];
}
