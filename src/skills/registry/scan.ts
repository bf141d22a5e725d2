import { existsSync } from 'node:fs';

import { compareText, countText, diagnose, isNeverSearched, type SkillRoot, type Diagnostic } from '#core';
import { isInside, monotonicMs, realPath, withForwardSlashes } from '#platform';
import type { ExplainedDirectory, RootReport } from './index-skills.ts';
import { allNames, directoryStatus, listDirectory, type DirectoryIdentity } from './list-directory.ts';
import { findFilesNamed } from './find-files.ts';
import type { KnownFile } from './known-skills.ts';
import { FolderReader } from './skill-folder.ts';
import type { ScanOptions, ScanResult, UnchangedSkills } from './scan-result.ts';

/** A directory that may contain skill folders. */
interface Group extends DirectoryIdentity {
  readonly path: string;
  readonly name: string;
  readonly depth: number;
  /** A skill folder, or inside one. Such directories are searched only with `nestedInSkills`. */
  readonly skill: 'own' | 'above' | 'none';
  /** Collects the unchanged skill folders in this directory. */
  readonly place: UnchangedSkills;
  /** Collects the unchanged skill folders of the parent directory; for a root, the same as `place`. */
  readonly above: UnchangedSkills;
}

interface Link {
  readonly path: string;
  readonly name: string;
  readonly parent: Group;
}

/** The walk of one root. */
interface RootWalk {
  readonly root: SkillRoot;
  readonly groups: Group[];
  readonly links: Link[];
  readonly visited: Set<string>;
  /** Group directories so far. */
  count: number;
  full: boolean;
}

/** What is known about a folder before it is visited. */
interface Known {
  /** Collects the skill if it is unchanged; each link has its own. */
  readonly place: UnchangedSkills;
  readonly file: KnownFile | undefined;
  /** The identity of a link's target. */
  readonly identity: DirectoryIdentity | undefined;
}

/** The folders of a group; those before `from` have been visited. */
interface FoldersToVisit {
  readonly folders: readonly string[];
  readonly from: number;
  /** Files of the folders that an earlier scan read. */
  readonly known: ReadonlyMap<string, KnownFile> | undefined;
}

/** Time after which a walk yields to the event loop. */
const SLICE_MS = 20;
/** Folders between two checks of the clock. */
const CHECK_EVERY = 32;

/** Walks roots and reads frontmatter. Synchronous calls in slices, because promises make small reads five times slower. */
export class Scan {
  readonly result: ScanResult = {
    fresh: [],
    pending: [],
    unchanged: [],
    failed: [],
    diagnostics: [],
    explained: [],
    roots: [],
    groups: [],
    directories: 0,
    skills: 0,
    unchangedCount: 0,
    mayRepeat: false,
  };
  readonly reader: FolderReader;
  readonly #options: ScanOptions;
  readonly #realRoots: readonly string[];
  #untilCheck = CHECK_EVERY;
  #deadline = 0;

  constructor(options: ScanOptions) {
    this.#options = options;
    this.reader = new FolderReader(this.result, options);
    this.#realRoots = options.roots.map(({ path }) => realPath(path));
  }

  /** Yields at the end of each time slice. */
  *walk(): Generator<void, void> {
    const roots = this.#options.roots.toSorted((a, b) => b.priority - a.priority || compareText(a.path, b.path));
    const seen = new Set<string>();
    this.#deadline = monotonicMs() + SLICE_MS;
    for (const root of roots) {
      const identity = this.#openRoot(root, seen);
      if (identity === undefined) continue;
      const walk: RootWalk = { root, groups: [], links: [], visited: new Set(), count: 0, full: false };
      const path = rootPath(root.path);
      const place: UnchangedSkills = { root, parent: path, group: '', linked: false, names: [] };
      const top: Group = {
        path,
        name: path.slice(path.lastIndexOf('/') + 1),
        depth: 0,
        skill: 'none',
        place,
        above: place,
        ...identity,
      };
      this.#readRootItself(top);
      this.#enqueue(walk, top);
      yield* this.#walkRoot(walk);
    }
  }

  *#walkRoot(walk: RootWalk): Generator<void, void> {
    for (;;) {
      for (let group = walk.groups.pop(); group !== undefined; group = walk.groups.pop())
        yield* this.#walkGroup(walk, group);
      // Links come after real folders, so that a folder is indexed under its real path.
      const links = walk.links.splice(0).toSorted((a, b) => compareText(a.path, b.path));
      if (links.length === 0) return;
      for (const link of links) {
        this.#followLink(walk, link);
        if (this.#isSliceOver()) yield;
      }
    }
  }

  *#walkGroup(walk: RootWalk, group: Group): Generator<void, void> {
    const listing = listDirectory(group.path === '' ? '/' : group.path);
    if (listing.type === 'failed') {
      if (listing.code === 'ENOENT' || listing.code === 'ENOTDIR')
        this.#explain(group.path, 'passed-over', 'it disappeared during the scan');
      else if (group.depth > 0)
        this.#fail(group.path, 'file/unreadable', `the folder cannot be listed (${listing.code})`);
      else this.#unreadableRoot(walk.root, listing.code);
      return;
    }
    for (const { shown, holdsSkill } of listing.undecodable) {
      const path = `${group.path}/${shown}`;
      if (holdsSkill) this.#fail(path, 'file/name-not-utf8', "the folder's name is not UTF-8");
      else this.#explain(path, 'passed-over', 'its name is not UTF-8');
    }
    if (group.depth > 0 && group.skill !== 'own' && this.#readOtherSpelling(group, allNames(listing))) return;

    const known = this.#options.known.directory(group.path);
    this.result.unchanged.push(group.place);
    const folders = this.#withoutIgnored(group, listing.folders);
    const links = this.#withoutIgnored(group, listing.links);
    if (folders.length + links.length > 0 && group.depth >= (walk.root.depth ?? this.#options.maxDepth)) {
      this.#tooDeep(group, [...folders, ...links], walk.root.depth);
      return;
    }
    for (const name of links) walk.links.push({ path: `${group.path}/${name}`, name, parent: group });
    // Sorting short names here is cheaper than sorting the index later. A rescan needs neither.
    if (known === undefined) folders.sort();
    for (let next = 0; next < folders.length;) {
      next = this.#visitSome(walk, group, { folders, from: next, known });
      if (next < folders.length) yield;
    }
  }

  /** Removes hidden folders and `node_modules`. */
  #withoutIgnored(group: Group, names: string[]): string[] {
    if (!names.some(isPassedOver)) return names;
    return names.filter((name) => {
      if (!isPassedOver(name)) return true;
      const path = `${group.path}/${name}`;
      this.#explain(path, 'passed-over', name === 'node_modules' ? 'node_modules' : 'hidden');
      const isNever = isNeverSearched(name);
      if (isNever !== 'copies') this.#explainSkills(path, '', `${name} is not searched`);
      if (group.skill === 'none' && isNever === false && containsSkills(path))
        this.#report('scan/hidden-skills', path, 'the folder is hidden and contains skills');
      return false;
    });
  }

  #tooDeep(group: Group, names: readonly string[], depth: number = this.#options.maxDepth): void {
    const reason = `more than ${countText(depth, 'level')} below the root`;
    for (const name of names) {
      const folder = `${group.path}/${name}`;
      this.#explain(folder, 'passed-over', reason);
      const { paths, isCut } = findFilesNamed(folder, 'SKILL.md', MAX_PEEKED);
      for (const path of paths) this.#report('scan/too-deep', path, `the skill is left out: ${reason}`);
      if (isCut) this.#report('scan/too-deep', folder, `the folder is not searched: ${reason}`);
    }
  }

  /** Names each skill of a folder that is not searched. Only for explanations, because it takes time. */
  #explainSkills(folder: string, own: string, reason: string): void {
    if (!this.#options.explain) return;
    const { paths, isCut } = findFilesNamed(folder, 'SKILL.md', MAX_EXPLAINED);
    for (const path of paths) if (path !== own) this.#explain(path, 'passed-over', reason);
    if (isCut) this.#explain(folder, 'passed-over', `${reason}; there may be more skills in it`);
  }

  /** Visits folders until a time slice ends; returns the index of the next one. */
  #visitSome(walk: RootWalk, group: Group, { folders, from, known }: FoldersToVisit): number {
    const { nestedInSkills, explain } = this.#options;
    const { place } = group;
    const prefix = `${group.path}/`;
    let at = from;
    while (at < folders.length) {
      const name = folders[at] ?? '';
      at += 1;
      const file = known?.get(name);
      // The fast path of a rescan.
      if (
        file?.file === 'SKILL.md' &&
        !nestedInSkills &&
        !explain &&
        this.reader.keepUnchanged(place, name, `${prefix}${name}/SKILL.md`, file)
      )
        this.result.directories += 1;
      else this.#visit(walk, group, name, { place, file, identity: undefined });
      if (this.#isSliceOver()) break;
    }
    return at;
  }

  #visit(walk: RootWalk, parent: Group, name: string, { place, file, identity }: Known): void {
    const dir = `${parent.path}/${name}`;
    this.result.directories += 1;
    const isSkill = this.reader.read({ place, name, dir, isRoot: false }, 'SKILL.md', file);
    if (isSkill) {
      if (!this.#options.nestedInSkills) {
        this.#explainSkills(dir, `${dir}/SKILL.md`, 'inside a skill; --nested finds it');
        return;
      }
    } else {
      this.#explain(dir, 'group', 'it contains no SKILL.md itself');
    }
    const status = identity === undefined ? directoryStatus(dir) : { type: 'directory' as const, ...identity };
    if (status.type !== 'directory') return;
    const group = place.group === '' ? name : `${place.group}/${name}`;
    const below: UnchangedSkills = { root: walk.root, parent: dir, group, linked: place.linked, names: [] };
    this.#enqueue(walk, {
      path: dir,
      name,
      depth: parent.depth + 1,
      skill: isSkill ? 'own' : parent.skill === 'none' ? 'none' : 'above',
      place: below,
      above: place,
      dev: status.dev,
      ino: status.ino,
    });
  }

  /** Reads a folder with another spelling of SKILL.md, such as `skill.md` (FMT-1). */
  #readOtherSpelling({ path, name, above }: Group, names: readonly string[]): boolean {
    const files = names.filter((file) => file.length === 8 && file.toLowerCase() === 'skill.md');
    const file = files.toSorted((a, b) => compareText(b, a))[0];
    if (file === undefined) return false;
    const known = this.#options.known.directory(above.parent)?.get(name);
    if (!this.reader.read({ place: above, name, dir: path, isRoot: false }, file, known))
      this.#fail(`${path}/${file}`, 'file/vanished', 'the file disappeared during the scan');
    return !this.#options.nestedInSkills;
  }

  #followLink(walk: RootWalk, { path, name, parent }: Link): void {
    const status = directoryStatus(path);
    if (status.type === 'other') return;
    // The broken SKILL.md link of a skill folder was reported when the file was read.
    if (status.type === 'missing' && parent.skill === 'own' && name === 'SKILL.md') return;
    if (status.type === 'missing') return this.#fail(path, 'file/broken-link', 'the link target does not exist');
    if (status.type === 'failed')
      return this.#fail(path, 'file/unreadable', `the link cannot be followed (${status.code})`);
    this.result.mayRepeat = true;
    const target = realPath(path);
    if (isInside(realPath(parent.path), target)) {
      this.#report('link/cycle', path, 'the link leads back to a folder above it');
      return this.#explain(path, 'repeated', 'the link leads back to a folder above it');
    }
    if (!this.#realRoots.some((root) => isInside(target, root))) {
      this.#report('link/outside-root', path, 'the link leads to a folder outside every root');
    }
    const file = this.#options.known.directory(parent.path)?.get(name);
    const place: UnchangedSkills = { ...parent.place, linked: true, names: [] };
    this.result.unchanged.push(place);
    this.#visit(walk, parent, name, { place, file, identity: status });
  }

  #enqueue(walk: RootWalk, group: Group): void {
    const key = `${String(group.dev)}:${String(group.ino)}`;
    if (walk.visited.has(key))
      return this.#explain(group.path, 'repeated', 'the folder was visited before by another path');
    if (walk.count >= this.#options.maxDirectories) {
      if (!walk.full) {
        const message = `more than ${String(this.#options.maxDirectories)} folders without SKILL.md: the rest is not searched`;
        this.#report('scan/too-many-directories', walk.root.path, message);
      }
      walk.full = true;
      return this.#explain(group.path, 'passed-over', 'the root has too many folders');
    }
    walk.visited.add(key);
    walk.count += 1;
    walk.groups.push(group);
    this.result.groups.push(group.path);
  }

  #readRootItself({ path, name, place }: Group): void {
    this.result.directories += 1;
    if (!this.reader.read({ place, name, dir: path, isRoot: true }, 'SKILL.md', undefined))
      this.#explain(path, 'root', 'a configured root');
  }

  #openRoot(root: SkillRoot, seen: Set<string>): DirectoryIdentity | undefined {
    const { source, path, priority, explicit } = root;
    const status = directoryStatus(path);
    const report = (result: RootReport['status']): undefined => {
      this.result.roots.push({ source, path, priority, status: result });
      return undefined;
    };
    switch (status.type) {
      case 'missing': {
        if (explicit) this.#report('root/missing', path, 'the root does not exist');
        return report('missing');
      }
      case 'other': {
        this.#report('root/not-a-directory', path, 'the root is not a directory');
        return report('not-a-directory');
      }
      case 'failed': {
        this.#report('root/unreadable', path, `the root cannot be read (${status.code})`);
        return report('unreadable');
      }
      default: {
        const key = `${String(status.dev)}:${String(status.ino)}`;
        if (seen.has(key)) return report('repeated');
        seen.add(key);
        report('scanned');
        if (seen.size > 1) this.result.mayRepeat = true;
        return { dev: status.dev, ino: status.ino };
      }
    }
  }

  #unreadableRoot(root: SkillRoot, code: string): void {
    this.#report('root/unreadable', root.path, `the root cannot be listed (${code})`);
    const at = this.result.roots.findLastIndex(({ path }) => path === root.path);
    const report = this.result.roots[at];
    if (report !== undefined) this.result.roots[at] = { ...report, status: 'unreadable' };
  }

  #fail(path: string, code: Diagnostic['code'], message: string): void {
    this.result.failed.push({ path, code, message });
  }

  #report(code: Diagnostic['code'], path: string, message: string): void {
    this.result.diagnostics.push(diagnose({ code, path, message }, this.#options.mode));
  }

  #explain(path: string, decision: ExplainedDirectory['decision'], reason: string): void {
    if (this.#options.explain) this.result.explained.push({ path, decision, reason });
  }

  #isSliceOver(): boolean {
    this.#untilCheck -= 1;
    if (this.#untilCheck > 0) return false;
    this.#untilCheck = CHECK_EVERY;
    const now = monotonicMs();
    if (now < this.#deadline) return false;
    this.#deadline = now + SLICE_MS;
    return true;
  }
}

/** Removes the trailing slash; the file system root becomes empty, so that `path + '/' + name` always works. */
function rootPath(path: string): string {
  return withForwardSlashes(path).replace(/\/+$/, '');
}

/** Folders that `list --explain` looks into to name what is left out, and entries of a hidden folder that it looks at. */
const MAX_EXPLAINED = 2_000;
const MAX_PEEKED = 200;

/** Whether a folder is a skill, or has some directly or in a `skills` folder. */
function containsSkills(path: string): boolean {
  const folders = (below: string): readonly string[] => {
    const listing = listDirectory(below);
    return listing.type === 'failed' ? [] : listing.folders.slice(0, MAX_PEEKED).map((name) => `${below}/${name}`);
  };
  const isSkill = (folder: string): boolean => existsSync(`${folder}/SKILL.md`);
  return isSkill(path) || folders(path).some(isSkill) || folders(`${path}/skills`).some(isSkill);
}

function isPassedOver(name: string): boolean {
  return name.startsWith('.') || name === 'node_modules';
}
