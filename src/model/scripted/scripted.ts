/** A model that plays given answers and says when it is asked something else than expected: for tests of whatever asks models. */
import { setTimeout as sleep } from 'node:timers/promises';

import { SkillError } from '../../core/errors.ts';
import type { Finish, Model, ModelAnswer, ModelCallOptions, ModelRequest, ModelUsage } from '../../core/model.ts';
import { quoted } from '../../core/text/text.ts';
import { deltasOf } from '../emit.ts';

export interface ScriptedTurn {
  /** What the request must be like; anything where nothing is said. */
  readonly expect?: Expectation;
  readonly text?: string;
  readonly toolCalls?: readonly ScriptedToolCall[];
  /** `stop`, or `tool-calls` where there are some. */
  readonly finish?: Finish;
  readonly usage?: ModelUsage;
  readonly retries?: number;
  /** How the text and each input are cut while they grow: lengths, repeated; whole where nothing is said. */
  readonly chunks?: readonly number[];
  /** Before the answer begins. The signal ends it. */
  readonly delayMs?: number;
  /** Instead of an answer, after the chunks of `text` were told of. */
  readonly error?: Error;
}

export interface ScriptedToolCall {
  readonly name: string;
  /** Text is taken as it is, and may be no JSON; anything else becomes JSON. */
  readonly input: unknown;
  /** `call-<turn>-<place>` */
  readonly id?: string;
}

/** All of it must hold. Texts are looked for in the system text and all messages. */
export interface Expectation {
  readonly contains?: readonly string[];
  readonly lacks?: readonly string[];
  readonly matches?: RegExp;
  /** Only in the last message. */
  readonly lastContains?: string;
  readonly offers?: readonly string[];
  readonly hides?: readonly string[];
}

export interface ScriptedOptions {
  /** More calls than turns, and requests that are not as expected, fail; else the last turn is repeated. True. */
  readonly strict?: boolean;
  readonly id?: string;
  readonly contextWindow?: number;
}

export interface ScriptedModel extends Model {
  /** Every request there was, in order. */
  readonly requests: readonly ModelRequest[];
  /** Throws where turns are left, or where a request was not as expected, also when somebody caught that. */
  assertDone(): void;
}

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
    ...(contextWindow === undefined ? {} : { contextWindow }),
    requests,
    async call(request, callOptions) {
      callOptions.signal.throwIfAborted();
      const place = requests.push(request);
      const turn = turns[place - 1] ?? (strict ? undefined : turns.at(-1));
      if (turn === undefined)
        return fail(`call ${String(place)} was not expected: the script has ${String(turns.length)} turns`);
      const broken = strict ? brokenExpectations(request, turn.expect) : [];
      if (broken.length > 0) return fail(`call ${String(place)}: ${broken.join('; ')}`);
      return play(turn, place, callOptions);
    },
    assertDone() {
      const left = turns.length - requests.length;
      const all = [
        ...problems,
        ...(left > 0 ? [`${String(left)} of ${String(turns.length)} turns were not asked for`] : []),
      ];
      if (all.length > 0) throw unexpected(id, all.join('\n'));
    },
  };
}

async function play(turn: ScriptedTurn, place: number, options: ModelCallOptions): Promise<ModelAnswer> {
  const { text = '', toolCalls = [], usage = {}, retries = 0, chunks = [], delayMs = 0, error } = turn;
  if (delayMs > 0) await wait(delayMs, options.signal);
  const calls = toolCalls.map(({ id, name, input }, index) => ({
    id: id ?? `call-${String(place)}-${String(index + 1)}`,
    name,
    input: typeof input === 'string' ? input : JSON.stringify(input),
  }));
  for (const delta of options.onDelta === undefined ? [] : deltasOf({ text, toolCalls: calls }, chunks)) {
    options.onDelta?.(delta);
    // Whoever listens may stop it.
    await Promise.resolve();
    options.signal.throwIfAborted();
  }
  if (error !== undefined) throw error;
  return { text, toolCalls: calls, finish: turn.finish ?? (calls.length > 0 ? 'tool-calls' : 'stop'), usage, retries };
}

async function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(milliseconds, undefined, { signal });
  } catch (error) {
    // The reason of whoever stopped it, not that of the timer.
    signal.throwIfAborted();
    throw error;
  }
}

function brokenExpectations(request: ModelRequest, expect: Expectation = {}): readonly string[] {
  const last = request.messages.at(-1);
  const all = [request.system, ...request.messages.map((message) => messageText(message))].join('\n');
  const offered = new Set(request.tools.map(({ name }) => name));
  const { contains = [], lacks = [], matches, lastContains, offers = [], hides = [] } = expect;
  return [
    ...contains.filter((part) => !all.includes(part)).map((part) => `the request lacks ${quoted(part)}`),
    ...lacks.filter((part) => all.includes(part)).map((part) => `the request has ${quoted(part)} in it`),
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
    hint: 'the script of answers and what asks for them must agree: change one of them',
    data: { model: id, status: 0, isRetryable: false },
  });
}
