/** Checks whether a recorded run can be resumed, and from where. */
import path from 'node:path';

import { isSkillError, lastAnswer, quoted, shape, type Action, type JournalLine, type RunInfo } from '#core';
import { isRunId, readRun, recordProblem } from '#journal';
import { skillProblems, type Runtime } from '#runtime';
import type { AgentOptions } from '../agent-options.ts';
import { NOTHING_USED, countUsage } from '../count-budget.ts';
import type { ChildResult } from '../agent-parts.ts';
import {
  replayedRun,
  settledCalls,
  type RecordSource,
  type RecordedChild,
  type ReplayedRun,
  type AgentStart,
} from './replayed-run.ts';
import { checkResume } from './resume-gate.ts';

export type OpenedRecord =
  | {
      readonly type: 'past';
      readonly info: RunInfo;
      readonly start: AgentStart;
      readonly past: ReplayedRun;
      readonly repeats: readonly Action[];
    }
  /** The run cannot be resumed; nothing was changed. */
  | NotResumable;

export interface NotResumable {
  readonly type: 'impossible';
  readonly problems: readonly string[];
}

export interface ResumeContext extends Pick<RecordSource, 'hasEnded' | 'repeatsPrograms' | 'again'> {
  readonly runtime: Runtime;
  /** The key of this user. With it, a run with an invalid seal counts as tampered. */
  readonly sealKey?: Uint8Array;
  /** Starts another course: at most so many answers of the model are kept, also of a run that is done. */
  readonly keepAnswers?: number;
  readonly signal?: AbortSignal;
}

/** Opens the record of a run that can be resumed. Throws `run/invalid` if the folder is not a run. */
export function openRecordedRun(folder: string, around: ResumeContext): Promise<OpenedRecord> {
  return openAfter(folder, around, new Set());
}

async function openAfter(folder: string, around: ResumeContext, seen: ReadonlySet<string>): Promise<OpenedRecord> {
  const { runtime, sealKey, keepAnswers, repeatsPrograms, again, signal, hasEnded = false } = around;
  const { info, lines, state } = readRun(folder);
  if (!hasEnded && state === 'running') return impossible('the run is still in progress, here or on another machine');
  const problem = recordProblem(folder, { sealKey });
  if (problem !== undefined) return impossible(problem);
  const start = agentStart(lines);
  if (start === undefined) return impossible('the record contains no agent run');
  if (isChat(lines)) return impossible('the run is a chat: use skillwright chat --resume');
  const past = replayedRun(
    info.run,
    lines,
    {
      directory: path.dirname(folder),
      version: info.version,
      hasEnded,
      repeatsPrograms,
      again: again === true || keepAnswers !== undefined,
    },
    keepAnswers,
  );
  const before = keepAnswers === undefined ? unfinishedBefore(start, past) : undefined;
  if (before !== undefined) return openEarlier(before, folder, around, seen);
  if (keepAnswers === undefined && info.outcome === 'done' && past.calls.size === countActions(lines))
    return impossible('it is done');
  const { problems, repeats } = past.isFork
    ? { problems: [], repeats: [] }
    : checkResume({ folder, settled: settledCalls(past), again });
  if (problems.length > 0) return { type: 'impossible', problems };
  const changed = await skillProblems(lines, runtime, signal);
  return changed.length > 0 ? { type: 'impossible', problems: changed } : { type: 'past', info, start, past, repeats };
}

/** If this run resumed another one and was interrupted before it had replayed all of it, the other one is resumed instead. */
function unfinishedBefore({ resumes }: AgentStart, { answers, calls }: ReplayedRun): string | undefined {
  if (resumes === undefined) return undefined;
  const isFollowed = [...calls].filter(([call, { observation }]) => call <= resumes.calls && observation !== undefined);
  return answers.length >= resumes.answers && isFollowed.length >= resumes.calls ? undefined : resumes.run;
}

async function openEarlier(
  run: string,
  later: string,
  around: ResumeContext,
  seen: ReadonlySet<string>,
): Promise<OpenedRecord> {
  if (!isRunId(run) || seen.has(run)) return impossible('the record does not name the run that it resumed by its id');
  try {
    return await openAfter(path.join(path.dirname(later), run), around, new Set([...seen, run]));
  } catch (error) {
    if (!isSkillError(error) || error.code !== 'run/invalid') throw error;
    return impossible(`it resumed ${quoted(run)}, which no longer exists`);
  }
}

function impossible(problem: string): NotResumable {
  return { type: 'impossible', problems: [problem] };
}

/** Only runs with a single request can be replayed. */
function isChat(lines: Iterable<JournalLine>): boolean {
  for (const { event } of lines) if (event.type === 'chat') return true;
  return false;
}

function countActions(lines: Iterable<JournalLine>): number {
  let actions = 0;
  for (const { event } of lines) if (event.type === 'action') actions += 1;
  return actions;
}

/** Returns the agent options in the first event if they are well-formed; the record is untrusted. */
function agentStart(lines: Iterable<JournalLine>): AgentStart | undefined {
  for (const { event } of lines) {
    const agent = event.type === 'run-start' ? event.agent : undefined;
    if (agent === undefined) return undefined;
    const { protocol, vocabulary, activation, resumes } = agent;
    const isWhole =
      [protocol, vocabulary, activation].every((text) => typeof text === 'string') &&
      [agent.required, agent.files].every(isTexts) &&
      (agent.images === undefined || isImages(agent.images)) &&
      (resumes === undefined || isResumes(resumes));
    return isWhole ? agent : undefined;
  }
  return undefined;
}

function isTexts(list: unknown): boolean {
  return Array.isArray(list) && list.every((one) => typeof one === 'string');
}

function isImages(list: unknown): boolean {
  const isImage = shape({ text: 'mediaType data', optionalText: 'name' });
  return Array.isArray(list) && list.every(isImage);
}

function isResumes({ run, elapsedMs, answers, calls }: NonNullable<AgentStart['resumes']>): boolean {
  return (
    typeof run === 'string' && [elapsedMs, answers, calls].every((amount) => Number.isFinite(amount) && amount >= 0)
  );
}

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

export function lostChild({ run, end }: RecordedChild, why: string): ChildResult {
  return {
    outcome: 'failed',
    answer: `the subagent was interrupted and its result is unknown: ${why}`,
    used: end?.used ?? NOTHING_USED,
    run,
  };
}
