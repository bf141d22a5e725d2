/**
 * Which file a path means: of the project, of the workspace, or of a skill that is loaded. Nothing is opened here. What a path is judged
 * by is where it leads, all links resolved; whoever opens it follows none, so that what was judged is what is used.
 */
import path from 'node:path';

import type { Failure } from '../core/failure-codes.ts';
import { fileProblemText } from '../core/file-problem.ts';
import { toRelativePath } from '../core/path.ts';
import type { RelativePath } from '../core/path.ts';
import { quoted } from '../core/text/text.ts';
import { isInside, realPath, tryRealPath, withForwardSlashes } from '../platform/fs/paths.ts';
import { resolveBeneath } from '../platform/fs/resolve-beneath.ts';
import { hostFailure } from './host-failure.ts';

/** Where files may be: the project always, the workspace of the session where there is one, and the skills that are loaded. */
export interface HostPlaces {
  readonly project: string;
  readonly workspace?: string;
  /** Only loaded ones. */
  readonly skills: readonly { readonly name: string; readonly dir: string }[];
}

export interface PlacedPath {
  readonly type: 'placed';
  readonly place: 'project' | 'workspace' | 'skill';
  /** Real and absolute. */
  readonly root: string;
  /** Where it leads, links resolved; empty for the root. */
  readonly relative: RelativePath | '';
  /** As rules and observations write it: relative for the project, `workspace://…`, `skill://name/…`. */
  readonly shown: string;
  readonly absolute: string;
}

export type Placed = PlacedPath | { readonly type: 'refused'; readonly failure: Failure };

export type Purpose = 'read' | 'write';

/** A path as a model wrote it: which place it is in, and where in it. */
export function placePath(text: string, places: HostPlaces, purpose: Purpose): Placed {
  const asked = readAsked(text, places);
  if (asked.type === 'refused') return asked;
  const { root: given, rest } = asked;
  const root = tryRealPath(given.dir);
  if (root === undefined) return refused(hostFailure('file/missing', `the folder of the ${nameOf(given)} is gone`));
  const resolved = resolveBeneath(root, rest, [...new Set([given.dir, root])]);
  const shown = shownPath(given, rest);
  if (resolved.type === 'failed') {
    const isBelowFile = resolved.code === 'file/exists' && purpose === 'read';
    const problem = isBelowFile ? ({ code: 'file/missing' } as const) : resolved;
    return refused(hostFailure(problem.code, `${quoted(shown, 200)} ${fileProblemText(problem)}`));
  }
  if (purpose === 'read' && !resolved.isThere)
    return refused(hostFailure('file/missing', `${quoted(shown, 200)} is not there`));
  const placed: PlacedPath = {
    type: 'placed',
    place: given.place,
    root,
    relative: resolved.path,
    shown: shownPath(given, resolved.path),
    absolute: path.join(root, resolved.path),
  };
  const problem = purpose === 'write' ? writeProblem(placed, places) : undefined;
  return problem === undefined ? placed : refused(problem);
}

/** One of the places, as it was given. */
interface PlaceRoot {
  readonly place: PlacedPath['place'];
  readonly dir: string;
  /** Of a skill. */
  readonly name?: string;
}

type Asked =
  | { readonly type: 'asked'; readonly root: PlaceRoot; readonly rest: RelativePath | '' }
  | { readonly type: 'refused'; readonly failure: Failure };

const WORKSPACE = 'workspace://';
const SKILL = 'skill://';
/** A folder itself: `.`, `./`, `./.`, or nothing after a scheme. */
const ITSELF = /^(?:\.?\/)*\.?$/;

function readAsked(text: string, places: HostPlaces): Asked {
  const project: PlaceRoot = { place: 'project', dir: places.project };
  if (text.startsWith(WORKSPACE)) {
    const { workspace } = places;
    if (workspace === undefined)
      return refused(hostFailure('path/outside', `${quoted(text, 200)} means a workspace, and there is none`));
    return readRest(text, { place: 'workspace', dir: workspace }, text.slice(WORKSPACE.length));
  }
  if (text.startsWith(SKILL)) {
    const [name = '', ...rest] = text.slice(SKILL.length).split('/');
    const skill = places.skills.find((each) => each.name === name);
    if (skill === undefined)
      return refused(hostFailure('skill/not-loaded', `${quoted(text, 200)} means a skill that is not loaded`));
    return readRest(text, { place: 'skill', ...skill }, rest.join('/'));
  }
  if (text.startsWith('/')) return readAbsolute(text, places);
  if (text === '') return refused(hostFailure('path/empty', 'the path is empty'));
  return readRest(text, project, text);
}

function readRest(text: string, root: PlaceRoot, rest: string): Asked {
  if (rest === '' || (!rest.startsWith('/') && ITSELF.test(rest))) return { type: 'asked', root, rest: '' };
  const part = readPart(rest, text);
  return part.type === 'refused' ? part : { type: 'asked', root, rest: part.path };
}

/** As `toRelativePath`, with words for all places. */
function readPart(
  part: string,
  text = part,
): { readonly type: 'path'; readonly path: RelativePath } | { readonly type: 'refused'; readonly failure: Failure } {
  const reading = toRelativePath(part);
  if (reading.type === 'path') return reading;
  const { code, message } = reading.failure;
  const said = code === 'path/absolute' ? `the path ${quoted(text, 200)} does not start from a place here` : message;
  return refused(hostFailure(code, said));
}

/** An absolute path, by the name that a place was given or by where it really leads; in the innermost place that holds it. */
function readAbsolute(text: string, places: HostPlaces): Asked {
  const part = readPart(text.replace(/^\/+/, '') || '.', text);
  if (part.type === 'refused') return part.failure.code === 'path/empty' ? refused(outside(text)) : part;
  const named = `/${part.path}`;
  for (const absolute of [named, realStart(named)]) {
    const [best] = rootsOf(places)
      .flatMap((root) => [root.dir, realPath(root.dir)].map((home) => ({ root, home })))
      .filter(({ home }) => isInside(absolute, home))
      .toSorted((a, b) => b.home.length - a.home.length);
    if (best !== undefined) return readRest(text, best.root, path.posix.relative(best.home, absolute));
  }
  return refused(outside(text));
}

/** The links of the part that is there are resolved; the rest stays as it is. */
function realStart(absolute: string): string {
  const real = tryRealPath(absolute);
  if (real !== undefined) return real;
  const above = path.dirname(absolute);
  return above === absolute ? absolute : path.join(realStart(above), path.basename(absolute));
}

function rootsOf({ project, workspace, skills }: HostPlaces): readonly PlaceRoot[] {
  return [
    { place: 'project', dir: project },
    ...(workspace === undefined ? [] : [{ place: 'workspace', dir: workspace } as const]),
    ...skills.map(({ name, dir }) => ({ place: 'skill', dir, name }) as const),
  ];
}

/** Folders of a workspace that are not ours: copies of skills and the records of runs lie beside them. */
const WRITABLE = /^(?:work|out)\/./;

function writeProblem(placed: PlacedPath, { skills }: HostPlaces): Failure | undefined {
  const shown = quoted(placed.shown, 200);
  if (placed.relative === '') return hostFailure('file/directory', `${shown} is a folder`);
  // By whatever name it is reached: what was loaded, and perhaps trusted, stays what it was.
  const skill = skills.find(({ dir }) => isInside(placed.absolute, realPath(dir)));
  if (skill !== undefined)
    return hostFailure(
      'file/unwritable',
      `${shown} belongs to the skill ${quoted(skill.name)}, which is loaded and only read`,
      'write the file to another place',
    );
  if (placed.place === 'workspace' && !WRITABLE.test(placed.relative))
    return hostFailure(
      'file/unwritable',
      `${shown} is not below work/ or out/ of the workspace`,
      'write to workspace://work/… or workspace://out/…',
    );
  return undefined;
}

function shownPath({ place, name = '' }: PlaceRoot, relative: string): string {
  const file = withForwardSlashes(relative);
  if (place === 'project') return file === '' ? '.' : file;
  return place === 'workspace' ? `${WORKSPACE}${file}` : `${SKILL}${name}/${file}`;
}

function nameOf({ place, name }: PlaceRoot): string {
  return name === undefined ? place : `skill ${quoted(name)}`;
}

function outside(text: string): Failure {
  return hostFailure(
    'path/outside',
    `${quoted(text, 200)} is outside of the project, the workspace and the loaded skills`,
  );
}

function refused(failure: Failure): { readonly type: 'refused'; readonly failure: Failure } {
  return { type: 'refused', failure };
}
