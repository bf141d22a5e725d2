/**
 * Going on with a run: the loop is led through what happened before by the same answers of the model and the same observations, so that its
 * state, its conversation and its session come out as they were. Nothing is asked and nothing is done until the record ends.
 */
import { startsProgram } from '../count-budget.ts';
import { SkillError } from '../../core/errors.ts';
import { failure } from '../../core/failure-codes.ts';
import type { Model } from '../../core/model.ts';
import { actionFailed } from '../../core/observation.ts';
import { stableJson } from '../../core/json/stable-json.ts';
import type { Recall, RecalledAction } from '../../runtime/action-context.ts';
import { withRemark } from '../conversation.ts';
import type { Conversation } from '../conversation.ts';
import { isSettled } from './past-run.ts';
import type { PastCall, PastChild, PastRun } from './past-run.ts';

export interface Following {
  readonly past: PastRun;
  /** Says what was said before; then it is asked. */
  readonly model: Model;
  readonly recall: Recall;
  /** Ids of the skills that were put before the model; absent where that had not come to an end. */
  readonly proposed: readonly string[] | undefined;
  /** Why the record itself must be wrong, where something broke before anything was asked or done; nothing after that. */
  blame(error: unknown): string | undefined;
  child(call: number): PastChild | undefined;
  /** Tells the model, once, what is not as it was when the run goes on. */
  remind(conversation: Conversation): Conversation;
}

const WORKSPACE_IS_NEW =
  'This run was interrupted and goes on here, in a new workspace: files that programs made in the old one are gone unless they were kept as artifacts, and commands that were running have ended.';

export function followPast(past: PastRun, model: Model): Following {
  const { answers, calls, children, proposed } = past;
  const hasRun = [...calls.values()].some(({ action, observation }) => startsProgram(action.type) && observation);
  let said = 0;
  let followed = 0;
  let isReminded = false;
  let hasGoneOn = false;
  return {
    past,
    proposed: answers.length > 0 ? proposed : undefined,
    child: (call) => children.get(call),
    model: {
      ...model,
      call(request, options) {
        const answer = answers[said];
        if (answer === undefined) {
          if (followed < calls.size)
            return Promise.reject(astray(past, `call ${String(followed + 1)} was not asked for`));
          hasGoneOn = true;
          return model.call(request, options);
        }
        said += 1;
        return Promise.resolve(answer);
      },
    },
    recall({ call, action, askedBy }) {
      const known = calls.get(call);
      // The loop's own answer, where it ends before the record does, is none of the past.
      if (action.type === 'final_answer' && askedBy === 'program') return undefined;
      if (known === undefined) {
        if (said < answers.length) throw astray(past, `${action.type} was not asked for then`);
        hasGoneOn = true;
        return undefined;
      }
      if (known.askedBy !== askedBy || stableJson(known.action) !== stableJson(action))
        throw astray(past, `call ${String(call)} was ${known.action.type} and is ${action.type} now, or another one`);
      followed += 1;
      const outcome = recalled(known);
      hasGoneOn ||= outcome === undefined;
      return outcome;
    },
    blame(error) {
      // Whoever wrote it need not have been us: outcomes may be in it that no action has.
      if (hasGoneOn || !(error instanceof TypeError)) return undefined;
      return astray(past, `an outcome in it is none (${error.message})`).message;
    },
    remind(conversation) {
      if (isReminded || said < answers.length) return conversation;
      isReminded = true;
      return hasRun ? withRemark(conversation, WORKSPACE_IS_NEW) : conversation;
    },
  };
}

/** Nothing where it is to be done: it is harmless, or it cannot have begun. */
function recalled(call: PastCall): RecalledAction | undefined {
  const { action, events, observation } = call;
  if (observation !== undefined) return { events, observation };
  if (!isSettled(call)) return undefined;
  const message = `${action.type} was begun when the run was interrupted, and what came of it is not known`;
  return { events, observation: actionFailed(action.type, failure('run/interrupted', message)) };
}

function astray({ run }: PastRun, what: string): SkillError<'run/invalid'> {
  return new SkillError({
    code: 'run/invalid',
    message: `the record of ${run} cannot be followed: ${what}`,
    hint: 'start it anew; skills, tools or this program are not as they were',
    data: { path: run },
  });
}
