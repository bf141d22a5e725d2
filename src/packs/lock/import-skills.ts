/** Installs again what another installer put into a root, from the sources that its files name. */
import { targetsInUse } from '../agents/place-targets.ts';
import { installSkills } from '../install.ts';
import type { InstallOptions, InstallPlan, Installed } from '../install/options.ts';
import type { PackSettings } from '../pack-settings.ts';
import { groupBy } from '../group-by.ts';
import { accepted, isRefusal, type PackRefusal } from '../problems.ts';
import { completeChange } from '../root/open-root.ts';
import { readForeignInstall, type ForeignInstall, type ForeignSkill } from './foreign-lock.ts';

interface ImportOptions extends Pick<InstallOptions, 'dryRun' | 'trust' | 'signal' | 'onProgress' | 'onNote'> {
  /** A lock file of `npx skills`, a folder of skills of openskills, or a project that has one of them. */
  readonly file: string;
  /** The root for skills of a project, or of the user. */
  readonly settingsFor: (scope: ForeignInstall['scope']) => Promise<PackSettings>;
  /** Asked for each source, with the names of its skills. */
  readonly confirm: (plan: InstallPlan, names: readonly string[]) => Promise<boolean>;
  /** Gets what the files contain and cannot be imported, before the first source is fetched. */
  readonly onUnread?: (unread: ForeignInstall['unread']) => void;
}

interface Imported {
  readonly root: string;
  readonly installed: readonly Installed[];
  readonly failed: readonly { readonly name: string; readonly refusal: PackRefusal }[];
  readonly unread: ForeignInstall['unread'];
}

/** Installs source by source, each after confirmation. A skill that cannot be matched does not stop the others. Throws a refusal. */
export async function importSkills({ file, settingsFor, onUnread, ...options }: ImportOptions): Promise<Imported> {
  const foreign = accepted(readForeignInstall(file));
  const settings = await settingsFor(foreign.scope);
  await completeChange({ ...options, settings });
  onUnread?.(foreign.unread);
  // Relative paths start at the folder of the file.
  const there = { ...settings, surroundings: { ...settings.surroundings, cwd: foreign.base } };
  const all: Outcome[] = [];
  for (const group of groupBy(foreign.skills, ({ source }) => source).values())
    all.push(await importGroup(group, { ...options, settings: there }));
  return {
    root: settings.root,
    installed: all.flatMap(({ installed }) => installed),
    failed: all.flatMap(({ failed }) => failed),
    unread: foreign.unread,
  };
}

type Outcome = Pick<Imported, 'installed' | 'failed'>;

/** Fetches a source once for all its skills. */
async function importGroup(
  group: readonly ForeignSkill[],
  options: Omit<ImportOptions, 'file' | 'settingsFor'> & { readonly settings: PackSettings },
): Promise<Outcome> {
  const names = group.map(({ name }) => name);
  const installed = await installSkills({
    ...options,
    source: group[0]?.source ?? '',
    skills: group.map(({ name, folder }) => folder ?? name),
    targets: targetsInUse(names, options.settings),
    takeOver: true,
    confirm: (plan) => options.confirm(plan, names),
  });
  if (!isRefusal(installed)) {
    const failed = installed.plan.refused.map(({ name, refusal }) => ({ name, refusal: importRefusal(refusal) }));
    return { installed: [installed], failed };
  }
  if (group.length === 1 || installed.code !== 'pack/unknown-skill')
    return { installed: [], failed: names.map((name) => ({ name, refusal: importRefusal(installed) })) };
  // The source no longer has one of them.
  const each: Outcome[] = [];
  for (const skill of group) each.push(await importGroup([skill], options));
  return { installed: each.flatMap((one) => one.installed), failed: each.flatMap(({ failed }) => failed) };
}

/** The default hints offer flags of install, which do not exist here. */
function importRefusal(refusal: PackRefusal): PackRefusal {
  if (refusal.code === 'install/exists') return { ...refusal, hint: 'run skillwright update for the newest version' };
  if (refusal.code !== 'install/foreign') return refusal;
  const message = `${refusal.message}, and its files are not those of the source`;
  return { ...refusal, message, hint: 'move the folder away and import again, or keep it as it is' };
}
