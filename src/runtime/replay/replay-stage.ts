import { SkillError, type Approve, type Decision, type RunEvent } from '#core';
import type { RecordedCall } from './recorded-calls.ts';

/** Observes a replay: keeps decisions, answers from the record, and stops actions that must not be repeated. */
export interface ReplayStage {
  readonly record: (event: RunEvent) => void;
  readonly approve: Approve;
  /** Starts the next call; undefined between calls. */
  begin(call: RecordedCall | undefined): void;
  /** The decision about the current call. */
  readonly decision: Decision | undefined;
}

export interface StageOptions {
  /** Whether recorded answers are reused for identical questions. */
  readonly isOwn: boolean;
  /** Answers questions that the record has no answer for. */
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
      // An action that cannot be recorded is not done, so throwing here stops it after the decision.
      if (isOver && decision !== undefined) throw stopped();
      if (event.type !== 'decision') return;
      // Only the first: polling a command is decided about too.
      decision ??= event.decision;
      if (isOver) throw stopped();
    },
    approve(request, more) {
      const answer = isOwn ? current?.answers.get(request.id) : undefined;
      if (answer === undefined) return approve === undefined ? 'nobody' : approve(request, more);
      return typeof answer === 'string' ? answer : { ...answer, scope: 'once' };
    },
  };
}

function stopped(): SkillError {
  const [message, hint] = ['the action is not repeated', 'enable it in the replay options'];
  return new SkillError({ code: 'record/failed', message, hint, data: { path: '', cause: 'not repeated' } });
}
