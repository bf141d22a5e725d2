/** `runs undo`: restores the files of the project that a run changed. */
import { isUtf8 } from 'node:buffer';
import path from 'node:path';

import { countText, diffLines, printable, toRelativePath } from '#core';
import {
  isRunId,
  projectOfRun,
  readRun,
  verifyChain,
  verifyRun,
  type ChainKeys,
  type ChainVerification,
  type ReadRun,
} from '#journal';
import { namesIn, readSealKey, realPath, removeLeftovers } from '#platform';
import { readResolved, resolvePath } from '#project';
import {
  recordedChanges,
  undoFiles,
  withInterrupted,
  type RecordedChanges,
  type UndoneFile,
  type UnusableSubagent,
} from '#runtime';
import type { Flag, Invocation } from '../command.ts';
import { EXIT } from '../exit.ts';
import { surroundingsFor } from '../surroundings.ts';
import { reportProblem } from '../terminal/terminal.ts';

type UndoInvocation = Invocation<{ readonly 'dry-run': Flag & { readonly type: 'boolean' } }>;

/** `directory` is where the current project records its runs. */
export function undoRun({ flags: given, terminal }: UndoInvocation, place: string, directory: string): number {
  const { cwd, home } = surroundingsFor(given);
  const sealKey = home === undefined ? undefined : readSealKey(home);
  const keys = { home, sealKey };
  const { problems } = verifyChain(path.dirname(place), keys);
  const check = recordCheck(problems, keys);
  const run = readRun(place);
  const problem = findUndoProblem(run, check(place));
  if (problem !== undefined) {
    reportProblem(terminal, problem);
    return EXIT.failed;
  }
  const recorded = recordedChanges(run, check);
  const [unusable] = recorded.unusable;
  if (unusable !== undefined) {
    reportProblem(terminal, subagentProblem(run, unusable));
    return EXIT.failed;
  }
  const { seal } = verifyRun(place, { sealKey });
  const isCopied = problems.some(({ code, run: id }) => code === UNLISTED && id === path.basename(place));
  const project = projectOfRun(run.info, { folder: place, cwd, directory, isSealed: seal === 'good', isCopied });
  if (project === undefined) {
    reportProblem(terminal, unknownProject(run, recorded.changes));
    return EXIT.impossible;
  }
  const { changes, unclear } = withInterrupted(project, recorded);
  const dryRun = given['dry-run'] === true;
  if (!dryRun) removeKilledCopies(project, recorded, run.info.startedAt);
  const files = [...undoFiles(project, changes, { dryRun }), ...unclear];
  if (!terminal.printJson({ run: run.info.run, project, dryRun, files })) {
    if (project !== realPath(cwd)) terminal.remark(`in ${printable(project)}`);
    terminal.out(undoneLines(files, { project, dryRun }));
  }
  if (files.length === 0) terminal.remark('the run changed no file of the project');
  const earlier = resumedRun(run);
  if (earlier !== undefined)
    terminal.remark(`it continues run ${earlier}, which is undone by: skillwright runs undo ${earlier}`);
  return files.some(({ result }) => result === 'conflict') ? EXIT.failed : EXIT.done;
}

const UNLISTED = 'chain/run-unlisted';

/** The run that a run continues. */
function resumedRun({ lines }: ReadRun): string | undefined {
  for (const { event } of lines) {
    const named = event.type === 'run-start' ? event.agent?.resumes?.run : undefined;
    return named !== undefined && isRunId(named) ? named : undefined;
  }
  return undefined;
}

interface UndoProblem {
  readonly message: string;
  readonly hint: string;
}

/** Says why the changes in a record must not be undone: a changed record names files that the run did not touch, or leaves some out. */
function recordCheck(problems: ChainVerification['problems'], keys: ChainKeys): (folder: string) => string | undefined {
  // A record that was copied here is not in the chain; it is verified by itself.
  const changed = problems.filter(({ code }) => code !== UNLISTED);
  return (folder) => {
    const { status } = verifyRun(folder, { sealKey: keys.sealKey });
    if (status === 'tampered' || status === 'unreadable') return status;
    return changed.some(({ run }) => run === path.basename(folder)) ? 'tampered' : undefined;
  };
}

function findUndoProblem({ info, state }: ReadRun, problem: string | undefined): UndoProblem | undefined {
  if (problem !== undefined)
    return {
      message: `the record of run ${info.run} is ${problem}; no file was changed`,
      hint: `see skillwright runs verify ${info.run}; deleted and replaced files are in .agent/trash`,
    };
  if (state === 'running')
    return { message: `run ${info.run} is still running; no file was changed`, hint: 'stop it first' };
  return undefined;
}

/** Without the changes of one subagent, those of the others may not be the last ones. */
function subagentProblem({ info }: ReadRun, { run, problem }: UnusableSubagent): UndoProblem {
  return {
    message: `the record of subagent ${run === '' ? 'without an id' : run} of run ${info.run} is ${problem}; no file was changed`,
    hint: `${problem === 'missing' ? 'put its folder back' : `see skillwright runs verify ${run}`}; deleted and replaced files are in .agent/trash`,
  };
}

/** Removes unfinished copies that a killed undo, or the killed run, left beside the files and in the trash. */
function removeKilledCopies(project: string, { changes, interrupted }: RecordedChanges, startedAt: string): void {
  const files = [...changes.map((change) => change.path), ...interrupted.map(({ action }) => action.path)];
  const trash = '.agent/trash';
  const from = `${startedAt.slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
  const kept = namesIn(path.join(project, trash)).filter((name) => name >= from);
  const folders = new Set(files.map((file) => path.posix.dirname(file)));
  for (const folder of [
    trash,
    ...[...folders].flatMap((one) => [one, ...kept.map((name) => `${trash}/${name}/${one}`)]),
  ]) {
    const read = toRelativePath(path.posix.normalize(folder));
    if (folder === '.') removeLeftovers(project, '');
    else if (read.type !== 'refused') removeLeftovers(project, read.path);
  }
}

function unknownProject({ info }: ReadRun, changes: readonly { readonly path: string }[]): UndoProblem {
  const names = changes.slice(0, 10).map((change) => printable(change.path));
  const more = changes.length > names.length ? ` and ${String(changes.length - names.length)} more` : '';
  return {
    message: `run ${info.run} did not work in this folder; no file was changed. It changed ${names.join(', ') || 'no file'}${more}`,
    hint: `run this command in its project${info.project === undefined ? '' : `, ${printable(info.project)}`}`,
  };
}

/** One line per file, how many are as before, and both versions of a file that was left alone. */
export function undoneLines(
  files: readonly UndoneFile[],
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

function conflictLines(file: UndoneFile, project: string | undefined): readonly string[] {
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
const MARKS = { same: ' ', removed: '-', added: '+' } as const;

/** `-` are lines of the other author, `+` those that undo would write. */
function differenceLines(yours: string | undefined, earlier: string | undefined): readonly string[] {
  if (yours === undefined || earlier === undefined) return [];
  const lines = diffLines(yours, earlier).hunks.flatMap((hunk) => hunk.lines);
  const left = lines.length - MAX_SHOWN_LINES;
  return [
    ...lines.slice(0, MAX_SHOWN_LINES).map(({ kind, text }) => `    ${MARKS[kind]} ${printable(text)}`),
    ...(left > 0 ? [`    … ${countText(left, 'more line')}`] : []),
  ];
}

/** Undefined for a file that is not a text, or too large to be shown. */
function textAt(project: string, file: string): string | undefined {
  const placed = resolvePath(file, { project, skills: [] }, 'read');
  const read = placed.type === 'resolved' ? readResolved(placed, MAX_SHOWN_BYTES) : undefined;
  return read?.type === 'read' && isUtf8(read.bytes) ? read.bytes.toString('utf8') : undefined;
}
