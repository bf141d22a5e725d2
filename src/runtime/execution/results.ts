/** The files that the programs of a session leave for a person: everything in `out/`, and what is new or changed beside the inputs. */
import { compareText, compileGlob, printable, toRelativePath, type RelativePath } from '#core';
import { openConfined, type ConfinedDirectory } from '#platform';
import { MEANINGS, walkOutputs, WorkspaceFolders } from '#sandbox';
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
  /** The program meant it as a result: copying the rest would look like all of them. */
  readonly isMissed: boolean;
}

export interface Results {
  /** Sorted by name. */
  readonly files: readonly ResultFile[];
  readonly leftOut: readonly LeftOutFile[];
}

const OUT_FOLDER = 'out/';
export const MAX_RESULT_FILES = 10_000;
const MAX_FILE_BYTES = 64 * 1024 * 1024;
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
    const results = [...names, ...changed.toSorted(compareText)].map((name) => readResult(directory, name, names));
    return {
      files: results.flatMap((result) => ('bytes' in result ? [result] : [])),
      leftOut: [...leftOut, ...results.flatMap((result) => ('reason' in result ? [result] : []))],
    };
  } finally {
    directory.close();
  }
}

const MAX_NAMED = 100;
const NOT_STORED = 'output not stored: ';

/** A note for the record about each file of `out/` that is missing from the results. */
export function leftOutNotes(leftOut: readonly Omit<LeftOutFile, 'isMissed'>[]): readonly string[] {
  const more = leftOut.length - MAX_NAMED;
  return [
    ...leftOut.slice(0, MAX_NAMED).map(({ name, reason }) => `${NOT_STORED}${printable(name)} (${reason})`),
    ...(more > 0 ? [`${NOT_STORED}${String(more)} more files`] : []),
  ];
}

/** Whether a note of a record was made by `leftOutNotes`. */
export function isLeftOutNote(message: string): boolean {
  return message.startsWith(NOT_STORED);
}

async function listOut(
  root: string,
): Promise<{ readonly names: readonly string[]; readonly leftOut: readonly LeftOutFile[] }> {
  const folders = new WorkspaceFolders(root);
  try {
    const walked = await walkOutputs(folders, [compileGlob(`${OUT_FOLDER}**`, { hidden: true })], {
      maxKept: MAX_RESULT_FILES,
      maxDepth: MAX_DEPTH,
      maxNames: MAX_NAMES,
    });
    const more = walked.fileCount - walked.files.length;
    const tools = walked.files.filter((name) => TOOL_FOLDER.test(name));
    return {
      names: walked.files.filter((name) => !TOOL_FOLDER.test(name)),
      leftOut: [
        ...walked.irregular.map(({ name, reason }) => ({
          name,
          reason: MEANINGS[reason],
          isMissed: reason === 'name' || reason === 'too-deep' || reason === 'unreadable',
        })),
        ...(tools.length === 0
          ? []
          : [
              {
                name: `${String(tools.length)} files`,
                reason: 'in folders named .git or node_modules',
                isMissed: false,
              },
            ]),
        ...(more > 0 || walked.isCut
          ? [
              {
                name: walked.isCut ? 'the rest of out/' : `${String(more)} more files`,
                reason: `out/ has more than ${String(MAX_RESULT_FILES)} files`,
                isMissed: true,
              },
            ]
          : []),
      ],
    };
  } finally {
    folders.close();
  }
}

function readResult(directory: ConfinedDirectory, name: string, others: readonly string[]): ResultFile | LeftOutFile {
  const missed = (reason: string): LeftOutFile => ({ name, reason, isMissed: true });
  const from = toRelativePath(name);
  const short = name.startsWith(OUT_FOLDER) ? name.slice(OUT_FOLDER.length) : name.slice('work/'.length);
  const isTaken = !name.startsWith(OUT_FOLDER) && others.includes(`${OUT_FOLDER}${short}`);
  const target = toRelativePath(isTaken ? name : short);
  if (from.type === 'refused' || target.type === 'refused') return missed(MEANINGS.name);
  const file = directory.read(from.path, { maxBytes: MAX_FILE_BYTES });
  if (file.type === 'failed') return missed(file.detail ?? file.code);
  return { name: target.path, bytes: file.bytes, isExecutable: file.isExecutable };
}
