/** Puts the files that a record holds into the workspace of the session that continues it. The workspace of the recorded run is gone. */
import { compareText, isSkillError, startsProgram, type Action, type Observation, type RunResult } from '#core';
import { readContent } from '#journal';
import { inConfined, sha256, writeBeneath } from '#platform';
import { resolvePath } from '#project';
import { replacePassage } from '#project/edit-file';
import type { Session } from '#runtime';

/** An action of a record and what it led to. */
export interface RecordedStep {
  readonly action: Action;
  readonly observation?: Observation;
  /** The folder of the record, which keeps results of programs. */
  readonly record: string;
}

/** Paths in the workspace, sorted. */
export interface RestoredFiles {
  readonly restored: readonly string[];
  /** Files whose bytes the record does not hold, for example because it holds no secrets, and files that a rule denies now. */
  readonly lost: readonly string[];
}

const WORKSPACE = 'workspace://';
const NOTHING: RestoredFiles = { restored: [], lost: [] };

/** Writes the last recorded state of each file that a file tool or a program wrote to the workspace. */
export async function restoreFiles(
  { execution, decide }: Pick<Session, 'execution' | 'decide'>,
  steps: readonly RecordedStep[],
): Promise<RestoredFiles> {
  const files = lastStates(steps);
  if (execution === undefined || files.size === 0) return NOTHING;
  const root = await openRoot(execution);
  const write = (name: string, readBytes: ReadBytes): boolean => {
    const shown = `${WORKSPACE}${name}`;
    const bytes = readBytes();
    if (root === undefined || bytes === undefined) return false;
    const placed = resolvePath(shown, { project: root, workspace: root, skills: [] }, 'write');
    if (placed.type === 'refused' || placed.relative === '') return false;
    const access = { tool: 'write_file', subject: { kind: 'path', path: placed.shown } } as const;
    return decide([access]).effect !== 'deny' && writeBeneath(placed.root, placed.relative, bytes).type === 'written';
  };
  const written = [...files].map(([name, readBytes]) => ({ name, isRestored: write(name, readBytes) }));
  const list = (isRestored: boolean): readonly string[] =>
    written
      .filter((file) => file.isRestored === isRestored)
      .map(({ name }) => name)
      .toSorted(compareText);
  return { restored: list(true), lost: list(false) };
}

async function openRoot(execution: NonNullable<Session['execution']>): Promise<string | undefined> {
  try {
    return (await execution.openWorkspace()).place.root;
  } catch (error) {
    if (isSkillError(error)) return undefined;
    throw error;
  }
}

/** Returns undefined if the record does not hold the bytes. */
type ReadBytes = () => Uint8Array | undefined;

const UNKNOWN: ReadBytes = () => undefined;

/**
 * By path in the workspace. A program may delete what an earlier program left, which no record says, so only the results of the last one are
 * known.
 */
function lastStates(steps: readonly RecordedStep[]): ReadonlyMap<string, ReadBytes> {
  const files = new Map<string, ReadBytes>();
  const results = new Set<string>();
  for (const { action, observation, record } of steps) {
    const name = observation === undefined ? undefined : workspaceName(observation);
    if (name !== undefined) results.delete(name);
    if (observation?.type === 'file-written' && name !== undefined) {
      const content = writtenText(action, files.get(name));
      const bytes = typeof content === 'string' ? withDigest(Buffer.from(content), observation.digest) : undefined;
      files.set(name, () => bytes);
    }
    if (observation?.type === 'file-deleted' && name !== undefined) files.delete(name);
    if (startsProgram(action)) {
      for (const earlier of results) files.set(earlier, UNKNOWN);
      results.clear();
    }
    if (observation?.type === 'program-ran' || observation?.type === 'command-seen')
      for (const file of listOutputs(observation.result)) {
        files.set(file.name, () => outputBytes(file, record));
        results.add(file.name);
      }
  }
  return files;
}

/** The record is untrusted, here and below. */
function workspaceName(observation: Observation): string | undefined {
  const path: unknown = 'path' in observation ? observation.path : undefined;
  return typeof path === 'string' && path.startsWith(WORKSPACE) ? path.slice(WORKSPACE.length) : undefined;
}

function writtenText(action: Action, before: ReadBytes | undefined): string | undefined {
  if (action.type === 'write_file') return action.content;
  const bytes = before?.();
  if (action.type !== 'edit_file' || bytes === undefined) return undefined;
  return replacePassage(Buffer.from(bytes).toString('utf8'), action).content;
}

type OutputFile = RunResult['output_files'][number];

/** The primary output is one of the others, and has its content. */
function listOutputs(result: RunResult | undefined): readonly OutputFile[] {
  const { output_files: files, primary_output: primary } = result ?? {};
  return [...(Array.isArray(files) ? files : []), primary].filter(
    (file: OutputFile | null | undefined): file is OutputFile => typeof file?.name === 'string',
  );
}

function outputBytes({ content, digest, size_bytes: bytes }: OutputFile, record: string): Uint8Array | undefined {
  if (typeof digest !== 'string') return undefined;
  const shown = typeof content === 'string' ? withDigest(Buffer.from(content), digest) : undefined;
  if (shown !== undefined) return shown;
  const $ref = `artifacts/${digest.replace(/^sha256:/, '')}`;
  const kept = inConfined(
    record,
    (folder) => readContent(folder, { $ref, bytes }),
    () => ({ type: 'missing' }) as const,
  );
  return kept.type === 'read' ? kept.bytes : undefined;
}

/** A text from which a secret was removed is another file. */
function withDigest(bytes: Buffer, digest: string): Buffer | undefined {
  return `sha256:${sha256(bytes)}` === digest ? bytes : undefined;
}
