/** The tools of one agent: the tools of its vocabulary, which pass the gate, and its own tools. */
import { FINAL_ANSWER } from './action-protocol.ts';
import {
  describeAction,
  describeOutcome,
  nearest,
  parseJson,
  quoted,
  sliceStart,
  type ActionProblem,
  type ModelTool,
  type ModelToolCall,
  type Observation,
} from '#core';
import { buildTools, readInput, whyNotOffered, type SkillTool, type ToolAnswer } from '#tools';
import type { Session } from '#runtime';
import { toExchangeResult, type ExchangeResult } from './conversation.ts';
import type { Gate } from './gate.ts';
import type { KeptOutputs } from './outputs.ts';
import {
  FINAL_SCHEMA,
  RECALL,
  RECALL_SCHEMA,
  UPDATE_PLAN,
  finalTool,
  recallTool,
  updatePlanTool,
} from './own-tools.ts';
import { workflowFirst } from './selection.ts';
import type { ProtocolName } from './system-prompt.ts';

export interface CallOutcome {
  readonly result: ExchangeResult;
  readonly answer?: string;
  readonly touched?: readonly string[];
  /** Why the call became no action: the tool is unknown, or its input is invalid. */
  readonly invalid?: string;
}

export interface AgentTools {
  /** Every tool that can be called; the order is fixed for the whole run. */
  readonly all: readonly ModelTool[];
  /** The tools to send now: `update_plan` only for work of several steps, `recall_output` only once an output was removed. */
  offered(): readonly ModelTool[];
  call(call: ModelToolCall, signal: AbortSignal): Promise<CallOutcome>;
}

export interface AgentToolsParts {
  readonly session: Session;
  readonly gate: Gate;
  readonly protocol: ProtocolName;
  readonly outputs: KeptOutputs;
  /** Whether the request has several steps or the plan has any. */
  readonly isPlanning: () => boolean;
  /** Applies a new plan and returns the problems with it. */
  readonly updatePlan: (plan: unknown) => readonly string[];
}

const RECALLED_CHARACTERS = 8_000;

export function openAgentTools(parts: AgentToolsParts): AgentTools {
  const { session, gate, protocol } = parts;
  let performed = 0;
  const { tools, find } = buildTools({
    vocabulary: workflowFirst(session.vocabulary, session.index),
    offer: session.offer,
    perform: (action, options) => {
      performed += 1;
      return gate.perform(action, options);
    },
    fail: (failed) => session.fail(failed),
  });
  const own = ownTools(tools, protocol);
  const isOwn = (name: string): boolean => own.some((tool) => tool.name === name);
  const all = withOwn(tools, own);
  // One list for each combination, because lists are measured once.
  const [atFirst, planning, recalling] = [
    without(all, [updatePlanTool, recallTool]),
    without(all, [recallTool]),
    without(all, [updatePlanTool]),
  ];
  const offered = (): readonly ModelTool[] => {
    // The action protocol describes its actions in the system text, which stays the same for the whole run.
    if (protocol !== 'tools') return all;
    if (parts.outputs.isEmpty) return parts.isPlanning() ? planning : atFirst;
    return parts.isPlanning() ? all : recalling;
  };
  return {
    all,
    offered,
    async call(call, signal) {
      if (isOwn(call.name)) return callOwn(call, parts);
      const tool = find(call.name);
      if (tool === undefined) return invalidCall(unknownTool(call, offered(), session));
      const before = performed;
      const answer = await tool.call(call.input, { signal });
      const outcome = toCallOutcome(call, answer);
      const [failed] = answer.observations;
      if (!answer.isError || performed > before || failed?.type !== 'failed') return outcome;
      return { ...outcome, invalid: failed.message };
    },
  };
}

function without(tools: readonly ModelTool[], some: readonly ModelTool[]): readonly ModelTool[] {
  return tools.filter((tool) => !some.includes(tool));
}

/** The tools that the first request of a run carries, if the request has one step. */
export function agentToolList(
  { vocabulary, offer, index }: Pick<Session, 'vocabulary' | 'offer' | 'index'>,
  protocol: ProtocolName,
): readonly ModelTool[] {
  const perform = (): never => {
    throw new TypeError('these tools are only listed');
  };
  const { tools } = buildTools({ vocabulary: workflowFirst(vocabulary, index), offer, perform });
  const all = withOwn(tools, ownTools(tools, protocol));
  return protocol === 'tools' ? without(all, [updatePlanTool, recallTool]) : all;
}

function ownTools(tools: readonly SkillTool[], protocol: ProtocolName): readonly ModelTool[] {
  const hasFinal = tools.some(({ name }) => name === FINAL_ANSWER);
  return [
    ...(protocol === 'tools' ? [updatePlanTool] : []),
    ...(protocol === 'tools' || hasFinal ? [] : [finalTool(FINAL_ANSWER)]),
    recallTool,
  ];
}

/** A vocabulary tool with the name of an own tool would be unreachable, so it is left out. */
function withOwn(tools: readonly SkillTool[], own: readonly ModelTool[]): readonly ModelTool[] {
  return [
    ...tools
      .filter(({ name }) => own.every((tool) => tool.name !== name))
      .map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
    ...own,
  ];
}

function invalidCall(result: ExchangeResult): CallOutcome {
  return { result, invalid: result.text };
}

function toCallOutcome(call: ModelToolCall, answer: ToolAnswer): CallOutcome {
  const { text, value, isError, observations } = answer;
  const last = observations.at(-1);
  const images = observations.flatMap((one) => (one.type === 'tool-called' ? (one.images ?? []) : []));
  return {
    result: toExchangeResult({
      ...(images.length === 0 ? {} : { images }),
      callId: call.id,
      tool: call.name,
      text,
      // JSON delimits itself, and a loaded skill has the marks of its vocabulary.
      isData: typeof value === 'string' && !isError && !observations.some(({ type }) => type === 'skill-loaded'),
      isError,
      line: summarizeCall(call.name, observations),
    }),
    touched: observations.flatMap((one) => (one.type === 'file-read' || one.type === 'file-written' ? [one.path] : [])),
    ...(last?.type === 'answered' ? { answer: last.answer } : {}),
  };
}

function summarizeCall(tool: string, observations: readonly Observation[]): string {
  if (observations.length === 0) return tool;
  return `${tool}: ${observations.map((observation) => describeOutcome(observation, false).text).join('; ')}`;
}

async function callOwn(call: ModelToolCall, parts: AgentToolsParts): Promise<CallOutcome> {
  if (call.name === UPDATE_PLAN) {
    const problems = parts.updatePlan(parseJson(call.input));
    const text = problems.length === 0 ? 'plan saved' : `plan saved with problems: ${problems.join('; ')}`;
    return { result: ownResult(call, text, false) };
  }
  if (call.name === RECALL) return recall(call, parts.outputs);
  const reading = readInput(FINAL_SCHEMA, call.input);
  if (reading.type === 'refused') return invalidCall(ownResult(call, inputProblem(reading.failure), true));
  const answer = String(reading.input['answer']);
  const observation = await parts.session.perform({ type: 'final_answer', answer });
  const line = `${describeAction({ type: 'final_answer', answer })}: ${describeOutcome(observation, false).text}`;
  if (observation.type !== 'answered') return { result: ownResult(call, line, true) };
  return { result: ownResult(call, line, false), answer: observation.answer };
}

function inputProblem({ message, hint }: ActionProblem): string {
  return `${message}; ${hint}`;
}

function recall(call: ModelToolCall, outputs: KeptOutputs): CallOutcome {
  const reading = readInput(RECALL_SCHEMA, call.input);
  if (reading.type === 'refused') return invalidCall(ownResult(call, inputProblem(reading.failure), true));
  const reference = String(reading.input['reference']);
  const start = Number(reading.input['from_character'] ?? 0);
  const whole = outputs.find(reference);
  if (whole === undefined)
    return { result: ownResult(call, `the output ${quoted(reference, 100)} is no longer stored`, true) };
  // Both ends move back where they would split a surrogate pair, so that parts join without a gap.
  const from = sliceStart(whole, start).length;
  const end = sliceStart(whole, start + RECALLED_CHARACTERS).length;
  const part = whole.slice(from, end);
  const note = end < whole.length ? `\n[characters ${String(from)} to ${String(end)} of ${String(whole.length)}]` : '';
  const line = `${call.name}: ${String(part.length)} characters`;
  return { result: toExchangeResult({ ...ownResult(call, `${part}${note}`, false), isData: true, line }) };
}

function unknownTool(call: ModelToolCall, offered: readonly ModelTool[], session: Session): ExchangeResult {
  const reason = whyNotOffered(call.name, session.vocabulary, session.offer);
  if (reason !== undefined) return ownResult(call, reason, true);
  const names = offered.map(({ name }) => name);
  const near = nearest(call.name, names);
  const hint = near.length > 0 ? `did you mean ${near.join(', ')}?` : `the tools are ${names.join(', ')}`;
  return ownResult(call, `unknown tool ${quoted(call.name)}; ${hint}`, true);
}

export function ownResult({ id, name }: ModelToolCall, text: string, isError: boolean): ExchangeResult {
  const tool = quoted(name).slice(1, -1);
  return toExchangeResult({
    callId: id,
    tool: name,
    text,
    isData: false,
    isError,
    line: `${tool}: ${isError ? 'failed, ' : ''}${sliceStart(text, 120)}`,
  });
}
