/** A case on its way from a file to the suite, and what its reader knows about where it stands. */
import type { EvalCase } from './case.ts';
import { isObject } from '../../core/json/json-schema.ts';
import type { JsonPath } from '../../core/json/json-schema.ts';
import { quoted } from '../../core/text/text.ts';
import { fileInSuite } from './output-checks.ts';
import type { CaseReport } from './problem.ts';
import { tell } from './problem.ts';
import { folderOfSuite } from './suite.ts';
import type { NamedFile, Suite } from './suite.ts';

export interface DraftCase {
  readonly case: Omit<EvalCase, 'id'>;
  readonly id: DraftId;
  /** Where its id is written, or where it stands. */
  readonly at: JsonPath;
}

export type DraftId =
  /** As the file has it: `own` ids are the author's promise to be unique, those of others are made so. */
  | { readonly origin: 'own' | 'foreign'; readonly text: string }
  /** There is none: one is made from the place. */
  | { readonly origin: 'made'; readonly text: string };

/** One file that is being read. */
export interface CaseFile {
  readonly report: CaseReport;
  readonly suite: Suite;
  readonly settings: ReadSettings;
}

export interface ReadSettings {
  /** Names of the skills that are there in any case. Absent: nobody knows, and only those of named folders are checked. */
  readonly knownSkills?: ReadonlySet<string>;
  readonly missingFiles: 'error' | 'warning';
  /** Cassettes that are not there are going to be recorded. */
  readonly newCassettes: boolean;
  /** Names of the skills in a folder, looked up once. */
  readonly skillNamesIn: (folder: string) => readonly string[];
}

/** Values that no case has and that would act or be taken for something else: found anywhere in it. */
export function tellHazards(report: CaseReport, value: unknown, at: JsonPath): void {
  if (typeof value === 'number' && !Number.isFinite(value))
    tell(report, { at, message: 'this is not a finite number', hint: 'write a number that is not too large' });
  if (Array.isArray(value)) for (const [place, item] of value.entries()) tellHazards(report, item, [...at, place]);
  if (!isObject(value)) return;
  for (const [key, item] of Object.entries(value)) {
    const here = [...at, key];
    if (key === '__proto__')
      tell(report, { at: here, message: 'a key may not be called __proto__', hint: 'take it out' });
    else tellHazards(report, item, here);
  }
}

/** The files of a case, absolute. One that is not there is told; how badly, the settings say. */
export function namedFiles(
  { report, suite, settings }: CaseFile,
  written: readonly string[],
  at: JsonPath,
): readonly string[] {
  return written.flatMap((name, place) => {
    const since = report.problems.length;
    const found = fileInSuite(report, suite, name, [...at, place]);
    const [problem] = report.problems.slice(since);
    if (problem?.message.endsWith('is not there') === true && settings.missingFiles === 'warning')
      report.problems.splice(since, 1, { ...problem, severity: 'warning' });
    return found === undefined ? [] : [found];
  });
}

export function namedFolders({ report, suite }: CaseFile, written: readonly string[], at: JsonPath): readonly string[] {
  return written.flatMap((name, place) => {
    const folder = folderOfSuite(suite, name);
    if (folder.type === 'found') return [folder.path];
    const message = `the folder of skills ${quoted(name, 120)} ${folderTrouble(folder)}`;
    tell(report, { at: [...at, place], message, hint: 'write its path from this file, such as ../../other-skill' });
    return [];
  });
}

function folderTrouble(folder: Exclude<NamedFile, { readonly type: 'found' }>): string {
  return folder.type === 'missing' ? 'is not there' : folder.reason;
}

/** The first line of a text, as a name. */
export function shortName(text: string): string {
  const line = text.trim().split(/\r?\n/, 1)[0] ?? '';
  const characters = [...line];
  return characters.length > 80 ? `${characters.slice(0, 79).join('').trimEnd()}…` : line;
}
