/** What the record of an interrupted run tells about a subagent that it had started. */
import path from 'node:path';

import { isSkillError, lastAnswer } from '#core';
import { isRunId, readRun, recordProblem } from '#journal';
import type { AgentOptions } from '../agent-options.ts';
import { NOTHING_USED, countUsage } from '../count-budget.ts';
import type { ChildResult } from '../subagent.ts';
import { openRecordedRun } from './open-recorded-run.ts';
import type { RecordedChild, ReplayedRun } from './replayed-run.ts';

export type KnownChild =
  | { readonly type: 'ended'; readonly result: ChildResult }
  | { readonly type: 'open'; readonly past: ReplayedRun };

/** The records of subagents are beside that of the run that is resumed. */
export async function recordedChild(
  { run, end }: RecordedChild,
  { directory, ...around }: ReplayedRun['source'],
  { runtime, signal }: AgentOptions,
): Promise<KnownChild> {
  const lost = (why: string): KnownChild => ({ type: 'ended', result: lostChild({ run, ...(end && { end }) }, why) });
  if (!isRunId(run)) return lost('the subagent has no record');
  const folder = path.join(directory, run);
  try {
    const problem = recordProblem(folder, {});
    if (problem !== undefined) return lost(problem);
    const { info, lines } = readRun(folder);
    const answer = lastAnswer(lines);
    if (end !== undefined) {
      const { outcome, used = NOTHING_USED } = end;
      return { type: 'ended', result: { outcome, used, run, answer } };
    }
    // The subagent finished, but its parent was interrupted before it saw the result.
    if (info.outcome === 'done')
      return { type: 'ended', result: { outcome: 'done', used: countUsage(lines), run, answer } };
    const opened = await openRecordedRun(folder, { runtime, ...around, signal });
    return opened.type === 'past' ? { type: 'open', past: opened.past } : lost(opened.problems.join('; '));
  } catch (error) {
    if (isSkillError(error) && error.code === 'run/invalid') return lost(error.message);
    throw error;
  }
}

/** The result of a subagent whose record cannot be followed. */
export function lostChild({ run, end }: RecordedChild, why: string): ChildResult {
  return {
    outcome: 'failed',
    answer: `the subagent was interrupted and its result is unknown: ${why}`,
    used: end?.used ?? NOTHING_USED,
    run,
  };
}
