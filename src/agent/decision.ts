/** Parses an answer of the model into a decision. Parsing has no effects; every action is checked again before it is performed. */
import { SHAPE, findWrittenAction, readDecision } from './action-protocol.ts';
import { readAnswer, repairRequest } from './json-object.ts';
import { sliceStart, type ModelAnswer, type ModelTool, type ModelToolCall } from '#core';
import type { ProtocolName } from './system-prompt.ts';
import type { PlanUpdate } from './plan.ts';

export type AgentDecision =
  | {
      readonly type: 'calls';
      /** Empty where the model gave a plan alone. */
      readonly calls: readonly ModelToolCall[];
      readonly planUpdate?: PlanUpdate;
      readonly planProblems?: readonly string[];
      readonly notes: readonly string[];
    }
  | { readonly type: 'answer'; readonly answer: string }
  | {
      readonly type: 'unreadable';
      readonly reason: string;
      readonly tool?: string;
      /** The one message that asks for a corrected answer. */
      readonly repair: string;
    };

const LONGEST_NAME = 100;
const LONGEST_DECISION = 4 * 1024 * 1024;

export function readModelAnswer(
  answer: ModelAnswer,
  {
    protocol,
    tools,
    turn,
  }: { readonly protocol: ProtocolName; readonly tools: readonly ModelTool[]; readonly turn: number },
): AgentDecision {
  return protocol === 'tools' ? readTools(answer) : readAction(answer, tools, turn);
}

function readTools({ text, toolCalls, finish }: ModelAnswer): AgentDecision {
  if (toolCalls.length > 0) return { type: 'calls', calls: toolCalls, notes: [] };
  if (/\S/.test(text)) return { type: 'answer', answer: text };
  const reason =
    finish === 'filtered'
      ? 'the provider filtered the answer'
      : finish === 'length'
        ? 'the answer was cut off at its length limit before any text'
        : 'the answer is empty';
  return { type: 'unreadable', reason, repair: `${reason}: call a tool, or answer in plain text.` };
}

function readAction({ text, toolCalls }: ModelAnswer, tools: readonly ModelTool[], turn: number): AgentDecision {
  // Some models use a tool call where a structured action was asked for; the intent is clear.
  if (toolCalls.length > 0)
    return { type: 'calls', calls: toolCalls.slice(0, 1), notes: ['a tool call was accepted as an action'] };
  if (text.length > LONGEST_DECISION) {
    const reason = `the answer has more than ${String(LONGEST_DECISION)} characters`;
    return { type: 'unreadable', reason, repair: repairRequest({ message: reason }) };
  }
  const reading = readAnswer(text);
  if (reading.type === 'unreadable')
    return unreadable({ message: reading.problem.message, hint: `answer with ${SHAPE}` });
  const decision = readDecision(reading.value, tools);
  if (decision.type === 'refused') return { ...unreadable(decision.problem), ...namedAction(reading.value) };
  const { call, planUpdate, planProblems, diagnostics, notes } = decision;
  return {
    type: 'calls',
    calls:
      call === undefined ? [] : [{ id: `action-${String(turn)}`, name: call.name, input: JSON.stringify(call.input) }],
    planUpdate,
    planProblems,
    notes: [...reading.notes, ...notes, ...diagnostics],
  };
}

function namedAction(answer: Readonly<Record<string, unknown>>): { readonly tool?: string } {
  const action = findWrittenAction(answer);
  return action === undefined ? {} : { tool: sliceStart(action.name, LONGEST_NAME) };
}

function unreadable(problem: Parameters<typeof repairRequest>[0]): Extract<AgentDecision, { type: 'unreadable' }> {
  return { type: 'unreadable', reason: problem.message, repair: repairRequest(problem) };
}
