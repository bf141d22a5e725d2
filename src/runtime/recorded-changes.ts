/** The file changes in the record of a run and of its subagents, and where the files are. */
import path from 'node:path';

import { isSkillError, type Action, type Observation, type RunEvent, type AgentStart } from '#core';
import { isRunId, readRun, type ReadRun } from '#journal';
import { isPresent } from '#platform';
import { fileChanges } from './file-changes.ts';
import type { ChangingAction, InterruptedAction, RecordedChanges } from './interrupted-changes.ts';

/** A subagent whose changes are not known. */
export interface UnusableSubagent {
  /** Empty if it was not recorded. */
  readonly run: string;
  /** Such as `missing`. */
  readonly problem: string;
}

/** `check` returns why the record in a folder must not be used. The changes are all changes only if every subagent is usable. */
export function recordedChanges(
  run: ReadRun,
  check: (folder: string) => string | undefined = () => undefined,
): RecordedChanges & { readonly unusable: readonly UnusableSubagent[] } {
  const collected: Collected = { steps: [], interrupted: [], copies: new Set(), unusable: [], check };
  collect(run, collected, new Set([run.info.run]));
  const { steps, interrupted, copies, unusable } = collected;
  const observations = steps.flatMap((step) => (step.type === 'change' ? [step.observation] : []));
  return { changes: fileChanges(observations), interrupted, copies, unusable };
}

type FileObservation = Extract<Observation, { readonly type: 'file-written' | 'file-deleted' }>;
type Step =
  | { readonly type: 'change'; readonly observation: FileObservation }
  /** A message of a chat. */
  | { readonly type: 'message' };

interface Collected {
  readonly steps: Step[];
  readonly interrupted: InterruptedAction[];
  readonly copies: Set<string>;
  readonly unusable: UnusableSubagent[];
  readonly check: (folder: string) => string | undefined;
}

/**
 * A parent waits for its subagent, so all changes of the subagent are where the parent started it. A run that continues another one repeats
 * its events; those changes, and those of its subagents, are of the other run.
 */
function collect({ path: place, lines, info }: ReadRun, collected: Collected, seen: Set<string>): void {
  const { steps, interrupted, copies } = collected;
  let isRepeated = (_call: number): boolean => false;
  const open = new Map<number, InterruptedAction & { readonly isAllowed: boolean }>();
  for (const { event, time } of lines) {
    if (event.type === 'run-start') isRepeated = repeatedCalls(event.agent?.resumes);
    if (event.type === 'observation' && isRepeated(event.call)) continue;
    if (event.type === 'action' && isRepeated(event.call)) continue;
    if (event.type === 'action' && isChanging(event.action))
      open.set(event.call, { action: event.action, time, isAllowed: false });
    if (event.type === 'decision' || event.type === 'approval-answer') allow(open, event);
    if (event.type === 'observation') {
      open.delete(event.call);
      const { observation } = event;
      if (observation.type === 'file-written' || observation.type === 'file-deleted') {
        steps.push({ type: 'change', observation });
        copies.add(observation.type === 'file-deleted' ? observation.trash : (observation.kept ?? ''));
      }
    }
    if (event.type === 'chat' && event.event.type === 'message') steps.push({ type: 'message' });
    if (event.type === 'chat' && event.event.type === 'undo') takeBack(steps, event.event.files);
    if (event.type === 'subagent-start' && !seen.has(event.run)) {
      seen.add(event.run);
      const child = openSubagent(path.dirname(place), event.run, collected.check);
      if ('problem' in child) collected.unusable.push(child);
      else if (child.info.parent === info.run) collect(child, collected, seen);
    }
  }
  for (const { isAllowed, ...action } of open.values()) if (isAllowed) interrupted.push(action);
}

/** Actions are performed one after the other, so those that are repeated are the first ones, except programs that are run again. */
function repeatedCalls(resumes: AgentStart['resumes']): (call: number) => boolean {
  if (resumes === undefined) return () => false;
  const again: ReadonlySet<unknown> = new Set(Array.isArray(resumes.again) ? resumes.again : []);
  return (call) => call <= resumes.calls + again.size && !again.has(call);
}

function isChanging(action: Action): action is ChangingAction {
  return action.type === 'write_file' || action.type === 'edit_file' || action.type === 'delete_file';
}

function allow(
  open: Map<number, InterruptedAction & { readonly isAllowed: boolean }>,
  event: Extract<RunEvent, { readonly type: 'decision' | 'approval-answer' }>,
): void {
  const found = open.get(event.call);
  if (found === undefined) return;
  const isAllowed =
    event.type === 'decision'
      ? event.decision.effect === 'allow'
      : typeof event.answer === 'object' && event.answer.verdict === 'yes';
  open.set(event.call, { ...found, isAllowed });
}

/** `/undo` restored the files of the last message, except those that it left alone. */
function takeBack(
  steps: Step[],
  files: readonly { readonly path: string; readonly result: string }[] | undefined,
): void {
  const start = steps.findLastIndex(({ type }) => type === 'message');
  const left = new Set((files ?? []).filter(({ result }) => result === 'conflict').map((file) => file.path));
  const kept = steps
    .splice(Math.max(0, start))
    .filter((step) => step.type === 'change' && left.has(step.observation.path));
  steps.push(...kept);
}

/** The record of a subagent exists before its run names it: without one, it was removed. */
function openSubagent(directory: string, run: string, check: Collected['check']): ReadRun | UnusableSubagent {
  const folder = path.join(directory, run);
  if (!isRunId(run) || !isPresent(folder)) return { run: isRunId(run) ? run : '', problem: 'missing' };
  const problem = check(folder);
  if (problem !== undefined) return { run, problem };
  try {
    return readRun(folder);
  } catch (error) {
    if (isSkillError(error) && error.code === 'run/invalid') return { run, problem: 'missing' };
    throw error;
  }
}
