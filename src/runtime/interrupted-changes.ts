/**
 * Finds out whether an action changed a file although its outcome was not recorded, because the run was killed. Replaced and deleted
 * content is in the trash before anything changes, under the time of the action.
 */
import { lstatSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

import type { Action } from '#core';
import { sha256, quietly } from '#platform';
import type { FileChange } from './file-changes.ts';
import type { UndoneFile } from './undo-files.ts';

export type ChangingAction = Extract<Action, { readonly type: 'write_file' | 'edit_file' | 'delete_file' }>;

export interface InterruptedAction {
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
    const left = after === undefined ? {} : { after: { digest: digestBytes(after), mode: readMode(project, file) } };
    const stats = from === undefined ? undefined : lstatSync(path.join(project, from));
    // A copy of replaced content has permissions of its own; the file kept those that it had.
    const mode = from !== undefined && after === undefined ? readMode(project, from) : readMode(project, file);
    const digest = earlier === undefined ? {} : { digest: digestBytes(earlier) };
    const own = from === undefined ? {} : { before: { kept: from, bytes: stats?.size ?? 0, mode, ...digest } };
    return { path: file, ...(known === undefined ? own : known.before && { before: known.before }), ...left };
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
  return foldersIn(path.join(project, '.agent/trash'))
    .filter((name) => /^\d{8}T\d{6}Z-[0-9a-f]{8}$/.test(name) && name.slice(0, 16) >= from)
    .map((name) => `.agent/trash/${name}/${file}`)
    .filter((copy) => lstatSync(path.join(project, copy), { throwIfNoEntry: false })?.isFile() === true);
}

function foldersIn(folder: string): readonly string[] {
  return quietly(() => readdirSync(folder), []);
}

function bytesAt(file: string): Buffer | undefined {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  return stats?.isFile() === true && stats.size <= MAX_BYTES ? readFileSync(file) : undefined;
}
