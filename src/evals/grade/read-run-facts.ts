/** Reads the facts of a run from its folder. Only a folder with an intact record is graded. */
import {
  defined,
  isSkillError,
  parseJson,
  reduceSession,
  type Budget,
  type JournalLine,
  type OfType,
  type RunEvent,
  type SessionState,
} from '#core';
import { countUsage, findWrittenAction, OWN_TOOLS, readAnswer } from '#agent';
import { readRun, verifyRun, type Verification } from '#journal';
import { filesOfSteps, filesOfSubject } from './output-files.ts';
import { subjectStep } from './subject-step.ts';
import type { CaseCost } from '../report/result.ts';
import type { LoadFact, RunFacts, ShownFact, StepFact } from './run-facts.ts';

export type FactsReading =
  | { readonly type: 'facts'; readonly facts: RunFacts }
  | { readonly type: 'unusable'; readonly reason: string };

/** Verifies the hash chain before it reads. Does not throw for the content of a folder. */
export function readRunFacts(folder: string): FactsReading {
  try {
    const verification = verifyRun(folder);
    if (verification.status !== 'intact') return { type: 'unusable', reason: problemText(verification) };
    return { type: 'facts', facts: factsOfLines([...readRun(folder).lines]) };
  } catch (error) {
    if (isSkillError(error)) return { type: 'unusable', reason: error.message };
    throw error;
  }
}

function problemText({ status, problems }: Verification): string {
  const [first] = problems;
  if (first === undefined) return STATUS_TEXT[status];
  const line = first.line === undefined ? '' : `:${String(first.line)}`;
  const more = problems.length === 1 ? '' : `, and ${String(problems.length - 1)} more`;
  return `${STATUS_TEXT[status]}: ${first.path}${line}: ${first.message} (${first.code})${more}`;
}

const STATUS_TEXT: Readonly<Record<Verification['status'], string>> = {
  intact: 'the record is intact',
  unsealed: 'the record has no seal',
  torn: 'the run was killed before its end and its record is incomplete',
  running: 'the run is still being recorded',
  tampered: 'the record of the run was modified',
  unreadable: 'the folder has no readable run',
};

function factsOfLines(lines: readonly JournalLine[]): RunFacts {
  const steps = stepsOfLines(lines);
  const events = lines.map(({ event }) => event);
  const start = events.find((event) => event.type === 'run-start');
  const end = events.findLast((event) => event.type === 'run-end');
  const answered = steps.findLast(({ observation }) => observation?.type === 'answered');
  const used = countUsage(lines);
  const finish = events.findLast((event) => event.type === 'model-answer')?.finish;
  const outcome = end?.outcome ?? 'running';
  const texts = events.map((event) => (event.type === 'model-answer' ? event.text : ''));
  const left = lines.flatMap((line) => (line.event.type === 'subject-end' ? filesOfSubject(line.event, line.seq) : []));
  return {
    run: start?.run ?? '',
    request: start?.request ?? '',
    model: events.findLast((event) => event.type === 'model-call')?.model ?? '',
    subject: start?.subject,
    outcome,
    reason: end?.reason ?? '',
    answer: answered?.observation?.type === 'answered' ? answered.observation.answer : '',
    answerSeq: answered?.seq,
    modelText: start?.agent?.protocol === 'actions' ? '' : texts.join(''),
    loads: collectLoads(lines),
    steps,
    shown: collectShown(lines),
    files: start?.subject === undefined ? filesOfSteps(steps) : left,
    used,
    cost: computeCost(events, used),
    budgetEnds: lines.flatMap(({ seq, event }) =>
      event.type === 'budget-end' ? [{ seq, name: event.name, limit: event.limit }] : [],
    ),
    ...defined({ cutBy: finish === 'length' ? finish : finish === 'filtered' ? ('filter' as const) : undefined }),
    hasCrashed: hasCrashed(events),
    broken: brokenBy(events, outcome, end?.reason ?? '', finish),
    end: lines.at(-1)?.seq ?? 0,
  };
}

function collectLoads(lines: readonly JournalLine[]): readonly LoadFact[] {
  // A subagent starts only after an observation has named its skill.
  const names = new Map(
    lines.flatMap(({ event }) =>
      event.type === 'observation' && 'skill' in event.observation && event.observation.skill !== undefined
        ? [[event.observation.skill.id, event.observation.skill.name] as const]
        : [],
    ),
  );
  const required = new Set(
    lines.flatMap(({ event }) => (event.type === 'activation' && event.reason === 'required' ? [event.skill] : [])),
  );
  return lines.flatMap(({ seq, event }): readonly LoadFact[] => {
    if (event.type === 'session' && event.event.type === 'skill-load') {
      const { skill, askedBy } = event.event;
      const isRequired = askedBy === 'program' && required.has(skill.id);
      return [{ seq, skill: skill.name, id: skill.id, askedBy, isRequired }];
    }
    if (event.type === 'subject-call')
      return event.loads.map(({ skill }) => ({ seq, skill, id: skill, askedBy: 'model', isRequired: false }));
    // The subagent loaded the instructions in its own context.
    if (event.type !== 'subagent-start') return [];
    const { skill: id } = event;
    return [{ seq, skill: names.get(id) ?? id, id, askedBy: 'subagent', isRequired: false }];
  });
}

function collectShown(lines: readonly JournalLine[]): readonly ShownFact[] {
  const loaded = new Set<string>();
  return lines.flatMap(({ seq, event }) => {
    if (event.type !== 'session') return [];
    const { event: inner } = event;
    if (inner.type === 'skill-load') loaded.add(inner.skill.id);
    const all = inner.type === 'content-show' ? [inner.shown] : inner.type === 'request-start' ? inner.shown : [];
    return all.map((shown) => ({ seq, shown, isOfLoaded: loaded.has(shown.skill) }));
  });
}

/** Uses the token counts of the model, and our estimate where the model reports none. */
function computeCost(events: readonly RunEvent[], used: Budget): CaseCost {
  const answers = new Map(
    events.flatMap((event) => (event.type === 'model-answer' ? [[event.turn, event] as const] : [])),
  );
  const calls = new Map(
    events.flatMap((event) => (event.type === 'model-call' ? [[event.turn, event.tokens] as const] : [])),
  );
  const usages = [...answers.values()].map(({ usage }) => usage);
  const inputs = [...calls].map(([turn, estimate]) => known(answers.get(turn)?.usage.inputTokens) ?? estimate);
  const isReported = (turn: number): boolean => {
    const { usage, outputIsEstimated } = answers.get(turn) ?? {};
    return (
      outputIsEstimated !== true && known(usage?.inputTokens) !== undefined && known(usage?.outputTokens) !== undefined
    );
  };
  // The record holds one estimated number per subagent.
  const parts = events.flatMap((event) => (event.type === 'subagent-end' ? [event.used?.tokens ?? 0] : []));
  const { usd } = events.findLast((event) => event.type === 'subject-end') ?? {};
  const sum = (amounts: readonly number[]): number => amounts.reduce((total, one) => total + amount(one), 0);
  const sumOf = (name: 'cachedInputTokens' | 'cacheWriteInputTokens'): number | undefined =>
    usages.some((usage) => known(usage[name]) !== undefined) ? sum(usages.map((usage) => usage[name] ?? 0)) : undefined;
  return {
    turns: used.turns,
    toolCalls: amount(used.toolCalls),
    scriptRuns: amount(used.scriptRuns),
    inputTokens: sum([...inputs, ...parts]),
    outputTokens: sum(usages.map(({ outputTokens }) => outputTokens ?? 0)),
    ...defined({ cachedTokens: sumOf('cachedInputTokens'), cacheWriteTokens: sumOf('cacheWriteInputTokens') }),
    tokensAreEstimated: parts.length > 0 || [...calls.keys()].some((turn) => !isReported(turn)),
    wallMs: Math.round(amount(used.wallMs)),
    usd: known(usd),
  };
}

function known(value: number | undefined): number | undefined {
  return value !== undefined && value >= 0 && value <= Number.MAX_SAFE_INTEGER ? value : undefined;
}

/** Records are untrusted: `1e999` is valid JSON and parses to Infinity. */
function amount(value: number): number {
  return Number.isFinite(value) && value > 0 ? value : 0;
}

function hasCrashed(events: readonly RunEvent[]): boolean {
  return events.some((event) => event.type === 'subject-end' && event.crashed === true);
}

/** An interrupted run must not count as a skill that stayed quiet. */
function brokenBy(
  events: readonly RunEvent[],
  outcome: RunFacts['outcome'],
  reason: string,
  finish: OfType<RunEvent, 'model-answer'>['finish'] | undefined,
): string {
  if (outcome === 'running') return 'the run did not end';
  if (outcome === 'record-failed') return `the run could not be recorded: ${reason}`;
  if (outcome === 'cancelled') return `the run was cancelled: ${reason}`;
  if (outcome === 'done' && finish === 'other')
    return 'the server ended the answer for another reason than its end, such as an error';
  if (outcome === 'failed') {
    if (hasCrashed(events)) return '';
    let state: SessionState | undefined;
    for (const event of events) if (event.type === 'session') state = reduceSession(state, event.event);
    // Repeated failures of actions count against the skill; any other failure is one of the harness or the connection.
    return state?.endedBy === undefined ? `the run failed: ${reason}` : '';
  }
  return '';
}

/** The steps of a run: the calls of the model, matched to the actions that they became. */
function stepsOfLines(lines: readonly JournalLine[]): readonly StepFact[] {
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
      const { observation } = event;
      const skill = 'skill' in observation ? observation.skill?.name : undefined;
      return { ...step, observation, events, ...defined({ skill }) };
    }
    default:
      return step;
  }
}

function writtenCalls(
  { text, toolCalls }: OfType<RunEvent, 'model-answer'>,
  isActions: boolean,
): readonly WrittenCall[] {
  if (toolCalls.length > 0) return toolCalls.map(({ name, input }) => ({ name, input: parseJson(input) }));
  if (!isActions) return [];
  const reading = readAnswer(text);
  const action = reading.type === 'object' ? findWrittenAction(reading.value) : undefined;
  return action === undefined ? [] : [action];
}

interface WrittenCall {
  readonly name: string;
  readonly input: unknown;
}

export interface OpenStep extends StepFact {
  readonly call: number;
}

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
    const words = textsIn(step.action);
    const call = named.find(({ input }) => textsIn(input).some((text) => words.includes(text))) ?? named[0];
    if (call === undefined) continue;
    links.set(step, call);
    used.add(call);
  }
  const [last, ...others] = calls.filter((call) => !used.has(call));
  const source = calls.length === 1 ? calls[0] : others.length === 0 ? last : undefined;
  if (source !== undefined) for (const step of steps) if (!links.has(step)) links.set(step, source);
  return links;
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap((item: unknown) => {
    if (typeof item === 'string') return [item];
    return typeof item === 'object' && item !== null
      ? Object.values(item).filter((inner): inner is string => typeof inner === 'string')
      : [];
  });
}
