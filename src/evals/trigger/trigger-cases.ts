/** Cases as the trigger evaluation asks them: only who is loaded counts, nothing is run, and a few turns are enough. */
import type { EvalCase } from '../cases/case.ts';
import { labelOf } from './trigger-trial.ts';

/** Enough to look for a skill, to load it, and to answer; also where another tool comes first. */
const TRIGGER_LIMITS = { turns: 4, toolCalls: 8, scriptRuns: 0 } as const;

export interface TriggerCases {
  readonly cases: readonly EvalCase[];
  /** Cases that say nothing about who fires, with the reason. */
  readonly leftOut: readonly { readonly case: string; readonly reason: string }[];
}

export function triggerCasesOf(cases: readonly EvalCase[]): TriggerCases {
  const leftOut = cases.flatMap((one) => {
    const reason = reasonToLeaveOut(one);
    return reason === undefined ? [] : [{ case: one.id, reason }];
  });
  const gone = new Set(leftOut.map(({ case: id }) => id));
  return { cases: cases.filter(({ id }) => !gone.has(id)).map(asTriggerCase), leftOut };
}

function reasonToLeaveOut(one: EvalCase): string | undefined {
  if (labelOf(one) === undefined) return 'they do not say which skill is loaded';
  return one.answers?.type === 'script'
    ? 'their answers are written by hand and say nothing about who fires'
    : undefined;
}

/**
 * All skills are there at once, whatever the case names, so that a recording made with other skills fits nowhere: the model of the suite
 * answers. A limit of the case's own would end runs that another case lets go on.
 */
function asTriggerCase(one: EvalCase): EvalCase {
  const { trigger, skills } = one.expect;
  const { config: _config, protocol: _protocol, answers: _answers, ...rest } = one;
  return {
    ...rest,
    skills: { ...one.skills, folders: [] },
    expect: { ...(trigger === undefined ? {} : { trigger }), ...(skills === undefined ? {} : { skills }) },
    limits: TRIGGER_LIMITS,
    forbidTools: [],
  };
}
