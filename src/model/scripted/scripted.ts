/** A model that plays given answers and fails on unexpected requests, for tests of code that calls models. */
import { setTimeout as sleep } from 'node:timers/promises';

import { quoted, SkillError, stableJson, type Model, type ModelAnswer, type ModelRequest } from '#core';
import { sha256 } from '#platform';
import { splitIntoDeltas } from '../emit.ts';

export interface ScriptedTurn {
  /** Conditions for the request; without them any request is accepted. */
  readonly expect?: Expectation;
  readonly text?: string;
  readonly toolCalls?: readonly ScriptedToolCall[];
  /** Default: `tool-calls` if there are calls, otherwise `stop`. */
  readonly finish?: ModelAnswer['finish'];
  readonly usage?: ModelAnswer['usage'];
  readonly retries?: number;
  /** The lengths of the chunks in which the text and each input are streamed, repeated; without them each is one chunk. */
  readonly chunks?: readonly number[];
  /** The delay before the answer starts. The signal aborts it. */
  readonly delayMs?: number;
  /** Thrown instead of an answer, after the chunks of `text` were streamed. */
  readonly error?: Error;
}

export interface ScriptedToolCall {
  readonly name: string;
  /** A string is used as it is, even if it is not JSON; other values are serialized. */
  readonly input: unknown;
  /** Default: `call-<turn>-<index>`. */
  readonly id?: string;
}

/** All conditions must hold. Strings are searched in the system text and all messages. */
export interface Expectation {
  readonly contains?: readonly string[];
  readonly lacks?: readonly string[];
  readonly matches?: RegExp;
  /** Searched in the last message only. */
  readonly lastContains?: string;
  readonly offers?: readonly string[];
  readonly hides?: readonly string[];
}

export interface ScriptedOptions {
  /** True fails on more calls than turns and on unexpected requests; false repeats the last turn (default: true). */
  readonly strict?: boolean;
  readonly id?: string;
  readonly contextWindow?: number;
}

export interface ScriptedModel extends Model {
  /** All requests so far, in order. */
  readonly requests: readonly ModelRequest[];
  /** Throws if turns are left or a request was unexpected, even if that error was caught. */
  assertDone(): void;
}

/** Opens a model that plays the given answers and fails on anything else. */
export function openScripted(turns: readonly ScriptedTurn[], options: ScriptedOptions = {}): ScriptedModel {
  const { strict = true, id = 'scripted', contextWindow } = options;
  const requests: ModelRequest[] = [];
  const problems: string[] = [];
  const fail = (problem: string): never => {
    problems.push(problem);
    throw unexpected(id, problem);
  };
  return {
    id,
    settings: sha256(stableJson(turns)),
    contextWindow,
    requests,
    async call(request, callOptions) {
      callOptions.signal.throwIfAborted();
      const place = requests.push(request);
      const turn = turns[place - 1] ?? (strict ? undefined : turns.at(-1));
      if (turn === undefined)
        return fail(`unexpected call ${String(place)}: the script has ${String(turns.length)} turns`);
      const broken = strict ? brokenExpectations(request, turn.expect) : [];
      if (broken.length > 0) return fail(`call ${String(place)}: ${broken.join('; ')}`);
      return play(turn, place, callOptions);
    },
    assertDone() {
      const left = turns.length - requests.length;
      const all = [
        ...problems,
        ...(left > 0 ? [`${String(left)} of ${String(turns.length)} turns were not requested`] : []),
      ];
      if (all.length > 0) throw unexpected(id, all.join('\n'));
    },
  };
}

async function play(turn: ScriptedTurn, place: number, options: Parameters<Model['call']>[1]): Promise<ModelAnswer> {
  const { text = '', toolCalls = [], usage = {}, retries = 0, chunks = [], delayMs = 0, error } = turn;
  // The reason of the signal takes precedence over the error of the timer.
  if (delayMs > 0)
    await sleep(delayMs, undefined, { signal: options.signal }).finally(() => options.signal.throwIfAborted());
  const calls = toolCalls.map(({ id, name, input }, index) => ({
    id: id ?? `call-${String(place)}-${String(index + 1)}`,
    name,
    input: typeof input === 'string' ? input : JSON.stringify(input),
  }));
  for (const delta of options.onDelta === undefined ? [] : splitIntoDeltas({ text, toolCalls: calls }, chunks)) {
    options.onDelta?.(delta);
    // A listener may abort the call.
    await Promise.resolve();
    options.signal.throwIfAborted();
  }
  if (error !== undefined) throw error;
  return { text, toolCalls: calls, finish: turn.finish ?? (calls.length > 0 ? 'tool-calls' : 'stop'), usage, retries };
}

function brokenExpectations(request: ModelRequest, expect: Expectation = {}): readonly string[] {
  const last = request.messages.at(-1);
  const all = [request.system, ...request.messages.map((message) => messageText(message))].join('\n');
  const offered = new Set(request.tools.map(({ name }) => name));
  const { contains = [], lacks = [], matches, lastContains, offers = [], hides = [] } = expect;
  return [
    ...contains.filter((part) => !all.includes(part)).map((part) => `the request lacks ${quoted(part)}`),
    ...lacks.filter((part) => all.includes(part)).map((part) => `the request contains ${quoted(part)}`),
    ...(matches === undefined || new RegExp(matches.source, matches.flags.replaceAll(/[gy]/g, '')).test(all)
      ? []
      : [`the request does not match ${String(matches)}`]),
    ...(lastContains === undefined || (last !== undefined && messageText(last).includes(lastContains))
      ? []
      : [`the last message lacks ${quoted(lastContains)}`]),
    ...offers.filter((name) => !offered.has(name)).map((name) => `the tool ${quoted(name)} is not offered`),
    ...hides.filter((name) => offered.has(name)).map((name) => `the tool ${quoted(name)} is offered`),
  ];
}

function messageText(message: ModelRequest['messages'][number]): string {
  if (message.role !== 'assistant') return message.content;
  return [message.content, ...message.toolCalls.map(({ name, input }) => `${name} ${input}`)].join('\n');
}

function unexpected(id: string, problem: string): SkillError<'model/failed'> {
  return new SkillError({
    code: 'model/failed',
    message: problem,
    hint: 'make the script and the code under test agree',
    data: { model: id, status: 0, isRetryable: false },
  });
}
