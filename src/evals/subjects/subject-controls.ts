/** Controls of another agent: before its cases run, it must load a skill that fits and leave one that does not. */
import path from 'node:path';

import { removeTree } from '../../platform/fs/remove-tree.ts';
import { VERSION } from '../../version.ts';
import { makeReport } from '../report/report.ts';
import type { EvalReport } from '../report/result.ts';
import { runSuite } from '../run/run-suite.ts';
import type { SuiteBasis } from '../run/run-suite.ts';
import { ALWAYS_FIRE, canaryControl, controlCases, NEVER_FIRE, writeControlSkills } from '../trigger/controls.ts';
import { makeTriggerReport } from '../trigger/trigger-score.ts';

/**
 * A report without scores if the subject fails a control: for example, a new version of it has another transcript. The cache is not used,
 * because an older result proves nothing about the program of today.
 */
export async function failedControls(options: SuiteBasis): Promise<EvalReport | undefined> {
  const { subject, directory } = options;
  if (subject === undefined || subject.missing !== '') return undefined;
  const made = path.join(directory, 'control-skills');
  await removeTree(made);
  const startedAt = new Date();
  const { cache: _cache, ...basis } = options;
  const { results, isPartial } = await runSuite({
    ...basis,
    cases: controlCases().slice(0, 1),
    arms: [{ arm: 'with', foldersFor: () => writeControlSkills(made) }],
    directory: path.join(directory, 'controls'),
    settings: { controls: 1 },
  }).finally(() => removeTree(made));
  const controls = [
    canaryControl('always-fire', ALWAYS_FIRE.name, results),
    canaryControl('never-fire', NEVER_FIRE.name, results),
  ];
  if (!isPartial && controls.every(({ isKept }) => isKept)) return undefined;
  return makeReport({
    tool: `skillwright ${VERSION}`,
    startedAt: startedAt.toISOString(),
    wallMs: Date.now() - startedAt.getTime(),
    skills: [],
    isPartial,
    results,
    trigger: makeTriggerReport({ trials: [], controls }),
  });
}
