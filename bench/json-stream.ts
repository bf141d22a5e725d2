import { openActionStream } from '../src/agent/action-stream.ts';
import { openJsonStream } from '../src/agent/json/json-stream.ts';
import type { JsonStream } from '../src/agent/json/json-stream.ts';
import type { BenchRow } from './row.ts';

const CHARACTERS = 4_000_000;
const BOUND = 50;
const ROUNDS = 15;
/** As servers send them: a few tokens at a time. */
const CHUNK = 16;

/** How fast answers are read while they arrive, against `JSON.parse` of the whole text in the same moments. */
export function benchJsonStream(): readonly BenchRow[] {
  const nothing = (): void => undefined;
  const answer = longAnswer();
  const watched = (): JsonStream => openJsonStream({ onText: nothing, onValue: nothing });
  return [
    measured('a long answer, whole', answer, { open: watched, isBound: true }),
    measured(`a long answer, ${String(CHUNK)} characters at a time`, answer, {
      open: watched,
      isBound: true,
      chunk: CHUNK,
    }),
    measured('a long answer of Chinese, whole', longAnswer('表格中的行按部门合计。'), { open: watched, isBound: true }),
    measured('objects of small values, whole, nobody told', smallValues(), {
      open: () => openJsonStream(),
      isBound: true,
    }),
    measured('objects of small values, whole', smallValues(), { open: watched }),
    measured('a decision with a long answer, as it is shown', answer, {
      open: () => openActionStream({ onAnswerText: nothing, onField: nothing }),
      chunk: CHUNK,
    }),
  ];
}

interface Variation {
  readonly open: () => JsonStream;
  readonly chunk?: number;
  readonly isBound?: true;
}

/** By the best round: what else the machine does slows a round and never speeds it up. */
function measured(name: string, text: string, { open, chunk = text.length, isBound }: Variation): BenchRow {
  const megabytes = Buffer.byteLength(text) / 1e6;
  const pieces = Array.from({ length: Math.ceil(text.length / chunk) }, (_, place) =>
    text.slice(place * chunk, (place + 1) * chunk),
  );
  const times = Array.from({ length: ROUNDS }, () => {
    const whole = elapsed(() => JSON.parse(text));
    const ours = elapsed(() => {
      const stream = open();
      for (const piece of pieces) stream.write(piece);
      if (stream.end().type !== 'object') throw new Error(`${name} was not read`);
    });
    return { whole, ours };
  });
  const best = Math.min(...times.map(({ ours }) => ours));
  const value = megabytes / (best / 1000);
  const ratio = best / Math.min(...times.map(({ whole }) => whole));
  return {
    name: `reading ${name}`,
    value,
    unit: 'MB/s',
    ...(isBound === true ? { bound: `>= ${String(BOUND)}`, ok: value >= BOUND } : {}),
    note: `${ratio.toFixed(1)} times JSON.parse of the whole`,
  };
}

function elapsed(act: () => unknown): number {
  const began = performance.now();
  act();
  return performance.now() - began;
}

/** Paragraphs of Markdown with quotes in them: an escape every few dozen characters. */
function longAnswer(sentence = 'The rows of the table are summed by department. '): string {
  const paragraph = `## A heading\n\n${sentence.repeat(4)}It says "done".\n\n`;
  const answer = paragraph.repeat(Math.ceil(CHARACTERS / paragraph.length));
  return JSON.stringify({ action: { type: 'final_answer', payload: { answer } } });
}

function smallValues(): string {
  const row = { id: 17, name: 'aggregate', isDone: true, share: 0.25, tags: ['a', 'b'], parent: null };
  return JSON.stringify({ rows: Array.from({ length: CHARACTERS / 80 }, () => row) });
}
