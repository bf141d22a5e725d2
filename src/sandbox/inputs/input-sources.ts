/** Opens the sources of inputs without following links out of the allowed folders. */
import { closeSync, fstatSync, openSync, readlinkSync, readSync, type Stats } from 'node:fs';
import path from 'node:path';

import {
  failure,
  nearest,
  quoted,
  toRelativePath,
  type ActionProblem,
  type RelativePath,
  problemError,
  isProblem,
} from '#core';
import {
  OPEN_FLAGS,
  ConfinedDirectory,
  descriptorPath,
  DirectoryHandle,
  inConfined,
  isInside,
  isSystemError,
  namesIn,
  tryRealPath,
} from '#platform';

/** Refuses an input, and with it the whole request. `stageInputs` returns the problem. */
export function refuseInput(...about: Parameters<typeof failure>): never {
  throw problemError(failure(...about));
}

/** The caller closes the descriptor. */
export interface OpenedSource {
  readonly type: 'file' | 'folder';
  readonly descriptor: number;
  readonly stats: Stats;
  /** Path of an opened folder for a walk. */
  readonly place: string;
}

/** Opens a file or folder below an untrusted root. Folders are reached without following links. */
export function openInput(from: string, root: string, file: RelativePath): OpenedSource {
  const directory = new ConfinedDirectory(DirectoryHandle.open(root, { followLink: true }), root);
  const opened = directory.open(file);
  directory.close();
  if (opened.type === 'open') {
    const { descriptor, stats } = opened;
    if (stats.nlink === 1) return { type: 'file', descriptor, stats, place: '' };
    closeSync(descriptor);
    refuseInput('path/hard-link', `${quoted(file)} has further hard links`);
  }
  if (opened.code === 'file/directory') return openInputFolder(from, root, file);
  refuseInput(opened.code, `${quoted(from)} cannot be opened: ${opened.code}`, {
    nearest: opened.code === 'file/missing' ? nearFiles(root, file) : [],
  });
}

function openInputFolder(from: string, root: string, file: RelativePath): OpenedSource {
  let directory = DirectoryHandle.open(root, { followLink: true });
  for (const name of file.split('/')) {
    const opened = directory.tryChild(name);
    directory.close();
    if (opened.type !== 'directory')
      refuseInput('path/link-outside', `the path of ${quoted(from)} contains a link`, {
        hint: 'use the path of the folder itself',
      });
    directory = opened.directory;
  }
  return { type: 'folder', descriptor: directory.descriptor, stats: directory.stats(), place: directory.place };
}

const NEAR_LIMITS = { maxFiles: 2_000, maxDepth: 8 } as const;

function nearFiles(root: string, file: string): readonly string[] {
  const { files } = inConfined(
    root,
    (folder) => folder.list(NEAR_LIMITS),
    () => ({ files: [] }),
  );
  const names = files.map((found) => found.path);
  const base = path.posix.basename(file);
  const sameBase = names.filter((name) => path.posix.basename(name) === base).slice(0, 3);
  return sameBase.length > 0 ? sameBase : nearest(file, names);
}

/** Opens a file or folder of the host that is allowed by its given path and by its real path. */
export function openHostInput(
  from: string,
  file: string,
  {
    host: isAllowed,
    records = [],
  }: { readonly host?: (path: string) => boolean; readonly records?: readonly string[] },
): OpenedSource {
  if (!path.isAbsolute(file))
    refuseInput('input/invalid', `${quoted(from)} is not an absolute path`, {
      hint: 'use host:// with an absolute path, such as host:///data/report.csv',
    });
  if (file.includes('\0')) refuseInput('path/control-character', 'the path contains a control character');
  if (file.split(/[/\\]/).includes('..'))
    refuseInput('path/parent', `${quoted(from)} contains ..`, { hint: 'use a path without ..' });
  // Checked before any access, so that the answer does not reveal whether the file exists.
  if (isAllowed?.(path.normalize(file)) !== true) notAllowed(from);
  const real = tryRealPath(file);
  if (real === undefined)
    refuseInput('file/missing', `${quoted(from)} does not exist`, {
      hint: 'use the path of an existing file',
      nearest: isAllowed(path.dirname(path.normalize(file))) ? nearSiblings(file) : [],
    });
  if (!isAllowed(real) || records.some((folder) => isInside(real, folder))) notAllowed(from);
  return openReal(from, real);
}

function notAllowed(from: string): never {
  refuseInput('input/not-allowed', `access to ${quoted(from)} is not allowed`);
}

function nearSiblings(file: string): readonly string[] {
  return nearest(path.basename(file), namesIn(path.dirname(file)).slice(0, NEAR_LIMITS.maxFiles));
}

function openReal(from: string, real: string): OpenedSource {
  let descriptor: number;
  try {
    descriptor = openSync(real, OPEN_FLAGS.foreignFile);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    refuseInput('file/unreadable', `${quoted(from)} cannot be read (${error.code})`);
  }
  try {
    const stats = fstatSync(descriptor);
    // If a parent folder was swapped for a link meanwhile, the opened file has another path.
    const isSame = process.platform !== 'linux' || readlinkSync(descriptorPath(descriptor)) === real;
    if (!isSame) refuseInput('file/changed', `${quoted(from)} was replaced while it was opened`);
    if (stats.isFile()) return { type: 'file', descriptor, stats, place: '' };
    if (stats.isDirectory()) return { type: 'folder', descriptor, stats, place: descriptorPath(descriptor, real) };
    refuseInput('file/not-regular', `${quoted(from)} is a pipe, a socket or a device`);
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/** Parses a path below the workspace. */
export function parsePath(text: string): RelativePath {
  const reading = toRelativePath(text);
  if (!isProblem(reading)) return reading;
  const { code, message } = reading;
  refuseInput(code, message, { hint: PATH_HINTS[code] });
}

const PATH_HINTS: Partial<Readonly<Record<ActionProblem['code'], string>>> = {
  'path/absolute': 'use a path relative to the workspace or the skill',
  'path/parent': 'remove .. from the path',
  'path/empty': 'add the path of a file or folder',
};

export interface Source {
  readonly scheme: 'artifact' | 'host' | 'workspace' | 'skill';
  /** The part after the scheme. */
  readonly rest: string;
  /** Last component of the path. */
  readonly base: string;
  readonly version?: number;
}

const SCHEME = /^(artifact|host|workspace|skill):\/\/(.*)$/su;

export function parseSource(from: string): Source {
  const [, scheme, rest = ''] = SCHEME.exec(from) ?? [];
  const isKnown = scheme === 'artifact' || scheme === 'host' || scheme === 'workspace' || scheme === 'skill';
  if (!isKnown)
    refuseInput('input/invalid', `${quoted(from)} has an unknown scheme`, {
      hint: 'use artifact://name, host:///path, workspace://path or skill://name/path',
      nearest: nearest(from.split(':')[0] ?? '', ['artifact', 'host', 'workspace', 'skill']),
    });
  const [, name = '', version] =
    scheme === 'artifact' ? (/^(.*?)(?:@(\d{1,9}))?$/su.exec(rest) ?? []) : [undefined, rest];
  const base = path.posix.basename(name.replace(/\/+$/, '')).replace(/^user:/, '');
  if (base === '')
    refuseInput('path/empty', `${quoted(from)} has no path`, { hint: 'add the path of a file or folder' });
  return { scheme, rest: name, base, version: version === undefined ? undefined : Number(version) };
}

/** How long an input is, and its first bytes, which tell its type. */
export interface InputStart {
  readonly bytes: number;
  readonly start: Uint8Array;
}

const START_BYTES = 4096;

/** A folder has neither. */
export function readStart({ type, descriptor, stats }: OpenedSource): InputStart {
  if (type !== 'file') return { bytes: 0, start: new Uint8Array() };
  const start = new Uint8Array(Math.min(START_BYTES, stats.size));
  return { bytes: stats.size, start: start.subarray(0, readSync(descriptor, start, 0, start.length, 0)) };
}
