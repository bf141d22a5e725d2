/** `runs undo`: restores the files of the project that a run changed. */
import { isUtf8 } from 'node:buffer';
import path from 'node:path';

import { countText, diffLines, isProblem, printable, type Problem } from '#core';
import { isPresent, realPath } from '#platform';
import { readResolved, resolvePath } from '#project';
import { undoRun as undoRecorded, type fileChanges } from '#runtime';
import type { Flag, Invocation } from '../command.ts';
import { EXIT } from '../exit.ts';
import { reportProblem } from '../terminal/terminal.ts';

type FileChange = ReturnType<typeof fileChanges>[number];
type UndoneFiles = Exclude<ReturnType<typeof undoRecorded>, Problem>['files'];

type UndoInvocation = Invocation<{ readonly 'dry-run': Flag & { readonly type: 'boolean' } }>;

/** `directory` is where the current project records its runs. */
export function undoRun(invocation: UndoInvocation, folder: string, directory: string): number {
  const { flags, terminal, surroundings } = invocation;
  const dryRun = flags['dry-run'] === true;
  const undone = undoRecorded(folder, { ...surroundings, directory, dryRun });
  if (isProblem(undone)) {
    reportProblem(terminal, { message: undone.message, hint: undone.hint });
    return undone.code === 'run/elsewhere' ? EXIT.impossible : EXIT.failed;
  }
  const { run, project, files, continues } = undone;
  if (!terminal.printJson({ run, project, dryRun, files })) {
    if (project !== realPath(surroundings.cwd)) terminal.remark(`in ${printable(project)}`);
    terminal.out(undoneLines(files, { project, dryRun }));
  }
  if (files.length === 0) terminal.remark('the run changed no file of the project');
  if (continues !== undefined)
    terminal.remark(`it continues run ${continues}, which is undone by: skillwright runs undo ${continues}`);
  return files.some(({ result }) => result === 'conflict') ? EXIT.failed : EXIT.done;
}

/** One line per file, how many are as before, and both versions of a file that was left alone. */
export function undoneLines(
  files: UndoneFiles,
  { project, dryRun = false }: { readonly project?: string | undefined; readonly dryRun?: boolean } = {},
): readonly string[] {
  if (files.length === 0) return [];
  const kept = files.filter(({ result }) => result === 'conflict').length;
  const left = kept === 0 ? '' : `; ${countText(kept, 'file')} left alone`;
  return [
    ...files.flatMap((file) =>
      file.result === 'conflict'
        ? conflictLines(file, project)
        : [
            `${file.result.padEnd(10)}  ${printable(file.path)}${file.reason === undefined ? '' : ` ${printable(file.reason)}`}`,
          ],
    ),
    `${countText(files.length - kept, 'file')} ${dryRun ? 'would be ' : ''}as before the run${left}`,
  ];
}

function conflictLines(file: UndoneFiles[number], project: string | undefined): readonly string[] {
  const { path: name, reason = '', yours, earlier } = file;
  return [
    `left alone  ${printable(name)}: ${printable(reason)}`,
    ...(yours === undefined ? [] : [`  yours: ${printable(yours)}`]),
    ...(yours === undefined && earlier === undefined
      ? []
      : [`  undo would ${earlier === undefined ? 'remove it' : `write: ${printable(earlier)}`}`]),
    ...(project === undefined || yours === undefined || earlier === undefined
      ? []
      : differenceLines(textAt(project, yours), textAt(project, earlier))),
  ];
}

const MAX_SHOWN_BYTES = 256 * 1024;
const MAX_SHOWN_LINES = 40;
const MAX_DIFF_LINES = 400;
const MARKS = { same: ' ', removed: '-', added: '+' } as const;

/** `-` are lines of the other author, `+` those that undo would write. */
function differenceLines(yours: string | undefined, earlier: string | undefined): readonly string[] {
  if (yours === undefined || earlier === undefined) return [];
  return shownLines(diffLines(yours, earlier), MAX_SHOWN_LINES).map((line) => `    ${line}`);
}

function shownLines({ hunks }: ReturnType<typeof diffLines>, most: number): readonly string[] {
  const lines = hunks.flatMap((hunk) => hunk.lines);
  const left = lines.length - most;
  return [
    ...lines.slice(0, most).map(({ kind, text }) => `${MARKS[kind]} ${printable(text)}`),
    ...(left > 0 ? [`… ${countText(left, 'more line')}`] : []),
  ];
}

/** How a file differs now from what it was before a change; undefined if it is as before. */
export function changeLines(
  { path: file, before }: FileChange,
  project: string,
): { readonly title: string; readonly lines: readonly string[] } | undefined {
  const earlier = before === undefined ? '' : before.kept === undefined ? undefined : textAt(project, before.kept);
  const isThere = isPresent(path.join(project, file));
  const now = isThere ? textAt(project, file) : '';
  if (earlier === now && (before !== undefined) === isThere) return undefined;
  const state = before === undefined ? ' (new)' : isThere ? '' : ' (deleted)';
  if (earlier === undefined || now === undefined)
    return { title: `${printable(file)}${state}: no text, or too large to compare`, lines: [] };
  const diff = diffLines(earlier, now);
  return {
    title: `${printable(file)}${state} +${String(diff.added)} -${String(diff.removed)}`,
    lines: shownLines(diff, MAX_DIFF_LINES),
  };
}

/** Undefined for a file that is not a text, or too large to be shown. */
function textAt(project: string, file: string): string | undefined {
  const placed = resolvePath(file, { project, skills: [] }, 'read');
  const read = placed.type === 'resolved' ? readResolved(placed, MAX_SHOWN_BYTES) : undefined;
  return read?.type === 'read' && isUtf8(read.bytes) ? read.bytes.toString('utf8') : undefined;
}
