/** What a run did to the files of the project, from its record: also what it had begun when it was killed. */
import path from 'node:path';
import { lstatSync, readFileSync } from 'node:fs';

import { isSkillError, type Action, type Observation, type RunEvent, type OfType } from '#core';
import { isRunId, readRun, type ReadRun } from '#journal';
import { isPresent, namesIn, sha256 } from '#platform';

/** The content of a file before a run. */
export interface EarlierFile {
  /** Absent if the file was too large to be read. */
  readonly digest?: string;
  /** Where it is kept, relative to the project; absent in records of earlier versions. */
  readonly kept?: string;
  readonly bytes?: number;
  readonly mode?: number;
  /** Its setuid, setgid and sticky bits; absent if it had none. */
  readonly specialBits?: number;
}

/** What happened to one file over a whole run. */
export interface FileChange {
  /** Relative to the project. */
  readonly path: string;
  /** Absent for a file that the run created. */
  readonly before?: EarlierFile;
  /** What the run left; absent for a file that the run deleted. */
  readonly after?: { readonly digest: string; readonly mode?: number };
  /** A change of the run started from content that the run had not left: a person or a program had changed the file in between. */
  readonly between?: { readonly kept?: string };
}

export interface UndoneFile {
  readonly path: string;
  /** `removed`: the run had created it. `unchanged`: it is as before the run. `conflict`: it was left alone. */
  readonly result: 'restored' | 'removed' | 'unchanged' | 'conflict';
  /** Why a file was left alone, or which of its permissions were not restored, and what to do. */
  readonly reason?: string;
  /** Of a conflict: where the content of another author is, relative to the project. */
  readonly yours?: string;
  /** Of a conflict: where the content is that undo would restore. Absent if the run created the file. */
  readonly earlier?: string;
}

/** The changes of project files, in the order in which a run first touched them. */
export function fileChanges(observations: Iterable<Observation>): readonly FileChange[] {
  const changes = new Map<string, FileChange>();
  for (const observation of observations) {
    const change = toFileChange(observation);
    if (change === undefined) continue;
    const earlier = changes.get(change.path);
    changes.set(change.path, earlier === undefined ? change : joined(earlier, change));
  }
  return [...changes.values()];
}

function joined(earlier: FileChange, { path, before, after }: FileChange): FileChange {
  const between = isContinued(earlier, before) ? earlier.between : { kept: before?.kept };
  const [left, current] = [earlier.after?.mode, before?.mode];
  // Permissions that someone else set in between are kept.
  const isSet = left !== undefined && current !== undefined && left !== current;
  return {
    path,
    before: earlier.before && { ...earlier.before, mode: isSet ? current : earlier.before.mode },
    after,
    between,
  };
}

/** Content that was there before the run is no one's edit. */
function isContinued({ before: first, after }: FileChange, before: EarlierFile | undefined): boolean {
  if (before === undefined) return after === undefined || first === undefined;
  return before.digest !== undefined && [after?.digest, first?.digest].includes(before.digest);
}

function toFileChange(observation: Observation): FileChange | undefined {
  if (observation.type === 'file-written' && !observation.path.includes('://')) {
    const { path, digest, replaced, kept, mode, specialBits } = observation;
    const before = replaced === undefined ? undefined : { digest: replaced, kept, mode, specialBits };
    return { path, after: { digest, mode }, before };
  }
  if (observation.type === 'file-deleted' && !observation.path.includes('://')) {
    const { path, digest, trash, bytes, mode, specialBits } = observation;
    return { path, before: { kept: trash, digest, bytes, mode, specialBits } };
  }
  return undefined;
}

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
function repeatedCalls(
  resumes: NonNullable<OfType<RunEvent, 'run-start'>['agent']>['resumes'],
): (call: number) => boolean {
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

type ChangingAction = Extract<Action, { readonly type: 'write_file' | 'edit_file' | 'delete_file' }>;

interface InterruptedAction {
  readonly action: ChangingAction;
  /** When it was recorded. */
  readonly time: string;
}

export interface RecordedChanges {
  readonly changes: readonly FileChange[];
  /** Allowed actions without a recorded outcome: the run was killed while it performed them. */
  readonly interrupted: readonly InterruptedAction[];
  /** Everything that the recorded changes put into the trash. */
  readonly copies: ReadonlySet<string>;
}

const MAX_BYTES = 64 * 1024 * 1024;

/** The changes with those of interrupted actions, and the files of which the record does not tell enough. */
export function withInterrupted(
  project: string,
  { changes, interrupted, copies }: RecordedChanges,
): { readonly changes: readonly FileChange[]; readonly unclear: readonly UndoneFile[] } {
  const found = new Map(changes.map((change) => [change.path, change]));
  const unclear: UndoneFile[] = [];
  for (const { action, time } of interrupted) {
    const file = action.path.replace(/^(?:\.\/)+/, '');
    if (file.includes('://') || path.isAbsolute(file)) continue;
    const kept = keptCopies(project, file, time).filter((copy) => !copies.has(copy));
    const result = changeBy(action, { project, file, kept, known: found.get(file) });
    if (result === 'not-done') continue;
    if (result !== 'unclear') {
      found.set(file, result);
      continue;
    }
    found.delete(file);
    const [only] = kept;
    unclear.push({
      path: file,
      result: 'conflict',
      reason: 'the run was killed while it changed this file, and the record does not say whether it did',
      yours: file,
      earlier: only,
    });
  }
  return { changes: [...found.values()], unclear };
}

interface Traces {
  readonly project: string;
  readonly file: string;
  /** Copies in the trash that no recorded change made. */
  readonly kept: readonly string[];
  readonly known: FileChange | undefined;
}

function changeBy(action: ChangingAction, { project, file, kept, known }: Traces): FileChange | 'not-done' | 'unclear' {
  const [copy] = kept;
  if (kept.length > 1) return 'unclear';
  const current = bytesAt(path.join(project, file));
  // An undo that was killed may have restored it.
  if (current !== undefined && known?.before?.digest === digestBytes(current)) return 'not-done';
  const earlier = copy === undefined ? undefined : bytesAt(path.join(project, copy));
  const after = contentAfter(action, earlier);
  const isThere = current === undefined ? after === undefined : after !== undefined && current.equals(after);
  if (copy === undefined) {
    // Without a copy only a new file can have been written.
    const isNew = action.type === 'write_file' && (known === undefined || known.after === undefined);
    return isNew && isThere ? change(undefined) : 'not-done';
  }
  if (earlier !== undefined && current?.equals(earlier) === true) return 'not-done';
  // A file that is too large to be read was moved and not copied, so it can only have been deleted.
  return isThere && (earlier !== undefined || action.type === 'delete_file') ? change(copy) : 'unclear';

  function change(from: string | undefined): FileChange {
    const stats = from === undefined ? undefined : lstatSync(path.join(project, from));
    // A copy of replaced content has permissions of its own; the file kept those that it had.
    const mode = from !== undefined && after === undefined ? readMode(project, from) : readMode(project, file);
    const digest = earlier === undefined ? undefined : digestBytes(earlier);
    const own = from === undefined ? undefined : { kept: from, bytes: stats?.size ?? 0, mode, digest };
    return {
      path: file,
      before: known === undefined ? own : known.before,
      after: after === undefined ? undefined : { digest: digestBytes(after), mode: readMode(project, file) },
    };
  }
}

/** Undefined for a deletion, and for an edit that does not fit the content. */
function contentAfter(action: ChangingAction, before: Buffer | undefined): Buffer | undefined {
  if (action.type === 'write_file') return Buffer.from(action.content, 'utf8');
  if (action.type !== 'edit_file' || before === undefined) return undefined;
  return Buffer.from(
    before.toString('utf8').replace(action.oldText, () => action.newText),
    'utf8',
  );
}

function digestBytes(bytes: Buffer): string {
  return `sha256:${sha256(bytes)}`;
}

function readMode(project: string, file: string): number {
  return (lstatSync(path.join(project, file), { throwIfNoEntry: false })?.mode ?? 0) & 0o777;
}

/** Copies in the trash from the time of the action on, relative to the project. */
function keptCopies(project: string, file: string, time: string): readonly string[] {
  const from = `${time.slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
  return namesIn(path.join(project, '.agent/trash'))
    .filter((name) => /^\d{8}T\d{6}Z-[0-9a-f]{8}$/.test(name) && name.slice(0, 16) >= from)
    .map((name) => `.agent/trash/${name}/${file}`)
    .filter((copy) => lstatSync(path.join(project, copy), { throwIfNoEntry: false })?.isFile() === true);
}

function bytesAt(file: string): Buffer | undefined {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  return stats?.isFile() === true && stats.size <= MAX_BYTES ? readFileSync(file) : undefined;
}
