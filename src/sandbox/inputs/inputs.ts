/**
 * Bringing files into a workspace before a program runs (EXEC-4). All of a request is made ready aside and then moved to its places:
 * a request that fails has changed nothing. Contained at both ends; of the host only what policy allows.
 */
import { closeSync, fchmodSync, fchownSync, futimesSync, lchownSync, openSync, symlinkSync, writeSync } from 'node:fs';
import path from 'node:path';

import type { InputRequest } from '../../core/action.ts';
import { isSkillError } from '../../core/errors.ts';
import type { Identity } from '../../core/execution.ts';
import type { FailureCode } from '../../core/failure-codes.ts';
import { nearest } from '../../core/nearest.ts';
import type { RelativePath } from '../../core/path.ts';
import { quoted } from '../../core/text/text.ts';
import { copyTree } from '../../platform/fs/copy-tree.ts';
import { isSystemError } from '../../platform/fs/paths.ts';
import { removeTree } from '../../platform/fs/remove-tree.ts';
import { isProgram } from '../../platform/fs/tree-digest.ts';
import { readPieces } from '../../platform/fs/tree-file.ts';
import { TreeRefused } from '../../platform/fs/tree-walk.ts';
import type { TreeProblem } from '../../platform/fs/tree-walk.ts';
import { putInput, readPlace, refusePlace } from './input-places.ts';
import type { PlaceOptions } from './input-places.ts';
import { InputRefused, openHostInput, openInput, readPath, refuseInput } from './input-sources.ts';
import type { InputFailure, OpenedSource } from './input-sources.ts';
import { ioFailed, makeTemporary } from '../workspace/layout.ts';
import type { InputRecord } from '../workspace/metadata.ts';
import type { Workspace } from '../workspace/workspace.ts';

export interface InputSources {
  /** The latest version where none is named. Throws `artifact/unknown`; absent where there are no artifacts. */
  readonly artifact?: (
    name: string,
    version?: number,
  ) => Promise<{ readonly content: Uint8Array; readonly version: number }>;
  /** Whether a path of the host may be used; absent: none. Asked with the path as given and with the real one. */
  readonly host?: (path: string) => boolean;
  /** Folder of a read-only copy of a skill that is not staged; the staged ones are known. */
  readonly skill?: (name: string) => Promise<string | undefined>;
}

export interface InputLimits {
  readonly maxInputs: number;
  /** Of all inputs together. */
  readonly maxBytes: number;
  readonly maxEntries: number;
}

export const INPUT_LIMITS: InputLimits = { maxInputs: 100, maxBytes: 256 * 1024 * 1024, maxEntries: 10_000 };

export type StagedInputs =
  | { readonly type: 'staged'; readonly inputs: readonly InputRecord[]; readonly warnings: readonly string[] }
  | { readonly type: 'failed'; readonly failure: InputFailure };

export interface StageInputsOptions {
  readonly limits?: InputLimits;
  readonly now?: () => number;
  readonly signal?: AbortSignal;
}

/** Stages inputs. Throws `io/failed` where the disk refuses; everything else that can go wrong is a value. */
export async function stageInputs(
  workspace: Workspace,
  inputs: readonly InputRequest[],
  sources: InputSources,
  { limits = INPUT_LIMITS, now = Date.now, signal }: StageInputsOptions = {},
): Promise<StagedInputs> {
  if (inputs.length === 0) return { type: 'staged', inputs: [], warnings: [] };
  const aside = makeTemporary(workspace.base);
  const staging: Staging = {
    workspace,
    sources,
    aside,
    signal,
    left: { bytes: limits.maxBytes, entries: limits.maxEntries },
    at: new Date(now()).toISOString(),
    warnings: [],
  };
  try {
    if (inputs.length > limits.maxInputs)
      throw refuseInput('', 'input/invalid', `there are more than ${String(limits.maxInputs)} inputs`);
    const ready: Ready[] = [];
    for (const input of inputs) ready.push(await makeReady(staging, input, path.join(aside, String(ready.length))));
    refuseSamePlaces(ready);
    for (const item of ready) refusePlace(item.made, placeOptions(staging, item));
    for (const item of ready) putInput(item.made, placeOptions(staging, item));
    const records = ready.map(({ record }) => record);
    workspace.note((metadata) => ({ ...metadata, inputs: [...metadata.inputs, ...records] }));
    return { type: 'staged', inputs: records, warnings: staging.warnings };
  } catch (error) {
    if (error instanceof InputRefused) return { type: 'failed', failure: error.failure };
    if (isSystemError(error)) throw ioFailed(workspace.place.root, error);
    throw error;
  } finally {
    await removeTree(aside);
  }
}

interface Staging {
  readonly workspace: Workspace;
  readonly sources: InputSources;
  readonly aside: string;
  readonly signal: AbortSignal | undefined;
  /** What may still be brought in. */
  readonly left: { bytes: number; entries: number };
  readonly at: string;
  readonly warnings: string[];
}

interface Ready {
  /** Made aside. */
  readonly made: string;
  readonly to: RelativePath;
  readonly record: InputRecord;
}

async function makeReady(staging: Staging, input: InputRequest, made: string): Promise<Ready> {
  staging.signal?.throwIfAborted();
  const source = readSource(input.from);
  const seenRoot = staging.workspace.attached.root;
  const to = readPlace(input.from, input.to, { base: source.base, seenRoot });
  const found =
    source.scheme === 'artifact'
      ? await fetchArtifact(staging, input, source, made)
      : await fetchFile(staging, input, { source, to, made });
  const { from, pin = false } = input;
  return { made, to, record: { from, to, pin, at: staging.at, ...found } };
}

type Found = Pick<InputRecord, 'resolved' | 'mode' | 'version'>;

interface Source {
  readonly scheme: 'artifact' | 'host' | 'workspace' | 'skill';
  /** What follows the scheme. */
  readonly rest: string;
  /** The last name of it. */
  readonly base: string;
  readonly version?: number;
}

const SCHEME = /^(artifact|host|workspace|skill):\/\/(.*)$/su;

function readSource(from: string): Source {
  const [, scheme, rest = ''] = SCHEME.exec(from) ?? [];
  const isKnown = scheme === 'artifact' || scheme === 'host' || scheme === 'workspace' || scheme === 'skill';
  if (!isKnown)
    throw refuseInput(from, 'input/invalid', `${quoted(from)} names no source`, {
      hint: 'write artifact://name, host:///path, workspace://path or skill://name/path',
      nearest: nearest(from.split(':')[0] ?? '', ['artifact', 'host', 'workspace', 'skill']),
    });
  const [, name = '', version] =
    scheme === 'artifact' ? (/^(.*?)(?:@(\d{1,9}))?$/su.exec(rest) ?? []) : [undefined, rest];
  const base = path.posix.basename(name.replace(/\/+$/, '')).replace(/^user:/, '');
  if (base === '')
    throw refuseInput(from, 'path/empty', `${quoted(from)} names nothing`, { hint: 'name a file or a folder' });
  return { scheme, rest: name, base, ...(version === undefined ? {} : { version: Number(version) }) };
}

async function fetchArtifact(staging: Staging, input: InputRequest, source: Source, made: string): Promise<Found> {
  const { from, mode = 'copy', pin = false } = input;
  const load = staging.sources.artifact;
  if (load === undefined)
    throw refuseInput(from, 'artifact/unknown', 'there are no artifacts here', { hint: 'use another source' });
  const pinned = pin ? staging.workspace.metadata.inputs.find((record) => record.from === from)?.version : undefined;
  const version = source.version ?? pinned;
  try {
    const artifact = await load(source.rest, version);
    writeAside(made, artifact.content, { staging, from });
    if (mode === 'link') staging.warnings.push(`${quoted(from)} was copied: an artifact cannot be linked`);
    return {
      resolved: `artifact://${source.rest}@${String(artifact.version)}`,
      version: artifact.version,
      mode: 'copy',
    };
  } catch (error) {
    if (!isSkillError(error) || error.code !== 'artifact/unknown') throw error;
    const near = 'nearest' in error.data ? error.data.nearest : [];
    throw refuseInput(from, 'artifact/unknown', error.message, { hint: error.hint, nearest: near });
  }
}

interface FileRequest {
  readonly source: Source;
  readonly to: RelativePath;
  readonly made: string;
}

async function fetchFile(staging: Staging, input: InputRequest, { source, to, made }: FileRequest): Promise<Found> {
  const { from, mode = 'copy' } = input;
  const place = source.scheme === 'host' ? undefined : await placeBelow(staging, from, source);
  const opened =
    place === undefined
      ? openHostInput(from, source.rest, staging.sources.host)
      : openInput(from, place.root, place.file);
  try {
    if (mode === 'link' && place?.seen !== undefined) {
      refuseItself(from, to, place.seen);
      symlinkSync(path.posix.relative(path.posix.dirname(to), place.seen), made);
      const owner = staging.workspace.identity;
      if (owner !== undefined) lchownSync(made, owner.uid, owner.gid);
      return { resolved: from, mode: 'link' };
    }
    if (mode === 'link')
      staging.warnings.push(`${quoted(from)} was copied: only what is in the workspace can be linked`);
    if (opened.type === 'folder') await copyFolder(staging, from, { opened, made });
    else copyFile(staging, from, { opened, made });
    return { resolved: from, mode: 'copy' };
  } finally {
    closeSync(opened.descriptor);
  }
}

interface PlaceBelow {
  readonly root: string;
  readonly file: RelativePath;
  /** Where programs see it, below the workspace. */
  readonly seen?: string;
}

async function placeBelow(staging: Staging, from: string, { scheme, rest }: Source): Promise<PlaceBelow> {
  const { place, attached } = staging.workspace;
  const own = rest.startsWith(`${attached.root}/`) ? rest.slice(attached.root.length + 1) : rest;
  const file = readPath(from, scheme === 'skill' ? rest : own.replace(/^inputs(?=\/|$)/, 'work/inputs'));
  const [first = '', ...others] = file.split('/');
  if (scheme === 'workspace' && first !== 'skills') {
    if (first === 'work' || first === 'out' || first === 'runs') return { root: place.root, file, seen: file };
    throw refuseInput(from, 'input/not-allowed', `${quoted(from)} is no file of a program`, {
      hint: 'name a file below work/, out/ or runs/',
    });
  }
  // A skill is read from its snapshot: at its place in the workspace there may be nothing but a mount point.
  const [name = '', ...below] = scheme === 'skill' ? [first, ...others] : others;
  const staged = place.skills.find((skill) => skill.name === name);
  const root = staged?.snapshot ?? (await staging.sources.skill?.(name));
  if (root === undefined)
    throw refuseInput(from, 'skill/unknown', `the skill ${quoted(name)} is not in this workspace`, {
      hint: 'name a skill that is loaded',
      nearest: nearest(
        name,
        place.skills.map((skill) => skill.name),
      ),
    });
  const inside = readPath(from, below.join('/'));
  return { root, file: inside, ...(staged === undefined ? {} : { seen: `skills/${name}/${inside}` }) };
}

function refuseItself(from: string, to: string, seen: string): void {
  if (to === seen || to.startsWith(`${seen}/`))
    throw refuseInput(from, 'input/invalid', `${quoted(to)} would be a link to itself`, {
      hint: 'choose another place for it',
    });
}

interface Copying {
  readonly opened: OpenedSource;
  readonly made: string;
}

function copyFile(staging: Staging, from: string, { opened: { descriptor, stats }, made }: Copying): void {
  takeRoom(staging, from, { bytes: stats.size, entries: 1 });
  const output = openSync(made, 'wx', 0o600);
  try {
    readPieces(from, { descriptor, size: stats.size }, (bytes) => writeWhole(output, bytes));
    finish(output, { isExecutable: isProgram(stats), owner: staging.workspace.identity });
    futimesSync(output, stats.atimeMs / 1000, stats.mtimeMs / 1000);
  } catch (error) {
    if (error instanceof TreeRefused) throw refuseInput(from, 'file/changed', error.message);
    throw error;
  } finally {
    closeSync(output);
  }
}

const TREE_CODES: Readonly<Record<TreeProblem, FailureCode>> = {
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

async function copyFolder(staging: Staging, from: string, { opened, made }: Copying): Promise<void> {
  const owner = staging.workspace.identity;
  const copied = await copyTree(opened.place, {
    to: made,
    permissions: 'writable',
    limits: { maxBytes: staging.left.bytes, maxEntries: staging.left.entries, maxDepth: 32 },
    ...(owner === undefined ? {} : { owner }),
    ...(staging.signal === undefined ? {} : { signal: staging.signal }),
  });
  if (copied.type === 'refused')
    throw refuseInput(from, TREE_CODES[copied.problem], `${quoted(from)} cannot be copied: ${copied.message}`);
  takeRoom(staging, from, { bytes: copied.bytes, entries: copied.files + 1 });
}

function writeAside(
  made: string,
  content: Uint8Array,
  { staging, from }: { readonly staging: Staging; readonly from: string },
): void {
  takeRoom(staging, from, { bytes: content.length, entries: 1 });
  const output = openSync(made, 'wx', 0o600);
  try {
    writeWhole(output, content);
    finish(output, { isExecutable: false, owner: staging.workspace.identity });
  } finally {
    closeSync(output);
  }
}

function takeRoom({ left }: Staging, from: string, need: { readonly bytes: number; readonly entries: number }): void {
  left.bytes -= need.bytes;
  left.entries -= need.entries;
  if (left.bytes < 0 || left.entries < 0)
    throw refuseInput(from, 'file/too-large', `${quoted(from)} is more than may be brought in`, {
      hint: 'bring in less: single files, or a smaller folder',
    });
}

function finish(
  descriptor: number,
  { isExecutable, owner }: { readonly isExecutable: boolean; readonly owner: Identity | undefined },
): void {
  if (owner !== undefined) fchownSync(descriptor, owner.uid, owner.gid);
  fchmodSync(descriptor, isExecutable ? 0o755 : 0o644);
}

function writeWhole(descriptor: number, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length;) written += writeSync(descriptor, bytes, written);
}

function refuseSamePlaces(ready: readonly Ready[]): void {
  for (const [place, { to, record }] of ready.entries()) {
    const other = ready.findIndex((item, index) => index < place && (item.to === to || item.to.startsWith(`${to}/`)));
    if (other !== -1)
      throw refuseInput(record.from, 'input/invalid', `${quoted(to)} is the place of two inputs`, {
        hint: 'give each input a place of its own',
      });
  }
}

function placeOptions({ workspace, aside }: Staging, { made, to, record: { from } }: Ready): PlaceOptions {
  const isOurs = workspace.metadata.inputs.some((before) => before.to === to);
  const discarded = path.join(aside, `discarded-${path.basename(made)}`);
  return { from, root: workspace.place.root, to, owner: workspace.identity, isOurs, discarded };
}
