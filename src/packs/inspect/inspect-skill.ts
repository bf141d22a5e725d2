/** Inspects a staged skill before it is installed: format, name, scan, requirements. Does not run any of its code. */
import path from 'node:path';

import { DIAGNOSTIC_RULES, isValidName, printable, quoted, type Diagnostic, type Mode } from '#core';
import type { LockedFile } from '../lock/lock-file.ts';
import { portableNameProblem } from '../sources/portable-name.ts';
import { isRefusal, packRefusal, type PackRefusal } from '../problems.ts';
import { readRequirements, type SkillRequirement } from '../requires/requires.ts';
import type { SkillContents, SourceSignature, SourceSkill, StagedPlugin } from '../sources/source.ts';
import { scanSkill, type PolicyResult } from '#scan';
import { fingerprintFolder, presentFiles, type TreeLooks } from '../root/present-files.ts';
import type { InspectOptions } from './inspect-options.ts';
import { inspectPlugin, type PluginFacts } from './inspect-plugin.ts';
import { acceptOptions, judgeFindings, readScanFiles, type ReviewedSkill } from './scan-files.ts';
import { checkSkill } from '#skills';
import type { PackSettings } from '../pack-settings.ts';

export interface InspectedSkill {
  readonly type: 'inspected';
  readonly name: string;
  readonly version?: string;
  readonly description: string;
  readonly allowedTools?: readonly string[];
  readonly license?: string;
  /** Relative to the source. */
  readonly folder: string;
  /** Absolute path in the staging folder. */
  readonly path: string;
  readonly digest: string;
  readonly files: Readonly<Record<string, LockedFile>>;
  /** Stat fingerprint of the staged folder at the time of the inspection. */
  readonly looks: TreeLooks;
  readonly diagnostics: readonly Diagnostic[];
  readonly scan: PolicyResult;
  readonly requires: readonly SkillRequirement[];
  /** Signature of this skill alone, not verified yet. */
  readonly signature?: SourceSignature;
  /** Id of the pinned key that signed it. */
  readonly signedBy?: string;
  /** Notes for the user: similar names, unreadable requirements. */
  readonly notes: readonly string[];
  /** For an Agent Plugin, which is installed as a whole: its skills. */
  readonly plugin?: Pick<PluginFacts, 'skills'>;
  /** Reasons not to install it, most severe first. */
  readonly refusals: readonly PackRefusal[];
}

/** Refuses only if the files cannot be read. */
export function inspectSkill(skill: SourceSkill, options: InspectOptions): InspectedSkill | PackRefusal {
  const { settings, mode, checkName, signal } = options;
  const tree = readStagedTree(skill);
  if (isRefusal(tree)) return tree;
  if (skill.plugin !== undefined) return inspectWhole({ ...skill, plugin: skill.plugin }, tree, options);
  const checked = checkSkill(skill.path, 'SKILL.md', {
    mode,
    directory: skill.name,
    text: skill.seen?.skillText,
    mayHaveShebang: skill.seen === undefined ? undefined : mayHaveShebang(skill.seen),
    maxBodyLines: settings.check.max_skill_body_lines,
    maxBodyCharacters: settings.check.max_skill_body_characters,
    // As in the index, which would leave out what was installed.
    blockAngleBrackets: settings.check.block_angle_brackets_in_frontmatter ?? mode === 'strict',
  });
  const { head } = checked;
  const files = skill.seen?.files ?? readScanFiles(skill.path, { signal });
  if (isRefusal(files)) return files;
  const allowedTools = head?.controls.allowedTools;
  const findings = scanSkill(files, {
    declared: allowedTools === undefined ? {} : { allowedTools },
    known: options.known,
  });
  const reviewed = {
    name: skill.name,
    digest: tree.digest,
    accepted: acceptedBefore(skill.name, tree.digest, options),
  };
  const scan = judgeFindings(findings, reviewed, settings);
  const looks = checkName(skill.name);
  const needs = head === undefined ? { requirements: [], unread: [] } : readRequirements(head);
  const diagnostics = checked.diagnostics.map((diagnostic) => belowSkill(diagnostic, skill));
  return {
    type: 'inspected',
    name: skill.name,
    version: head?.meta['version'],
    description: head?.description ?? '',
    allowedTools,
    license: head?.license,
    folder: skill.folder,
    path: skill.path,
    ...tree,
    diagnostics,
    scan,
    requires: needs.requirements,
    signature: skill.signature,
    notes: [
      ...otherNames(skill),
      ...looks.notes,
      ...needs.unread.map(({ reason }) => `a requirement could not be parsed: ${reason}`),
    ],
    refusals: [
      ...nameRefusals(skill, mode, settings),
      ...(looks.refusal === undefined ? [] : [looks.refusal]),
      ...formatRefusals(skill, diagnostics, mode, settings),
      ...scanRefusals(reviewed, scan),
    ],
  };
}

/** An Agent Plugin has no description for models and no tools; its skills have. */
function inspectWhole(
  skill: SourceSkill & { readonly plugin: StagedPlugin },
  tree: Pick<InspectedSkill, 'digest' | 'files' | 'looks'>,
  options: InspectOptions,
): InspectedSkill | PackRefusal {
  const { name, folder, path: dir, plugin, signature } = skill;
  const facts = inspectPlugin(skill, plugin, options);
  if (isRefusal(facts)) return facts;
  const reviewed = { name, digest: tree.digest, accepted: acceptedBefore(name, tree.digest, options) };
  const scan = judgeFindings(facts.findings, reviewed, options.settings);
  const looks = options.checkName(name);
  return {
    type: 'inspected',
    name,
    version: plugin.version,
    description: plugin.description ?? '',
    license: plugin.license,
    folder,
    path: dir,
    ...tree,
    diagnostics: facts.diagnostics,
    scan,
    requires: [],
    signature,
    notes: [...looks.notes, ...facts.notes],
    plugin: { skills: facts.skills },
    refusals: [
      ...facts.refusals,
      ...(looks.refusal === undefined ? [] : [looks.refusal]),
      ...scanRefusals(reviewed, scan),
    ],
  };
}

/** The files of a staged skill. Reuses the digests of sources that hashed the files while writing them. */
export function readStagedTree(skill: SourceSkill): Pick<InspectedSkill, 'digest' | 'files' | 'looks'> | PackRefusal {
  const { path: dir, digest, files, looks } = skill;
  if (digest === undefined || files === undefined) return presentFiles(dir);
  if (looks !== undefined) return { digest, files, looks };
  const now = fingerprintFolder(dir);
  return isRefusal(now) ? now : { digest, files, looks: now.looks };
}

/** Scripts that may start with a shebang. Binary files are included because their text was not kept. */
function mayHaveShebang({ files }: SkillContents): ReadonlySet<string> {
  return new Set(
    files
      .filter(({ path: at, binary, text }) => at.startsWith(SCRIPTS) && (binary !== undefined || text.startsWith('#!')))
      .map(({ path: at }) => at.slice(SCRIPTS.length)),
  );
}

const SCRIPTS = 'scripts/';

/** Makes the path of a diagnostic relative to the skill instead of the staging folder. */
function belowSkill(diagnostic: Diagnostic, { path: dir, name }: SourceSkill): Diagnostic {
  const relative = path.relative(dir, diagnostic.path).split(path.sep).join('/');
  return { ...diagnostic, path: `${name}/${relative}` };
}

type Tolerance = Pick<PackSettings, 'tolerates'>;

/** The name becomes a folder name, so it must be portable. In strict mode it must equal the folder name of the source. */
function nameRefusals(skill: SourceSkill, mode: Mode, { tolerates }: Tolerance): readonly PackRefusal[] {
  const { name, folder } = skill;
  if (!isValidName(name)) return [packRefusal('pack/name', `${quoted(name)} is not a valid skill name`)];
  const problem = portableNameProblem(name);
  if (problem !== undefined) return [packRefusal('pack/name', problem.message)];
  const [other] = mode === 'strict' && !tolerates.includes('name/directory-mismatch') ? otherNames(skill) : [];
  if (other === undefined) return [];
  return [{ ...packRefusal('pack/name', other, `${folder}/SKILL.md`), allow: WITHOUT_STRICT }];
}

/** Reports a folder name that differs from the skill name, because the user may expect the former. */
function otherNames({ name, folder }: SourceSkill): readonly string[] {
  // Some file systems decompose folder names; skill names are composed.
  const composed = folder.normalize('NFC');
  const folderName = path.posix.basename(composed);
  return folderName === '' || folderName === name
    ? []
    : [`the skill in ${quoted(composed)} has the name ${quoted(name)}`];
}

const WITHOUT_STRICT = 'no --strict, format.mode: lenient';

function formatRefusals(
  { name }: SourceSkill,
  diagnostics: readonly Diagnostic[],
  mode: Mode,
  { tolerates }: Tolerance,
): readonly PackRefusal[] {
  // Some systems load a skill without a description; a pack without one is not complete in any.
  const errors = diagnostics.filter(
    ({ severity, code }) =>
      (severity === 'error' && !tolerates.includes(code) && !DIAGNOSTIC_RULES[code].isUnderstood) ||
      code === 'description/missing',
  );
  const [first] = errors;
  if (first === undefined) return [];
  const more = errors.length > 1 ? ` and ${String(errors.length - 1)} more` : '';
  const refusal = packRefusal('pack/format', `${printable(name)}: ${first.message} (${first.code})${more}`, first.path);
  if (errors.some(({ code }) => DIAGNOSTIC_RULES[code].excludes))
    return [{ ...refusal, hint: `SKILL.md cannot be loaded: ${first.hint}` }];
  if (mode !== 'strict') return [refusal];
  const hint = `${refusal.hint}, or install with --set format.mode=lenient and without --strict`;
  return [{ ...refusal, hint, allow: WITHOUT_STRICT }];
}

function scanRefusals(skill: ReviewedSkill, { stops }: PolicyResult): readonly PackRefusal[] {
  const [first] = stops;
  if (first === undefined) return [];
  const more = stops.length > 1 ? ` and ${String(stops.length - 1)} more` : '';
  const where = `${skill.name}/${first.path}:${String(first.line)}`;
  const refusal = packRefusal('pack/scan', `${printable(where)}: ${first.message} (${first.rule})${more}`, first.path);
  const allow = acceptOptions(stops);
  const hint = `review the files; to accept ${stops.length === 1 ? 'this finding' : 'these findings'} in exactly these files: ${allow}`;
  return [{ ...refusal, hint, allow }];
}

/** The lock of a project proves nothing by itself: what it accepts counts only for files that are installed already. */
function acceptedBefore(name: string, digest: string, { lock, settings }: InspectOptions): readonly string[] {
  const before = lock?.skills.get(name);
  if (before?.accepted === undefined || before.digest !== digest) return [];
  const present = presentFiles(path.join(settings.root, name), { withoutLooks: true });
  return !isRefusal(present) && present.digest === digest ? before.accepted : [];
}
