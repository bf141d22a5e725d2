/** The record of a run, judged: whether it can be gone on with, and from where. */
import path from 'node:path';

import { readRun } from '../../journal/journal-reader.ts';
import { isRunId, runLife } from '../../journal/run-folder.ts';
import { verifyRun } from '../../journal/verify.ts';
import { isSkillError } from '../../core/errors.ts';
import type { AgentStart, JournalLine, RunInfo } from '../../core/run-events.ts';
import { quoted } from '../../core/text/text.ts';
import { recordedRun } from '../../runtime/replay/recorded-calls.ts';
import { skillProblems } from '../../runtime/replay/replay-run.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { pastRun } from './past-run.ts';
import type { PastRun } from './past-run.ts';

export type OpenedPast =
  | { readonly type: 'past'; readonly info: RunInfo; readonly start: AgentStart; readonly past: PastRun }
  /** Nothing can be done, and nothing was. */
  | Impossible;

export interface Impossible {
  readonly type: 'impossible';
  readonly problems: readonly string[];
}

export interface Circumstances {
  readonly runtime: Runtime;
  /** This user's key: a seal that is not good is then a change. */
  readonly sealKey?: Uint8Array;
  readonly signal?: AbortSignal;
}

/** The past of a run that may be gone on with. Throws `run/invalid` for a folder that is no run. */
export function openPast(folder: string, around: Circumstances): Promise<OpenedPast> {
  return openAfter(folder, around, new Set());
}

async function openAfter(folder: string, around: Circumstances, seen: ReadonlySet<string>): Promise<OpenedPast> {
  const { runtime, sealKey, signal } = around;
  const { info, lines } = readRun(folder);
  if (runLife(info) === 'running') return impossible('it is running: its process lives, or may live elsewhere');
  const { status } = verifyRun(folder, sealKey === undefined ? {} : { sealKey });
  if (status === 'tampered' || status === 'unreadable')
    return impossible(`the record is ${status}: see skillwright runs verify`);
  const start = agentStart(lines);
  if (start === undefined) return impossible('no agent worked on it: there is nothing to go on with');
  if (isChat(lines)) return impossible('it is a chat: skillwright chat --resume goes on with it');
  const past = pastRun(info.run, lines);
  const before = unfinishedBefore(start, past);
  if (before !== undefined) return openEarlier(before, folder, around, seen);
  if (info.outcome === 'done' && past.calls.size === countActions(lines)) return impossible('it is done');
  const changed = await skillProblems(recordedRun(lines).skills, runtime, signal);
  return changed.length > 0 ? { type: 'impossible', problems: changed } : { type: 'past', info, start, past };
}

/** The run that was gone on with when this one broke off, before all of it was followed: that one still has the most. */
function unfinishedBefore({ resumes }: AgentStart, { answers, calls }: PastRun): string | undefined {
  if (resumes === undefined) return undefined;
  const isFollowed = [...calls].filter(([call, { observation }]) => call <= resumes.calls && observation !== undefined);
  return answers.length >= resumes.answers && isFollowed.length >= resumes.calls ? undefined : resumes.run;
}

async function openEarlier(
  run: string,
  later: string,
  around: Circumstances,
  seen: ReadonlySet<string>,
): Promise<OpenedPast> {
  if (!isRunId(run) || seen.has(run)) return impossible('the run that it went on with is not named by its id');
  try {
    return await openAfter(path.join(path.dirname(later), run), around, new Set([...seen, run]));
  } catch (error) {
    if (!isSkillError(error) || error.code !== 'run/invalid') throw error;
    return impossible(`it went on with ${quoted(run)}, which is gone`);
  }
}

function impossible(problem: string): Impossible {
  return { type: 'impossible', problems: [problem] };
}

/** One request is followed, and a chat has several. */
function isChat(lines: Iterable<JournalLine>): boolean {
  for (const { event } of lines) if (event.type === 'chat') return true;
  return false;
}

function countActions(lines: Iterable<JournalLine>): number {
  let actions = 0;
  for (const { event } of lines) if (event.type === 'action') actions += 1;
  return actions;
}

/** The last answer that a run recorded; empty where there is none. */
export function lastAnswer(folder: string): string {
  let answer = '';
  for (const { event } of readRun(folder).lines)
    if (event.type === 'action' && event.action.type === 'final_answer') ({ answer } = event.action);
  return answer;
}

/** What the first line says of the agent, as far as it is of its kind: a record may come from anywhere. */
function agentStart(lines: Iterable<JournalLine>): AgentStart | undefined {
  for (const { event } of lines) {
    const agent = event.type === 'run-start' ? event.agent : undefined;
    if (agent === undefined) return undefined;
    const { protocol, vocabulary, activation, resumes } = agent;
    const isWhole =
      [protocol, vocabulary, activation].every((text) => typeof text === 'string') &&
      [agent.required, agent.files].every(isTexts) &&
      (resumes === undefined || isResumes(resumes));
    return isWhole ? agent : undefined;
  }
  return undefined;
}

function isTexts(list: unknown): boolean {
  return Array.isArray(list) && list.every((one) => typeof one === 'string');
}

function isResumes({ run, elapsedMs, answers, calls }: NonNullable<AgentStart['resumes']>): boolean {
  return (
    typeof run === 'string' && [elapsedMs, answers, calls].every((amount) => Number.isFinite(amount) && amount >= 0)
  );
}
