/** Events to facts: the whole stream is read, and nothing is decided by what came first. */
import { countEvent, NOTHING_USED } from '../../agent/count-budget.ts';
import type { Budget } from '../../core/budget.ts';
import type { CaseCost } from '../report/result.ts';
import type { JournalLine, RunEvent } from '../../core/run-events.ts';
import { reduceSession, startState } from '../../core/session.ts';
import type { SessionEvent, SessionState } from '../../core/session.ts';
import { filesOfSteps } from './files-of-steps.ts';
import type { LoadFact, RunFacts, ShownFact } from './run-facts.ts';
import { stepsOfLines } from './steps-of-lines.ts';

export function factsOfLines(lines: readonly JournalLine[]): RunFacts {
  const steps = stepsOfLines(lines);
  const events = lines.map(({ event }) => event);
  const start = events.find((event) => event.type === 'run-start');
  const end = events.findLast((event) => event.type === 'run-end');
  const answered = steps.findLast(({ observation }) => observation?.type === 'answered');
  const used = lines.reduce((sum, { event, elapsed }) => countEvent(sum, event, elapsed), NOTHING_USED);
  const outcome = end?.outcome ?? 'running';
  return {
    run: start?.run ?? '',
    request: start?.request ?? '',
    model: events.findLast((event) => event.type === 'model-call')?.model ?? '',
    outcome,
    reason: end?.reason ?? '',
    answer: answered?.observation?.type === 'answered' ? answered.observation.answer : '',
    answerSeq: answered?.seq,
    said: start?.agent?.protocol === 'actions' ? '' : saidIn(events),
    loads: loadsOf(lines),
    steps,
    shown: shownOf(lines),
    files: filesOfSteps(steps),
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
  // A part of the run is started only after the skill was looked at.
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
    // Its instructions were loaded by the part of the run that it started.
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

/** Tokens are those that the model counts; where it does not say, those of our estimate, and that is told. */
function costOf(events: readonly RunEvent[], used: Budget): CaseCost {
  const answers = events.filter((event) => event.type === 'model-answer');
  const asked = new Map(
    events.filter((event) => event.type === 'model-call').map(({ turn, tokens }) => [turn, tokens] as const),
  );
  const said = new Map(answers.map(({ turn, usage }) => [turn, usage.inputTokens] as const));
  const inputs = [...asked].map(([turn, estimate]) => said.get(turn) ?? estimate);
  // Of its parts a run knows one number, and that is an estimate.
  const parts = events.flatMap((event) => (event.type === 'subagent-end' ? [event.used?.tokens ?? 0] : []));
  return {
    turns: used.turns,
    toolCalls: amount(used.toolCalls),
    scriptRuns: amount(used.scriptRuns),
    inputTokens: sumOf([...inputs, ...parts]),
    outputTokens: sumOf(answers.map(({ usage }) => usage.outputTokens ?? 0)),
    // Of an answer without a count the record has our estimate, and then the model counted nothing else either.
    tokensAreEstimated: parts.length > 0 || [...asked.keys()].some((turn) => said.get(turn) === undefined),
    wallMs: Math.round(amount(used.wallMs)),
  };
}

function sumOf(amounts: readonly number[]): number {
  return amounts.reduce((sum, one) => sum + amount(one), 0);
}

/** A record may come from anywhere: `1e999` is valid JSON, and no amount. */
function amount(value: number): number {
  return Number.isFinite(value) && value > 0 ? value : 0;
}

/** Runs that end so say nothing: to be cut off is not to stay quiet. */
function brokenBy(events: readonly RunEvent[], outcome: RunFacts['outcome'], reason: string): string {
  switch (outcome) {
    case 'running':
      return 'the run did not come to its end';
    case 'record-failed':
      return `the run could not be recorded: ${reason}`;
    case 'cancelled':
      return `the run was cancelled: ${reason}`;
    case 'failed':
      // What failed too often is the doing of the skill or the model; all else is that of the harness or the connection.
      return endedByActions(events) ? '' : `the run broke: ${reason}`;
    case 'degraded': {
      const last = events.findLast((event) => event.type === 'budget-end');
      return last?.name === 'wallMs' ? `the time of the run was up: ${reason}` : '';
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
