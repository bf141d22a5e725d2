/** Cases from files and folders, in every format that is known, by what is in them. Nothing is lost without a word. */
import path from 'node:path';

import { EVAL_SUITE_SCHEMA } from './case-schema.ts';
import type { EvalCase } from './case.ts';
import { checkJson, isObject } from '../../core/json/json-schema.ts';
import { quoted } from '../../core/text/text.ts';
import { isDirectory, isPresent } from '../../platform/fs/paths.ts';
import { readTextFile } from '../../platform/fs/read-file.ts';
import { readFolderCase } from './case-folder.ts';
import { readCommunityCase, targetOfFile } from './community-case.ts';
import { readDocument } from './document.ts';
import type { CaseDocument } from './document.ts';
import type { CaseFile, DraftCase, ReadSettings } from './draft.ts';
import { findCaseFiles, isTellingName } from './find-case-files.ts';
import { withUniqueIds } from './ids.ts';
import type { PlacedDraft } from './ids.ts';
import { readOwnCase, schemaText } from './own-case.ts';
import { tell } from './problem.ts';
import type { CaseProblem, CaseReport } from './problem.ts';
import { recognise } from './recognise.ts';
import type { CaseShape, Recognised } from './recognise.ts';
import { skillNamesIn, suiteOf } from './suite.ts';

export interface ReadCases {
  readonly cases: readonly EvalCase[];
  /** What is wrong, by file and line; an error means that its case is not in `cases`. */
  readonly problems: readonly CaseProblem[];
  /** Files looked at that are no case files, with the reason. */
  readonly passedOver: readonly { readonly file: string; readonly reason: string }[];
  /** Files that hold cases, and what they are. `entries` of each became a case or a problem. */
  readonly suites: readonly { readonly file: string; readonly shape: CaseShape; readonly entries: number }[];
  /** All files looked at. */
  readonly files: readonly string[];
}

export interface ReadCasesOptions {
  /** Names of the skills that are there beside those that cases name by folder. Absent: not known. */
  readonly knownSkills?: readonly string[];
  /** How bad a file is that a case names and that is not there. `warning`: the case is read without it. */
  readonly missingFiles?: 'error' | 'warning';
  /** Cassettes that are not there are going to be recorded: that they are missing is no problem. */
  readonly newCassettes?: boolean;
  readonly signal?: AbortSignal;
}

const MAX_BYTES = 16 * 1024 * 1024;

/** Reads files, and what lies in folders: `evals/`, `tests/`, a skill, a folder of skills. */
export function readCases(paths: readonly string[], options: ReadCasesOptions = {}): ReadCases {
  const found: Found = { drafts: [], problems: [], passedOver: [], suites: [], files: new Set() };
  const settings = settingsOf(options);
  for (const given of paths.map((name) => path.resolve(name))) {
    options.signal?.throwIfAborted();
    if (!isPresent(given)) tellFile(found, given, 'there is no such file or folder', 'name one that is there');
    else if (isDirectory(given)) readFolder(found, given, settings, options.signal);
    else readFile(found, { file: given, given: path.dirname(given), isAsked: true }, settings);
  }
  const { cases, problems } = withUniqueIds(found.drafts);
  const all = [...found.problems, ...problems];
  return {
    cases,
    problems: distinct(all.length === 0 && cases.length === 0 ? [emptySuite(paths, found.passedOver)] : all),
    passedOver: found.passedOver,
    suites: found.suites,
    files: [...found.files],
  };
}

interface Found {
  readonly drafts: PlacedDraft[];
  readonly problems: CaseProblem[];
  readonly passedOver: { readonly file: string; readonly reason: string }[];
  readonly suites: { readonly file: string; readonly shape: CaseShape; readonly entries: number }[];
  readonly files: Set<string>;
}

interface GivenFile {
  readonly file: string;
  /** The folder that was asked for, or that of the file. */
  readonly given: string;
  /** A person asked for this very file: that it holds no cases is a problem. */
  readonly isAsked: boolean;
}

function settingsOf({ knownSkills, missingFiles = 'error', newCassettes = false }: ReadCasesOptions): ReadSettings {
  const names = new Map<string, readonly string[]>();
  return {
    ...(knownSkills === undefined ? {} : { knownSkills: new Set(knownSkills) }),
    missingFiles,
    newCassettes,
    skillNamesIn(folder) {
      const known = names.get(folder) ?? skillNamesIn(folder);
      names.set(folder, known);
      return known;
    },
  };
}

function readFolder(found: Found, folder: string, settings: ReadSettings, signal: AbortSignal | undefined): void {
  const { files, troubles } = findCaseFiles(folder);
  for (const trouble of troubles)
    tellFile(found, trouble.folder, `the folder cannot be read: ${trouble.reason}`, 'look at its rights');
  for (const file of files) {
    signal?.throwIfAborted();
    readFile(found, { file, given: folder, isAsked: false }, settings);
  }
}

function readFile(found: Found, { file, given, isAsked }: GivenFile, settings: ReadSettings): void {
  if (found.files.has(file)) return;
  found.files.add(file);
  const read = readTextFile(file, MAX_BYTES);
  if (read.type !== 'read') {
    const reason = read.type === 'absent' ? 'it is gone' : read.reason;
    tellFile(found, file, `the file cannot be read: ${reason}`, 'case files are plain files of at most 16 MiB');
    return;
  }
  if (!read.validUtf8) {
    tellFile(found, file, 'the file is not UTF-8', 'save it as UTF-8');
    return;
  }
  const document = readDocument(file, read.text);
  if (document.type === 'broken') {
    const { at, reason, hint } = document;
    if (isAsked || isTellingName(path.basename(file)))
      found.problems.push({ file, ...at, message: reason, hint, severity: 'error' });
    else found.passedOver.push({ file, reason: `${reason} (line ${String(at.line)})` });
    return;
  }
  const suite = suiteOf(file, given);
  const report: CaseReport = { file, locate: document.document.locate, problems: found.problems };
  readRecognised(found, { report, suite, settings }, { document: document.document, isAsked });
}

function readRecognised(
  found: Found,
  file: CaseFile,
  { document, isAsked }: { readonly document: CaseDocument; readonly isAsked: boolean },
): void {
  const { report } = file;
  const recognised = recognise(document.value, path.extname(report.file).toLowerCase() === '.csv');
  if (recognised.type === 'cases') {
    found.suites.push({ file: report.file, shape: recognised.shape, entries: recognised.items.length });
    tellRepeated(report, document, recognised.shape);
    found.drafts.push(...readItems(file, recognised));
  } else if (recognised.type === 'other') {
    found.passedOver.push({ file: report.file, reason: recognised.reason });
    if (isAsked)
      tell(report, { at: [], message: `this is no case file: ${recognised.reason}`, hint: 'name a file with cases' });
  } else if (isAsked || isTellingName(path.basename(report.file))) {
    tell(report, {
      at: [],
      message: 'there are no cases in this file',
      hint: 'an empty suite is no pass: write a case',
    });
  } else found.passedOver.push({ file: report.file, reason: 'an empty list' });
}

/** Only the last of two equal keys counts, which nobody means. */
function tellRepeated(report: CaseReport, { repeated }: CaseDocument, shape: CaseShape): void {
  for (const at of repeated) {
    const severity = shape === 'own' || shape === 'case-folder' ? 'error' : 'warning';
    const message = `the key ${quoted(String(at.at(-1)))} stands there twice`;
    tell(report, { at, message, hint: 'take one of them out', severity });
  }
}

function readItems(
  file: CaseFile,
  { shape, items, head }: Extract<Recognised, { type: 'cases' }>,
): readonly PlacedDraft[] {
  const { report } = file;
  const stem = madeStem(file);
  const read = readerFor(file, { shape, head });
  return items.flatMap((item, index) => {
    const madeId = items.length === 1 ? stem : `${stem}-${String(index + 1)}`;
    const draft = read(item, { madeId, place: index + 1 });
    return draft === undefined ? [] : [{ draft, position: report.locate(draft.at) }];
  });
}

type ItemReader = (
  item: Extract<Recognised, { type: 'cases' }>['items'][number],
  numbered: { readonly madeId: string; readonly place: number },
) => DraftCase | undefined;

function readerFor(
  file: CaseFile,
  { shape, head }: Pick<Extract<Recognised, { type: 'cases' }>, 'shape' | 'head'>,
): ItemReader {
  if (shape === 'own') {
    const defaults = ownDefaults(file.report, head);
    return ({ path: at, value }, { madeId }) => readOwnCase(file, { path: at, value, defaults, madeId });
  }
  if (shape === 'case-folder')
    return ({ path: at, value }, { madeId }) =>
      isObject(value)
        ? readFolderCase(file, value, at, madeId)
        : readOwnCase(file, { path: at, value, defaults: {}, madeId });
  const target = targetOfFile(file, head);
  return (item, { place }) => readCommunityCase(file, item, { target, place });
}

/** The keys around the cases, checked once; the cases are checked one by one. */
function ownDefaults(report: CaseReport, head: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const around = { ...head, cases: [] };
  for (const problem of checkJson(around, EVAL_SUITE_SCHEMA))
    tell(report, { at: problem.path, ...schemaText(problem) });
  return isObject(head['defaults']) ? head['defaults'] : {};
}

/** `<case>/case.json` is called by its folder. */
function madeStem({ report, suite }: CaseFile): string {
  const { name } = path.parse(report.file);
  const own = name === 'case' ? path.basename(suite.dir) : name;
  return suite.skill === undefined ? own : `${suite.skill.name}-${own}`;
}

function tellFile(found: Found, file: string, message: string, hint: string): void {
  found.problems.push({ file, line: 1, column: 1, message, hint, severity: 'error' });
}

/** Files that an empty suite tells about. */
const TOLD_FILES = 3;

/** What was passed over may well be what was meant: its reason is told. */
function emptySuite(paths: readonly string[], passedOver: ReadCases['passedOver']): CaseProblem {
  const told = passedOver
    .slice(0, TOLD_FILES)
    .map(({ file, reason }) => `${quoted(path.basename(file))} was passed over: ${reason}`);
  return {
    file: paths[0] ?? '.',
    line: 1,
    column: 1,
    message: ['there are no cases here', ...told].join('; '),
    hint: 'an empty suite is no pass: write evals/cases.yaml, or let eval init write it',
    severity: 'error',
  };
}

/** What is wrong with the defaults is found at each case. */
function distinct(problems: readonly CaseProblem[]): readonly CaseProblem[] {
  const byText = new Map(problems.map((problem) => [JSON.stringify(problem), problem]));
  return [...byText.values()];
}
