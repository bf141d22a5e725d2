/** A case while it is read, and checks that all formats share. */
import type { EvalCase } from './case.ts';
import { isObject, nearest, quoted, type JsonPath } from '#core';
import { fileInSuite } from './output-checks.ts';
import { addProblem, type CaseReport } from './problem.ts';
import { folderOfSuite, type Suite } from './suite.ts';

export interface DraftCase {
  readonly case: Omit<EvalCase, 'id'>;
  readonly id: DraftId;
  /** The path of its id, or of the case itself. */
  readonly at: JsonPath;
}

/** `own` ids must be unique, `foreign` ids are made unique, and `made` ids are derived from the position of a case without one. */
export interface DraftId {
  readonly origin: 'own' | 'foreign' | 'made';
  readonly text: string;
}

export interface CaseFile {
  readonly report: CaseReport;
  readonly suite: Suite;
  readonly settings: ReadSettings;
}

export interface ReadSettings {
  /** Names of the installed skills. Absent if unknown; then only skills of named folders are checked. */
  readonly knownSkills?: ReadonlySet<string>;
  readonly missingFiles: 'error' | 'warning';
  readonly newCassettes: boolean;
  readonly skillNamesIn: (folder: string) => readonly string[];
}

/** Text that a template left for the author. Whole words only: a request may be about TODO comments. */
const PLACEHOLDER =
  /\bREPLACE[ _-]ME\b|^\s*(?:TODO|TBD|FIXME|XXX)\s*[:.]?\s*$|^\s*TODO: describe |^A request that \S+ is for$|^A request that sounds like it and is not$|^What a good answer has in it$|^\s*<(?:your|insert|replace|fill|describe|placeholder)\b[^<>]*>\s*$/;

/** Reports infinite numbers, `__proto__` keys and placeholder text anywhere in a case. */
export function reportHazards(report: CaseReport, value: unknown, at: JsonPath): void {
  if (typeof value === 'string' && PLACEHOLDER.test(value))
    addProblem(report, at, `placeholder text: ${quoted(value, 80)}`, 'write the text of the case, or remove the key');
  if (typeof value === 'number' && !Number.isFinite(value))
    addProblem(report, at, 'the number is not finite', 'write a smaller number');
  if (Array.isArray(value)) for (const [place, item] of value.entries()) reportHazards(report, item, [...at, place]);
  if (!isObject(value)) return;
  for (const [key, item] of Object.entries(value)) {
    const here = [...at, key];
    if (key === '__proto__') addProblem(report, here, 'the key __proto__ is not allowed', 'remove it');
    else reportHazards(report, item, here);
  }
}

/** Resolves the files of a case to absolute paths. The settings decide whether a missing file is an error. */
export function namedFiles(
  { report, suite, settings }: CaseFile,
  written: readonly string[],
  at: JsonPath,
): readonly string[] {
  return written.flatMap((name, place) => {
    const found = fileInSuite(report, suite, name, [...at, place], { missing: settings.missingFiles });
    return found === undefined ? [] : [found];
  });
}

export function namedFolders({ report, suite }: CaseFile, written: readonly string[], at: JsonPath): readonly string[] {
  return written.flatMap((name, place) => {
    const folder = folderOfSuite(suite, name);
    if (folder.type === 'found') return [folder.path];
    const problem = folder.type === 'missing' ? 'does not exist' : folder.reason;
    const message = `the skill folder ${quoted(name, 120)} ${problem}`;
    addProblem(report, [...at, place], message, 'write its path relative to this file, such as ../../other-skill');
    return [];
  });
}

export function shortName(text: string): string {
  const line = text.trim().split(/\r?\n/, 1)[0] ?? '';
  const characters = [...line];
  return characters.length > 80 ? `${characters.slice(0, 79).join('').trimEnd()}…` : line;
}

/** Reports skills that a case names and that do not exist. Checks nothing if the installed skills are not known yet. */
export function reportMissingSkills(
  { report, settings }: CaseFile,
  { skills, expect }: Pick<EvalCase, 'skills' | 'expect'>,
): void {
  if (skills.folders.length === 0 && settings.knownSkills === undefined) return;
  const known = new Set([
    ...(settings.knownSkills ?? []),
    ...skills.folders.flatMap((folder) => settings.skillNamesIn(folder)),
  ]);
  const { allOf = [], anyOf = [], noneOf = [], only = [] } = expect.skills ?? {};
  const check = (names: readonly string[], at: JsonPath, severity: 'error' | 'warning'): void => {
    for (const name of names.filter((name) => !known.has(name))) {
      const [near] = nearest(name, [...known], 1);
      const hint = near === undefined ? 'name a skill from skills.folders or the suite' : `did you mean ${near}?`;
      addProblem(report, at, `unknown skill ${quoted(name)}`, hint, severity);
    }
  };
  check(skills.target === undefined ? [] : [skills.target], ['skills', 'target'], 'error');
  check(allOf, ['expect', 'skills_all_of'], 'error');
  check(anyOf, ['expect', 'skills_any_of'], 'error');
  // These expectations hold without the skill, so a warning is enough.
  check(noneOf, ['expect', 'skills_none_of'], 'warning');
  check(only, ['expect', 'skills_only'], 'warning');
}
