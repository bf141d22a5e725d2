/**
 * Which action came from which call of the model. The record holds both and does not tie them: one call is the source of all actions of
 * its answer; calls and actions of one name belong together, and so do those that are left where it can be no other way. Where it could
 * be, the steps say that it is not clear, and nothing that protects anybody is concluded from them.
 */
import { RECALL, UPDATE_PLAN } from '../../agent/own-tools.ts';
import type { StepFact } from './run-facts.ts';

/** A call as the model wrote it. */
export interface WrittenCall {
  readonly name: string;
  readonly input: unknown;
}

/** An action and all that is recorded of it. */
export interface OpenStep extends StepFact {
  readonly call: number;
}

/** Tools of the agent itself: no action comes of them. */
const OWN_TOOLS: ReadonlySet<string> = new Set([UPDATE_PLAN, RECALL]);

/** The calls and actions of one answer as steps. A call that became no action is a step of its own. */
export function tieCalls(
  calls: readonly WrittenCall[],
  actions: readonly OpenStep[],
  answerSeq: number,
): readonly StepFact[] {
  const acting = calls.filter(({ name }) => !OWN_TOOLS.has(name));
  const byModel = actions.filter(({ askedBy }) => askedBy === 'model');
  const ties = tiesOf(acting, byModel);
  const used = new Set(ties.values());
  const isUnclear = byModel.some((step) => !ties.has(step)) && acting.some((call) => !used.has(call));
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
    const call = ties.get(open);
    if (call === undefined) return open.askedBy === 'model' ? { ...step, ...unclear } : step;
    const isFirst = !seen.has(call);
    seen.add(call);
    return { ...step, tool: { ...call, isFirst } };
  });
  return [...left, ...done];
}

function tiesOf(calls: readonly WrittenCall[], steps: readonly OpenStep[]): ReadonlyMap<OpenStep, WrittenCall> {
  const ties = new Map<OpenStep, WrittenCall>();
  const used = new Set<WrittenCall>();
  for (const step of steps) {
    const named = calls.filter((call) => !used.has(call) && call.name === step.action?.type);
    const call = named.find(({ input }) => isAlike(input, step.action)) ?? named[0];
    if (call === undefined) continue;
    ties.set(step, call);
    used.add(call);
  }
  const [last, ...others] = calls.filter((call) => !used.has(call));
  const source = calls.length === 1 ? calls[0] : others.length === 0 ? last : undefined;
  if (source !== undefined) for (const step of steps) if (!ties.has(step)) ties.set(step, source);
  return ties;
}

/** Whether they have a text in common. */
function isAlike(input: unknown, action: unknown): boolean {
  const words = new Set(textsIn(action));
  return textsIn(input).some((text) => words.has(text));
}

/** The texts of an object and of the objects in it. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap((item: unknown) => {
    if (typeof item === 'string') return [item];
    return typeof item === 'object' && item !== null
      ? Object.values(item).filter((inner): inner is string => typeof inner === 'string')
      : [];
  });
}
