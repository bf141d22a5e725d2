import path from 'node:path';

import { SkillError } from '../core/errors.ts';
import { quoted } from '../core/text/text.ts';
import { isDirectory, isInside, realPath, withForwardSlashes } from '../platform/fs/paths.ts';
import { openSealedFile } from '../platform/fs/authenticated-store.ts';
import { OWN_SOURCES } from '../core/skill.ts';

export interface TrustOptions {
  /** Where trust is stored; without it nothing is trusted. */
  readonly home: string | undefined;
  /** `digest`: a skill is trusted as it was when its folder was trusted; `path`: also after changes. */
  readonly bind: 'path' | 'digest';
  /** Folders named by the user's configuration, options or environment; skills in them need no trust. */
  readonly vouched?: readonly string[];
  /** Folders named by a project's configuration; skills in them need trust, whatever source name the project chose. */
  readonly projectRoots?: readonly string[];
}

/** A skill as it was when its folder was trusted. */
export interface TrustedSkill {
  /** Relative to the trusted folder, with forward slashes; empty for the folder itself. */
  readonly path: string;
  /** Tree digest of the skill. */
  readonly digest: string;
}

export interface TrustedFolder {
  /** All links resolved. */
  readonly folder: string;
  /** ISO 8601. */
  readonly at: string;
  readonly skills: readonly TrustedSkill[];
}

export type TrustVerdict =
  | { readonly trusted: true; readonly because: 'own' }
  | { readonly trusted: true; readonly because: 'folder'; readonly folder: string }
  | {
      readonly trusted: false;
      readonly reason: 'no-home' | 'unknown' | 'new' | 'changed' | 'no-digest';
      /** One sentence for a person. */
      readonly message: string;
      /** Folder of the skill, with all links resolved. */
      readonly place: string;
    };

export interface JudgedSkill {
  readonly source: string;
  readonly dir: string;
  /** Tree digest (`sha256-tree:`); required if trust is bound to digests. */
  readonly digest?: string;
}

export interface TrustStore {
  /** Trusting a folder trusts everything below it. Real paths are compared. */
  isTrusted(skill: JudgedSkill): TrustVerdict;
  /** Also stores the digests of these skills and keeps those of others. Throws `input/invalid` and `io/failed`. */
  trust(
    folder: string,
    options: { readonly skills: readonly { readonly dir: string; readonly digest: string }[]; readonly now?: Date },
  ): Promise<TrustedFolder>;
  /** Returns the folders that are no longer trusted. Throws `io/failed`. */
  revoke(folder: string): Promise<readonly TrustedFolder[]>;
  list(): { readonly folders: readonly TrustedFolder[]; readonly problems: readonly string[] };
}

const MAX_FOLDERS = 1_000;

/** `.agent/trust.json` in the home folder. Entries that were edited are ignored. */
export function openTrust({ home, bind, vouched = [], projectRoots = [] }: TrustOptions): TrustStore {
  const own = vouched.map(realPath);
  const foreign = projectRoots.flatMap((root) => [path.resolve(root), realPath(root)]);
  const sealed = home === undefined ? undefined : openTrustFile(home);
  // The unresolved path counts too: a link in a folder that the project named leads where the project chose.
  const isForeign = (dir: string, real: string): boolean =>
    foreign.some((folder) => isInside(path.resolve(dir), folder) || isInside(real, folder));
  const isOwn = (source: string, dir: string, real: string): boolean =>
    own.some((folder) => isInside(real, folder)) || (OWN_SOURCES.has(source) && !isForeign(dir, real));
  return {
    isTrusted({ source, dir, digest }) {
      // Fast path for lists: no file system access.
      if (foreign.length === 0 && OWN_SOURCES.has(source)) return { trusted: true, because: 'own' };
      const real = realPath(dir);
      if (isOwn(source, dir, real)) return { trusted: true, because: 'own' };
      if (sealed === undefined) return untrusted('no-home', { dir, real });
      const around = sealed.load().entries.filter(({ folder }) => isInside(real, folder));
      return judge(around, { dir, real, digest: bind === 'digest' ? (digest ?? '') : undefined });
    },
    async trust(folder, { skills, now = new Date() }) {
      if (sealed === undefined) throw invalid('there is no home folder to store trust in', 'a home folder');
      const real = trustableFolder(folder, home);
      const added = skills.map(({ dir, digest }) => ({ path: pathBelow(real, dir), digest }));
      let trusted: TrustedFolder = { folder: real, at: now.toISOString(), skills: added };
      await sealed.change((all) => {
        const before = all.find((entry) => entry.folder === real)?.skills ?? [];
        const kept = before.filter((skill) => added.every((each) => each.path !== skill.path));
        trusted = { ...trusted, skills: [...kept, ...added] };
        return [...all.filter((entry) => entry.folder !== real), trusted];
      });
      return trusted;
    },
    async revoke(folder) {
      if (sealed === undefined) return [];
      // The folder may be gone or replaced by a link, so its given path counts too.
      const names = new Set([realPath(folder), path.resolve(folder)]);
      let gone: readonly TrustedFolder[] = [];
      await sealed.change((all) => {
        gone = all.filter((entry) => names.has(entry.folder));
        return all.filter((entry) => !gone.includes(entry));
      });
      return gone;
    },
    list() {
      const { entries: folders, problems } = sealed?.load() ?? { entries: [], problems: [] };
      return { folders, problems };
    },
  };
}

/** Any enclosing trusted folder can confirm trust; the innermost one explains a refusal. */
function judge(
  around: readonly TrustedFolder[],
  { dir, real, digest }: { readonly dir: string; readonly real: string; readonly digest: string | undefined },
): TrustVerdict {
  const [inner] = around.toSorted((a, b) => b.folder.length - a.folder.length);
  if (inner === undefined) return untrusted('unknown', { dir, real });
  if (digest === undefined) return { trusted: true, because: 'folder', folder: inner.folder };
  if (digest === '') return untrusted('no-digest', { dir, real });
  const known = around.flatMap(({ folder, skills }) =>
    skills.filter((skill) => skill.path === pathBelow(folder, real)).map((skill) => ({ folder, digest: skill.digest })),
  );
  const same = known.find((skill) => skill.digest === digest);
  if (same !== undefined) return { trusted: true, because: 'folder', folder: same.folder };
  return untrusted(known.length === 0 ? 'new' : 'changed', { dir, real });
}

export type UntrustedVerdict = Extract<TrustVerdict, { readonly trusted: false }>;

const WHY: Readonly<Record<UntrustedVerdict['reason'], string>> = {
  'no-home': 'is not trusted: there is no home folder to store trust in',
  unknown: 'is not trusted: review it, then run `skillwright trust`',
  new: 'was added after its project was trusted: review it, then run `skillwright trust` again',
  changed: 'changed after its project was trusted: review it, then run `skillwright trust` again',
  'no-digest': 'is not trusted: its files could not be read to check for changes',
};

function untrusted(
  reason: UntrustedVerdict['reason'],
  { dir, real }: { readonly dir: string; readonly real: string },
): UntrustedVerdict {
  const message = `the skill ${quoted(withForwardSlashes(dir), 200)} ${WHY[reason]}`;
  return { trusted: false, reason, message, place: real };
}

/** Refuses the file system root and the home folder, which contain more than one project. */
function trustableFolder(folder: string, home: string | undefined): string {
  if (!isDirectory(folder)) throw invalid(`${quoted(folder, 200)} is not a folder`, 'a folder');
  const real = realPath(folder);
  if (path.dirname(real) === real || (home !== undefined && real === realPath(home)))
    throw invalid(`${quoted(real, 200)} contains more than one project`, 'a project folder');
  return real;
}

function pathBelow(folder: string, dir: string): string {
  return withForwardSlashes(path.relative(folder, realPath(dir)));
}

function openTrustFile(home: string): ReturnType<typeof openSealedFile<TrustedFolder>> {
  return openSealedFile<TrustedFolder>({
    file: path.join(home, '.agent/trust.json'),
    home,
    purpose: 'skillwright trust 1',
    read: folderOf,
    text: ({ folder, at, skills }) => JSON.stringify([folder, at, skills.map((skill) => [skill.path, skill.digest])]),
    name: ({ folder }) => folder,
    maxEntries: MAX_FOLDERS,
  });
}

function folderOf(value: object): TrustedFolder | undefined {
  const { folder, at, skills }: Record<string, unknown> = { ...value };
  if (typeof folder !== 'string' || !path.isAbsolute(folder) || typeof at !== 'string' || !Array.isArray(skills))
    return undefined;
  const read = skills.map(skillOf);
  return read.every((skill) => skill !== undefined) ? { folder, at, skills: read } : undefined;
}

function skillOf(value: unknown): TrustedSkill | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { path: below, digest }: Record<string, unknown> = { ...value };
  return typeof below === 'string' && typeof digest === 'string' ? { path: below, digest } : undefined;
}

function invalid(message: string, expected: string): SkillError<'input/invalid'> {
  return new SkillError({ code: 'input/invalid', message, hint: `give ${expected}`, data: { expected } });
}
