import type { Decision } from '../../core/access.ts';
import type { Approve } from '../../core/approval.ts';
import { SkillError } from '../../core/errors.ts';
import type { RunEvent } from '../../core/run-events.ts';
import type { RecordedCall } from './recorded-calls.ts';

/** Stands between a replay and the world: keeps what was decided, answers as the record did, stops what is not to be repeated. */
export interface ReplayStage {
  readonly record: (event: RunEvent) => void;
  readonly approve: Approve;
  /** The call that is next; nothing between calls. */
  begin(call: RecordedCall | undefined): void;
  /** What was decided about it. */
  readonly decision: Decision | undefined;
}

export interface StageOptions {
  /** The answers of the record count again, for just the same questions. */
  readonly isOwn: boolean;
  /** Asked where the record has no answer. */
  readonly approve: Approve | undefined;
  readonly isStopped: (call: RecordedCall) => boolean;
}

export function openReplayStage({ isOwn, approve, isStopped }: StageOptions): ReplayStage {
  let current: RecordedCall | undefined;
  let decision: Decision | undefined;
  return {
    begin(call) {
      current = call;
      decision = undefined;
    },
    get decision() {
      return decision;
    },
    record(event) {
      const isOver = current !== undefined && isStopped(current);
      // What cannot be recorded is not done: from the decision on this record takes nothing about such a call.
      if (isOver && decision !== undefined) throw stopped();
      if (event.type !== 'decision') return;
      // The first: later looks at a command are decided about too.
      decision ??= event.decision;
      if (isOver) throw stopped();
    },
    approve(request, more) {
      const answer = isOwn ? current?.answers.get(request.id) : undefined;
      if (answer === undefined) return approve?.(request, more) ?? Promise.resolve('nobody');
      return Promise.resolve(typeof answer === 'string' ? answer : { ...answer, scope: 'once' });
    },
  };
}

function stopped(): SkillError {
  const [message, hint] = ['this is not repeated', 'ask for it'];
  return new SkillError({ code: 'record/failed', message, hint, data: { path: '', cause: 'not repeated' } });
}
