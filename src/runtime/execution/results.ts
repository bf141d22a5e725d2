/** The files that the programs of a session leave for a person: everything in `out/`, and what is new or changed beside the inputs. */
import {
  listParentFolders,
  compareText,
  countText,
  fileProblemText,
  SKIP_MEANINGS,
  toRelativePath,
  type RelativePath,
  isProblem,
} from '#core';
import { openConfined, type ConfinedDirectory, type OpenFailed } from '#platform';
import { writeProtection } from '#policy';
import { listOutputs } from '#sandbox';
import type { Session } from '../session.ts';

export interface ResultFile {
  /** Relative to the folder that results are copied to. */
  readonly name: RelativePath;
  readonly bytes: Buffer;
  readonly isExecutable: boolean;
}

export interface LeftOutFile {
  /** Safe to print. */
  readonly name: string;
  readonly reason: string;
  /** The program meant it as a result: the rest is not all of them. */
  readonly isMissed: boolean;
}

export interface Results {
  /** Sorted by name. */
  readonly files: readonly ResultFile[];
  readonly leftOut: readonly LeftOutFile[];
}

const OUT_FOLDER = 'out/';
const WORK_FOLDER = 'work/';
const MAX_RESULT_FILES = 10_000;
export const MAX_FILE_BYTES = 64 * 1024 * 1024;
const MAX_DEPTH = 32;
const MAX_NAMES = 100_000;
/** Folders of other tools, which no program of a skill fills with results. */
const TOOL_FOLDER = /(?:^|\/)(?:\.git|node_modules)(?:\/|$)/;

/** Reads the results of a session; empty if no program has run. */
export async function readResults({ execution }: Pick<Session, 'execution'>): Promise<Results> {
  const workspace = execution?.usedWorkspace();
  if (workspace === undefined || execution === undefined) return { files: [], leftOut: [] };
  const { root } = workspace.place;
  const opening = openConfined(root);
  if (opening.type === 'failed') return { files: [], leftOut: [] };
  const { directory } = opening;
  try {
    const { names, leftOut } = await listOut(root);
    const changed = [...execution.changedInputs].filter((name) => !TOOL_FOLDER.test(name));
    const targets = freeNames(names, changed.toSorted(compareText));
    const results = [...targets].map(([name, target]) => readResult(directory, name, target));
    return {
      files: results.flatMap((result) => ('bytes' in result ? [result] : [])),
      leftOut: [...leftOut, ...results.flatMap((result) => ('reason' in result ? [result] : []))],
    };
  } finally {
    directory.close();
  }
}

async function listOut(
  root: string,
): Promise<{ readonly names: readonly string[]; readonly leftOut: readonly LeftOutFile[] }> {
  const limits = { maxKept: MAX_RESULT_FILES, maxDepth: MAX_DEPTH, maxNames: MAX_NAMES };
  const { files, fileCount, irregular, isCut } = await listOutputs(root, OUT_FOLDER, limits);
  const more = fileCount - files.length;
  const tools = files.filter((name) => TOOL_FOLDER.test(name));
  const leftOut: LeftOutFile[] = irregular.map(({ name, reason }) => ({
    name,
    reason: SKIP_MEANINGS[reason],
    isMissed: reason === 'name' || reason === 'too-deep' || reason === 'unreadable',
  }));
  if (tools.length > 0) {
    const reason = 'in folders named .git or node_modules';
    leftOut.push({ name: countText(tools.length, 'file'), reason, isMissed: false });
  }
  if (more > 0 || isCut) {
    const reason = `out/ has more than ${String(MAX_RESULT_FILES)} files`;
    leftOut.push({ name: isCut ? 'the rest of out/' : countText(more, 'more file'), reason, isMissed: true });
  }
  return { names: files.filter((name) => !TOOL_FOLDER.test(name)), leftOut };
}

/**
 * The name of each file in the folder that results are copied to. A changed input whose name, or a folder of it, is taken by a file of `out/`
 * keeps its folder of the workspace, or gets one with a number.
 */
function freeNames(names: readonly string[], changed: readonly string[]): ReadonlyMap<string, string> {
  const targets = new Map(names.map((name) => [name, name.slice(OUT_FOLDER.length)]));
  const files = new Set(targets.values());
  const folders = new Set([...files].flatMap(listParentFolders));
  const isFree = (name: string): boolean =>
    !files.has(name) && !folders.has(name) && listParentFolders(name).every((folder) => !files.has(folder));
  for (const name of changed) {
    const short = name.slice(WORK_FOLDER.length);
    let target = [short, name].find(isFree);
    for (let count = 2; target === undefined; count += 1) {
      const numbered = `work-${String(count)}/${short}`;
      if (isFree(numbered)) target = numbered;
    }
    targets.set(name, target);
  }
  return targets;
}

function readResult(directory: ConfinedDirectory, name: string, short: string): ResultFile | LeftOutFile {
  const missed = (reason: string): LeftOutFile => ({ name, reason, isMissed: true });
  const from = toRelativePath(name);
  const target = toRelativePath(short);
  if (isProblem(from) || isProblem(target)) return missed(SKIP_MEANINGS.name);
  if (isNeverResult(target)) return missed('other tools run what is at this path');
  const file = directory.read(from, { maxBytes: MAX_FILE_BYTES });
  if (file.type === 'failed') return missed(leftOutReason(file));
  return { name: target, bytes: file.bytes, isExecutable: file.isExecutable };
}

function leftOutReason({ code, detail }: OpenFailed): string {
  if (code === 'file/too-large') return `it is larger than ${String(MAX_FILE_BYTES / 1024 / 1024)} MiB`;
  if (code === 'path/hard-link') return SKIP_MEANINGS['hard-link'];
  return detail === 'EACCES' || detail === 'EPERM'
    ? 'its permissions do not allow reading it'
    : `it ${fileProblemText({ code, detail })}`;
}

/** Whether results are never written to a path, not even with an approval. */
export function isNeverResult(target: string): boolean {
  return writeProtection(target) === 'never';
}
