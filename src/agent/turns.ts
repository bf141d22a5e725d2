/**
 * The agent loop: decide, act, observe, with one model call per turn (AGT-1). The model proposes; every action is checked before it is
 * performed.
 */
import { endedBudget } from './count-budget.ts';
import { defined, quoted, REFUSALS, type ModelAnswer, type ModelToolCall, type SkillEntry } from '#core';
import { FINAL_ANSWER, SHAPE } from './action-protocol.ts';
import { loadedText, pathRemarks } from './activation.ts';
import { askModel, overBudget } from './ask-model.ts';
import {
  toExchangeResult,
  withExchange,
  type Conversation,
  type Exchange,
  type ExchangeResult,
} from './conversation.ts';
import { readModelAnswer, type AgentDecision } from './decision.ts';
import { keepPlan, type PlanContext } from './plan-limits.ts';
import { CHOOSE_SKILLS, chooseSchema, chooseTool } from './own-tools.ts';
import { repeatedTurns } from './state.ts';
import { ownResult, type CallOutcome } from './agent-tools.ts';
import { loadedBy, orderCalls, plannedActions } from './selection.ts';
import { delegate } from './subagent.ts';
import { readInput } from '#tools';
import type { AgentParts, TurnsEnd } from './agent-parts.ts';

interface TurnState {
  readonly conversation: Conversation;
  /** Skills that the model still has to accept or reject. */
  readonly choice: readonly SkillEntry[];
  /** The last answer was invalid, and the model was asked to correct it. */
  readonly isRepairing: boolean;
  /** The call after which the session asked for an end of the run. */
  readonly failedTool?: string;
}

/**
 * Takes turns until the run ends. `follow` receives the conversation before each turn, so that a caller that stops the turns knows
 * their last state.
 */
export async function takeTurns(
  start: Pick<TurnState, 'conversation' | 'choice'>,
  parts: AgentParts,
  follow: (conversation: Conversation) => void,
): Promise<TurnsEnd> {
  let before: TurnState = { ...start, isRepairing: false };
  while (true) {
    follow(before.conversation);
    parts.stop.throwIfAborted();
    const conversation = parts.replay?.remind(before.conversation) ?? before.conversation;
    const next = await takeTurn({ ...before, conversation }, parts);
    if ('outcome' in next) return next;
    before = next;
    const end = findTurnsEnd(parts, next.failedTool);
    if (end === undefined) continue;
    follow(before.conversation);
    return end;
  }
}

async function takeTurn(before: TurnState, parts: AgentParts): Promise<TurnState | TurnsEnd> {
  const { run, limits, state, tools } = parts;
  const ended = endedBudget(state().used, limits);
  if (ended !== undefined) return overBudget(ended, state().used[ended], limits[ended], parts);
  const turn = state().turn + 1;
  run.record({ type: 'turn', turn });
  const choice = before.choice.length === 0 ? undefined : [chooseTool(before.choice.map(({ name }) => name))];
  const asked = await askModel(before.conversation, () => choice ?? tools.offered(), parts);
  if (asked.type === 'end') return asked.end;
  const { answer, conversation } = asked;
  const decision = readModelAnswer(answer, { protocol: parts.protocol, tools: choice ?? tools.all, turn });
  const { planUpdate: update, planProblems: unread = [] } = decision.type === 'calls' ? decision : {};
  const planProblems = keepPlan({ update, problems: unread }, toPlanContext(parts));
  const here = { ...before, conversation };
  const withdraw = (by: 'action' | 'error', reason: string): void => {
    if (asked.isStreamed) run.record({ type: 'answer-withdraw', by, reason });
  };
  const refusal = whyNotAnswer(decision, before);
  if (refusal !== undefined) withdraw(decision.type === 'unreadable' ? 'error' : 'action', refusal);
  if (before.choice.length > 0) return takeChoice(decision, answer, here, parts);
  if (decision.type === 'unreadable') return askAgain(decision, answer, here, parts);
  if (decision.type === 'answer') {
    if (answer.finish === 'length') run.record({ type: 'note', message: 'the answer was cut off at its length limit' });
    return sayAnswer(decision.answer, parts);
  }
  for (const message of decision.notes) run.record({ type: 'note', message });
  const { results, touched, failedTool, answer: finalAnswer } = await actOn(decision.calls, parts);
  if (finalAnswer !== undefined) return answered(finalAnswer, parts);
  if (refusal === undefined) withdraw('error', 'the answer was not accepted');
  const { repeated } = state();
  const remarks = [
    ...(decision.calls.length === 0 ? [PLAN_ALONE] : []),
    ...planProblems.map((problem) => `plan: ${problem}`),
    ...pathRemarks(run, touched, parts.proposed),
    ...(repeatedTurns(repeated) === NOTICED_TURNS
      ? [`${repeated.what} gave the same result ${String(NOTICED_TURNS)} times: do something else, or answer.`]
      : []),
  ];
  const outcome = remarks.length === 0 ? { results } : { results, remark: remarks.join('\n') };
  return { ...here, isRepairing: false, failedTool, conversation: withAnswer(here, answer, outcome, parts) };
}

/** Returns why the text of a decision is not the answer; undefined if it may be. */
function whyNotAnswer(decision: AgentDecision, { choice }: TurnState): string | undefined {
  if (decision.type === 'unreadable') return decision.reason;
  if (choice.length > 0) return 'the model has to choose skills first';
  if (decision.type === 'answer' || decision.calls.some(({ name }) => name === FINAL_ANSWER)) return undefined;
  const names = decision.calls.map(({ name }) => name).join(', ');
  return `the model continued with ${names === '' ? 'a plan' : names}`;
}

const PLAN_ALONE = `The plan is kept. Answer with the next action: ${SHAPE}`;

/** MOD-3: asks once for a corrected answer, with the exact error; then the run ends and says why. */
function askAgain(
  { reason, repair, tool }: Extract<AgentDecision, { readonly type: 'unreadable' }>,
  answer: ModelAnswer,
  before: TurnState,
  parts: AgentParts,
): TurnState | TurnsEnd {
  parts.run.record(
    tool === undefined
      ? { type: 'note', message: `the answer is invalid: ${reason}` }
      : { type: 'call-invalid', turn: parts.state().turn, tool, reason },
  );
  if (before.isRepairing)
    return { outcome: 'failed', reason: `the model gave two invalid answers in a row: ${reason}` };
  const exchange = { results: [], remark: repair };
  // Providers reject calls without results, so the answer is repeated as text only.
  const kept = { ...answer, toolCalls: [] };
  return { ...before, isRepairing: true, conversation: withAnswer(before, kept, exchange, parts) };
}

/** Forced activation: asks for the choice at most twice, then the run continues without it. */
async function takeChoice(
  decision: AgentDecision,
  answer: ModelAnswer,
  before: TurnState,
  parts: AgentParts,
): Promise<TurnState | TurnsEnd> {
  const choice = readChoice(decision, before.choice);
  if (choice.type === 'unclear') {
    const message = `the choice of skills is invalid: ${choice.reason}`;
    parts.run.record({ type: 'note', message });
    const conversation = withAnswer(
      before,
      { ...answer, toolCalls: [] },
      { results: [], remark: `${message}.` },
      parts,
    );
    if (before.isRepairing) return { conversation, choice: [], isRepairing: false };
    return { ...before, conversation, isRepairing: true };
  }
  const result = await actOnChoice(choice, parts);
  const kept = { ...answer, toolCalls: answer.toolCalls.filter(({ id }) => id === choice.call.id) };
  return { conversation: withAnswer(before, kept, { results: [result] }, parts), choice: [], isRepairing: false };
}

async function sayAnswer(answer: string, parts: AgentParts): Promise<TurnsEnd> {
  const observation = await parts.run.session.perform({ type: 'final_answer', answer });
  if (observation.type === 'failed') return { outcome: 'failed', reason: observation.message, answer };
  return answered(answer, parts);
}

/** A refusal that was the last action decides, whatever the model answers. */
function answered(answer: string, { state }: AgentParts): TurnsEnd {
  const { refused } = state();
  if (refused === undefined) return { outcome: 'done', reason: '', answer };
  return { outcome: 'refused', reason: `${refused.tool} was refused: ${refused.message}`, answer };
}

function withAnswer(
  { conversation }: TurnState,
  { text, toolCalls }: ModelAnswer,
  outcome: Pick<Exchange, 'results' | 'remark'>,
  { state, outputs, protocol }: AgentParts,
): Conversation {
  const calls = protocol === 'tools' ? toolCalls : [];
  return withExchange(conversation, { turn: state().turn, text, toolCalls: calls, ...outcome }, outputs);
}

function toPlanContext({ run, state, allowed, isLifted, request }: AgentParts): PlanContext {
  return { run, state: state(), allowed, isLifted, request };
}

/** A model whose turns repeat the same actions this often with the same results makes no progress. */
const SAME_TURNS = 5;
/** After this many, the model is told. */
const NOTICED_TURNS = 3;

/** AGT-4 and AGT-7: ends the run if a call budget is exhausted or the same action keeps failing. */
function findTurnsEnd(parts: AgentParts, failedTool: string | undefined): TurnsEnd | undefined {
  const { gate, run, limits, state } = parts;
  if (gate.ended !== undefined) return overBudget(gate.ended, state().used[gate.ended], limits[gate.ended], parts);
  // Actions stay within the budget; calls that became no action may have exceeded it.
  if (state().used.toolCalls > limits.toolCalls)
    return overBudget('toolCalls', state().used.toolCalls, limits.toolCalls, parts);
  const { unapproved } = state();
  if (unapproved !== undefined && parts.stopsUnapproved) return { outcome: 'refused', reason: unapproved.message };
  const { repeated } = state();
  const times = repeatedTurns(repeated);
  if (times >= SAME_TURNS)
    return {
      outcome: 'failed',
      reason: `the model repeated ${repeated.what} ${String(times)} times in a row with the same result`,
    };
  const { endedBy } = run.session.state;
  if (endedBy === undefined) return undefined;
  const { action, code, isVaried = false } = endedBy;
  const often = isVaried ? 'six times' : 'three times in the same way';
  const reason = `${failedTool ?? action} failed ${often} (${code})`;
  return { outcome: REFUSALS.has(code) ? 'refused' : 'failed', reason };
}

interface CallResults {
  readonly results: readonly ExchangeResult[];
  readonly touched: readonly string[];
  readonly failedTool?: string;
  readonly answer?: string;
}

/** Further calls of one answer are not performed. */
const CALLS_A_TURN = 16;

/** Performs the calls of one answer in order. Each call is checked and recorded on its own. */
async function actOn(calls: readonly ModelToolCall[], parts: AgentParts): Promise<CallResults> {
  const { run, gate } = parts;
  const { index, offer, vocabulary } = run.session;
  gate.startTurn();
  const results = new Map<ModelToolCall, ExchangeResult>();
  const ordered = orderCalls(calls.slice(0, CALLS_A_TURN), (call) => plannedActions(call, vocabulary, offer), index);
  const touched: string[] = [];
  let answer: string | undefined;
  let failedTool: string | undefined;
  for (const call of ordered) {
    const isOver = gate.ended !== undefined || (parts.stopsUnapproved && parts.state().unapproved !== undefined);
    if (answer !== undefined || isOver || run.session.state.endedBy !== undefined) {
      results.set(call, ownResult(call, 'not done: the run has ended', true));
      continue;
    }
    const before = run.session.state;
    const outcome = await callOne(call, parts);
    parts.stop.throwIfAborted();
    const { invalid, result } = outcome;
    const stateDelta = vocabulary.stateDelta?.(before, run.session.state);
    if (stateDelta !== undefined)
      run.record({
        type: 'tool.response',
        turn: parts.state().turn,
        id: call.id,
        tool: call.name,
        text: result.text,
        isError: result.isError,
        stateDelta,
      });
    if (invalid !== undefined)
      run.record({ type: 'call-invalid', turn: parts.state().turn, tool: call.name, reason: invalid });
    results.set(call, result);
    touched.push(...(outcome.touched ?? []));
    ({ answer } = outcome);
    if (run.session.state.endedBy !== undefined) failedTool ??= call.name;
  }
  const left = `not done: at most ${String(CALLS_A_TURN)} calls of one answer are performed`;
  return {
    results: calls.map((call) => results.get(call) ?? ownResult(call, left, true)),
    touched,
    failedTool,
    answer,
  };
}

async function callOne(call: ModelToolCall, parts: AgentParts): Promise<CallOutcome> {
  const child = childSkill(call, parts);
  if (child === undefined) return callTool(call, parts);
  const delegated = await delegate(child, call.name, parts);
  if (delegated.type === 'failed') return { result: ownResult(call, `${delegated.message}; ${delegated.hint}`, true) };
  const { outcome, answer } = delegated.result;
  const text = `${child.name} ran as a subagent; outcome: ${outcome}. Its summary:\n${answer}`;
  const line = `${call.name} ${child.name}: a subagent, ${outcome}`;
  return {
    result: toExchangeResult({
      callId: call.id,
      tool: call.name,
      text,
      isData: true,
      isError: outcome !== 'done',
      line,
    }),
  };
}

/** If a person stops the call, the model is told by its result, and the run goes on. */
async function callTool(call: ModelToolCall, parts: AgentParts): Promise<CallOutcome> {
  const { run, stop, steps, tools, untilStopped } = parts;
  const step = steps?.begin();
  const outcome = await untilStopped(tools.call(call, step === undefined ? stop : AbortSignal.any([stop, step])));
  if (steps !== undefined && step?.aborted === true && !stop.aborted) {
    run.record({ type: 'note', message: `interrupted: the user stopped ${call.name}` });
    await steps.stopped();
  }
  return outcome;
}

/** Returns the skill if the call loads exactly one skill and that skill runs as a subagent. */
function childSkill(call: ModelToolCall, { run: { session }, mayDelegate }: AgentParts): SkillEntry | undefined {
  // Parsing the call a second time is only needed where some skill runs as a subagent.
  if (!mayDelegate) return undefined;
  const actions = plannedActions(call, session.vocabulary, session.offer);
  const [action] = actions;
  const skill = action === undefined || actions.length > 1 ? undefined : loadedBy(action, session.index);
  if (skill === undefined || skill.controls.runMode !== 'subagent') return undefined;
  return session.state.loaded.some((loaded) => loaded.skill.id === skill.id) ? undefined : skill;
}

/** Loads the skills that the model accepted and records the ones that it rejected. */
async function actOnChoice(
  choice: Extract<Choice, { readonly type: 'chosen' }>,
  parts: AgentParts,
): Promise<ExchangeResult> {
  const { run, gate, stop, untilStopped } = parts;
  const { call, accepted, rejected } = choice;
  gate.startTurn();
  for (const { name } of rejected) run.record({ type: 'note', message: `the model rejected the skill ${name}` });
  const whole = defined({ whole: run.session.vocabulary.profile?.loadsWholeFile });
  const texts: string[] = [];
  for (const { id } of accepted) {
    const action = { type: 'load_skill', skill: id, ...whole } as const;
    const observation = await untilStopped(gate.perform(action, { signal: stop }));
    texts.push(
      observation.type === 'skill-loaded'
        ? loadedText(run.session, [observation])
        : observation.type === 'failed'
          ? observation.message
          : '',
    );
  }
  const text = texts.length === 0 ? 'no skill was accepted: continue without one' : texts.join('\n\n');
  const line = `${call.name}: ${String(accepted.length)} accepted, ${String(rejected.length)} rejected`;
  return toExchangeResult({ callId: call.id, tool: call.name, text, isData: false, isError: false, line });
}

type Choice =
  | {
      readonly type: 'chosen';
      readonly call: ModelToolCall;
      readonly accepted: readonly SkillEntry[];
      readonly rejected: readonly SkillEntry[];
    }
  | { readonly type: 'unclear'; readonly reason: string };

/** Forced activation: the model must accept or reject each skill of the shortlist before anything else. */
function readChoice(decision: AgentDecision, skills: readonly SkillEntry[]): Choice {
  const call = decision.type === 'calls' ? decision.calls.find(({ name }) => name === CHOOSE_SKILLS) : undefined;
  if (call === undefined) return { type: 'unclear', reason: `call ${CHOOSE_SKILLS} before anything else` };
  const names = skills.map(({ name }) => name);
  const reading = readInput(chooseSchema(names), call.input);
  if (reading.type === 'refused') return { type: 'unclear', reason: reading.failure.message };
  const [accepted, rejected] = ['accepted', 'rejected'].map((key) => [reading.input[key] ?? []].flat());
  const missing = names.filter((name) => accepted?.includes(name) === rejected?.includes(name));
  if (missing.length > 0) {
    const list = missing.map((name) => quoted(name)).join(', ');
    return { type: 'unclear', reason: `each skill must be in exactly one of the two lists; check ${list}` };
  }
  return {
    type: 'chosen',
    call,
    accepted: skills.filter(({ name }) => accepted?.includes(name)),
    rejected: skills.filter(({ name }) => rejected?.includes(name)),
  };
}
