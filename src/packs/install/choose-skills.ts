/** The second step of an install: inspects the staged skills, and asks which ones to install if the user named none. */
import { detectedTargets } from '../agents/place-targets.ts';
import { openNameCheck } from '../inspect/confusable-name.ts';
import { sourceVerdicts, type SourceVerdicts } from '../inspect/verdicts.ts';
import { accepted, refused } from '../problems.ts';
import type { OpenRoot } from '../root/open-root.ts';
import type { StagedSource } from '../sources/source.ts';
import type { InstallOptions } from './options.ts';

interface ChosenSkills {
  readonly verdicts: SourceVerdicts;
  readonly targets: InstallOptions['targets'];
}

/** Throws a refusal if the source cannot be used as a whole, or nothing was chosen. */
export async function chooseSkills(
  staged: StagedSource,
  root: OpenRoot,
  options: InstallOptions,
): Promise<ChosenSkills> {
  const { settings, signal, strict, force = false, onProgress, choose, targets, skills: names = [] } = options;
  const inspect = {
    settings,
    mode: strict === undefined ? settings.mode : strict ? 'strict' : 'lenient',
    checkName: openNameCheck([...root.lock.skills.keys()]),
    lock: root.lock,
    force,
    signal,
    onProgress: (done: number, total: number) => onProgress?.({ step: 'inspect', done, total }),
  } as const;
  const all = accepted(await sourceVerdicts(staged, { ...inspect, names }));
  if (choose === undefined || names.length > 0 || all.ready.length === 0) return { verdicts: all, targets };
  const choice = await choose({ ...all, targets: detectedTargets(settings) });
  if (choice === undefined || choice.folders.length === 0)
    throw refused('install/refused', 'no skill was selected: nothing was installed', {
      hint: 'select skills with the space bar, or name them: skillwright install SOURCE SKILL',
    });
  const { folders } = choice;
  const chosen = all.ready.filter(({ folder }) => folders.includes(folder)).map(({ name }) => name);
  const isAll = folders.length === all.ready.length;
  const verdicts = isAll ? all : accepted(await sourceVerdicts(staged, { ...inspect, names: chosen }));
  return { verdicts, targets: choice.targets ?? targets };
}
