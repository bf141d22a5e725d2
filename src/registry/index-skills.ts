import type { TextHash } from '../platform/hash.ts';
import { compareDiagnostics, compareText } from '../core/diagnostic.ts';
import type { Diagnostic } from '../core/diagnostic.ts';
import type { DiagnosticCode } from '../core/diagnostic-codes.ts';
import type { ShadowReason, ShadowedSkill, SkillEntry, SkillHead, SkillRoot, Visibility } from '../core/skill.ts';

/** A skill that was found and understood, before it is known whether another of its name hides it. */
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

/** What came of one root. */
export interface RootReport {
  readonly source: string;
  readonly path: string;
  readonly priority: number;
  /** `repeated`: the same folder as a root of higher priority. */
  readonly status: 'scanned' | 'missing' | 'unreadable' | 'not-a-directory' | 'repeated';
  /** Valid skills found in it, shadowed ones too. */
  readonly skills: number;
}

/** A skill folder that is not in the index, and why. */
export interface LeftOutSkill {
  readonly path: string;
  readonly code: DiagnosticCode;
  readonly message: string;
}

/** `rebuilt`: there was no usable cache and a new one was written. `unwritable`: the scan went on without. */
export interface CacheReport {
  readonly status: 'used' | 'rebuilt' | 'off' | 'unwritable';
  readonly path?: string;
  /** Why it was rebuilt, or could not be written. */
  readonly reason?: string;
}

/** What a scan did (REG-7). Only `durationMs`, the read counts and `cache` may differ between two scans of the same files. */
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
  /** Skills that were believed unchanged and not opened. */
  readonly fromCache: number;
  readonly indexHash: string;
  readonly cache: CacheReport;
  /** Keys of `visibility` that met no skill. */
  readonly unusedVisibility: readonly string[];
}

/** Why the scan did what it did with one directory. */
export interface ExplainedDirectory {
  readonly path: string;
  readonly decision: 'skill' | 'left-out' | 'group' | 'passed-over' | 'repeated' | 'root';
  readonly reason: string;
}

/** Everything level 1 knows; a value that never changes once made, so that one run can keep one. */
export interface SkillIndex {
  /** One entry a name: those that won. Sorted by name in code unit order, then by source. */
  readonly skills: readonly SkillEntry[];
  /** The same and the shadowed ones, by name without case, the winner of each name first. */
  readonly all: readonly SkillEntry[];
  readonly shadowed: readonly ShadowedSkill[];
  readonly diagnostics: readonly Diagnostic[];
  readonly report: ScanReport;
  /** `sha256:` over the place, digest and state of every entry; equal on two machines with the same skills. */
  readonly indexHash: string;
  /** Each directory visited, where it was asked for. */
  readonly explain?: readonly ExplainedDirectory[];
}

/** The report as far as the scan itself knows it. */
export type ScanFacts = Pick<ScanReport, 'roots' | 'leftOut' | 'directories' | 'bytesRead' | 'fromCache' | 'cache'>;

export interface IndexInput {
  readonly candidates: readonly SkillCandidate[];
  readonly diagnostics: readonly Diagnostic[];
  readonly facts: ScanFacts;
  readonly visibility?: Readonly<Record<string, Visibility>>;
  readonly explain?: readonly ExplainedDirectory[];
  /** SHA-256, with nothing in it yet. */
  readonly hash: TextHash;
  /** Milliseconds since the scan began; asked last. */
  readonly elapsed: () => number;
}

const HASHED_AT_ONCE = 4096;

/** Turns what a scan found into the index: who wins each name, what is hidden, what each entry may show. */
export function indexSkills({
  candidates,
  diagnostics,
  facts,
  visibility = {},
  explain,
  hash,
  elapsed,
}: IndexInput): SkillIndex {
  const keyed = inOrder(candidates);
  const rules = visibilityRules(visibility);

  const all: SkillEntry[] = [];
  const skills: SkillEntry[] = [];
  const shadowed: ShadowedSkill[] = [];
  let repeats = 0;
  let winner: Keyed | undefined;
  // Hashed while it is made: all of it at once would be a long text beside the index.
  let lines = '';
  let isByName = true;
  // Counted loops here and below: where nothing is compiled yet, an iterator makes an object at every step.
  for (let at = 0; at < keyed.length; at += 1) {
    const item = keyed[at];
    if (item === undefined) continue;
    const { candidate } = item;
    const entry = toEntry(candidate, stateOf(candidate, rules.find(candidate)));
    all.push(entry);
    if (candidate.sameAs !== undefined) repeats += 1;
    if (winner?.key === item.key) {
      shadowed.push(toShadowed(item, winner));
    } else {
      winner = item;
      skills.push(entry);
      isByName &&= item.key === entry.name;
    }
    lines += hashedLine(item, entry);
    if (lines.length < HASHED_AT_ONCE) continue;
    hash.update(lines);
    lines = '';
  }
  hash.update(lines);
  const indexHash = `sha256:${hash.digest()}`;
  const valid = candidates.length - repeats;
  return {
    // Keys that are the names as they are have them in order already.
    skills: isByName ? skills : sortSkills(skills),
    all,
    shadowed,
    diagnostics: diagnostics.toSorted(compareDiagnostics),
    report: {
      ...facts,
      durationMs: elapsed(),
      found: valid + facts.leftOut.length,
      valid,
      conflicts: shadowed,
      indexHash,
      unusedVisibility: rules.unused(),
    },
    indexHash,
    ...(explain === undefined ? {} : { explain }),
  };
}

/** The order skills are listed in: by name in code unit order, then by source. */
export function sortSkills(skills: readonly SkillEntry[]): readonly SkillEntry[] {
  // Names in lower case are in this order already.
  let before = skills[0];
  for (let at = 1; at < skills.length; at += 1) {
    const entry = skills[at];
    if (before !== undefined && entry !== undefined && compareEntries(before, entry) > 0)
      return skills.toSorted(compareEntries);
    before = entry;
  }
  return skills;
}

function compareEntries(a: SkillEntry, b: SkillEntry): number {
  if (a.name !== b.name) return a.name < b.name ? -1 : 1;
  return compareText(a.source, b.source);
}

const PLAIN_NAME = /^[a-z0-9-]*$/;

/** What two names are compared by: case and Unicode composition do not tell skills apart (REG-10). */
export function nameKey(name: string): string {
  return PLAIN_NAME.test(name) ? name : name.normalize('NFC').toLowerCase();
}

interface Keyed {
  readonly candidate: SkillCandidate;
  readonly key: string;
  /** 0 for the root of highest priority; each root has its own. */
  readonly rank: number;
  /** Rank, source and group, as the hash of the index has them. */
  readonly place: string;
}

/** The candidates by key and precedence. */
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
    // Those of one folder come one after the other.
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

/** Precedence inside one name: the higher root, the first sight of a folder, the later modification, the first path. */
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
    ...(version === undefined ? {} : { version }),
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

/** The entry of a candidate in the state the configuration gives it. */
export function toEntry(
  { head, root, group, dir, file, digest }: Omit<SkillCandidate, 'name'>,
  state: Visibility,
): SkillEntry {
  const { name, description, license, compatibility, controls, meta } = head;
  const { source } = root;
  const version = meta['version'];
  const id = version === undefined ? `${source}/${name}` : `${source}/${name}@${version}`;
  // One literal with a fixed order of fields: entries of 50,000 skills share their hidden classes.
  const entry: Draft = { id, name, description, source, group, dir, file, digest, state, controls, meta };
  if (license !== undefined) entry.license = license;
  if (compatibility !== undefined) entry.compatibility = compatibility;
  return entry;
}

type Draft = { -readonly [Field in keyof SkillEntry]: SkillEntry[Field] };

/** What the author keeps from the model is for people only, unless a person requires or disables it. */
function stateOf({ head }: SkillCandidate, configured: Visibility): Visibility {
  if (!head.controls.disableModelInvocation || configured === 'required' || configured === 'disabled')
    return configured;
  return 'manual';
}

function hashedLine({ place, candidate: { name, file, digest } }: Keyed, { state }: SkillEntry): string {
  return `${place}${name}\0${file}\0${digest}\0${state}\n`;
}

interface VisibilityRules {
  find(candidate: SkillCandidate): Visibility;
  unused(): readonly string[];
}

/** An exact key beats a glob, `source/name` beats `name`, a longer glob a shorter one. */
function visibilityRules(visibility: Readonly<Record<string, Visibility>>): VisibilityRules {
  const keys = Object.keys(visibility);
  if (keys.length === 0) return { find: () => 'auto', unused: () => [] };
  const used = new Set<string>();
  const exact = new Map<string, readonly [key: string, state: Visibility]>();
  const globs: (readonly [key: string, parts: readonly string[], state: Visibility])[] = [];
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
      if (glob === undefined) return 'auto';
      used.add(glob[0]);
      return glob[2];
    },
    unused: () => keys.filter((key) => !used.has(key)).toSorted(compareText),
  };
}

/** `*` stands for any characters. Each part is looked for once, from the left, so that no pattern is slow. */
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
