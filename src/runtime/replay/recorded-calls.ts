import type { Action, Decision, JournalLine, Observation, RunInfo, SessionState } from '#core';
import type { AskedBy } from '../action-context.ts';

/** Everything that was recorded about one action. */
export interface RecordedCall {
  readonly type: 'call';
  readonly call: number;
  readonly action: Action;
  readonly askedBy: AskedBy;
  readonly decision?: Decision;
  /** By the id of the request. */
  readonly answers: ReadonlyMap<string, RunInfo['approvals'][number]['answer']>;
  /** Absent if the record ends earlier. */
  readonly observation?: Observation;
}

/** An event between actions that affects later ones. */
export interface RecordedMoment {
  readonly type: 'turn-start' | 'request-start';
}

export interface RecordedRun {
  /** In the order in which they started. */
  readonly steps: readonly (RecordedCall | RecordedMoment)[];
  /** Taken from the events, because `run.json` of a killed run is incomplete. */
  readonly skills: readonly RunInfo['skills'][number][];
  /** Absent if the record ends before the session started. */
  readonly settings: SessionState['settings'] | undefined;
  /** Paths of files that came with the request. */
  readonly files: readonly string[];
}

export function recordedRun(lines: Iterable<JournalLine>): RecordedRun {
  const steps: (RecordedCall | RecordedMoment)[] = [];
  const places = new Map<number, number>();
  const skills = new Map<string, RunInfo['skills'][number]>();
  let settings: SessionState['settings'] | undefined;
  let files: readonly string[] = [];
  for (const { event } of lines) {
    if (event.type === 'run-start') files = event.agent?.files ?? [];
    if (event.type === 'session') {
      const { event: inner } = event;
      if (inner.type === 'session-start') settings = inner.settings;
      if (inner.type === 'turn-start' || inner.type === 'request-start') steps.push({ type: inner.type });
    } else if (event.type === 'action') {
      const { call, action, askedBy } = event;
      places.set(call, steps.length);
      steps.push({ type: 'call', call, action, askedBy, answers: new Map() });
    } else if ('call' in event && event.type !== 'span') {
      if (event.type === 'skill-use') skills.set(`${event.skill.id} ${event.skill.digest}`, event.skill);
      const place = places.get(event.call) ?? -1;
      const open = steps[place];
      if (open?.type === 'call') steps[place] = withEvent(open, event);
    }
  }
  return { steps, skills: [...skills.values()], settings, files };
}

type CallEvent = Extract<JournalLine['event'], { readonly call: number }>;

function withEvent(open: RecordedCall, event: CallEvent): RecordedCall {
  switch (event.type) {
    case 'decision':
      // The first is about the action itself; others are about its packages.
      return { ...open, decision: open.decision ?? event.decision };
    case 'approval-answer':
      return { ...open, answers: new Map([...open.answers, [event.request, event.answer]]) };
    case 'observation':
      return { ...open, observation: event.observation };
    default:
      return open;
  }
}
