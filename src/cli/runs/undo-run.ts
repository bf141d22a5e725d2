/** `runs undo`: restores the files of the project that a run changed. */
import path from 'node:path';

import { compareText } from '../../core/diagnostic.ts';
import { readRun } from '../../journal/journal-reader.ts';
import type { ReadRun } from '../../journal/journal-reader.ts';
import { listRuns, runLife } from '../../journal/run-folder.ts';
import { verifyRun } from '../../journal/verify.ts';
import type { Observation } from '../../core/observation.ts';
import { countText } from '../../core/text/line-text.ts';
import { printable } from '../../core/text/text.ts';
import { readSealKey } from '../../platform/fs/seal-key.ts';
import { fileChanges, undoFiles } from '../../runtime/undo-files.ts';
import type { FileChange, UndoneFile } from '../../runtime/undo-files.ts';
import type { Flag, Invocation } from '../command.ts';
import { EXIT } from '../exit.ts';
import { surroundingsFor } from '../surroundings.ts';
import { reportProblem } from '../terminal/terminal.ts';

type UndoInvocation = Invocation<{ readonly 'dry-run': Flag & { readonly type: 'boolean' } }>;

export function undoRun({ flags: given, terminal }: UndoInvocation, place: string): number {
  const { cwd, home } = surroundingsFor(given);
  const sealKey = home === undefined ? undefined : readSealKey(home);
  const { status } = verifyRun(place, sealKey === undefined ? {} : { sealKey });
  const run = readRun(place);
  const problem = problemOf(run, status);
  const runs = [run, ...subagentsOf(run)];
  if (problem !== undefined) {
    reportProblem(terminal, problem);
    return EXIT.failed;
  }
  const changes = fileChanges(observationsOf(runs));
  const files = given['dry-run'] === true ? changes.map(plannedUndo) : undoFiles(cwd, changes);
  if (!terminal.printJson({ run: run.info.run, files })) terminal.out(undoneLines(files));
  if (files.length === 0) terminal.remark('the run changed no file of the project');
  return files.some(({ result }) => result === 'conflict') ? EXIT.failed : EXIT.done;
}

function problemOf({ info }: ReadRun, status: string): { readonly message: string; readonly hint: string } | undefined {
  if (status === 'tampered' || status === 'unreadable')
    return {
      message: `the record of run ${info.run} is ${status}; no file was changed`,
      hint: `see skillwright runs verify ${info.run}; deleted and replaced files are in .agent/trash`,
    };
  if (runLife(info) === 'running')
    return { message: `run ${info.run} is still running; no file was changed`, hint: 'stop it first' };
  return undefined;
}

/** The recorded runs of subagents, at any depth. */
function subagentsOf({ path: place, info }: ReadRun): readonly ReadRun[] {
  const children = listRuns(path.dirname(place)).filter(
    ({ reading }) => reading.type === 'run' && reading.info.parent === info.run,
  );
  return children.flatMap((child) => {
    const run = readRun(child.path);
    return [run, ...subagentsOf(run)];
  });
}

/** In the order of time, because subagents change the same files. */
function observationsOf(runs: readonly ReadRun[]): readonly Observation[] {
  const timed = runs.flatMap(({ lines }) =>
    [...lines].flatMap(({ time, event }) =>
      event.type === 'observation' && event.observation.type.startsWith('file-')
        ? [{ time, observation: event.observation }]
        : [],
    ),
  );
  const isOne = runs.length === 1;
  const ordered = isOne ? timed : timed.toSorted((a, b) => compareText(a.time, b.time));
  return ordered.map(({ observation }) => observation);
}

function plannedUndo({ path, before }: FileChange): UndoneFile {
  return { path, result: before === undefined ? 'removed' : 'restored' };
}

/** One line per file, and how many were restored. */
export function undoneLines(files: readonly UndoneFile[]): readonly string[] {
  if (files.length === 0) return [];
  const kept = files.filter(({ result }) => result === 'conflict').length;
  const left = kept === 0 ? '' : `; ${countText(kept, 'file')} left alone`;
  return [
    ...files.map(({ path, result, reason }) =>
      result === 'conflict'
        ? `left alone  ${printable(path)}: ${printable(reason ?? '')}`
        : `${result.padEnd(10)}  ${printable(path)}`,
    ),
    `${countText(files.length - kept, 'file')} as before the run${left}`,
  ];
}
