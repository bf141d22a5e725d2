/** The loop: decide, act, observe, one model call a turn (AGT-1). The model proposes; nothing it says is done before it was judged. */
import { endedBudget } from './count-budget.ts';
import type { FailureCode } from '../core/failure-codes.ts';
import type { ModelAnswer } from '../core/model.ts';
import type { SkillEntry } from '../core/skill.ts';
import { actOn, actOnChoice } from './act.ts';
import { pathRemarks } from './activation.ts';
import type { AgentParts, TurnsEnd } from './agent-parts.ts';
import { askModel, overBudget } from './ask-model.ts';
import { withExchange } from './conversation.ts';
import type { Conversation, Exchange } from './conversation.ts';
import { readModelAnswer } from './decision.ts';
import type { AgentDecision } from './decision.ts';
import { readChoice } from './forced-choice.ts';
import { keepPlan } from './keep-plan.ts';
import type { PlanPlace } from './keep-plan.ts';
import { chooseTool } from './own-tools.ts';

/** What a turn leaves for the next. */
interface Between {
  readonly conversation: Conversation;
  /** Skills that the model has still to choose from. */
  readonly choice: readonly SkillEntry[];
  /** The last answer could not be read, and the model was told so. */
  readonly isRepairing: boolean;
}

/** `follow` is told of the conversation as it stands before each turn: whoever stops the turns knows how far they came. */
export async function takeTurns(
  start: Pick<Between, 'conversation' | 'choice'>,
  parts: AgentParts,
  follow: (conversation: Conversation) => void,
): Promise<TurnsEnd> {
  let between: Between = { ...start, isRepairing: false };
  while (true) {
    follow(between.conversation);
    parts.stop.throwIfAborted();
    const conversation = parts.following?.remind(between.conversation) ?? between.conversation;
    const next = await takeTurn({ ...between, conversation }, parts);
    if ('outcome' in next) return next;
    between = next;
    const end = endOf(parts);
    if (end === undefined) continue;
    follow(between.conversation);
    return end;
  }
}

async function takeTurn(between: Between, parts: AgentParts): Promise<Between | TurnsEnd> {
  const { run, limits, state, tools } = parts;
  const ended = endedBudget(state().used, limits);
  if (ended !== undefined) return overBudget(ended, state().used[ended], limits[ended], parts);
  const turn = state().turn + 1;
  run.record({ type: 'turn', turn });
  const offered = between.choice.length === 0 ? tools.offered : [chooseTool(between.choice.map(({ name }) => name))];
  const asked = await askModel(between.conversation, offered, parts);
  if (asked.type === 'end') return asked.end;
  const { answer, conversation } = asked;
  const decision = readModelAnswer(answer, { protocol: parts.protocol, tools: offered, turn });
  const planProblems = keepPlan(decision.type === 'calls' ? decision.planUpdate : undefined, planPlace(parts));
  const here = { ...between, conversation };
  if (between.choice.length > 0) return takeChoice(decision, answer, here, parts);
  if (decision.type === 'unreadable') return askAgain(decision, answer, here, parts);
  if (decision.type === 'answer') {
    if (answer.finish === 'length') run.record({ type: 'note', message: 'the answer was cut off by its length' });
    return sayAnswer(decision.answer, parts);
  }
  for (const message of decision.notes) run.record({ type: 'note', message });
  const { results, touched, answer: said } = await actOn(decision.calls, parts);
  if (said !== undefined) return { outcome: 'done', reason: '', answer: said };
  const remarks = [...planProblems.map((problem) => `plan: ${problem}`), ...pathRemarks(run, touched, parts.proposed)];
  const came = remarks.length === 0 ? { results } : { results, remark: remarks.join('\n') };
  return { ...here, isRepairing: false, conversation: withAnswer(here, answer, came, parts) };
}

/** MOD-3: one request to say it again, with the exact error; then the run ends and says why. */
function askAgain(
  { reason, repair }: Extract<AgentDecision, { readonly type: 'unreadable' }>,
  answer: ModelAnswer,
  between: Between,
  parts: AgentParts,
): Between | TurnsEnd {
  parts.run.record({ type: 'note', message: `the answer could not be used: ${reason}` });
  if (between.isRepairing)
    return { outcome: 'failed', reason: `the model gave no usable answer twice in a row: ${reason}` };
  const exchange = { results: [], remark: repair };
  // Calls without results would be refused by the server: what was said is repeated as text alone.
  const said = { ...answer, toolCalls: [] };
  return { ...between, isRepairing: true, conversation: withAnswer(between, said, exchange, parts) };
}

/** Forced activation: a choice for each skill, asked for twice at most; then the run goes on without it. */
async function takeChoice(
  decision: AgentDecision,
  answer: ModelAnswer,
  between: Between,
  parts: AgentParts,
): Promise<Between | TurnsEnd> {
  const choice = readChoice(decision, between.choice);
  if (choice.type === 'unclear') {
    const message = `the choice of skills could not be used: ${choice.reason}`;
    parts.run.record({ type: 'note', message });
    const conversation = withAnswer(
      between,
      { ...answer, toolCalls: [] },
      { results: [], remark: `${message}.` },
      parts,
    );
    if (between.isRepairing) return { conversation, choice: [], isRepairing: false };
    return { ...between, conversation, isRepairing: true };
  }
  const result = await actOnChoice(choice, parts);
  const said = { ...answer, toolCalls: answer.toolCalls.filter(({ id }) => id === choice.call.id) };
  return { conversation: withAnswer(between, said, { results: [result] }, parts), choice: [], isRepairing: false };
}

async function sayAnswer(answer: string, { run }: AgentParts): Promise<TurnsEnd> {
  const observation = await run.session.perform({ type: 'final_answer', answer });
  if (observation.type === 'failed') return { outcome: 'failed', reason: observation.message, answer };
  return { outcome: 'done', reason: '', answer };
}

function withAnswer(
  { conversation }: Between,
  { text, toolCalls }: ModelAnswer,
  came: Pick<Exchange, 'results' | 'remark'>,
  { state, outputs, protocol }: AgentParts,
): Conversation {
  const calls = protocol === 'tools' ? toolCalls : [];
  return withExchange(conversation, { turn: state().turn, text, toolCalls: calls, ...came }, outputs);
}

function planPlace({ run, state, subagents: { request } }: AgentParts): PlanPlace {
  return { run, state: state(), request };
}

const REFUSALS: ReadonlySet<FailureCode> = new Set([
  'policy/denied',
  'approval/refused',
  'approval/needed',
  'approval/pending',
  'skill/untrusted',
]);

/** AGT-4 and AGT-7: what a turn met that leaves nothing to go on with. */
function endOf(parts: AgentParts): TurnsEnd | undefined {
  const { gate, run, limits, state } = parts;
  if (gate.ended !== undefined) return overBudget(gate.ended, state().used[gate.ended], limits[gate.ended], parts);
  const { endedBy } = run.session.state;
  if (endedBy === undefined) return undefined;
  const { action, code } = endedBy;
  const reason = `${action} failed three times in the same way (${code})`;
  return { outcome: REFUSALS.has(code) ? 'refused' : 'failed', reason };
}
