/** Sends one request to the model; records the request and the answer. */
import {
  estimateTokens,
  isSkillError,
  readField,
  shownText,
  type ModelAnswer,
  type ModelDelta,
  type ModelRequest,
  type ModelTool,
  type RunEvent,
} from '#core';
import { budgetText } from './count-budget.ts';
import { isPlanDone } from './plan.ts';
import { isPlanLimit } from './plan-limits.ts';
import { prepareRequest } from './request.ts';
import { stateText, type ProtocolName } from './system-prompt.ts';
import { openActionStream, type ActionStreamHandlers } from './action-stream.ts';
import type { AgentParts, TurnsEnd } from './agent-parts.ts';
import type { Conversation } from './conversation.ts';

export type ModelReply =
  | {
      readonly type: 'answer';
      readonly answer: ModelAnswer;
      readonly conversation: Conversation;
      readonly isStreamed: boolean;
    }
  | { readonly type: 'end'; readonly end: TurnsEnd };

export async function askModel(
  conversation: Conversation,
  tools: () => readonly ModelTool[],
  parts: AgentParts,
): Promise<ModelReply> {
  const { run, limits, model, stop, protocol, outputs, measure } = parts;
  const { turn, used } = parts.state();
  const prepared = prepareRequest(conversation, {
    session: run.session,
    protocol,
    model,
    limits,
    outputs,
    measure,
    tools,
    state: isOpening(conversation, parts) ? '' : stateText(parts.state(), limits),
  });
  const { request, digest, tokens, ceiling, shortened } = prepared;
  if (shortened !== undefined) {
    const { before, after, dropped } = shortened;
    run.record({ type: 'context-compact', before, after, dropped });
  }
  if (tokens > ceiling) return { type: 'end', end: overBudget('contextTokens', tokens, ceiling, parts) };
  if (used.tokens + tokens > limits.tokens)
    return { type: 'end', end: overBudget('tokens', used.tokens + tokens, limits.tokens, parts) };
  const sent = { type: 'model-call', turn, model: model.id, request: digest, tokens } as const;
  const { answer, isStreamed } = await call(request, sent, parts);
  if (typeof answer === 'string') {
    if (isStreamed) run.record({ type: 'answer-withdraw', by: 'error', reason: answer });
    return { type: 'end', end: { outcome: 'failed', reason: answer } };
  }
  stop.throwIfAborted();
  const { text, toolCalls, finish, retries } = answer;
  const { inputTokens, outputTokens = answerTokens(answer) } = answer.usage;
  const usage = { ...answer.usage, outputTokens };
  const isEstimated = answer.usage.outputTokens === undefined && inputTokens !== undefined;
  const estimated = isEstimated ? ({ outputIsEstimated: true } as const) : {};
  run.record({ type: 'model-answer', turn, text, toolCalls, finish, usage, ...estimated, retries });
  return { type: 'answer', answer, conversation: prepared.conversation, isStreamed };
}

/** In the first request for a message the state is omitted: no step is open, and the budget is unused. */
function isOpening({ exchanges }: Conversation, { state }: AgentParts): boolean {
  const { turn, plan } = state();
  const isSpeaking = turn === 1 || exchanges.at(-1)?.message !== undefined;
  return isSpeaking && (plan === undefined || isPlanDone(plan));
}

export function overBudget(
  name: keyof AgentParts['limits'],
  used: number,
  limit: number,
  { run, state, allowed }: Pick<AgentParts, 'run' | 'state' | 'allowed'>,
): TurnsEnd {
  run.record({ type: 'budget-end', name, used, limit });
  const by = isPlanLimit(name, state().plan, allowed) ? ', as the plan of the model constrains it' : '';
  return { outcome: 'degraded', reason: `${budgetText(name, used, limit)}${by}` };
}

/** Calls the model, again after a person stopped a call and the run goes on. */
async function call(
  request: ModelRequest,
  sent: RunEvent,
  parts: AgentParts,
): Promise<{ readonly answer: ModelAnswer | string; readonly isStreamed: boolean }> {
  const { run, stop, steps } = parts;
  while (true) {
    run.record(sent);
    run.flush();
    const step = steps?.begin();
    const { answer, isStreamed } = await callOnce(request, step, parts);
    if (answer !== undefined) return { answer, isStreamed };
    if (isStreamed) run.record({ type: 'answer-withdraw', by: 'error', reason: 'the user interrupted it' });
    run.record({ type: 'note', message: 'interrupted: the user stopped the model call' });
    await steps?.stopped();
    stop.throwIfAborted();
  }
}

/** Returns the answer, the reason why the model gave none after its own retries, or undefined if a person stopped the call. */
async function callOnce(
  request: ModelRequest,
  step: AbortSignal | undefined,
  { model, stop, untilStopped, run, protocol, isWatched }: AgentParts,
): Promise<{ readonly answer: ModelAnswer | string | undefined; readonly isStreamed: boolean }> {
  const display = isWatched
    ? openAnswerDisplay(protocol, {
        onAnswerText: (text) => run.record({ type: 'answer-delta', text }),
        onField: (field, text) => run.record({ type: 'decision-delta', field, text }),
      })
    : undefined;
  const signal = step === undefined ? stop : AbortSignal.any([stop, step]);
  // The user, the project or a skill may have written a secret into it.
  const called = model.call(
    run.redact(request),
    display === undefined ? { signal } : { signal, onDelta: display.onDelta },
  );
  const answer = await untilStopped(step === undefined ? called : untilAborted(called, step))
    .catch((error: unknown) => {
      stop.throwIfAborted();
      if (step?.aborted === true) return undefined;
      if (isSkillError(error) && (error.code === 'record/failed' || error.code === 'run/invalid')) throw error;
      const message = error instanceof Error ? error.message : 'unknown error';
      return `the model ${model.id} gave no answer: ${message}${imageHint(request, error)}`;
    })
    .finally(() => display?.close());
  return { answer, isStreamed: display?.hasShown ?? false };
}

const REFUSED_REQUEST: ReadonlySet<unknown> = new Set([400, 404, 413, 415, 422]);

/** A server refuses images in its own words, which often name only a field of the request. */
function imageHint({ messages }: ModelRequest, error: unknown): string {
  if (!messages.some(({ role, ...message }) => role === 'user' && 'images' in message)) return '';
  const isRefused = isSkillError(error) && REFUSED_REQUEST.has(readField(error.data, 'status'));
  return isRefused ? ' (the request contains images, which this model may not take)' : '';
}

/** A model may ignore its signal. */
function untilAborted<T>(value: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    value.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

function answerTokens({ text, toolCalls }: ModelAnswer): number {
  return toolCalls.reduce((sum, { name, input }) => sum + estimateTokens(`${name} ${input}`), estimateTokens(text));
}

/** Shows the answer to the person while a model streams it. Display only. */
interface AnswerDisplay {
  readonly onDelta: (delta: ModelDelta) => void;
  readonly hasShown: boolean;
  /** Resolves when everything received so far has been shown. Later deltas are ignored. */
  close(): Promise<void>;
}

function openAnswerDisplay(
  protocol: ProtocolName,
  { onAnswerText, onField }: Required<ActionStreamHandlers>,
): AnswerDisplay {
  let isClosed = false;
  let hasShown = false;
  const showText = (text: string): void => {
    hasShown ||= text !== '';
    onAnswerText(text);
  };
  const stream =
    protocol === 'tools'
      ? { write: showText, close: () => Promise.resolve() }
      : openActionStream({ onAnswerText: showText, onField });
  const calls = new Set<string>();
  return {
    get hasShown() {
      return hasShown;
    },
    onDelta(delta) {
      if (isClosed) return;
      if (delta.type === 'text') stream.write(delta.text);
      else if (!calls.has(delta.id)) {
        calls.add(delta.id);
        onField('action', shownText(delta.name));
      }
    },
    close() {
      isClosed = true;
      return stream.close();
    },
  };
}
