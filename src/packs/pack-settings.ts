/** Resolves the install root and the install rules from the configuration. */
import path from 'node:path';

import { projectTop, shelfFolder } from '#runtime';
import { findProfile } from '#tools/profiles';
import {
  isProblem,
  type Problem,
  parseJson,
  quoted,
  SkillError,
  type Config,
  type Diagnostic,
  type Mode,
  type Profile,
  type Surroundings,
  ARCHIVE_LIMITS,
} from '#core';
import { readScanPolicy } from '#scan';
import type { ArchiveLimits } from './archive-limits.ts';
import { isDirectory, isInside, isPresent, readTextFile, realPath } from '#platform';
import { isRefusal, packRefusal, type PackRefusal } from './problems.ts';

export interface RootChoice {
  /** Path of a root. Takes precedence over `scope`. */
  readonly root?: string | undefined;
  readonly scope?: NonNullable<NonNullable<Config['install']>['scope']> | 'shelf' | undefined;
  /** Rules of the scan that the user accepts for the files of this operation. */
  readonly accepts?: readonly string[] | undefined;
}

type ScanPolicy = Exclude<ReturnType<typeof readScanPolicy>, Problem>;

/** Everything that installing depends on, except the source. */
export interface PackSettings {
  readonly surroundings: Surroundings;
  readonly root: string;
  /** What is installed into the root: skills, or Agent Plugins as a whole (default: skills). */
  readonly unit?: 'plugin';
  /** The root for Agent Plugins beside it; absent if the user chose the root. */
  readonly pluginRoot?: string;
  /** Where the vocabulary keeps skills; the default folders if absent. */
  readonly installFolder?: Profile['installFolder'];
  readonly limits: ArchiveLimits;
  /** The default policy if absent. */
  readonly scanPolicy?: ScanPolicy;
  /** The digest of each skill that may be installed although the scan blocks it. */
  readonly scanAllow: Readonly<Record<string, string>>;
  /** Rules of the scan that the user accepts for the files of this operation (default: none). */
  readonly accepts?: readonly string[];
  readonly requireSigned: boolean;
  /** `strict` refuses skills that violate the specification. */
  readonly mode: Mode;
  /** Violations that `strict` accepts in the vocabulary of the configuration. */
  readonly tolerates: readonly Diagnostic['code'][];
  readonly network: { readonly allowHttp: boolean; readonly allowPrivate: boolean };
  readonly check: Pick<
    NonNullable<Config['security']>,
    'max_skill_body_lines' | 'max_skill_body_characters' | 'block_angle_brackets_in_frontmatter'
  >;
}

/** Refuses if the scan policy cannot be read, instead of falling back to the default policy. */
export function packSettings(
  surroundings: Surroundings,
  config: Config,
  choice: RootChoice & { readonly profile?: Profile } = {},
): PackSettings | PackRefusal {
  // Of a project's vocabulary only what narrows counts, which the loaded configuration has found out.
  const { profile = findProfile(config.vocabulary) } = choice;
  const installFolder = installFolderFor(profile, config, surroundings);
  const { archive = {}, require_signed: requireSigned = false, scan_policy: policyFile } = config.install ?? {};
  const scanPolicy = policyFile === undefined ? undefined : readPolicyFile(policyFile, surroundings);
  if (scanPolicy !== undefined && isRefusal(scanPolicy)) return scanPolicy;
  const root = installRoot(surroundings, config, installFolder, choice);
  return {
    surroundings,
    ...rootUnit(root, choice),
    installFolder,
    limits: {
      ...ARCHIVE_LIMITS,
      maxArchiveBytes: archive.max_archive_bytes ?? ARCHIVE_LIMITS.maxArchiveBytes,
      maxEntries: archive.max_entries ?? ARCHIVE_LIMITS.maxEntries,
      maxBytes: archive.max_bytes ?? ARCHIVE_LIMITS.maxBytes,
      maxFileBytes: archive.max_file_bytes ?? ARCHIVE_LIMITS.maxFileBytes,
      maxRatio: archive.max_ratio ?? ARCHIVE_LIMITS.maxRatio,
      maxDepth: archive.max_depth ?? ARCHIVE_LIMITS.maxDepth,
    },
    scanPolicy,
    scanAllow: config.install?.scan_allow ?? {},
    requireSigned,
    mode: config.format?.mode ?? 'lenient',
    tolerates: profile.tolerates ?? [],
    network: {
      allowHttp: config.install?.allow_http ?? false,
      allowPrivate: config.install?.allow_private_addresses ?? false,
    },
    check: config.security ?? {},
    accepts: choice.accepts?.map(requireRule),
  };
}

/** The same rules for the root of Agent Plugins. */
export function pluginSettings({ pluginRoot, ...settings }: PackSettings): PackSettings {
  return pluginRoot === undefined ? settings : { ...settings, root: pluginRoot, unit: 'plugin' };
}

/** Plugins lie in `.agents/plugins`, beside `.agents/skills`. */
function rootUnit(
  root: string,
  { root: chosen, scope }: RootChoice,
): Pick<PackSettings, 'root' | 'unit' | 'pluginRoot'> {
  if (root.endsWith(path.join('/', PLUGIN_FOLDER))) return { root, unit: 'plugin' };
  if (chosen !== undefined || scope === 'shelf') return { root };
  return root.endsWith(path.join('/', FOLDER)) || root.endsWith(path.join('/', OLDER_FOLDER))
    ? { root, pluginRoot: path.join(path.dirname(path.dirname(root)), PLUGIN_FOLDER) }
    : { root };
}

/** Throws for an id that no rule of the scan has. */
function requireRule(rule: string): string {
  const policy = readScanPolicy({ rules: { [rule]: 'ignore' } });
  if (!isProblem(policy)) return rule;
  throw new SkillError({
    code: 'input/invalid',
    message: `--accept: ${policy.message}`,
    hint: 'pass the id in parentheses at the end of a finding, e.g. --accept encoded-payload',
    data: { expected: 'the id of a scan rule' },
  });
}

/** Where the vocabulary keeps skills: where it finds them, if it has one root (see `Profile`). A project names no folder elsewhere. */
function installFolderFor(
  { installFolder, oneRoot }: Profile,
  { skill_roots: roots = [] }: Config,
  { cwd, home, env }: Surroundings,
): Profile['installFolder'] {
  if (installFolder === undefined || oneRoot === undefined) return installFolder;
  const documentRoot = oneRoot === 'document-root' ? (env['DOCUMENT_ROOT'] ?? '') : '';
  if (documentRoot !== '') return { ...installFolder, project: path.resolve(cwd, documentRoot, 'skills') };
  const top = realPath(projectTop({ cwd, home }) ?? cwd);
  const project = roots
    .map((root) => (typeof root === 'object' && root.source === 'project' ? (root.path ?? '') : ''))
    .find((folder) => path.isAbsolute(folder) && isInside(realPath(folder), top));
  return project === undefined ? installFolder : { ...installFolder, project };
}

/** Where `new` puts a skill. Outside of a project, the current folder becomes one. */
export function projectSkillsFolder(config: Config, surroundings: Surroundings): string {
  const top = projectTop(surroundings) ?? surroundings.cwd;
  return skillsFolder(top, installFolderFor(findProfile(config.vocabulary), config, surroundings)?.project);
}

/** Returns `--to`, the shelf, or the skills folder of the project or of the home folder. Throws if it needs a home folder that does not exist. */
function installRoot(
  { cwd, home }: Pick<Surroundings, 'cwd' | 'home'>,
  config: Config,
  installFolder: Profile['installFolder'],
  { root, scope = config.install?.scope }: RootChoice,
): string {
  if (root !== undefined) return path.resolve(cwd, root);
  if (scope === 'shelf' && home !== undefined) return shelfFolder(home);
  const top = scope === 'user' || scope === 'shelf' ? undefined : projectTop({ cwd, home });
  if (top !== undefined) return skillsFolder(top, installFolder?.project);
  if (home !== undefined) return skillsFolder(home, installFolder?.user);
  throw new SkillError({
    code: 'input/invalid',
    message: 'cannot install: there is no home folder',
    hint: 'choose a root with --to FOLDER',
    data: { expected: 'a root, a project or a home folder' },
  });
}

const MAX_POLICY_BYTES = 1024 * 1024;

function readPolicyFile(file: string, { home, cwd }: Surroundings): ScanPolicy | PackRefusal {
  const absolute = path.resolve(home ?? cwd, file.replace(/^~(?=\/)/, home ?? ''));
  const refused = (why: string): PackRefusal =>
    packRefusal('pack/scan', `the scan policy ${quoted(absolute, 200)} cannot be used: ${why}`, absolute);
  const read = readTextFile(absolute, MAX_POLICY_BYTES);
  if (read.type !== 'read') return refused(read.type === 'absent' ? 'the file does not exist' : read.reason);
  const value = parseJson(read.text);
  if (value === undefined) return refused('the file is not valid JSON');
  const policy = readScanPolicy(value);
  return isProblem(policy) ? refused(policy.message) : policy;
}

/** Most clients read this folder. */
const FOLDER = '.agents/skills';
const PLUGIN_FOLDER = '.agents/plugins';
/** The folder of older projects, used if it is the only one. */
const OLDER_FOLDER = '.agent/skills';

/** The older folder beside a root, if both exist: its skills are used too. */
export function olderFolder(root: string): string | undefined {
  const older = path.join(path.dirname(path.dirname(root)), OLDER_FOLDER);
  return root.endsWith(path.join('/', FOLDER)) && isDirectory(older) ? older : undefined;
}

/** The folder for skills below a project or home folder, `wanted` if the vocabulary names one. `new`, `install` and `pack` use the same. */
export function skillsFolder(top: string, folder?: string): string {
  if (folder !== undefined) return path.resolve(top, folder);
  const [own, older] = [path.join(top, FOLDER), path.join(top, OLDER_FOLDER)];
  return !isPresent(own) && isDirectory(older) ? older : own;
}
