/** The third step of an install: what would change in the root and in the folders of agents. Nothing is written. */
import path from 'node:path';

import { compareText, quoted } from '#core';
import { differenceFrom } from '../agents/copies.ts';
import { planTarget } from '../agents/place-targets.ts';
import type { InspectedSkill } from '../inspect/inspect-skill.ts';
import type { RefusedSkill, SourceVerdicts } from '../inspect/verdicts.ts';
import { lockTime, type LockedSkill } from '../lock/lock-file.ts';
import type { OpenRoot } from '../root/open-root.ts';
import { mayReplace, type PutChange } from '../root/plan.ts';
import { listElsewhere } from '../sources/marketplace.ts';
import type { ResolvedSource, StagedSource } from '../sources/source.ts';
import { verifySkill } from '../verify-root.ts';
import { VERSION } from '../../version.ts';
import type { InstallOptions, InstallPlan, PlannedSkill } from './options.ts';

export function planInstall(
  staged: StagedSource,
  root: OpenRoot,
  { verdicts, options }: { readonly verdicts: SourceVerdicts; readonly options: InstallOptions },
): InstallPlan {
  const { skills: names = [], existing = 'refuse', at = new Date() } = options;
  const edited: string[] = [];
  const plan = (skill: InspectedSkill, isNeeded: boolean): PlannedSkill => {
    const before = root.lock.skills.get(skill.name);
    const fresh = lockedSkill(skill, staged.resolved, at);
    const isLocked = before?.digest === skill.digest;
    const status = isLocked ? verifySkill(path.join(root.path, before.name), before).status : 'drift';
    const isKept = status === 'same' || (isLocked && status !== 'missing' && !mayReplace(existing));
    if (isKept && status !== 'same')
      edited.push(`${quoted(skill.name)} was edited and stays as it is (see verify and --force)`);
    const change = before === undefined || status === 'missing' ? 'new' : isKept ? 'same' : 'replace';
    // `installedAt` is the time of the last change of the bytes.
    const lock = isLocked ? { ...fresh, installedAt: before.installedAt } : fresh;
    return { verdict: hasWarnings(skill) ? 'warnings' : 'ready', skill, change, isNeeded, lock, before };
  };
  const planned = [
    ...verdicts.ready.map((skill) => plan(skill, false)),
    ...verdicts.needed.map((skill) => plan(skill, true)),
  ];
  const impossible = root.refusals(planned.filter(isChanging).map((each) => putChange(each, root, options)));
  const blocked = planned.flatMap(({ skill }): readonly RefusedSkill[] => {
    const refusal = impossible.get(skill.name);
    const { name, folder } = skill;
    const isNamed = names.includes(name) || names.includes(folder);
    return refusal === undefined ? [] : [{ verdict: 'refused', name, folder, isNamed, refusal, skill }];
  });
  const skills = planned.filter(({ skill }) => !impossible.has(skill.name));
  const ready = skills.map(({ skill }) => skill.name);
  const { targets = [], copy, takeOver = false } = options;
  const context = { root: root.path, kind: copy === true ? 'copy' : 'link', lock: root.lock, takeOver } as const;
  return {
    root: root.path,
    typed: options.source,
    resolved: staged.resolved,
    skills: skills.toSorted((a, b) => compareText(a.skill.name, b.skill.name)),
    refused: [...verdicts.refused, ...blocked].toSorted(
      (a, b) => compareText(a.name, b.name) || compareText(a.folder, b.folder),
    ),
    notes: [...verdicts.notes, ...edited, ...(names.length === 0 ? noteElsewhere(staged) : [])],
    leftOut: staged.leftOut,
    places: targets.map((target) => planTarget(target, ready, context)),
    ...commonSigner(skills),
  };
}

function noteElsewhere({ marketplaces }: StagedSource): readonly string[] {
  const count = marketplaces === undefined ? 0 : listElsewhere(marketplaces).length;
  const what = count === 1 ? 'a plugin in another repository' : `${String(count)} plugins in other repositories`;
  return count === 0 ? [] : [`the marketplace lists ${what}; install one by its name`];
}

function hasWarnings({ diagnostics, scan, notes }: InspectedSkill): boolean {
  return notes.length + scan.warnings.length > 0 || diagnostics.some(({ severity }) => severity !== 'info');
}

export function isChanging({ change }: PlannedSkill): boolean {
  return change !== 'same';
}

export function putChange(
  { skill: { name, path: from, looks, files }, lock, before }: PlannedSkill,
  root: OpenRoot,
  { existing = 'refuse', takeOver = false }: InstallOptions,
): PutChange {
  const isForeign = takeOver && before === undefined;
  const isSame = isForeign && differenceFrom(path.join(root.path, name), files)?.length === 0;
  return { type: 'put', name, from, lock, existing: isSame ? 'replace' : existing, looks };
}

/** The key that signed all skills, if one did. */
function commonSigner(skills: readonly PlannedSkill[]): Pick<InstallPlan, 'signedBy'> {
  const signedBy = skills[0]?.skill.signedBy;
  return signedBy !== undefined && skills.every(({ skill }) => skill.signedBy === signedBy) ? { signedBy } : {};
}

export function lockedSkill(
  skill: InspectedSkill,
  { source, revision, archive }: ResolvedSource,
  at: Date,
): LockedSkill {
  const { name, version, folder, digest, files, requires, signedBy, scan } = skill;
  return {
    name,
    version,
    source,
    revision,
    archive,
    folder: folder === '' ? undefined : folder,
    digest,
    files,
    requires: requires.length === 0 ? undefined : requires.map((need) => need.name).toSorted(compareText),
    signedBy,
    accepted: scan.accepted.length === 0 ? undefined : scan.accepted,
    installedAt: lockTime(at),
    tool: VERSION,
  };
}
