/** Reads the facts of a run from its folder. Only a folder with an intact record is graded. */
import { countEvent, NOTHING_USED } from '../../agent/count-budget.ts';
import type { Budget } from '../../core/budget.ts';
import type { CaseCost } from '../report/result.ts';
import type { JournalLine, RunEvent } from '../../core/run-events.ts';
import { reduceSession, startState } from '../../core/session.ts';
import type { SessionEvent, SessionState } from '../../core/session.ts';
import { isSkillError } from '../../core/errors.ts';
import { readRun } from '../../journal/journal-reader.ts';
import { verifyRun } from '../../journal/verify.ts';
import type { Verification, VerifyOptions } from '../../journal/verify.ts';
import { filesOfSteps, filesOfSubject } from './output-files.ts';
import type { LoadFact, RunFacts, ShownFact } from './run-facts.ts';
import { stepsOfLines } from './run-steps.ts';

export type FactsReading =
  | { readonly type: 'facts'; readonly facts: RunFacts }
  | { readonly type: 'unusable'; readonly reason: string };

/** Verifies the hash chain, and the seal if a key is given, before it reads. Does not throw for the content of a folder. */
export function readRunFacts(folder: string, options: VerifyOptions = {}): FactsReading {
  try {
    const verification = verifyRun(folder, options);
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
  const used = lines.reduce((sum, { event, elapsed }) => countEvent(sum, event, elapsed), NOTHING_USED);
  const outcome = end?.outcome ?? 'running';
  const left = lines.flatMap((line) => (line.event.type === 'subject-end' ? filesOfSubject(line.event, line.seq) : []));
  return {
    run: start?.run ?? '',
    request: start?.request ?? '',
    model: events.findLast((event) => event.type === 'model-call')?.model ?? '',
    ...(start?.subject === undefined ? {} : { subject: start.subject }),
    outcome,
    reason: end?.reason ?? '',
    answer: answered?.observation?.type === 'answered' ? answered.observation.answer : '',
    answerSeq: answered?.seq,
    said: start?.agent?.protocol === 'actions' ? '' : saidIn(events),
    loads: loadsOf(lines),
    steps,
    shown: shownOf(lines),
    files: start?.subject === undefined ? filesOfSteps(steps) : left,
    used,
    cost: costOf(events, used),
    budgetEnds: lines.flatMap(({ seq, event }) =>
      event.type === 'budget-end' ? [{ seq, name: event.name, limit: event.limit }] : [],
    ),
    broken: brokenBy(events, outcome, end?.reason ?? ''),
    end: lines.at(-1)?.seq ?? 0,
  };
}

function saidIn(events: readonly RunEvent[]): string {
  return events.map((event) => (event.type === 'model-answer' ? event.text : '')).join('');
}

function loadsOf(lines: readonly JournalLine[]): readonly LoadFact[] {
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
    if (event.type === 'subagent-start')
      return [
        { seq, skill: names.get(event.skill) ?? event.skill, id: event.skill, askedBy: 'subagent', isRequired: false },
      ];
    return [];
  });
}

function shownOf(lines: readonly JournalLine[]): readonly ShownFact[] {
  const loaded = new Set<string>();
  return lines.flatMap(({ seq, event }) => {
    if (event.type !== 'session') return [];
    const { event: inner } = event;
    if (inner.type === 'skill-load') loaded.add(inner.skill.id);
    return shownIn(inner).map((shown) => ({ seq, shown, isOfLoaded: loaded.has(shown.skill) }));
  });
}

function shownIn(event: SessionEvent): readonly ShownFact['shown'][] {
  if (event.type === 'content-show') return [event.shown];
  return event.type === 'request-start' ? event.shown : [];
}

/** Uses the token counts of the model, and our estimate where the model reports none. */
function costOf(events: readonly RunEvent[], used: Budget): CaseCost {
  const answers = events.filter((event) => event.type === 'model-answer');
  const asked = new Map(
    events.filter((event) => event.type === 'model-call').map(({ turn, tokens }) => [turn, tokens] as const),
  );
  const said = new Map(answers.map(({ turn, usage }) => [turn, usage.inputTokens] as const));
  const inputs = [...asked].map(([turn, estimate]) => said.get(turn) ?? estimate);
  // The record holds one estimated number per subagent.
  const parts = events.flatMap((event) => (event.type === 'subagent-end' ? [event.used?.tokens ?? 0] : []));
  const { usd } = events.findLast((event) => event.type === 'subject-end') ?? {};
  return {
    turns: used.turns,
    toolCalls: amount(used.toolCalls),
    scriptRuns: amount(used.scriptRuns),
    inputTokens: sumOf([...inputs, ...parts]),
    outputTokens: sumOf(answers.map(({ usage }) => usage.outputTokens ?? 0)),
    tokensAreEstimated: parts.length > 0 || [...asked.keys()].some((turn) => said.get(turn) === undefined),
    wallMs: Math.round(amount(used.wallMs)),
    ...(usd === undefined ? {} : { usd: amount(usd) }),
  };
}

function sumOf(amounts: readonly number[]): number {
  return amounts.reduce((sum, one) => sum + amount(one), 0);
}

/** Records are untrusted: `1e999` is valid JSON and parses to Infinity. */
function amount(value: number): number {
  return Number.isFinite(value) && value > 0 ? value : 0;
}

/** An interrupted run must not count as a skill that stayed quiet. */
function brokenBy(events: readonly RunEvent[], outcome: RunFacts['outcome'], reason: string): string {
  switch (outcome) {
    case 'running':
      return 'the run did not end';
    case 'record-failed':
      return `the run could not be recorded: ${reason}`;
    case 'cancelled':
      return `the run was cancelled: ${reason}`;
    case 'failed':
      // Repeated failures of actions count against the skill; any other failure is one of the harness or the connection.
      return endedByActions(events) ? '' : `the run failed: ${reason}`;
    case 'degraded': {
      const last = events.findLast((event) => event.type === 'budget-end');
      return last?.name === 'wallMs' ? `the run timed out: ${reason}` : '';
    }
    case 'done':
    case 'refused':
      return '';
  }
}

function endedByActions(events: readonly RunEvent[]): boolean {
  let state: SessionState | undefined;
  for (const event of events) {
    if (event.type !== 'session') continue;
    const { event: inner } = event;
    state = inner.type === 'session-start' ? startState(inner.settings) : state && reduceSession(state, inner);
  }
  return state?.endedBy !== undefined;
}
