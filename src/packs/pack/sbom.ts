/**
 * Formats skills and Agent Plugins as a CycloneDX 1.6 bill of materials. Equal skills give equal text: the serial number is derived from their digests, and
 * the time is passed in. A skill is an `application` if it has something to run, otherwise `data`; each file is a component with its
 * SHA-256. CycloneDX has no hash type for the tree digest, so it is a property.
 */
import parseLicense from 'spdx-expression-parse';
import path from 'node:path';

import { compareText, visibleJson, quoted } from '#core';
import { isPresent, sha256 } from '#platform';
import { openPlugin } from '#skills';
import { LOCK_FILE_NAME, lockTime, requireLock, type LockedFile, type LockedSkill } from '../lock/lock-file.ts';
import type { PackSource } from '../sources/source.ts';
import { VERSION } from '../../version.ts';
import { accepted, isRefusal, orRefusal, type PackRefusal } from '../problems.ts';
import { completeChange, type RootOptions } from '../root/open-root.ts';
import { JOURNAL_NAME, STATE_FOLDER } from '../root/root-paths.ts';
import { refuseExisting, writeWholeText } from '../whole-file.ts';
import { presentBuffer, presentFiles } from '../root/present-files.ts';
import { settingsForLock, readTypedSource } from '../inspect/stage-pack.ts';
import { readSkillHead, lockedGroups } from '../lock/locked-skills.ts';
import { pluginSettings, type PackSettings } from '../pack-settings.ts';

export interface SbomSkill extends Pick<
  LockedSkill,
  'name' | 'version' | 'digest' | 'files' | 'revision' | 'requires' | 'signedBy'
> {
  /** A whole Agent Plugin. A skill may have the same name. */
  readonly isPlugin?: boolean;
  readonly description?: string;
  /** From the frontmatter, or from plugin.json. */
  readonly license?: string;
  readonly source?: PackSource;
}

export type Sbom = ReturnType<typeof makeSbom>;

/** The serial number depends only on names, versions and digests. */
export function makeSbom(skills: readonly SbomSkill[], { now }: { readonly now: Date }) {
  const sorted = skills.toSorted((a, b) => compareText(reference(a), reference(b)));
  const references = new Set(sorted.map(reference));
  const lines = sorted.map(({ name, version = '', digest }) => JSON.stringify([name, version, digest]));
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${toUuid(sha256(lines.sort(compareText).join('\n')))}`,
    version: 1,
    metadata: {
      timestamp: lockTime(now),
      tools: { components: [{ type: 'application', name: 'skillwright', version: VERSION }] },
    },
    components: sorted.map(skillComponent),
    dependencies: sorted.map((skill) => ({
      ref: reference(skill),
      dependsOn: [...new Set(skill.requires)]
        .map((name) => reference({ name }))
        .filter((needed) => references.has(needed))
        .sort(compareText),
    })),
  };
}

export function formatSbom(sbom: Sbom): string {
  return `${visibleJson(JSON.stringify(sbom, undefined, 2))}\n`;
}

function skillComponent(skill: SbomSkill) {
  const { name, version, description, license, digest, files, signedBy } = skill;
  const purl = packageUrl(skill);
  return {
    type: isRunnable(files) ? 'application' : 'data',
    'bom-ref': reference(skill),
    name,
    version,
    description,
    licenses: license === undefined || license.trim() === '' ? undefined : [toLicense(license.trim())],
    purl,
    properties: [
      { name: 'skillwright:digest', value: digest },
      ...(signedBy === undefined ? [] : [{ name: 'skillwright:signedBy', value: signedBy }]),
    ],
    components: Object.entries(files)
      .toSorted(([a], [b]) => compareText(a, b))
      .map(([path, { sha256, executable }]) => ({
        type: 'file',
        'bom-ref': `${reference(skill)}/${path}`,
        name: path,
        hashes: [{ alg: 'SHA-256', content: sha256 }],
        properties: executable === true ? [{ name: 'skillwright:executable', value: 'true' }] : undefined,
      })),
  };
}

function isRunnable(files: Readonly<Record<string, LockedFile>>): boolean {
  return Object.entries(files).some(([path, { executable }]) => executable === true || path.startsWith('scripts/'));
}

function reference({ name, isPlugin = false }: Pick<SbomSkill, 'name' | 'isPlugin'>): string {
  return `${isPlugin ? 'plugin' : 'skill'}:${name}`;
}

/** UUID version 8 is for custom formats. */
function toUuid(hex: string): string {
  const variant = '89ab'.charAt(Number.parseInt(hex.charAt(16), 16) % 4);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}

/** Ids that skill authors write in another case. The parser knows all SPDX ids, but only in their exact spelling. */
const COMMON_IDS = new Map(
  (
    '0BSD AGPL-3.0-only AGPL-3.0-or-later Apache-2.0 BSD-2-Clause BSD-3-Clause CC-BY-4.0 CC-BY-SA-4.0 CC0-1.0 EPL-2.0 GPL-2.0-only ' +
    'GPL-2.0-or-later GPL-3.0-only GPL-3.0-or-later ISC LGPL-2.1-only LGPL-2.1-or-later LGPL-3.0-only LGPL-3.0-or-later MIT MIT-0 ' +
    'MPL-2.0 PostgreSQL Unlicense WTFPL Zlib'
  )
    .split(' ')
    .map((id) => [id.toLowerCase(), id]),
);

/** CycloneDX accepts SPDX ids and expressions only; any other text becomes a licence name. */
function toLicense(text: string): object {
  const spelled = COMMON_IDS.get(text.toLowerCase()) ?? text;
  try {
    const parsed = parseLicense(spelled);
    return 'license' in parsed && parsed.license === spelled ? { license: { id: spelled } } : { expression: spelled };
  } catch (error) {
    // The parser throws plain errors for texts that are not SPDX expressions.
    if (!(error instanceof Error)) throw error;
    return { license: { name: text } };
  }
}

/** Forges with their own purl type. */
const FORGES: ReadonlyMap<string, string> = new Map([
  ['github.com', 'github'],
  ['bitbucket.org', 'bitbucket'],
]);

/** The package URL (purl) of an npm or git source. Undefined for folders, archives and addresses, which others could not resolve. */
export function packageUrl({
  name,
  version,
  source,
  revision,
}: Omit<SbomSkill, 'digest' | 'files'>): string | undefined {
  if (source?.type === 'npm') {
    const at = revision ?? version;
    return `pkg:npm/${source.name.split('/').map(encoded).join('/')}${at === undefined ? '' : `@${encoded(at)}`}`;
  }
  if (source?.type !== 'git' || revision === undefined) return undefined;
  const place = parseRepositoryUrl(source.url);
  const folder =
    source.folder === undefined || source.folder === '' ? '' : `#${source.folder.split('/').map(encoded).join('/')}`;
  const type = place === undefined ? undefined : FORGES.get(place.host);
  if (place !== undefined && type !== undefined)
    return `pkg:${type}/${place.path.toLowerCase().split('/').map(encoded).join('/')}@${encoded(revision)}${folder}`;
  if (place === undefined) return undefined;
  const address = `git+https://${place.host}/${place.path}@${revision}`;
  return `pkg:generic/${encoded(name)}${version === undefined ? '' : `@${encoded(version)}`}?vcs_url=${encoded(address)}${folder}`;
}

/**
 * Parses `https://host/owner/name.git`, `ssh://git@host/…` and `git@host:owner/name` without the user. Undefined for local repositories.
 */
function parseRepositoryUrl(url: string): { readonly host: string; readonly path: string } | undefined {
  const [, host, path] =
    /^(?:git\+)?(?:https?|ssh|git):\/\/(?:[^/@]*@)?([^/:]+)(?::\d+)?\/(.+?)(?:\.git)?\/?$/.exec(url) ??
    /^[\w.-]+@([\w.-]+):(?!\/)(.+?)(?:\.git)?\/?$/.exec(url) ??
    [];
  return host === undefined || path === undefined ? undefined : { host: host.toLowerCase(), path };
}

function encoded(text: string): string {
  return encodeURIComponent(text).replaceAll('%3A', ':');
}

export interface SbomOfRoot {
  readonly type: 'sbom';
  readonly sbom: Sbom;
  readonly names: readonly string[];
  /** Differences from the lock, for the user. */
  readonly notes: readonly string[];
}

export interface SbomOfRootOptions {
  /** Names of skills (default: all in the lock). */
  readonly names?: readonly string[];
  readonly now?: Date;
}

/** Refuses if a skill cannot be read, because the list would be incomplete. */
export function sbomOfRoot(settings: PackSettings, options: SbomOfRootOptions = {}): SbomOfRoot | PackRefusal {
  return orRefusal(() => listRoots(settings, options));
}

function listRoots(settings: PackSettings, { names = [], now = new Date() }: SbomOfRootOptions): SbomOfRoot {
  const buffer = presentBuffer();
  const notes: string[] = [];
  const roots = installedRoots(settings).map((one) => ({ ...one, lock: requireLock(one.root) }));
  const skills = roots.flatMap((one, at) => {
    const { root, lock } = one;
    // A name that no root has is refused by the last one.
    const isElsewhere = (name: string): boolean => roots.some((other) => other !== one && other.lock.skills.has(name));
    const own = names.filter((name) => lock.skills.has(name) || (at === roots.length - 1 && !isElsewhere(name)));
    if (names.length > 0 && own.length === 0) return [];
    const locks = lockedGroups(lock, own, root)
      .flatMap((group) => group.skills)
      .toSorted((a, b) => compareText(a.name, b.name));
    return locks.map((locked) => {
      const place = path.join(root, locked.name);
      const tree = accepted(presentFiles(place, { buffer, withoutLooks: true, locked: locked.files }));
      if (tree.digest !== locked.digest)
        notes.push(`${quoted(locked.name)} was edited: the list describes the edited files`);
      return sbomSkill(locked, tree, one);
    });
  });
  return {
    type: 'sbom',
    sbom: makeSbom(skills, { now }),
    names: skills.map(({ name }) => name).sort(compareText),
    notes,
  };
}

/** The root, and the one of Agent Plugins beside it if any is installed. Without skills it is the only one. */
function installedRoots(settings: PackSettings): readonly PackSettings[] {
  if (settings.pluginRoot === undefined) return [settings];
  const plugins = pluginSettings(settings);
  const isUsed = ({ root }: PackSettings): boolean =>
    [LOCK_FILE_NAME, path.join(STATE_FOLDER, JOURNAL_NAME)].some((name) => isPresent(path.join(root, name)));
  if (!isUsed(plugins)) return [settings];
  return isUsed(settings) ? [settings, plugins] : [plugins];
}

interface WriteSbomOptions extends RootOptions, Pick<SbomOfRootOptions, 'names'> {
  readonly settings: PackSettings;
  /** Without it, nothing is written. */
  readonly file?: string;
  readonly force?: boolean;
  readonly dryRun?: boolean;
}

/** Completes an interrupted change of the root, and writes its bill of materials to a file. Throws a refusal. */
export async function writeSbom(options: WriteSbomOptions): Promise<SbomOfRoot & { readonly text: string }> {
  const { settings, names, file, force = false, dryRun = false } = options;
  for (const one of installedRoots(settings)) await completeChange({ ...options, settings: one });
  const listing = listRoots(settings, { names });
  const text = formatSbom(listing.sbom);
  if (file !== undefined && !force) refuseExisting(file);
  if (file !== undefined && !dryRun) writeWholeText(file, text, { force });
  return { ...listing, text };
}

function sbomSkill(
  { name, source: text, revision, requires, signedBy, digest: lockedDigest }: LockedSkill,
  { digest, files }: Pick<SbomSkill, 'digest' | 'files'>,
  settings: PackSettings,
): SbomSkill {
  const dir = path.join(settings.root, name);
  const isPlugin = settings.unit === 'plugin';
  const source = readTypedSource(text, settingsForLock(settings));
  return {
    name,
    ...(isPlugin ? pluginFields(dir) : skillFields(dir, name)),
    digest,
    files,
    source: isRefusal(source) ? undefined : source,
    revision,
    requires,
    // The signature does not cover changed files.
    signedBy: digest === lockedDigest ? signedBy : undefined,
  };
}

type Described = Pick<SbomSkill, 'isPlugin' | 'version' | 'description' | 'license'>;

function skillFields(dir: string, name: string): Described {
  const head = readSkillHead(dir, name);
  return { version: head?.meta['version'], description: head?.description, license: head?.license };
}

function pluginFields(dir: string): Described {
  const plugin = openPlugin(dir);
  const { version, description, license } = typeof plugin === 'object' ? plugin : {};
  return { isPlugin: true, version, description, license };
}
