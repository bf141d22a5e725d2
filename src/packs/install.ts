/**
 * Installs skills in four steps: stage, choose, plan, apply. Each is one file of `install/`, and works in the staging folder of the root. The
 * commit at the end changes the root atomically.
 */
import { problemError } from '#core';
import { lockedSource, readTypedSource } from './inspect/stage-pack.ts';
import { applyPlan } from './install/apply-plan.ts';
import { chooseSkills } from './install/choose-skills.ts';
import type { InstallOptions, InstallPlan, Installed } from './install/options.ts';
import { planInstall } from './install/plan-install.ts';
import { noSkillInPlugin, stageNamed } from './install/stage-named.ts';
import type { LockFile } from './lock/lock-file.ts';
import { pluginSettings } from './pack-settings.ts';
import { isRefusal, type PackRefusal } from './problems.ts';
import { inRoot, type OpenRoot } from './root/open-root.ts';
import { sourceText } from './sources/source-text.ts';
import type { StagedSource } from './sources/source.ts';

/**
 * Installs every skill that is not refused, all in one commit. Refuses if the source cannot be used as a whole or none of its skills can be
 * installed. Rejects with the abort reason; the root is then unchanged.
 */
export async function installSkills(options: InstallOptions): Promise<Installed | PackRefusal> {
  const { settings, dryRun, onRefused } = options;
  const typed = readTypedSource(options.source, settings);
  if (isRefusal(typed)) return typed;
  const install = async (root: OpenRoot): Promise<Installed | WholePlugin> => {
    const { staged, source, names } = await stageNamed(typed, root, options);
    if (isWholePlugin(staged, names, options)) return { type: 'plugin', source: sourceText(source) };
    if (staged.isPlugin === true && staged.skills.length + staged.unusable.length === 0)
      throw noSkillInPlugin(options.source);
    const asked = { ...options, skills: names };
    const resolved = { ...staged.resolved, source: sourceText(lockedSource(source, settings)) };
    const backgroundSync = dryRun === true ? undefined : root.startSync(newFiles(staged, root.lock));
    const { verdicts, targets } = await chooseSkills(staged, root, asked);
    const plan = planInstall({ ...staged, resolved }, root, { verdicts, options: { ...asked, targets } });
    const nothing = nothingToInstall(plan);
    if (nothing === undefined) return await applyPlan(plan, root, { ...asked, targets }, backgroundSync);
    onRefused?.(plan);
    throw problemError(nothing);
  };
  const done = await inRoot(options, install, { create: true });
  if (isRefusal(done) || done.type === 'installed') return done;
  return await installSkills({ ...options, source: done.source, skills: [], settings: pluginSettings(settings) });
}

interface WholePlugin {
  readonly type: 'plugin';
  readonly source: string;
}

/** An Agent Plugin is installed as a whole, unless the user names skills, agents or a root: those take skills. */
function isWholePlugin({ isPlugin }: StagedSource, names: readonly string[], options: InstallOptions): boolean {
  const { settings, targets = [], copy = false } = options;
  return isPlugin === true && names.length === 0 && targets.length === 0 && !copy && settings.pluginRoot !== undefined;
}

/** The approximate number of files that are not installed yet. */
function newFiles({ skills }: StagedSource, lock: LockFile): number {
  return skills
    .filter(({ name, digest }) => digest === undefined || lock.skills.get(name)?.digest !== digest)
    .reduce((sum, { files = {} }) => sum + Object.keys(files).length, 0);
}

function nothingToInstall({ skills, refused: [first, ...others] }: InstallPlan): PackRefusal | undefined {
  if (first === undefined || skills.length > 0) return undefined;
  const { refusal } = first;
  if (others.length === 0) return refusal;
  const message = `none of the ${String(others.length + 1)} skills can be installed; the first: ${refusal.message}`;
  return { ...refusal, message };
}
