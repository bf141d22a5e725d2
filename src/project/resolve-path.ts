/**
 * Resolves a path of an action to a file of the project, the workspace or a loaded skill. Opens nothing. Policy decides on the resolved
 * path; the actions then open it without following links, so that the approved file is the one that is used.
 */
import path from 'node:path';

import { fileProblemText, quoted, toRelativePath, type ActionProblem, type RelativePath, isProblem } from '#core';
import { isInside, realPath, resolveBeneath, tryRealPath, withForwardSlashes } from '#platform';
import { hostFailure } from './host-failure.ts';

/** The folders that actions may access: the project, the workspace of the session if it has one, and loaded skills. */
export interface FileRoots {
  readonly project: string;
  readonly workspace?: string;
  readonly skills: readonly { readonly name: string; readonly dir: string }[];
}

export interface ResolvedPath {
  readonly type: 'resolved';
  readonly place: 'project' | 'workspace' | 'skill';
  /** Real path of the project, workspace or skill. */
  readonly root: string;
  /** Relative to `root`, links resolved; empty for the root itself. */
  readonly relative: RelativePath | '';
  /** As in rules and observations: relative for the project, `workspace://…`, `skill://name/…`. */
  readonly shown: string;
  readonly absolute: string;
}

export type PathResolution = ResolvedPath | { readonly type: 'refused'; readonly failure: ActionProblem };

export type Purpose = 'read' | 'write';

/** Resolves a path that a model wrote. */
export function resolvePath(text: string, places: FileRoots, purpose: Purpose): PathResolution {
  const parsed = parsePath(text, places);
  if (parsed.type === 'refused') return parsed;
  const { root: scheme, rest } = parsed;
  const root = tryRealPath(scheme.dir);
  if (root === undefined)
    return refused(hostFailure('file/missing', `the folder of the ${describeRoot(scheme)} does not exist`));
  const resolved = resolveBeneath(root, rest, [...new Set([scheme.dir, root])]);
  const shown = shownPath(scheme, rest);
  if (resolved.type === 'failed') {
    const isBelowFile = resolved.code === 'file/exists' && purpose === 'read';
    const problem = isBelowFile ? ({ code: 'file/missing' } as const) : resolved;
    return refused(hostFailure(problem.code, `${quoted(shown, 200)} ${fileProblemText(problem)}`));
  }
  if (purpose === 'read' && !resolved.isThere)
    return refused(hostFailure('file/missing', `${quoted(shown, 200)} does not exist`));
  const placed: ResolvedPath = {
    type: 'resolved',
    place: scheme.place,
    root,
    relative: resolved.path,
    shown: shownPath(scheme, resolved.path),
    absolute: path.join(root, resolved.path),
  };
  if (purpose === 'write' && /\/\.?$/.test(text))
    return refused(hostFailure('file/directory', `${quoted(text, 200)} names a folder, expected a file`));
  const problem = purpose === 'write' ? writeProblem(placed, places) : undefined;
  return problem === undefined ? placed : refused(problem);
}

/** A root before its links are resolved. */
interface RootFolder {
  readonly place: ResolvedPath['place'];
  readonly dir: string;
  readonly name?: string;
}

type ParsedPath =
  | { readonly type: 'parsed'; readonly root: RootFolder; readonly rest: RelativePath | '' }
  | { readonly type: 'refused'; readonly failure: ActionProblem };

const WORKSPACE = 'workspace://';
const SKILL = 'skill://';
/** The root itself: `.`, `./`, `./.`, or empty after a scheme. */
const ITSELF = /^(?:\.?\/)*\.?$/;

function parsePath(text: string, places: FileRoots): ParsedPath {
  const project: RootFolder = { place: 'project', dir: places.project };
  if (text.startsWith(WORKSPACE)) {
    const { workspace } = places;
    if (workspace === undefined)
      return refused(
        hostFailure('path/outside', `${quoted(text, 200)} is in the workspace, but this session has no workspace`),
      );
    return readRest(text, { place: 'workspace', dir: workspace }, text.slice(WORKSPACE.length));
  }
  if (text.startsWith(SKILL)) {
    const [name = '', ...rest] = text.slice(SKILL.length).split('/');
    const skill = places.skills.find((each) => each.name === name);
    if (skill === undefined)
      return refused(hostFailure('skill/not-loaded', `${quoted(text, 200)} is in a skill that is not loaded`));
    return readRest(text, { place: 'skill', ...skill }, rest.join('/'));
  }
  if (text.startsWith('/')) return readAbsolute(text, places);
  if (text === '') return refused(hostFailure('path/empty', 'the path is empty'));
  return readRest(text, project, text);
}

function readRest(text: string, root: RootFolder, rest: string): ParsedPath {
  if (rest === '' || (!rest.startsWith('/') && ITSELF.test(rest))) return { type: 'parsed', root, rest: '' };
  const part = readPart(rest, text);
  return isProblem(part) ? refused(part) : { type: 'parsed', root, rest: part };
}

/** As `toRelativePath`, with a message for all roots. */
function readPart(part: string, text = part): RelativePath | ActionProblem {
  const reading = toRelativePath(part);
  if (!isProblem(reading)) return reading;
  const { code, message } = reading;
  const reason = code === 'path/absolute' ? `the path ${quoted(text, 200)} is absolute` : message;
  return hostFailure(code, reason);
}

/** An absolute path below a root, as given or with links resolved; the innermost root is used. */
function readAbsolute(text: string, places: FileRoots): ParsedPath {
  const part = readPart(text.replace(/^\/+/, '') || '.', text);
  if (isProblem(part)) return refused(part.code === 'path/empty' ? outside(text) : part);
  const named = `/${part}`;
  for (const absolute of [named, realStart(named)]) {
    const [best] = listRoots(places)
      .flatMap((root) => [root.dir, realPath(root.dir)].map((home) => ({ root, home })))
      .filter(({ home }) => isInside(absolute, home))
      .toSorted((a, b) => b.home.length - a.home.length);
    if (best !== undefined) return readRest(text, best.root, path.posix.relative(best.home, absolute));
  }
  return refused(outside(text));
}

/** Resolves the links of the part that exists; the rest stays unchanged. */
function realStart(absolute: string): string {
  const real = tryRealPath(absolute);
  if (real !== undefined) return real;
  const above = path.dirname(absolute);
  return above === absolute ? absolute : path.join(realStart(above), path.basename(absolute));
}

function listRoots({ project, workspace, skills }: FileRoots): readonly RootFolder[] {
  return [
    { place: 'project', dir: project },
    ...(workspace === undefined ? [] : [{ place: 'workspace', dir: workspace } as const]),
    ...skills.map(({ name, dir }) => ({ place: 'skill', dir, name }) as const),
  ];
}

/** The workspace folders for programs and models; others hold copies of skills and run records. */
const WRITABLE = /^(?:work|out)\/./;

function writeProblem(placed: ResolvedPath, { skills }: FileRoots): ActionProblem | undefined {
  const shown = quoted(placed.shown, 200);
  if (placed.relative === '') return hostFailure('file/directory', `${shown} is a folder`);
  // Checked by real path: a loaded skill must not change, because it may be trusted at its digest.
  const skill = skills.find(({ dir }) => isInside(placed.absolute, realPath(dir)));
  if (skill !== undefined)
    return hostFailure(
      'file/unwritable',
      `${shown} belongs to the loaded skill ${quoted(skill.name)}, which is read-only`,
      'write the file to another folder',
    );
  if (placed.place === 'workspace' && !WRITABLE.test(placed.relative))
    return hostFailure(
      'file/unwritable',
      `${shown} is not in work/ or out/ of the workspace`,
      'write to workspace://work/… or workspace://out/…',
    );
  return undefined;
}

function shownPath({ place, name = '' }: RootFolder, relative: string): string {
  const file = withForwardSlashes(relative);
  if (place === 'project') return file === '' ? '.' : file;
  return place === 'workspace' ? `${WORKSPACE}${file}` : `${SKILL}${name}/${file}`;
}

function describeRoot({ place, name }: RootFolder): string {
  return name === undefined ? place : `skill ${quoted(name)}`;
}

function outside(text: string): ActionProblem {
  return hostFailure('path/outside', `${quoted(text, 200)} is outside of the project, the workspace and loaded skills`);
}

function refused(failure: ActionProblem): { readonly type: 'refused'; readonly failure: ActionProblem } {
  return { type: 'refused', failure };
}
