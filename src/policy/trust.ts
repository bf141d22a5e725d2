import { lstatSync } from 'node:fs';
import path from 'node:path';

import { invalidInput, OWN_SOURCES, quoted, type SkillError } from '#core';
import { isDirectory, isInside, openSealedFile, realPath, withForwardSlashes } from '#platform';

export interface TrustOptions {
  /** Where trust is stored; without it nothing is trusted. */
  readonly home: string | undefined;
  /** `digest`: a skill is trusted as it was when it was trusted; `path`: also after changes. */
  readonly bind: 'path' | 'digest';
  /** Folders named by the user's configuration, options or environment; skills in them need no trust. */
  readonly vouched?: readonly string[];
  /** Folders named by a project's configuration; skills in them need trust, whatever source name the project chose. */
  readonly projectRoots?: readonly string[];
}

interface TrustedBytes {
  readonly digest: string;
  /** Digest of its frontmatter, which is all that a model sees before the skill is loaded. */
  readonly head?: string;
}

/** A skill as it was when it was trusted. */
interface TrustedSkill extends TrustedBytes {
  /** Relative to the trusted folder, with forward slashes; empty for the folder itself. */
  readonly path: string;
  /** Versions that were installed and trusted before, newest first: a rollback brings them back, and consent is asked once. */
  readonly earlier?: readonly TrustedBytes[];
  /** Identity of the folder of a skill that the user writes: it stays trusted after edits, until the folder is replaced. */
  readonly own?: string;
  /** The source in its lock when it was trusted. An update from another source is not trusted. */
  readonly origin?: string;
}

interface TrustedFolder {
  /** All links resolved. */
  readonly folder: string;
  readonly at: string;
  readonly skills: readonly TrustedSkill[];
  /** Only the listed skills are trusted, whatever `bind` says: they were installed or created one by one. */
  readonly only?: true;
}

/** A skill to trust, with the digests that the user confirmed. */
interface SkillToTrust {
  readonly dir: string;
  readonly digest: string;
  readonly head?: string;
  /** The user writes this skill: edits need no new confirmation. */
  readonly isOwn?: boolean;
  readonly origin?: string;
}

export type TrustVerdict =
  | { readonly trusted: true; readonly because: 'own' }
  | { readonly trusted: true; readonly because: 'folder' | 'author'; readonly folder: string; readonly origin?: string }
  | {
      readonly trusted: false;
      readonly reason: 'no-home' | 'unknown' | 'new' | 'changed' | 'no-digest';
      readonly message: string;
      /** Folder of the skill, with all links resolved. */
      readonly place: string;
    };

interface TrustSubject {
  readonly source: string;
  readonly dir: string;
  /** Tree digest (`sha256-tree:`). If trust is bound to digests, this or `head` is required. */
  readonly digest?: string;
  /** Digest of the frontmatter; decides if there is no tree digest. */
  readonly head?: string;
}

export interface TrustStore {
  /** Trusting a folder trusts everything below it. Real paths are compared. */
  isTrusted(skill: TrustSubject): TrustVerdict;
  /** Also stores the digests of these skills and keeps those of others. Throws `input/invalid` and `io/failed`. */
  trust(
    folder: string,
    options: { readonly skills: readonly SkillToTrust[]; readonly now?: Date },
  ): Promise<TrustedFolder>;
  /** Trusts these skills and nothing beside them. Throws `input/invalid` without a home folder, and `io/failed`. */
  trustSkills(skills: readonly SkillToTrust[], options?: { readonly now?: Date }): Promise<void>;
  /** Also revokes skills below the folder that were trusted one by one. Returns what is no longer trusted. Throws `io/failed`. */
  revoke(folder: string): Promise<readonly TrustedFolder[]>;
  /** Nothing at or below the folder stays trusted by its bytes: it is deleted for good. Throws `io/failed`. */
  forget(folder: string): Promise<void>;
  list(): { readonly folders: readonly TrustedFolder[]; readonly problems: readonly string[] };
}

const MAX_FOLDERS = 1_000;

/** `.agent/trust.json` in the home folder. Entries that were edited are ignored. */
export function openTrust({ home, bind, vouched = [], projectRoots = [] }: TrustOptions): TrustStore {
  const own = vouched.flatMap((folder) => [path.resolve(folder), realPath(folder)]);
  const foreign = projectRoots.flatMap((root) => [path.resolve(root), realPath(root)]);
  const sealed = home === undefined ? undefined : openTrustFile(home);
  // The unresolved path counts too: a link in a folder that the project named leads where the project chose.
  const isForeign = (dir: string, real: string): boolean =>
    foreign.some((folder) => isInside(path.resolve(dir), folder) || isInside(real, folder));
  const isOwn = (source: string, dir: string, real: string): boolean =>
    own.some((folder) => isInside(path.resolve(dir), folder) || isInside(real, folder)) ||
    (OWN_SOURCES.has(source) && !isForeign(dir, real));
  // A list asks about every skill, and a folder may have thousands.
  const byPath = new WeakMap<TrustedFolder, ReadonlyMap<string, TrustedSkill>>();
  const knownIn = (entry: TrustedFolder, real: string): TrustedSkill | undefined => {
    const skills = byPath.get(entry) ?? new Map(entry.skills.map((skill) => [skill.path, skill]));
    byPath.set(entry, skills);
    return skills.get(pathBelow(entry.folder, real));
  };
  return {
    isTrusted({ source, dir, digest, head }) {
      // Fast path for lists: no file system access.
      if (foreign.length === 0 && OWN_SOURCES.has(source)) return { trusted: true, because: 'own' };
      const real = realPath(dir);
      if (isOwn(source, dir, real)) return { trusted: true, because: 'own' };
      if (sealed === undefined) return untrusted('no-home', { dir, real });
      const enclosing = sealed.load().entries.filter(({ folder }) => isInside(real, folder));
      const known = enclosing.flatMap((entry) => {
        const one = knownIn(entry, real);
        return one === undefined ? [] : [{ entry, one }];
      });
      return checkFolders(enclosing, known, { dir, real, bind, digest, head });
    },
    async trust(folder, { skills, now = new Date() }) {
      if (sealed === undefined) throw noHome();
      const real = trustableFolder(folder, home);
      let trusted: TrustedFolder = { folder: real, at: now.toISOString(), skills: skillsBelow(real, skills) };
      await sealed.change((all) => {
        trusted = merged(all, trusted);
        return [...all.filter((entry) => entry.folder !== real), trusted];
      });
      return trusted;
    },
    async trustSkills(skills, { now = new Date() } = {}) {
      if (skills.length === 0) return;
      if (sealed === undefined) throw noHome();
      const folders = new Map<string, SkillToTrust[]>();
      for (const skill of skills) {
        const folder = path.dirname(realPath(skill.dir));
        folders.set(folder, folders.get(folder) ?? []);
        folders.get(folder)?.push(skill);
      }
      const added = [...folders].map(([folder, inside]): TrustedFolder => {
        return { folder, at: now.toISOString(), skills: skillsBelow(folder, inside), only: true };
      });
      await sealed.change((all) => [
        ...all.filter((entry) => !folders.has(entry.folder)),
        ...added.map((entry) => merged(all, entry)),
      ]);
    },
    async revoke(folder) {
      if (sealed === undefined) return [];
      // The folder may be gone or replaced by a link, so its given path counts too.
      const names = new Set([realPath(folder), path.resolve(folder)]);
      const revoked: TrustedFolder[] = [];
      await sealed.change((all) => {
        revoked.length = 0;
        return all.flatMap((entry) => {
          const { gone, kept } = withoutFolder(entry, names);
          if (gone !== undefined) revoked.push(gone);
          return kept === undefined ? [] : [kept];
        });
      });
      return revoked;
    },
    async forget(folder) {
      const isGone = (place: string): boolean => isInside(place, folder);
      await sealed?.change((all) =>
        all
          .filter((entry) => !isGone(entry.folder))
          .map((entry) => ({
            ...entry,
            skills: entry.skills.filter((skill) => !isGone(path.join(entry.folder, skill.path))),
          }))
          .filter((entry) => entry.only !== true || entry.skills.length > 0),
      );
    },
    list() {
      const { entries: folders, problems } = sealed?.load() ?? { entries: [], problems: [] };
      return { folders, problems };
    },
  };
}

interface CheckedSkill {
  readonly dir: string;
  readonly real: string;
  readonly bind: TrustOptions['bind'];
  readonly digest: string | undefined;
  readonly head: string | undefined;
}

/** Any enclosing trusted folder can confirm trust; the innermost one explains a refusal. */
function checkFolders(
  enclosing: readonly TrustedFolder[],
  known: readonly { readonly entry: TrustedFolder; readonly one: TrustedSkill }[],
  skill: CheckedSkill,
): TrustVerdict {
  const { real, bind, digest, head } = skill;
  const whole = innermost(enclosing.filter(({ only }) => only !== true));
  if (bind === 'path' && whole !== undefined) return { trusted: true, because: 'folder', folder: whole.folder };
  const [first] = known;
  if (first === undefined) return untrusted(whole === undefined ? 'unknown' : 'new', skill);
  if (bind === 'path') return { trusted: true, because: 'folder', folder: first.entry.folder };
  const authored = known.find(({ one }) => one.own !== undefined && one.own === folderIdentity(real));
  if (authored !== undefined)
    return { trusted: true, because: 'author', folder: authored.entry.folder, origin: authored.one.origin };
  if (digest === undefined && head === undefined) return untrusted('no-digest', skill);
  const isSame = (bytes: TrustedBytes): boolean =>
    digest === undefined ? bytes.head === undefined || bytes.head === head : bytes.digest === digest;
  const same = known.find(({ one }) => [one, ...(one.earlier ?? [])].some(isSame));
  if (same !== undefined)
    return { trusted: true, because: 'folder', folder: same.entry.folder, origin: same.one.origin };
  return untrusted('changed', skill);
}

function innermost(folders: readonly TrustedFolder[]): TrustedFolder | undefined {
  return folders.toSorted((a, b) => b.folder.length - a.folder.length)[0];
}

/** Tells a folder from another one that was later created at the same path, e.g. by a clone. Undefined if it is gone. */
function folderIdentity(folder: string): string | undefined {
  const stats = lstatSync(folder, { bigint: true, throwIfNoEntry: false });
  return stats?.isDirectory() === true ? `${String(stats.ino)}:${String(stats.birthtimeMs)}` : undefined;
}

function skillsBelow(folder: string, skills: readonly SkillToTrust[]): readonly TrustedSkill[] {
  return skills.map(({ dir, digest, head, origin, isOwn = false }) => {
    const own = isOwn ? folderIdentity(realPath(dir)) : undefined;
    return { path: pathBelow(folder, realPath(dir)), digest, head, own, origin };
  });
}

/** The entry with the skills that the entry of the same folder had before. A folder that was trusted as a whole stays so. */
function merged(all: readonly TrustedFolder[], { only, ...added }: TrustedFolder): TrustedFolder {
  const before = all.find(({ folder }) => folder === added.folder);
  const known = new Map((before?.skills ?? []).map((skill) => [skill.path, skill]));
  const addedPaths = new Set(added.skills.map((skill) => skill.path));
  const kept = (before?.skills ?? []).filter((skill) => !addedPaths.has(skill.path));
  const isOnly = only === true && (before === undefined || before.only === true);
  const skills = [
    ...kept,
    ...added.skills.map((skill) => (only === true ? withEarlier(skill, known.get(skill.path)) : skill)),
  ];
  return { ...added, skills, ...(isOnly ? { only: true } : {}) };
}

/** As many as a root keeps previous versions of a skill. */
const MAX_EARLIER = 5;

function withEarlier({ origin, ...skill }: TrustedSkill, before: TrustedSkill | undefined): TrustedSkill {
  if (before === undefined) return { ...skill, origin };
  const earlier = [before, ...(before.earlier ?? [])]
    .filter(({ digest }) => digest !== skill.digest)
    .slice(0, MAX_EARLIER)
    .map(({ digest, head }): TrustedBytes => ({ digest, head }));
  return { ...skill, ...(earlier.length === 0 ? {} : { earlier }), origin: origin ?? before.origin };
}

/** Splits an entry into what is revoked with a folder and what stays trusted. */
function withoutFolder(
  entry: TrustedFolder,
  names: ReadonlySet<string>,
): { readonly gone?: TrustedFolder; readonly kept?: TrustedFolder } {
  if (names.has(entry.folder)) return { gone: entry };
  if (entry.only !== true) return { kept: entry };
  const isGone = (skill: TrustedSkill): boolean =>
    [...names].some((name) => isInside(path.join(entry.folder, skill.path), name));
  const gone = entry.skills.filter(isGone);
  if (gone.length === 0) return { kept: entry };
  if (gone.length === entry.skills.length) return { gone: entry };
  return {
    gone: { ...entry, skills: gone },
    kept: { ...entry, skills: entry.skills.filter((skill) => !isGone(skill)) },
  };
}

type UntrustedVerdict = Extract<TrustVerdict, { readonly trusted: false }>;

const REASON_TEXTS: Readonly<Record<UntrustedVerdict['reason'], string>> = {
  'no-home': 'is not trusted: there is no home folder to store trust in',
  unknown: 'is not trusted: review it, then run `skillwright trust`',
  new: 'was added after its project was trusted: review it, then run `skillwright trust` again',
  changed: 'changed after it was trusted: review it, then run `skillwright trust` again',
  'no-digest': 'is not trusted: its files could not be read to check for changes',
};

function untrusted(
  reason: UntrustedVerdict['reason'],
  { dir, real }: Pick<CheckedSkill, 'dir' | 'real'>,
): UntrustedVerdict {
  const message = `the skill ${quoted(withForwardSlashes(dir), 200)} ${REASON_TEXTS[reason]}`;
  return { trusted: false, reason, message, place: real };
}

/** Refuses the file system root and the home folder, which contain more than one project. */
function trustableFolder(folder: string, home: string | undefined): string {
  if (!isDirectory(folder)) throw invalidInput(`${quoted(folder, 200)} is not a folder`, 'a folder');
  const real = realPath(folder);
  if (path.dirname(real) === real || (home !== undefined && real === realPath(home)))
    throw invalidInput(`${quoted(real, 200)} contains more than one project`, 'a project folder');
  return real;
}

function pathBelow(folder: string, real: string): string {
  return withForwardSlashes(path.relative(folder, real));
}

function openTrustFile(home: string): ReturnType<typeof openSealedFile<TrustedFolder>> {
  return openSealedFile<TrustedFolder>({
    file: path.join(home, '.agent/trust.json'),
    home,
    purpose: 'skillwright trust 1',
    read: parseTrustedFolder,
    text: ({ folder, at, skills, only }) =>
      JSON.stringify([folder, at, skills.map(sealedParts), ...(only === true ? ['only'] : [])]),
    name: ({ folder }) => folder,
    maxEntries: MAX_FOLDERS,
  });
}

/** Absent parts leave no trace, so that entries of earlier versions stay valid. */
function sealedParts({ path: below, digest, head, own, earlier, origin }: TrustedSkill): readonly unknown[] {
  if (earlier !== undefined || origin !== undefined) {
    const before = (earlier ?? []).map((one) => [one.digest, one.head ?? '']);
    return [below, digest, head ?? '', own ?? '', before, ...(origin === undefined ? [] : [origin])];
  }
  return [below, digest, ...(head === undefined && own === undefined ? [] : [head ?? '', own ?? ''])];
}

function parseTrustedFolder(value: object): TrustedFolder | undefined {
  const { folder, at, skills, only }: Record<string, unknown> = { ...value };
  if (typeof folder !== 'string' || !path.isAbsolute(folder) || typeof at !== 'string' || !Array.isArray(skills))
    return undefined;
  const read = skills.map(parseTrustedSkill);
  if (!read.every((skill) => skill !== undefined)) return undefined;
  return { folder, at, skills: read, ...(only === true ? { only } : {}) };
}

function parseTrustedSkill(value: unknown): TrustedSkill | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { path: below, own, earlier, origin }: Record<string, unknown> = { ...value };
  const bytes = bytesOf(value);
  const before = Array.isArray(earlier) ? earlier.map(bytesOf) : [];
  if (typeof below !== 'string' || bytes === undefined || !before.every((one) => one !== undefined)) return undefined;
  return {
    path: below,
    ...bytes,
    ...(typeof own === 'string' ? { own } : {}),
    ...(before.length === 0 ? {} : { earlier: before }),
    ...(typeof origin === 'string' ? { origin } : {}),
  };
}

function bytesOf(value: unknown): TrustedBytes | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { digest, head }: Record<string, unknown> = { ...value };
  if (typeof digest !== 'string') return undefined;
  return { digest, ...(typeof head === 'string' ? { head } : {}) };
}

function noHome(): SkillError<'input/invalid'> {
  return invalidInput('there is no home folder to store trust in', 'a home folder');
}
