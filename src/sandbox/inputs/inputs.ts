/**
 * Stages input files in a workspace before a program runs (EXEC-4). A request is prepared completely in a temporary folder and then moved
 * into place: a failed request changes nothing. Sources and targets are confined; of the host only what the policy allows is read.
 */
import { closeSync, fchmodSync, fchownSync, futimesSync, lchownSync, openSync, symlinkSync, type Stats } from 'node:fs';
import path from 'node:path';

import {
  detectMediaType,
  isSkillError,
  nearest,
  quoted,
  toProblem,
  type Problem,
  type RelativePath,
  type ActionProblem,
  type Action,
  type OfType,
} from '#core';
import {
  copyTree,
  isProgram,
  isSystemError,
  readPieces,
  realPath,
  removeTree,
  findTreeRefusal,
  writeAll,
} from '#platform';
import { checkPlace, parseTarget, placeInput, type PlaceInputOptions } from './input-places.ts';
import {
  openHostInput,
  openInput,
  parsePath,
  parseSource,
  readStart,
  refuseInput,
  type InputStart,
  type OpenedSource,
  type Source,
} from './input-sources.ts';
import { ioFailed, isFreeName, makeTemporary } from '../workspace/layout.ts';
import type { InputRecord } from '../workspace/metadata.ts';
import { listUserFiles, refusedForeignInput, type PrivateArea } from '../workspace/private-area.ts';
import type { Workspace } from '../workspace/workspace.ts';

type InputRequest = NonNullable<OfType<Action, 'run_script'>['inputs']>[number];

export interface InputSources {
  /** Loads an artifact (default: its latest version). Throws `artifact/unknown`. Absent where there is no artifact store. */
  readonly artifact?: (
    name: string,
    version?: number,
  ) => Promise<{ readonly content: Uint8Array; readonly version: number }>;
  /** Whether a path of the host is allowed; called with the given path and with the real one. Absent: no path is. */
  readonly host?: (path: string) => boolean;
  /** Whether a file or folder below a copied folder of the host is left out: secrets and records. Absent: nothing is. */
  readonly isLeftOut?: (folder: string, relative: string) => boolean;
  /** Real paths of host folders that no input comes from. */
  readonly records?: readonly string[];
  /** Returns the snapshot of a skill that is not staged. */
  readonly skill?: (name: string) => Promise<string | undefined>;
}

export interface InputLimits {
  readonly maxInputs: number;
  /** Limits for all inputs together. */
  readonly maxBytes: number;
  readonly maxEntries: number;
}

export const INPUT_LIMITS: InputLimits = { maxInputs: 100, maxBytes: 256 * 1024 * 1024, maxEntries: 10_000 };

/** An input with what its source holds: a link in the workspace does not say. */
interface StagedInput extends InputRecord {
  readonly bytes: number;
  readonly mediaType: string;
}

export type StagedInputs =
  | { readonly type: 'staged'; readonly inputs: readonly StagedInput[]; readonly warnings: readonly string[] }
  | { readonly type: 'failed'; readonly failure: ActionProblem };

export interface StageInputsOptions {
  readonly limits?: InputLimits;
  readonly signal?: AbortSignal;
  /** Puts the inputs into the area of a program that gets secrets, with the files of the user that `mayRead` still allows. */
  readonly area?: Pick<PrivateArea, 'root'>;
  readonly mayRead?: ((file: string) => boolean) | undefined;
}

/** Stages inputs. Throws `io/failed` for disk errors; every other failure is returned. */
export async function stageInputs(
  workspace: Workspace,
  inputs: readonly InputRequest[],
  sources: InputSources,
  { area, mayRead, ...options }: StageInputsOptions = {},
): Promise<StagedInputs> {
  if (area === undefined) return await stageIn(workspace.place.root, workspace, inputs, sources, options);
  const foreign = refusedForeignInput(inputs, workspace);
  if (foreign !== undefined) return { type: 'failed', failure: foreign };
  // What the user gave to the session, from its source: the copy in `work/` may have been changed.
  const files = listUserFiles(workspace.metadata.inputs, mayRead);
  const earlier = await stageIn(area.root, workspace, files, sources, options);
  return earlier.type === 'failed' ? earlier : await stageIn(area.root, workspace, inputs, sources, options);
}

async function stageIn(
  root: string,
  workspace: Workspace,
  inputs: readonly InputRequest[],
  sources: InputSources,
  { limits = INPUT_LIMITS, signal }: StageInputsOptions,
): Promise<StagedInputs> {
  if (inputs.length === 0) return { type: 'staged', inputs: [], warnings: [] };
  const folder = makeTemporary(workspace.base);
  const staging: Staging = {
    workspace,
    root,
    sources,
    folder,
    signal,
    left: { bytes: limits.maxBytes, entries: limits.maxEntries },
    at: new Date().toISOString(),
    warnings: [],
  };
  try {
    if (inputs.length > limits.maxInputs)
      refuseInput(
        'input/invalid',
        `the request has ${String(inputs.length)} inputs; the limit is ${String(limits.maxInputs)}`,
      );
    const ready: PreparedInput[] = [];
    for (const input of inputs) ready.push(await prepareInput(staging, input, path.join(folder, String(ready.length))));
    refuseSameTargets(ready);
    for (const item of ready) checkPlace(item.prepared, placeOptions(staging, item));
    for (const item of ready) placeInput(item.prepared, placeOptions(staging, item));
    const staged = ready.map(({ record }) => record);
    const records = staged.map(({ bytes: _bytes, mediaType: _type, ...record }) => record);
    workspace.note((metadata) => ({ ...metadata, inputs: [...metadata.inputs, ...records] }));
    return { type: 'staged', inputs: staged, warnings: staging.warnings };
  } catch (error) {
    if (isSystemError(error)) throw ioFailed(workspace.place.root, error);
    return { type: 'failed', failure: toProblem(error, isActionProblem) };
  } finally {
    await removeTree(folder);
  }
}

function isActionProblem(problem: Problem): problem is ActionProblem {
  return 'nearest' in problem;
}

interface Staging {
  readonly workspace: Workspace;
  readonly root: string;
  readonly sources: InputSources;
  readonly folder: string;
  readonly signal: AbortSignal | undefined;
  /** Remaining limits. */
  readonly left: { bytes: number; entries: number };
  readonly at: string;
  readonly warnings: string[];
}

interface PreparedInput {
  /** Path in the temporary folder. */
  readonly prepared: string;
  readonly to: RelativePath;
  readonly record: StagedInput;
}

/** An input that is being prepared. */
interface Preparing {
  readonly from: string;
  readonly mode: 'copy' | 'link';
  readonly pin: boolean;
  readonly source: Source;
  readonly to: RelativePath;
  /** Path in the temporary folder. */
  readonly prepared: string;
}

async function prepareInput(staging: Staging, input: InputRequest, prepared: string): Promise<PreparedInput> {
  staging.signal?.throwIfAborted();
  const { from, mode = 'copy', pin = false } = input;
  const source = parseSource(from);
  const to = parseTarget(input.to, { base: source.base, programRoot: staging.workspace.attached.root });
  const preparing = { from, mode, pin, source, to, prepared };
  const { bytes, start, ...found } = await (source.scheme === 'artifact' ? fetchArtifact : fetchFile)(
    staging,
    preparing,
  );
  const { mediaType } = detectMediaType(to, start);
  return { prepared, to, record: { from, to, pin, at: staging.at, ...found, bytes, mediaType } };
}

type ResolvedInput = Pick<InputRecord, 'resolved' | 'mode' | 'version'> & InputStart;

async function fetchArtifact(staging: Staging, preparing: Preparing): Promise<ResolvedInput> {
  const { from, mode, pin, source } = preparing;
  const load = staging.sources.artifact;
  if (load === undefined) refuseInput('artifact/unknown', 'there is no artifact store', { hint: 'use another source' });
  const pinned = pin ? staging.workspace.metadata.inputs.find((record) => record.from === from)?.version : undefined;
  try {
    const { content, version } = await load(source.rest, source.version ?? pinned);
    writePrepared(staging, preparing, content.length, (output) => writeAll(output, content));
    if (mode === 'link') staging.warnings.push(`${quoted(from)} was copied, because artifacts cannot be linked`);
    const resolved = `artifact://${source.rest}@${String(version)}`;
    return { resolved, version, mode: 'copy', bytes: content.length, start: content };
  } catch (error) {
    if (!isSkillError(error) || error.code !== 'artifact/unknown') throw error;
    const near = 'nearest' in error.data ? error.data.nearest : [];
    refuseInput('artifact/unknown', error.message, { hint: error.hint, nearest: near });
  }
}

async function fetchFile(staging: Staging, preparing: Preparing): Promise<ResolvedInput> {
  const { from, mode, source, to, prepared } = preparing;
  const place = source.scheme === 'host' ? undefined : await placeBelow(staging, from, source);
  const opened =
    place === undefined ? openHostInput(from, source.rest, staging.sources) : openInput(from, place.root, place.file);
  try {
    const held = readStart(opened);
    if (mode === 'link' && place?.seen !== undefined) {
      if (to === place.seen || to.startsWith(`${place.seen}/`))
        refuseInput('input/invalid', `${quoted(to)} would be a link to itself`, { hint: 'choose another target' });
      symlinkSync(path.posix.relative(path.posix.dirname(to), place.seen), prepared);
      const owner = staging.workspace.identity;
      if (owner !== undefined) lchownSync(prepared, owner.uid, owner.gid);
      return { resolved: from, mode: 'link', ...held };
    }
    if (mode === 'link')
      staging.warnings.push(`${quoted(from)} was copied, because only files of the workspace can be linked`);
    if (opened.type === 'file') copyFile(staging, preparing, opened);
    else await copyFolder(staging, preparing, opened, place === undefined ? realPath(source.rest) : undefined);
    return { resolved: from, mode: 'copy', ...held };
  } finally {
    closeSync(opened.descriptor);
  }
}

interface SourceLocation {
  readonly root: string;
  readonly file: RelativePath;
  /** Path as programs see it, relative to the workspace. */
  readonly seen?: string;
}

async function placeBelow(staging: Staging, from: string, { scheme, rest }: Source): Promise<SourceLocation> {
  const { place, attached } = staging.workspace;
  const own = rest.startsWith(`${attached.root}/`) ? rest.slice(attached.root.length + 1) : rest;
  const file = parsePath(scheme === 'skill' ? rest : own.replace(/^inputs(?=\/|$)/, 'work/inputs'));
  const [first = '', ...others] = file.split('/');
  if (scheme === 'workspace' && first !== 'skills') {
    if (isFreeName(first)) return { root: place.root, file, seen: file };
    refuseInput('input/not-allowed', `${quoted(from)} is not a file of programs`, {
      hint: 'use a file below work/, out/ or runs/, or an earlier input',
    });
  }
  // Read the skill from its snapshot, because the workspace may contain only a mount point.
  const [name = '', ...below] = scheme === 'skill' ? [first, ...others] : others;
  const staged = place.skills.find((skill) => skill.name === name);
  const root = staged?.snapshot ?? (await staging.sources.skill?.(name));
  if (root === undefined)
    refuseInput('input/not-allowed', `the skill ${quoted(name)} of this input is not in the workspace`, {
      hint: 'use the name of a loaded skill',
      nearest: nearest(
        name,
        place.skills.map((skill) => skill.name),
      ),
    });
  const inside = parsePath(below.join('/'));
  return { root, file: inside, seen: staged === undefined ? undefined : `skills/${name}/${inside}` };
}

/** Names in a warning. */
const MAX_NAMED = 5;

function copyFile(staging: Staging, preparing: Preparing, { descriptor, stats }: OpenedSource): void {
  const fill = (output: number): void =>
    readPieces(preparing.from, { descriptor, size: stats.size }, (bytes) => writeAll(output, bytes));
  try {
    writePrepared(staging, preparing, stats.size, fill, stats);
  } catch (error) {
    const refusal = findTreeRefusal(error);
    if (refusal === undefined) throw error;
    refuseInput('file/changed', refusal.message);
  }
}

const TREE_CODES: Readonly<Record<NonNullable<ReturnType<typeof findTreeRefusal>>['problem'], ActionProblem['code']>> =
  {
    gone: 'file/missing',
    changed: 'file/changed',
    unreadable: 'file/unreadable',
    'not-regular': 'file/not-regular',
    'link-outside': 'path/link-outside',
    'hard-link': 'path/hard-link',
    name: 'path/encoded',
    'too-many': 'file/too-large',
    'too-large': 'file/too-large',
    'too-deep': 'path/too-long',
  };

/** `host` is the path of a folder of the host. */
async function copyFolder(
  staging: Staging,
  { from, prepared }: Preparing,
  opened: OpenedSource,
  host: string | undefined,
): Promise<void> {
  const leftOut = new Set<string>();
  const skip = (relative: string): boolean => {
    const { isLeftOut: isHidden, records = [] } = staging.sources;
    const isLeftOut =
      host !== undefined && (isHidden?.(host, relative) === true || records.includes(path.join(host, relative)));
    if (isLeftOut) leftOut.add(relative);
    return isLeftOut;
  };
  const owner = staging.workspace.identity;
  const copy = (repositoryData: boolean): ReturnType<typeof copyTree> =>
    copyTree(opened.place, {
      to: prepared,
      permissions: 'writable',
      repositoryData,
      skip,
      limits: { maxBytes: staging.left.bytes, maxEntries: staging.left.entries, maxDepth: 32 },
      owner,
      signal: staging.signal,
    });
  const whole = await copy(true);
  if (whole.type === 'refused') await removeTree(prepared);
  const copied = whole.type === 'refused' ? await copy(false) : whole;
  if (copied.type === 'refused')
    refuseInput(TREE_CODES[copied.problem], `${quoted(from)} cannot be copied: ${copied.message}`);
  if (whole.type === 'refused')
    staging.warnings.push(
      `.git was left out of ${quoted(from)}: ${whole.message}; mount the folder to use its history`,
    );
  if (leftOut.size > 0) {
    const more = leftOut.size > MAX_NAMED ? ` and ${String(leftOut.size - MAX_NAMED)} more` : '';
    const named = [...leftOut].slice(0, MAX_NAMED).map((name) => quoted(name));
    staging.warnings.push(
      `left out of ${quoted(from)}, because they hold secrets or records: ${named.join(', ')}${more}`,
    );
  }
  takeRoom(staging, from, { bytes: copied.bytes, entries: copied.files + 1 });
}

/** `stats` are the permissions and times to keep. */
function writePrepared(
  staging: Staging,
  { from, prepared }: Preparing,
  bytes: number,
  fill: (output: number) => void,
  stats?: Stats,
): void {
  takeRoom(staging, from, { bytes, entries: 1 });
  const owner = staging.workspace.identity;
  const output = openSync(prepared, 'wx', 0o600);
  try {
    fill(output);
    if (owner !== undefined) fchownSync(output, owner.uid, owner.gid);
    fchmodSync(output, stats !== undefined && isProgram(stats) ? 0o755 : 0o644);
    if (stats !== undefined) futimesSync(output, stats.atimeMs / 1000, stats.mtimeMs / 1000);
  } finally {
    closeSync(output);
  }
}

function takeRoom({ left }: Staging, from: string, need: { readonly bytes: number; readonly entries: number }): void {
  left.bytes -= need.bytes;
  left.entries -= need.entries;
  if (left.bytes < 0 || left.entries < 0)
    refuseInput('file/too-large', `${quoted(from)} exceeds the limit on the size or number of inputs`, {
      hint: 'request single files or a smaller folder',
    });
}

function refuseSameTargets(ready: readonly PreparedInput[]): void {
  for (const [place, { to }] of ready.entries()) {
    const other = ready.findIndex((item, index) => index < place && (item.to === to || item.to.startsWith(`${to}/`)));
    if (other !== -1)
      refuseInput('input/invalid', `two inputs have the target ${quoted(to)}`, {
        hint: 'use a different target for each input',
      });
  }
}

function placeOptions({ workspace, root, folder }: Staging, { prepared, to }: PreparedInput): PlaceInputOptions {
  const isReplaceable = workspace.metadata.inputs.some((before) => before.to === to);
  const discarded = path.join(folder, `discarded-${path.basename(prepared)}`);
  return { root, to, owner: workspace.identity, isReplaceable, discarded };
}
