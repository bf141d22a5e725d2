/**
 * What a turn costs beside the model: our loop, which judges each call, counts budgets and writes the journal to the disk, and the AI
 * SDK's own loop with the same tools and the same scripted answers, which does none of that.
 */
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
import type { Runtime } from '../src/runtime/runtime.ts';
import { openSkillTools } from '../src/packs/open-runtime.ts';
import { median } from './median.ts';
import type { BenchRow } from './row.ts';

const ANSWER = 'All notes are read.';
/** Files of the skill that the turns read, one after the other. */
export const FILES = 4;
const TURNS = 20;
const LENGTHS = [2, TURNS, 60, 200] as const;
/** A run of each length in every round. The engine compiles both loops in the warm ones. */
const ROUNDS = 25;
const WARM_ROUNDS = 15;
const BUDGET = { turns: 1_000, toolCalls: 1_000, contextTokens: 1_000_000, tokens: 1_000_000_000 };

/** The same answers for both loops: a file of a skill each turn, then an answer. */
function inputOf(turn: number, turns: number): string | undefined {
  return turn < turns ? JSON.stringify({ skill: 'notes', path: `references/${String(turn % FILES)}.md` }) : undefined;
}

function ourModel(turns: number): Model {
  let turn = 0;
  return {
    id: 'bench',
    call() {
      const input = inputOf(turn, turns);
      turn += 1;
      const toolCalls = input === undefined ? [] : [{ id: `call-${String(turn)}`, name: 'read_resource', input }];
      const text = input === undefined ? ANSWER : '';
      return Promise.resolve({ text, toolCalls, finish: 'stop', usage: {}, retries: 0 });
    },
  };
}

function theirModel(turns: number): LanguageModelV3 {
  let turn = 0;
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };
  const next = (): Pick<LanguageModelV3GenerateResult, 'content' | 'finishReason'> => {
    const input = inputOf(turn, turns);
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
      const parts = content.flatMap(partsOf);
      const all: readonly LanguageModelV3StreamPart[] = [
        { type: 'stream-start', warnings: [] },
        ...parts,
        { type: 'finish', usage, finishReason },
      ];
      return Promise.resolve({ stream: ReadableStream.from(all) });
    },
  };
}

function partsOf(part: LanguageModelV3Content): readonly LanguageModelV3StreamPart[] {
  if (part.type === 'tool-call') return [part];
  return part.type === 'text'
    ? [
        { type: 'text-start', id: 't' },
        { type: 'text-delta', id: 't', delta: part.text },
        { type: 'text-end', id: 't' },
      ]
    : [];
}

/** A run of ours with so many tool calls, a turn each, and an answer. */
export async function ourRun(runtime: Runtime, turns: number): Promise<AgentResult> {
  const result = await runAgent({ runtime, model: ourModel(turns), request: 'read my notes', budget: BUDGET });
  if (result.outcome !== 'done' || result.used.turns !== turns + 1) throw new Error(`it ended as ${result.outcome}`);
  return result;
}

/**
 * Whole runs of several lengths. The AI SDK converts all that was said so far in each of its steps, so that its steps become dearer;
 * what a run costs that has hardly begun is mostly its start and its end.
 */
export async function benchTurns(runtime: Runtime): Promise<readonly BenchRow[]> {
  const lengths = LENGTHS.map((turns) => ({ turns, ours: new Array<number>(), theirs: new Array<number>() }));
  const whole: number[] = [];
  for (let round = -WARM_ROUNDS; round < ROUNDS; round += 1) {
    for (const { turns, ours, theirs: other } of lengths) {
      const [one, two] = [await timed(() => ourRun(runtime, turns)), await timed(() => streamed(runtime, turns))];
      if (round < 0) continue;
      ours.push(one);
      other.push(two);
    }
    const ms = await timed(() => generated(runtime, TURNS));
    if (round >= 0) whole.push(ms);
  }
  const runs = lengths.map((length) => ({
    turns: length.turns,
    ours: median(length.ours),
    theirs: median(length.theirs),
  }));
  return [
    ...runs.map(({ turns, ours, theirs: other }) => ({
      name: `a run of ${String(turns)} turns with its start and end, recorded, over streamText`,
      value: ours / other,
      unit: 'x',
      note: `${perTurn(ours, turns)} over ${perTurn(other, turns)} ms a turn`,
      ...(turns === TURNS ? { bound: '<= 1', ok: ours <= other } : {}),
    })),
    ...runs.flatMap((longer, place) => {
      const shorter = runs[place - 1];
      return shorter === undefined ? [] : [oneMore(shorter, longer)];
    }),
    { name: 'a step of generateText, in a run of 20', value: median(whole) / (TURNS + 1), unit: 'ms' },
  ];
}

interface TimedRuns {
  readonly turns: number;
  readonly ours: number;
  readonly theirs: number;
}

/** What a turn itself costs: by how much a longer run is longer, which leaves out how it starts and ends. */
function oneMore(shorter: TimedRuns, longer: TimedRuns): BenchRow {
  const turns = longer.turns - shorter.turns;
  const [ours, other] = [(longer.ours - shorter.ours) / turns, (longer.theirs - shorter.theirs) / turns];
  const isBound = shorter.turns === TURNS;
  return {
    name: `one more turn over one more step of streamText, between ${String(shorter.turns)} and ${String(longer.turns)} turns`,
    value: ours / other,
    unit: 'x',
    note: `${ours.toFixed(3)} over ${other.toFixed(3)} ms`,
    ...(isBound ? { bound: '<= 1', ok: ours / other <= 1 } : {}),
  };
}

function perTurn(ms: number, turns: number): string {
  return (ms / (turns + 1)).toFixed(2);
}

function generated(runtime: Runtime, turns: number): Promise<void> {
  return theirs(runtime, turns, async (request) => (await generateText(request)).steps.length);
}

function streamed(runtime: Runtime, turns: number): Promise<void> {
  return theirs(runtime, turns, async (request) => {
    const result = streamText(request);
    await result.consumeStream();
    return (await result.steps).length;
  });
}

async function theirs(
  runtime: Runtime,
  turns: number,
  loop: (request: Parameters<typeof generateText>[0] & Parameters<typeof streamText>[0]) => Promise<number>,
): Promise<void> {
  const skills = await openSkillTools({ runtime });
  const { instructions: system, aiSdk: tools } = skills;
  const steps = await loop({
    model: theirModel(turns),
    system,
    tools,
    stopWhen: stepCountIs(turns + 5),
    prompt: 'read my notes',
  });
  if (steps !== turns + 1) throw new Error('the other loop stopped early');
  await skills.session.close();
}

async function timed(act: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await act();
  return performance.now() - start;
}
