/** The steps of a run: the calls of the model, matched to the actions that they became. */
import { readAnswer } from '../../agent/answer-json.ts';
import { RECALL, UPDATE_PLAN } from '../../agent/own-tools.ts';
import type { JournalLine, RunEvent } from '../../core/run-events.ts';
import { isObject } from '../../core/json/json-schema.ts';
import { parseJson } from '../../core/json/parse-json.ts';
import type { Observation } from '../../core/observation.ts';
import type { StepFact } from './run-facts.ts';
import { subjectStep } from './subject-step.ts';

export function stepsOfLines(lines: readonly JournalLine[]): readonly StepFact[] {
  const isActions = lines.some(({ event }) => event.type === 'run-start' && event.agent?.protocol === 'actions');
  const steps: StepFact[] = [];
  let calls: readonly WrittenCall[] = [];
  let answerSeq = 0;
  let open: OpenStep[] = [];
  const close = (): void => {
    steps.push(...matchCalls(calls, open, answerSeq));
    [calls, open] = [[], []];
  };
  for (const { seq, event } of lines) {
    if (event.type === 'model-answer') {
      close();
      calls = writtenCalls(event, isActions);
      answerSeq = seq;
    } else if (event.type === 'subject-call') steps.push(subjectStep(event, seq));
    else if (event.type === 'action')
      open.push({ call: event.call, seq, action: event.action, askedBy: event.askedBy, events: [seq] });
    else open = open.map((step) => withEvent(step, event, seq));
  }
  close();
  return steps;
}

function withEvent(step: OpenStep, event: RunEvent, seq: number): OpenStep {
  if (!('call' in event) || event.call !== step.call || event.type === 'span') return step;
  const events = [...step.events, seq];
  switch (event.type) {
    case 'decision':
      return { ...step, decision: event.decision, events };
    case 'approval-ask':
      return { ...step, approval: 'pending', events };
    case 'approval-answer':
      return { ...step, approval: event.answer, events };
    case 'observation': {
      const skill = skillOf(event.observation);
      return { ...step, observation: event.observation, events, ...(skill === undefined ? {} : { skill }) };
    }
    default:
      return step;
  }
}

function skillOf(observation: Observation): string | undefined {
  return 'skill' in observation ? observation.skill?.name : undefined;
}

type ModelAnswered = Extract<RunEvent, { readonly type: 'model-answer' }>;

function writtenCalls({ text, toolCalls }: ModelAnswered, isActions: boolean): readonly WrittenCall[] {
  if (toolCalls.length > 0) return toolCalls.map(({ name, input }) => ({ name, input: parseJson(input) }));
  if (!isActions) return [];
  const reading = readAnswer(text);
  const action = reading.type === 'object' ? reading.value['action'] : undefined;
  if (!isObject(action) || typeof action['type'] !== 'string') return [];
  return [{ name: action['type'], input: action['payload'] }];
}

/** A tool call as the model wrote it. */
export interface WrittenCall {
  readonly name: string;
  readonly input: unknown;
}

/** An action with the events recorded so far. */
export interface OpenStep extends StepFact {
  readonly call: number;
}

/** Tools of the agent loop, which never become actions. */
const OWN_TOOLS: ReadonlySet<string> = new Set([UPDATE_PLAN, RECALL]);

/**
 * Matches the calls and actions of one answer. The record does not link them: calls and actions with one name belong together, and a
 * single remaining call is the source of all remaining actions. Otherwise the steps are marked as unclear, and no security check passes
 * because of them. A call that became no action is a step of its own.
 */
export function matchCalls(
  calls: readonly WrittenCall[],
  actions: readonly OpenStep[],
  answerSeq: number,
): readonly StepFact[] {
  const acting = calls.filter(({ name }) => !OWN_TOOLS.has(name));
  const byModel = actions.filter(({ askedBy }) => askedBy === 'model');
  const links = linkCalls(acting, byModel);
  const used = new Set(links.values());
  const isUnclear = byModel.some((step) => !links.has(step)) && acting.some((call) => !used.has(call));
  const unclear = isUnclear ? ({ isUnclear: true } as const) : {};
  const left = calls
    .filter((call) => !used.has(call))
    .map((call): StepFact => ({
      seq: answerSeq,
      askedBy: 'model',
      tool: { ...call, isFirst: true },
      events: [answerSeq],
      ...(OWN_TOOLS.has(call.name) ? {} : unclear),
    }));
  const seen = new Set<WrittenCall>();
  const done = actions.map((open): StepFact => {
    const { call: _, ...step } = open;
    const call = links.get(open);
    if (call === undefined) return open.askedBy === 'model' ? { ...step, ...unclear } : step;
    const isFirst = !seen.has(call);
    seen.add(call);
    return { ...step, tool: { ...call, isFirst } };
  });
  return [...left, ...done];
}

function linkCalls(calls: readonly WrittenCall[], steps: readonly OpenStep[]): ReadonlyMap<OpenStep, WrittenCall> {
  const links = new Map<OpenStep, WrittenCall>();
  const used = new Set<WrittenCall>();
  for (const step of steps) {
    const named = calls.filter((call) => !used.has(call) && call.name === step.action?.type);
    const call = named.find(({ input }) => isAlike(input, step.action)) ?? named[0];
    if (call === undefined) continue;
    links.set(step, call);
    used.add(call);
  }
  const [last, ...others] = calls.filter((call) => !used.has(call));
  const source = calls.length === 1 ? calls[0] : others.length === 0 ? last : undefined;
  if (source !== undefined) for (const step of steps) if (!links.has(step)) links.set(step, source);
  return links;
}

/** Whether the call and the action share a text. */
function isAlike(input: unknown, action: unknown): boolean {
  const words = new Set(textsIn(action));
  return textsIn(input).some((text) => words.has(text));
}

/** The strings of an object, two levels deep. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap((item: unknown) => {
    if (typeof item === 'string') return [item];
    return typeof item === 'object' && item !== null
      ? Object.values(item).filter((inner): inner is string => typeof inner === 'string')
      : [];
  });
}
