import {
  compareDiagnostics,
  compareText,
  serverOfSource,
  type Diagnostic,
  type SkillEntry,
  type SkillHead,
  type SkillRoot,
} from '#core';
import { chooseState } from './visibility.ts';

/** A skill that is hidden by another one with the same name; still addressable as `source/name` or `group/name`. */
export interface ShadowedSkill {
  readonly name: string;
  readonly source: string;
  readonly version?: string;
  readonly dir: string;
  /** Folder of the skill that won. */
  readonly by: string;
  readonly reason: ShadowReason;
}

type ShadowReason = 'higher-root' | 'newer-in-root' | 'first-path' | 'same-directory' | 'untrusted';

/** A valid skill, before it is known whether another skill with the same name shadows it. */
export interface SkillCandidate {
  readonly head: SkillHead;
  readonly root: SkillRoot;
  /** The base name of its folder. */
  readonly name: string;
  /** Absolute, with forward slashes. */
  readonly dir: string;
  readonly file: string;
  /** Folders between the root and the skill; empty directly in the root. */
  readonly group: string;
  readonly digest: string;
  readonly mtimeMs: number;
  /** The folder of an earlier candidate that is the same folder on disk. */
  readonly sameAs?: string;
}

/** The scan result of one root. */
export interface RootReport {
  readonly source: string;
  readonly path: string;
  readonly priority: number;
  /** `repeated`: the same folder as a root of higher priority. */
  readonly status: 'scanned' | 'missing' | 'unreadable' | 'not-a-directory' | 'repeated';
  /** Valid skills found in it, shadowed ones too. */
  readonly skills: number;
}

/** A skill folder that is excluded from the index, with the reason. */
export interface LeftOutSkill {
  readonly path: string;
  readonly code: Diagnostic['code'];
  readonly message: string;
}

/** `rebuilt`: there was no usable cache and a new one was written. `unwritable`: the scan continued without a cache. */
export interface CacheReport {
  readonly status: 'used' | 'rebuilt' | 'off' | 'unwritable';
  readonly path?: string;
  /** Why it was rebuilt, or could not be written. */
  readonly reason?: string;
}

/** The report of a scan (REG-7). Only `durationMs`, the read counts and `cache` may differ between two scans of the same files. */
export interface ScanReport {
  readonly roots: readonly RootReport[];
  readonly durationMs: number;
  /** Skill folders: `valid` and left out together; the same folder reached twice counts once. */
  readonly found: number;
  readonly valid: number;
  readonly leftOut: readonly LeftOutSkill[];
  readonly conflicts: readonly ShadowedSkill[];
  /** Directories visited: skill folders and the folders above them. */
  readonly directories: number;
  readonly bytesRead: number;
  /** Unchanged skills that were not opened. */
  readonly fromCache: number;
  readonly indexHash: string;
  readonly cache: CacheReport;
  /** Keys of `visibility` that match no skill. */
  readonly unusedVisibility: readonly string[];
}

/** What the scan decided about one directory, and why. */
export interface ExplainedDirectory {
  readonly path: string;
  readonly decision: 'skill' | 'left-out' | 'group' | 'passed-over' | 'repeated' | 'root';
  readonly reason: string;
}

/** All level 1 data: an immutable snapshot that one run can keep. */
export interface SkillIndex {
  /** The winning entry of each name (`isShadowedBy`). Sorted by name in code unit order, then by source. */
  readonly skills: readonly SkillEntry[];
  /** `skills` and the shadowed entries, sorted by name without case, the winner of each name first. */
  readonly all: readonly SkillEntry[];
  readonly shadowed: readonly ShadowedSkill[];
  /** Skills that are left out because they have no description, for systems that load them by the names of their folders. */
  readonly undescribed: readonly SkillEntry[];
  readonly diagnostics: readonly Diagnostic[];
  readonly report: ScanReport;
  /** `sha256:` of the location, digest and state of every entry; equal on two machines with the same skills. */
  readonly indexHash: string;
  /** Every visited directory, if `explain` was set. */
  readonly explain?: readonly ExplainedDirectory[];
}

/** The part of the report that the scan provides. */
type ScanFacts = Pick<ScanReport, 'roots' | 'leftOut' | 'directories' | 'bytesRead' | 'fromCache' | 'cache'>;

export interface IndexInput {
  readonly candidates: readonly SkillCandidate[];
  readonly undescribed?: readonly SkillCandidate[];
  readonly diagnostics: readonly Diagnostic[];
  readonly facts: ScanFacts;
  readonly visibility?: Readonly<Record<string, SkillEntry['state']>>;
  /** The same from a project, which can hide every skill, but shows more only of its own, and where `visibility` says nothing. */
  readonly projectVisibility?: Readonly<Record<string, SkillEntry['state']>>;
  readonly explain?: readonly ExplainedDirectory[];
  /** Milliseconds since the scan began; called last. */
  readonly elapsed: () => number;
}

const HASHED_AT_ONCE = 4096;

/** Builds the index from the result of a scan: the winner of each name, the shadowed skills, and the state of each entry. */
export function indexSkills({
  candidates,
  undescribed = [],
  diagnostics,
  facts,
  visibility = {},
  projectVisibility = {},
  explain,
  elapsed,
}: IndexInput): SkillIndex {
  // Loaded here: a listing without changes does not need it.
  const hash = process.getBuiltinModule('node:crypto').createHash('sha256');
  const keyed = inOrder(candidates);
  const rules = visibilityRules(visibility);
  const projectRules = visibilityRules(projectVisibility);

  const enter = (candidate: SkillCandidate): SkillEntry =>
    toEntry(candidate, chooseState(candidate, rules.find(candidate), projectRules.find(candidate)));
  const all: SkillEntry[] = [];
  const skills: SkillEntry[] = [];
  const shadowed: ShadowedSkill[] = [];
  let repeats = 0;
  let winners: Keyed[] = [];
  // Hashed incrementally, because the whole text would be as large as the index.
  let lines = '';
  // Counted loops here and below: in code that is not compiled yet, an iterator allocates an object per step.
  for (let at = 0; at < keyed.length; at += 1) {
    const item = keyed[at];
    if (item === undefined) continue;
    const { candidate } = item;
    const entry = enter(candidate);
    all.push(entry);
    if (candidate.sameAs !== undefined) repeats += 1;
    if (winners[0]?.key !== item.key) winners = [];
    const winner = winners.find((one) => isSameName(one, item)) ?? winners.find(({ rank }) => rank !== item.rank);
    if (winner === undefined) {
      winners.push(item);
      skills.push(entry);
    } else shadowed.push(toShadowed(item, winner));
    lines += hashedLine(item, entry);
    if (lines.length < HASHED_AT_ONCE) continue;
    hash.update(lines);
    lines = '';
  }
  hash.update(lines);
  const indexHash = `sha256:${hash.digest('hex')}`;
  const valid = candidates.length - repeats;
  return {
    skills: sortSkills(skills),
    all,
    shadowed,
    undescribed: undescribed.map(enter),
    diagnostics: diagnostics.toSorted(compareDiagnostics),
    report: {
      ...facts,
      durationMs: elapsed(),
      found: valid + facts.leftOut.length,
      valid,
      conflicts: shadowed,
      indexHash,
      unusedVisibility: [...rules.unused(), ...projectRules.unused()],
    },
    indexHash,
    explain,
  };
}

/** Sorts skills for listing: by name in code unit order, then by source. */
export function sortSkills(skills: readonly SkillEntry[]): readonly SkillEntry[] {
  return skills.toSorted(compareEntries);
}

function compareEntries(a: SkillEntry, b: SkillEntry): number {
  if (a.name !== b.name) return a.name < b.name ? -1 : 1;
  return compareText(a.source, b.source);
}

const PLAIN_NAME = /^[a-z0-9-]*$/;

/** The key for comparing names, which ignores case and Unicode composition (REG-10). */
export function nameKey(name: string): string {
  return PLAIN_NAME.test(name) ? name : name.normalize('NFC').toLowerCase();
}

function isSameName({ candidate: a }: Keyed, { candidate: b }: Keyed): boolean {
  return a.head.name === b.head.name;
}

/**
 * Whether an entry loses its name to a winner. Names that differ only in case are one name, except within a root: there `Demo` and `demo`
 * are two skills, and a request has to spell the name as the skill does.
 */
export function isShadowedBy(entry: SkillEntry, winner: SkillEntry): boolean {
  if (nameKey(entry.name) !== nameKey(winner.name)) return false;
  return entry.name === winner.name || rootOf(entry) !== rootOf(winner);
}

/** The folder of the root that a skill was found in. */
export function rootOf({ dir, group }: SkillEntry): string {
  const folder = dir.slice(0, dir.lastIndexOf('/'));
  return group === '' ? folder : folder.slice(0, -group.length);
}

interface Keyed {
  readonly candidate: SkillCandidate;
  readonly key: string;
  /** 0 for the root with the highest priority; unique per root. */
  readonly rank: number;
  /** Rank, source and group, as hashed. */
  readonly place: string;
}

/** Sorts the candidates by key and precedence. */
function inOrder(candidates: readonly SkillCandidate[]): readonly Keyed[] {
  const ranks = rankRoots(candidates);
  const keyed: Keyed[] = [];
  let root: SkillRoot | undefined;
  let group = '';
  let rank = 0;
  let place = '';
  for (let at = 0; at < candidates.length; at += 1) {
    const candidate = candidates[at];
    if (candidate === undefined) continue;
    // Candidates of one folder are adjacent.
    if (candidate.root !== root || candidate.group !== group) {
      ({ root, group } = candidate);
      rank = ranks.get(root) ?? 0;
      place = `${String(rank)}\0${root.source}\0${group}\0`;
    }
    keyed.push({ candidate, key: nameKey(candidate.head.name), rank, place });
  }
  return keyed.sort(compareKeyed);
}

function rankRoots(candidates: readonly SkillCandidate[]): ReadonlyMap<SkillRoot, number> {
  const seen = new Set<SkillRoot>();
  let last: SkillRoot | undefined;
  for (let at = 0; at < candidates.length; at += 1) {
    const root = candidates[at]?.root;
    if (root !== undefined && root !== last) seen.add(root);
    last = root;
  }
  const roots = [...seen].sort((a, b) => b.priority - a.priority || compareText(a.path, b.path));
  return new Map(roots.map((root, rank) => [root, rank]));
}

/** Precedence within one name: higher root, first occurrence of a folder, later modification, first path. */
function compareKeyed(a: Keyed, b: Keyed): number {
  if (a.key !== b.key) return a.key < b.key ? -1 : 1;
  return (
    a.rank - b.rank ||
    Number(a.candidate.sameAs !== undefined) - Number(b.candidate.sameAs !== undefined) ||
    b.candidate.mtimeMs - a.candidate.mtimeMs ||
    compareText(a.candidate.dir, b.candidate.dir)
  );
}

function toShadowed({ candidate, rank }: Keyed, winner: Keyed): ShadowedSkill {
  const version = candidate.head.meta['version'];
  return {
    name: candidate.head.name,
    source: candidate.root.source,
    version,
    dir: candidate.dir,
    by: candidate.sameAs ?? winner.candidate.dir,
    reason: shadowReason(candidate, winner, rank),
  };
}

function shadowReason(candidate: SkillCandidate, winner: Keyed, rank: number): ShadowReason {
  if (candidate.sameAs !== undefined) return 'same-directory';
  if (rank !== winner.rank) return 'higher-root';
  return candidate.mtimeMs === winner.candidate.mtimeMs ? 'first-path' : 'newer-in-root';
}

/** The entry of a candidate with its configured state. */
function toEntry(
  { head, root, group, dir, file, digest }: Omit<SkillCandidate, 'name'>,
  state: SkillEntry['state'],
): SkillEntry {
  const { name, license, compatibility, controls, meta } = head;
  const { source } = root;
  const server = serverOfSource(source);
  // Every catalog shows the description, and not every one the source.
  const description = server === undefined ? head.description : `[from MCP server ${server}] ${head.description}`;
  const version = meta['version'];
  const id = version === undefined ? `${source}/${name}` : `${source}/${name}@${version}`;
  // One literal with a fixed order of fields: entries of 50,000 skills share their hidden classes.
  const entry: Draft = { id, name, description, source, group, dir, file, digest, state, controls, meta };
  if (license !== undefined) entry.license = license;
  if (compatibility !== undefined) entry.compatibility = compatibility;
  return entry;
}

type Draft = { -readonly [Field in keyof SkillEntry]: SkillEntry[Field] };

function hashedLine({ place, candidate: { name, file, digest } }: Keyed, { state }: SkillEntry): string {
  return `${place}${name}\0${file}\0${digest}\0${state}\n`;
}

interface VisibilityRules {
  find(candidate: SkillCandidate): SkillEntry['state'] | undefined;
  unused(): readonly string[];
}

/** Precedence: exact keys over globs, `source/name` over `name`, longer globs over shorter ones. */
function visibilityRules(visibility: Readonly<Record<string, SkillEntry['state']>>): VisibilityRules {
  const keys = Object.keys(visibility);
  if (keys.length === 0) return { find: () => undefined, unused: () => [] };
  const used = new Set<string>();
  const exact = new Map<string, readonly [key: string, state: SkillEntry['state']]>();
  const globs: (readonly [key: string, parts: readonly string[], state: SkillEntry['state']])[] = [];
  for (const [key, state] of Object.entries(visibility)) {
    if (key.includes('*')) globs.push([key, nameKey(key).split(/\*+/), state]);
    else exact.set(nameKey(key), [key, state]);
  }
  globs.sort(([a], [b]) => b.length - a.length || compareText(a, b));
  return {
    find({ head, root }) {
      const name = nameKey(head.name);
      const full = nameKey(`${root.source}/${head.name}`);
      const named = exact.get(full) ?? exact.get(name);
      if (named !== undefined) {
        used.add(named[0]);
        return named[1];
      }
      const glob = globs.find(([key, parts]) => globMatches(parts, key.includes('/') ? full : name));
      if (glob === undefined) return undefined;
      used.add(glob[0]);
      return glob[2];
    },
    unused: () => keys.filter((key) => !used.has(key)).toSorted(compareText),
  };
}

/** `*` matches any characters. Each part is searched once from the left, so that no pattern is slow. */
function globMatches(parts: readonly string[], text: string): boolean {
  const first = parts[0] ?? '';
  const last = parts.at(-1) ?? '';
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false;
  const end = text.length - last.length;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at);
    if (found === -1 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}
