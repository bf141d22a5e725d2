/** Skills that a case names and that are not there: what it asks of them can never be met, or never be missed. */
import type { EvalCase } from './case.ts';
import type { JsonPath } from '../../core/json/json-schema.ts';
import { nearest } from '../../core/nearest.ts';
import { quoted } from '../../core/text/text.ts';
import type { CaseFile } from './draft.ts';
import { tell } from './problem.ts';

/** Nothing is told where nobody knows which skills there will be. */
export function tellMissingSkills(
  { report, settings }: CaseFile,
  { skills, expect }: Pick<EvalCase, 'skills' | 'expect'>,
): void {
  if (skills.folders.length === 0 && settings.knownSkills === undefined) return;
  const known = new Set([
    ...(settings.knownSkills ?? []),
    ...skills.folders.flatMap((folder) => settings.skillNamesIn(folder)),
  ]);
  const { allOf = [], anyOf = [], noneOf = [], only = [] } = expect.skills ?? {};
  const look = (names: readonly string[], at: JsonPath, severity: 'error' | 'warning'): void => {
    for (const name of names.filter((wanted) => !known.has(wanted))) {
      const [near] = nearest(name, [...known], 1);
      const hint = near === undefined ? 'name a skill of skills.folders or of the suite' : `did you mean ${near}?`;
      tell(report, { at, message: `there is no skill ${quoted(name)}`, hint, severity });
    }
  };
  look(skills.target === undefined ? [] : [skills.target], ['skills', 'target'], 'error');
  look(allOf, ['expect', 'skills_all_of'], 'error');
  look(anyOf, ['expect', 'skills_any_of'], 'error');
  // That it is not loaded holds of itself.
  look(noneOf, ['expect', 'skills_none_of'], 'warning');
  look(only, ['expect', 'skills_only'], 'warning');
}
