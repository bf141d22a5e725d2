/**
 * Resumes a run by replaying it: the loop receives the recorded answers of the model and the recorded observations, so that its state,
 * conversation and session are restored. The model is not called and nothing is performed until the record ends.
 */
import path from 'node:path';

import { actionFailed, failure, SkillError, stableJson, type Action, type Model } from '#core';
import type { Run, RunOptions } from '#runtime';
import { withRemark, type Conversation } from '../conversation.ts';
import { restoreWorkspace } from './restore-workspace.ts';
import { VERSION } from '../../version.ts';
import { isSettled, type RecordedCall, type RecordedChild, type ReplayedRun } from './replayed-run.ts';

type Recall = NonNullable<RunOptions['recall']>;

export interface Replay {
  readonly past: ReplayedRun;
  /** Returns the recorded answers; then it calls the real model. */
  readonly model: Model;
  readonly recall: Recall;
  /** Ids of the proposed skills; absent if the run was interrupted before its first answer. */
  readonly proposed: readonly string[] | undefined;
  /** Explains an error that occurred during the replay, which means that the record is invalid. Returns undefined after the replay. */
  blame(error: unknown): string | undefined;
  child(call: number): RecordedChild | undefined;
  /** Restores the files of the old workspace that the record holds; call it before the first turn. */
  restore(run: Run): Promise<void>;
  /** Tells the model, once, what is different after the interruption. */
  remind(conversation: Conversation): Conversation;
}

export function replayRun(past: ReplayedRun, model: Model): Replay {
  const { answers, calls, children, proposed } = past;
  let replayed = 0;
  let followed = 0;
  let isReminded = false;
  let isReplayed = false;
  let change: string | undefined;
  let tell: (() => void) | undefined;
  const goOn = (): void => {
    isReplayed = true;
    tell?.();
    tell = undefined;
  };
  return {
    past,
    proposed: answers.length > 0 ? proposed : undefined,
    child: (call) => children.get(call),
    model: {
      ...model,
      call(request, options) {
        const answer = answers[replayed];
        if (answer === undefined) {
          if (followed < calls.size)
            return Promise.reject(cannotResume(past, `call ${String(followed + 1)} of the record was not requested`));
          goOn();
          return model.call(request, options);
        }
        replayed += 1;
        return Promise.resolve(answer);
      },
    },
    recall({ call, action, askedBy }) {
      const known = calls.get(call);
      // A final answer of the loop itself is not part of the record.
      if (action.type === 'final_answer' && askedBy === 'program') return undefined;
      if (known === undefined) {
        if (replayed < answers.length) throw cannotResume(past, `${action.type} is not in the record`);
        goOn();
        return undefined;
      }
      if (known.askedBy !== askedBy || !isSameAction(known.action, action, past.source))
        throw cannotResume(
          past,
          `call ${String(call)} was ${known.action.type} in the record and differs now (${action.type})`,
        );
      followed += 1;
      const outcome = past.again.has(call) ? undefined : recalled(known);
      if (outcome === undefined) goOn();
      return outcome;
    },
    async restore(run) {
      const record = path.join(past.source.directory, past.run);
      change = await restoreWorkspace(run, { steps: [...calls.values()].map((step) => ({ ...step, record })) });
      // With the replayed events, a display would hide it.
      const message = change;
      tell = message === undefined ? undefined : () => run.record({ type: 'note', message });
    },
    blame(error) {
      // A record may come from another program and contain observations that no action produces.
      if (isReplayed || !(error instanceof TypeError)) return undefined;
      return cannotResume(past, `it contains an invalid observation (${error.message})`).message;
    },
    remind(conversation) {
      if (isReminded || replayed < answers.length) return conversation;
      isReminded = true;
      // Before the model is called, only an action of the last recorded answer ends the replay: its result is of the new workspace.
      return change === undefined
        ? conversation
        : withRemark(conversation, `This run was interrupted and ${change}.`, { isBeforeLast: isReplayed });
    },
  };
}

/** Another version may fill in more of an action than the one that recorded it, such as the folder that a command starts in. */
function isSameAction(recorded: Action, action: Action, { version }: ReplayedRun['source']): boolean {
  const isRecorded = ([key]: readonly [string, unknown]): boolean =>
    version === VERSION || Object.hasOwn(recorded, key);
  const compared = Object.fromEntries(Object.entries(action).filter(isRecorded));
  return stableJson(recorded) === stableJson(compared);
}

/** Returns undefined if the action has to be performed, because it is harmless or cannot have started. */
function recalled(call: RecordedCall): ReturnType<Recall> {
  const { action, events, observation } = call;
  if (observation !== undefined) return { events, observation };
  if (!isSettled(call)) return undefined;
  const message = `${action.type} was in progress when the run was interrupted; its outcome is unknown`;
  return { events, observation: actionFailed(action.type, failure('run/interrupted', message)) };
}

function cannotResume({ run }: ReplayedRun, what: string): SkillError<'run/invalid'> {
  return new SkillError({
    code: 'run/invalid',
    message: `cannot resume ${run}: ${what}`,
    hint: 'start a new run; skills, tools or skillwright itself have changed',
    data: { path: run },
  });
}
