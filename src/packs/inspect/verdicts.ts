/** Inspects the skills of a source one by one: a skill that is refused does not affect the others. */
import { compareText, printable, quoted } from '#core';
import type { scanSkill } from '#scan';
import { hasDrift, type Drift, type LockFile, type LockedSkill } from '../lock/lock-file.ts';
import { isRefusal, packRefusal, type PackRefusal } from '../problems.ts';
import { resolveRequirements, type RequiringSkill } from '../requires/requires.ts';
import type { SourceSkill, StagedSource, UnusableSkill } from '../sources/source.ts';
import type { InspectOptions } from './inspect-options.ts';
import { inspectSkill, readStagedTree, type InspectedSkill } from './inspect-skill.ts';
import type { PackManifest } from '../pack/manifest.ts';
import type { PackSettings } from '../pack-settings.ts';
import { compareVersions } from '../compare-versions.ts';
import { groupBy } from '../group-by.ts';

/** A skill that is not installed. Nothing of it is written to the root. */
export interface RefusedSkill extends UnusableSkill {
  readonly verdict: 'refused';
  /** The user named it. */
  readonly isNamed: boolean;
  /** Absent if the skill could not be read. */
  readonly skill?: InspectedSkill;
}

export interface SourceVerdicts {
  readonly type: 'verdicts';
  readonly ready: readonly InspectedSkill[];
  /** Skills of the source that `ready` requires and the user did not name. */
  readonly needed: readonly InspectedSkill[];
  readonly refused: readonly RefusedSkill[];
  /** Choices that were made for the user. */
  readonly notes: readonly string[];
}

export interface VerdictOptions extends InspectOptions {
  /** Names or folders of skills (default: all). */
  readonly names: readonly string[];
  readonly lock: LockFile;
  /** Accepts older versions and versions that are no longer signed. */
  readonly force: boolean;
  readonly onProgress?: (done: number, total: number) => void;
}

/** Refuses if a name is unknown, or if the manifest or the signature of the source does not match. */
export async function sourceVerdicts(
  staged: StagedSource,
  options: VerdictOptions,
): Promise<SourceVerdicts | PackRefusal> {
  const { names, settings, lock, force } = options;
  const found = [...staged.skills, ...staged.unusable];
  const declared = new Set(found.map(({ name }) => name));
  // A name that a skill declares is not the folder of another one.
  const isNamed = ({ name, folder }: FoundSkill): boolean =>
    names.includes(name) || (names.includes(folder) && !declared.has(folder));
  const isWanted = (skill: FoundSkill): boolean => names.length === 0 || isNamed(skill);
  const unknown = unknownName(found, names, staged.leftOut);
  if (unknown !== undefined) return unknown;
  const { skills, notes: copies } = oneFolderPerName(staged.skills, names);
  const passed = found.filter((skill) => names.includes(skill.folder) && !isNamed(skill));
  const notes = [...copies, ...passed.map(passedOver)];
  const { inspected, unusable } = await inspectSkills(skills.filter(isWanted), options);
  const proof = await verifySource(staged, inspected, settings);
  if (isRefusal(proof)) return proof;
  const refusalOf = (skill: InspectedSkill): PackRefusal | undefined => {
    const before = force ? undefined : lock.skills.get(skill.name);
    return skill.refusals[0] ?? (before === undefined ? undefined : downgradeProblem(before, skill));
  };
  const refused: RefusedSkill[] = [...staged.unusable.filter(isWanted), ...unusable].map(
    ({ name, folder, refusal }) => ({ verdict: 'refused', name, folder, isNamed: isNamed({ name, folder }), refusal }),
  );
  const refuse = (skill: InspectedSkill, refusal: PackRefusal): void => {
    const { name, folder } = skill;
    refused.push({ verdict: 'refused', name, folder, isNamed: isNamed(skill), refusal, skill });
  };
  const candidates: InspectedSkill[] = [];
  for (const skill of await proveSkills(inspected, staged, { proof, settings })) {
    const refusal = refusalOf(skill);
    if (refusal === undefined) candidates.push(skill);
    else refuse(skill, refusal);
  }
  const isNeeding = candidates.some(({ requires }) => requires.length > 0);
  const unnamed = isNeeding ? skills.filter((skill) => !isWanted(skill)) : [];
  const others = await proveSkills((await inspectSkills(unnamed, options)).inspected, staged, { proof, settings });
  const resolved = resolveNeeds(
    candidates,
    others.filter((skill) => refusalOf(skill) === undefined),
    lock,
  );
  for (const { skill, refusal } of resolved.unmet) refuse(skill, refusal);
  const { ready, needed } = resolved;
  return { type: 'verdicts', ready, needed, refused, notes };
}

type FoundSkill = Pick<SourceSkill, 'name' | 'folder'>;

function passedOver({ name, folder }: FoundSkill): string {
  return `${quoted(folder, 100)} is the name of a skill; the folder of that name has ${quoted(name)}, which was not named`;
}

function unknownName(
  skills: readonly FoundSkill[],
  names: readonly string[],
  leftOut: readonly string[],
): PackRefusal | undefined {
  if (names.length === 0) return undefined;
  const present = new Set(skills.flatMap(({ name, folder }) => [name, folder]));
  const unknown = names.find((name) => !present.has(name));
  if (unknown === undefined) return undefined;
  // A file in another spelling, such as skill.md, is left out, too.
  const file = `/${unknown}/SKILL.md: `.toLowerCase();
  const reason = leftOut.find((line) => `/${line}`.toLowerCase().includes(file) || line.startsWith(`${unknown}/: `));
  if (reason !== undefined)
    return packRefusal(
      'pack/unknown-skill',
      `the source has ${quoted(unknown)}, but it is left out: ${printable(reason)}`,
      {
        hint: 'name another skill, or install from a folder or archive in which it is not left out',
      },
    );
  const known = skills.map(({ name }) => quoted(name, 64)).slice(0, 20);
  return packRefusal('pack/unknown-skill', `the source has no ${quoted(unknown)}; it has ${known.join(', ')}`);
}

/**
 * Of several folders with a skill of the same name, keeps the one that the user named, or the first one: folders that are not hidden before
 * hidden ones, then those with fewer parent folders, then by text. Copies with the same files are named as well.
 */
function oneFolderPerName(
  skills: readonly SourceSkill[],
  named: readonly string[],
): { readonly skills: readonly SourceSkill[]; readonly notes: readonly string[] } {
  const byName = groupBy(skills, ({ name }) => name);
  if (byName.size === skills.length) return { skills, notes: [] };
  const notes: string[] = [];
  const kept = [...byName.values()].map((group): SourceSkill => {
    const [first = group[0], ...rest] = group.toSorted(byPrecedence(named));
    const digest = rest.length === 0 ? undefined : digestSkill(first);
    const different = rest.filter((skill) => digestSkill(skill) !== digest);
    const isAsked = named.length === 0 || group.some((one) => named.includes(one.name) || named.includes(one.folder));
    if (!isAsked) return first;
    const copies = rest.filter((skill) => !different.includes(skill));
    const note = (others: readonly SourceSkill[], how: string, hint: string): readonly string[] => {
      const folders = others.map(({ folder }) => quoted(folder, 100)).join(', ');
      const where = `using ${quoted(first.folder, 100)}, not ${folders}`;
      return others.length === 0 ? [] : [`${quoted(first.name)} is in several folders with ${how}: ${where}${hint}`];
    };
    notes.push(
      ...note(different, 'different files', '; name a folder to choose another one'),
      ...note(copies, 'the same files', ''),
    );
    return first;
  });
  return { skills: kept, notes };
}

function byPrecedence(named: readonly string[]): (a: SourceSkill, b: SourceSkill) => number {
  const keyOf = ({ folder }: SourceSkill): readonly number[] => {
    const parts = folder.split('/');
    return [named.includes(folder) ? 0 : 1, parts.some((part) => part.startsWith('.')) ? 1 : 0, parts.length];
  };
  return (a, b) => {
    const other = keyOf(b);
    return (
      keyOf(a).reduce((order, value, at) => order || value - (other[at] ?? 0), 0) || compareText(a.folder, b.folder)
    );
  };
}

function digestSkill(skill: SourceSkill): string {
  const tree = readStagedTree(skill);
  return isRefusal(tree) ? skill.path : tree.digest;
}

/** Skills to inspect before yielding to the event loop, so that an abort takes effect. */
const INSPECTED_AT_ONCE = 32;

/** Inspects skills one by one. `unusable` are those whose files cannot be read. */
export async function inspectSkills(
  skills: readonly SourceSkill[],
  options: InspectOptions & Pick<VerdictOptions, 'onProgress'>,
): Promise<{ readonly inspected: readonly InspectedSkill[]; readonly unusable: readonly UnusableSkill[] }> {
  const { onProgress, signal } = options;
  const inspected: InspectedSkill[] = [];
  const unusable: UnusableSkill[] = [];
  const known: NonNullable<NonNullable<Parameters<typeof scanSkill>[1]>['known']> = new Map();
  for (const [at, skill] of skills.entries()) {
    if (at % INSPECTED_AT_ONCE === 0) await new Promise(setImmediate);
    signal?.throwIfAborted();
    const result = inspectSkill(skill, { ...options, known });
    if (isRefusal(result)) unusable.push({ name: skill.name, folder: skill.folder, refusal: result });
    else inspected.push(result);
    onProgress?.(at + 1, skills.length);
  }
  return { inspected, unusable };
}

interface ResolvedNeeds {
  readonly ready: readonly InspectedSkill[];
  readonly needed: readonly InspectedSkill[];
  /** Skills with a requirement that cannot be met. */
  readonly unmet: readonly { readonly skill: InspectedSkill; readonly refusal: PackRefusal }[];
}

/** Repeats until nothing changes, because a skill that is refused is no longer available to the others. */
function resolveNeeds(
  candidates: readonly InspectedSkill[],
  others: readonly InspectedSkill[],
  lock: LockFile,
): ResolvedNeeds {
  const unmet: { readonly skill: InspectedSkill; readonly refusal: PackRefusal }[] = [];
  let ready = candidates;
  for (;;) {
    const names = new Set(ready.map(({ name }) => name));
    const installed = [...lock.skills.values()]
      .filter(({ name }) => !names.has(name))
      .map(({ name, version }): RequiringSkill => ({ name, version, requires: [] }));
    const failed = ready.flatMap((skill) => {
      if (skill.requires.length === 0) return [];
      const available = [...ready, ...others].filter((other) => other !== skill);
      const { refusal } = resolveRequirements({ requested: [skill], installed, available });
      return refusal === undefined ? [] : [{ skill, refusal }];
    });
    if (failed.length === 0) {
      const added = new Set(resolveRequirements({ requested: ready, installed, available: others }).added);
      return { ready, needed: others.filter(({ name }) => added.has(name)), unmet };
    }
    unmet.push(...failed);
    const gone = new Set(failed.map(({ skill }) => skill));
    ready = ready.filter((skill) => !gone.has(skill));
  }
}

export interface Proof {
  /** Id of the pinned key that signed the source, or this skill of it; absent if it is unsigned. */
  readonly signedBy?: string;
}

/** Adds to each skill the key that signed it. Skills of a site are signed one by one; one with an invalid signature is refused alone. */
async function proveSkills(
  skills: readonly InspectedSkill[],
  { resolved }: StagedSource,
  { proof, settings }: { readonly proof: Proof; readonly settings: PackSettings },
): Promise<readonly InspectedSkill[]> {
  return await Promise.all(
    skills.map(async (skill) => {
      const own = resolved.kind === 'well-known' ? await verifySourceSignature(skill, [skill], settings) : proof;
      return isRefusal(own) ? { ...skill, refusals: [own, ...skill.refusals] } : { ...skill, ...own };
    }),
  );
}

/** Refuses if the manifest does not match the files, or the signature is invalid, or missing and required. */
export async function verifySource(
  staged: StagedSource,
  skills: readonly Pick<InspectedSkill, 'name' | 'version'>[],
  settings: PackSettings,
): Promise<Proof | PackRefusal> {
  const manifest = await fittingManifest(staged);
  if (manifest !== undefined && isRefusal(manifest)) return manifest;
  if (staged.resolved.kind === 'well-known') return {};
  // A signature covers the whole pack, even if only some of its skills are wanted.
  return await verifySourceSignature(staged, manifest?.skills ?? skills, settings);
}

/** Returns undefined if there is no manifest, or if `manifest.json` is not a pack manifest. */
async function fittingManifest({ manifest, folder }: StagedSource): Promise<PackManifest | PackRefusal | undefined> {
  if (manifest === undefined) return undefined;
  const { checkManifest, readPackManifest } = await import('../pack/read-pack-manifest.ts');
  const reading = readPackManifest(manifest);
  if (reading.type === 'absent') return packRefusal('pack/manifest', 'manifest.json was removed');
  if (reading.type === 'foreign') return undefined;
  if (isRefusal(reading)) return reading;
  const drift = checkManifest(folder, reading.manifest);
  if (isRefusal(drift)) return drift;
  if (!hasDrift(drift)) return reading.manifest;
  return packRefusal('pack/manifest', `manifest.json does not match the files: ${driftText(drift)}`);
}

/** Shows the first few files of each kind. */
function driftText({ changed, missing, added }: Drift): string {
  const part = (word: string, paths: readonly string[]): readonly string[] => {
    const more = paths.length > 5 ? ` and ${String(paths.length - 5)} more` : '';
    const shown = paths.slice(0, 5).map((file) => quoted(file, 100));
    return paths.length === 0 ? [] : [`${word} ${shown.join(', ')}${more}`];
  };
  return [...part('changed', changed), ...part('missing', missing), ...part('added', added)].join('; ');
}

async function verifySourceSignature(
  { signature }: Pick<StagedSource, 'signature'>,
  skills: readonly { readonly name: string; readonly version?: string }[],
  { requireSigned, surroundings: { home } }: PackSettings,
): Promise<Proof | PackRefusal> {
  if (signature === undefined) return requireSigned ? packRefusal('signature/missing', 'the source is not signed') : {};
  const { openPinnedKeys } = await import('../sign/keys.ts');
  const { verifySignature } = await import('../sign/sign.ts');
  const verified = verifySignature({
    payload: { file: signature.payload },
    signature: signature.text,
    keys: openPinnedKeys({ home }).list().keys,
    skills,
  });
  // A signature by an unknown key proves nothing, and none is required here.
  if (isRefusal(verified)) return verified.code === 'signature/unknown-key' && !requireSigned ? {} : verified;
  return { signedBy: verified.keyId };
}

type VersionAndSigner = Pick<LockedSkill, 'name' | 'version' | 'signedBy'>;

/** Checks signed skills only. Returns undefined if the replacement is allowed. */
export function downgradeProblem(installed: VersionAndSigner, next: VersionAndSigner): PackRefusal | undefined {
  const name = quoted(installed.name);
  if (installed.signedBy !== undefined && next.signedBy === undefined)
    return packRefusal('signature/downgrade', `the installed ${name} is signed, the new one is not`);
  if (installed.signedBy !== undefined && next.signedBy !== installed.signedBy)
    return packRefusal(
      'signature/downgrade',
      `the installed ${name} is signed with the key ${quoted(installed.signedBy)}, the new one with ${quoted(next.signedBy ?? '')}`,
    );
  if (installed.signedBy === undefined) return undefined;
  return orderProblem(name, installed.version, next.version);
}

function orderProblem(name: string, before: string | undefined, after: string | undefined): PackRefusal | undefined {
  if (before === undefined) return undefined;
  const old = `${name} ${quoted(before)} is installed`;
  if (after === undefined) return packRefusal('signature/rollback', `${old}, and the new one has no version`);
  const order = compareVersions(after, before);
  if (order === undefined)
    return packRefusal('signature/rollback', `${old}, and ${quoted(after)} cannot be compared with it`);
  return order < 0 ? packRefusal('signature/rollback', `${old}, and ${quoted(after)} is older`) : undefined;
}
