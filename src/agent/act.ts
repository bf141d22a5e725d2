/** Performs the calls of one answer in order. Each call is checked and recorded on its own. */
import type { ModelToolCall } from '../core/model.ts';
import type { SkillEntry } from '../core/skill.ts';
import type { AgentParts } from './agent-parts.ts';
import { ownResult } from './agent-tools.ts';
import type { CallOutcome } from './agent-tools.ts';
import { loadedText } from './activation.ts';
import { resultOf } from './conversation.ts';
import type { ExchangeResult } from './conversation.ts';
import type { Choice } from './forced-choice.ts';
import { loadedBy, orderCalls, plannedActions } from './selection.ts';
import { delegate } from './subagent.ts';

export interface CallResults {
  /** One result for each call, in the order of the answer. */
  readonly results: readonly ExchangeResult[];
  /** Files that the calls read or wrote. */
  readonly touched: readonly string[];
  /** The answer to the person, if one of the calls gave it. */
  readonly answer?: string;
}

/** Further calls of one answer are not performed. */
const CALLS_A_TURN = 16;

export async function actOn(calls: readonly ModelToolCall[], parts: AgentParts): Promise<CallResults> {
  const { run, gate } = parts;
  const { index, offer, vocabulary } = run.session;
  gate.startTurn();
  const results = new Map<ModelToolCall, ExchangeResult>();
  const ordered = orderCalls(calls.slice(0, CALLS_A_TURN), (call) => plannedActions(call, vocabulary, offer), index);
  const touched: string[] = [];
  let answer: string | undefined;
  for (const call of ordered) {
    const isOver = gate.ended !== undefined || (parts.stopsUnapproved && parts.state().unapproved !== undefined);
    if (answer !== undefined || isOver || run.session.state.endedBy !== undefined) {
      results.set(call, ownResult(call, 'not done: the run has ended', true));
      continue;
    }
    const outcome = await callOne(call, parts);
    parts.stop.throwIfAborted();
    const { invalid } = outcome;
    if (invalid !== undefined)
      run.record({ type: 'call-invalid', turn: parts.state().turn, tool: call.name, reason: invalid });
    results.set(call, outcome.result);
    touched.push(...(outcome.touched ?? []));
    ({ answer } = outcome);
  }
  const left = `not done: at most ${String(CALLS_A_TURN)} calls of one answer are performed`;
  return {
    results: calls.map((call) => results.get(call) ?? ownResult(call, left, true)),
    touched,
    ...(answer === undefined ? {} : { answer }),
  };
}

async function callOne(call: ModelToolCall, parts: AgentParts): Promise<CallOutcome> {
  const child = childSkill(call, parts);
  if (child === undefined) return callTool(call, parts);
  // The child listens to the same signal, and its record is closed before that of its parent.
  const delegated = await delegate(child, parts.subagents, parts.stop);
  if (delegated.type === 'failed') return { result: ownResult(call, `${delegated.message}; ${delegated.hint}`, true) };
  const { outcome, answer } = delegated.result;
  const text = `${child.name} ran as a subagent; outcome: ${outcome}. Its summary:\n${answer}`;
  const line = `${call.name} ${child.name}: a subagent, ${outcome}`;
  return {
    result: resultOf({ callId: call.id, tool: call.name, text, isData: true, isError: outcome !== 'done', line }),
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
export async function actOnChoice(
  choice: Extract<Choice, { readonly type: 'chosen' }>,
  parts: AgentParts,
): Promise<ExchangeResult> {
  const { run, gate, stop, untilStopped } = parts;
  const { call, accepted, rejected } = choice;
  gate.startTurn();
  for (const { name } of rejected) run.record({ type: 'note', message: `the model rejected the skill ${name}` });
  const texts: string[] = [];
  for (const { id } of accepted) {
    const observation = await untilStopped(gate.perform({ type: 'load_skill', skill: id }, { signal: stop }));
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
  return resultOf({ callId: call.id, tool: call.name, text, isData: false, isError: false, line });
}
