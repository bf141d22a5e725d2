/** A model that answers with seeded valid, broken and hostile answers, for testing code that must handle all of them. */
import { openRandom, SkillError, type Model, type ModelAnswer, type ModelTool } from '#core';
import { splitIntoDeltas } from '../emit.ts';
import { offeredTools } from '../rules/rule-tools.ts';
import { FUZZ_KINDS, draftAnswer, type FuzzDraft, type FuzzKind } from './fuzz-answers.ts';

export interface FuzzOptions {
  /** Tools to call (default: those of the request). */
  readonly tools?: readonly ModelTool[];
  /** Kinds of answers to give (default: all). */
  readonly kinds?: readonly FuzzKind[];
  /** Length of huge answers and inputs (default: 200,000). */
  readonly hugeCharacters?: number;
  /** Makes one in this many calls fail (default: none). */
  readonly failsOneIn?: number;
}

export interface FuzzModel extends Model {
  readonly played: readonly (FuzzKind | 'failure')[];
}

const HUGE = 200_000;

/** Equal seeds give equal answers to equal requests, so a failed run can be reproduced. */
export function fuzzModel(seed: number, options: FuzzOptions = {}): FuzzModel {
  const { hugeCharacters = HUGE, failsOneIn = 0 } = options;
  const [firstKind = FUZZ_KINDS[0], ...kinds] = options.kinds ?? FUZZ_KINDS;
  const played: (FuzzKind | 'failure')[] = [];
  let last: FuzzDraft | undefined;
  return {
    id: `fuzz/${String(seed)}`,
    played,
    call(request, { signal, onDelta }) {
      if (signal.aborted) return Promise.reject(signal.reason);
      const random = openRandom(partSeed(seed, played.length));
      if (failsOneIn > 0 && random.isChance(failsOneIn)) {
        played.push('failure');
        return Promise.reject(modelFailure(seed, random.isChance(2)));
      }
      const kind = random.pick([firstKind, ...kinds]);
      const tools = options.tools ?? offeredTools(request);
      const draft = draftAnswer(kind, { random, tools, isNative: request.tools.length > 0, hugeCharacters, last });
      last = draft;
      const answer = toModelAnswer(draft, played.push(kind));
      const lengths = [1 + random.below(3), 1 + random.below(4096)];
      if (onDelta !== undefined) for (const delta of splitIntoDeltas(answer, lengths)) onDelta(delta);
      return Promise.resolve(answer);
    },
  };
}

function toModelAnswer({ text, calls, callId, isCut = false }: FuzzDraft, turn: number): ModelAnswer {
  const toolCalls = calls.map((call, place) => ({
    id: callId ?? `fuzz-${String(turn)}-${String(place + 1)}`,
    ...call,
  }));
  const finish = isCut ? 'length' : toolCalls.length > 0 ? 'tool-calls' : 'stop';
  return { text, toolCalls, finish, usage: {}, retries: 0 };
}

function modelFailure(seed: number, isRetryable: boolean): SkillError<'model/failed'> {
  return new SkillError({
    code: 'model/failed',
    message: `the fuzz model with seed ${String(seed)} fails this call on purpose`,
    hint: isRetryable ? 'retry the call' : 'end the run',
    data: { model: `fuzz/${String(seed)}`, status: isRetryable ? 503 : 400, isRetryable },
  });
}

function partSeed(seed: number, part: number): number {
  return (Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) + Math.imul(part + 1, 0xc2b2ae35)) >>> 0;
}
