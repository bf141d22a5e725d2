/** Reads cases of all known formats from files and folders. The format is recognized by content, and nothing is dropped silently. */
import path from 'node:path';

import { EVAL_SUITE_SCHEMA } from './case-schema.ts';
import { checkJson, isObject, printable, quoted, THRESHOLDS_SCHEMA, type positionOf } from '#core';
import { joinThresholds, type WrittenThresholds } from '../report/thresholds.ts';
import { isDirectory, isPresent, readTextFile } from '#platform';
import { readFolderCase } from './case-folder.ts';
import { readCommunityCase, targetOfFile } from './community-case.ts';
import type { ForeignCase } from './foreign/foreign-case.ts';
import { readForeign } from './foreign/read-foreign.ts';
import { readDocument, TOP, type CaseDocument, type DocumentReading } from './document.ts';
import { readOwnCase, addSchemaProblem } from './own-case.ts';
import { addProblem, relocated, type CaseProblem, type CaseReport } from './problem.ts';
import { recognize, type CaseShape, type Recognized } from './recognize.ts';
import { findCaseFiles, isCaseFileName } from './find-case-files.ts';
import { CASE_FOLDERS, skillNamesIn, findSuite } from './suite.ts';
import { listUnread, type OtherFile } from './unread-files.ts';
import type { EvalCase } from './case.ts';
import type { CaseFile, DraftCase, ReadSettings } from './draft.ts';

export interface ReadCases {
  readonly cases: readonly EvalCase[];
  /** Cases that no person has confirmed; they are not evaluated. */
  readonly drafts: readonly EvalCase[];
  /** An error means that its case is not in `cases`. */
  readonly problems: readonly CaseProblem[];
  readonly passedOver: readonly { readonly file: string; readonly reason: string }[];
  readonly suites: readonly { readonly file: string; readonly shape: CaseShape; readonly entries: number }[];
  readonly files: readonly string[];
  /** The strictest of all files that name some. */
  readonly thresholds: WrittenThresholds;
}

export interface ReadCasesOptions {
  /** Names of installed skills, in addition to those in folders that cases name. Absent if unknown. */
  readonly knownSkills?: readonly string[];
  /** Severity of a missing file; with `warning` the case is read without it (default: error). */
  readonly missingFiles?: 'error' | 'warning';
  /** Missing cassettes will be recorded, so they are no problem (default: false). */
  readonly newCassettes?: boolean;
  readonly signal?: AbortSignal;
}

const MAX_BYTES = 16 * 1024 * 1024;

/** Accepts case files and folders: `evals/`, `tests/`, a skill, or a folder of skills. */
export function readCases(paths: readonly string[], options: ReadCasesOptions = {}): ReadCases {
  const found: CollectedCases = {
    drafts: [],
    problems: [],
    passedOver: [],
    others: [],
    suites: [],
    files: new Set(),
    thresholds: [],
  };
  const settings = toReadSettings(options);
  for (const start of paths.map((name) => path.resolve(name))) {
    options.signal?.throwIfAborted();
    if (!isPresent(start)) addFileProblem(found, start, 'no such file or folder', 'check the path');
    else if (isDirectory(start)) {
      const { files, others, troubles } = findCaseFiles(start);
      found.others.push(...others);
      for (const { folder, reason } of troubles)
        addFileProblem(found, folder, `cannot read the folder: ${reason}`, 'check its permissions and size');
      for (const file of files) {
        options.signal?.throwIfAborted();
        readFile(found, { file, start, isNamed: false }, settings);
      }
    } else readFile(found, { file: start, start: path.dirname(start), isNamed: true }, settings);
  }
  const { cases: read, problems } = withUniqueIds(found.drafts);
  found.passedOver.push(...listUnread(found.others, read, found.files));
  // A recording that cannot be read is a problem of its case.
  const isRecording = (file: string): boolean => read.some((one) => isCassetteOf(one, file));
  const all = [...found.problems.filter(({ file }) => !isRecording(file)), ...problems];
  const shown = all.length === 0 && read.length === 0 ? [emptySuite(paths, found.passedOver)] : all;
  return {
    cases: read.filter(({ isDraft }) => isDraft !== true),
    drafts: read.filter(({ isDraft }) => isDraft === true),
    // Problems of the defaults are found once per case.
    problems: [...new Map(shown.map((problem) => [JSON.stringify(problem), problem])).values()],
    passedOver: found.passedOver.filter(({ file }) => !isRecording(file)),
    suites: found.suites,
    files: [...found.files],
    thresholds: joinThresholds(found.thresholds),
  };
}

/** Whether a file holds recorded answers of a case, of any arm and attempt: `a.jsonl`, `a.2.jsonl`, `a.without.jsonl`. */
function isCassetteOf({ answers }: EvalCase, file: string): boolean {
  if (answers?.type !== 'cassette' || path.dirname(answers.file) !== path.dirname(file)) return false;
  const [own, other] = [path.parse(answers.file), path.parse(file)];
  const isVariant =
    other.name.startsWith(own.name) && /^(?:\.(?:without|old))?(?:\.\d+)?$/.test(other.name.slice(own.name.length));
  return isVariant && own.ext === other.ext;
}

interface CollectedCases {
  readonly drafts: LocatedDraft[];
  readonly problems: CaseProblem[];
  readonly passedOver: ReadCases['passedOver'][number][];
  readonly others: OtherFile[];
  readonly suites: ReadCases['suites'][number][];
  readonly files: Set<string>;
  readonly thresholds: WrittenThresholds[];
}

interface GivenFile {
  readonly file: string;
  /** The folder that the caller named, or the folder of the file. */
  readonly start: string;
  /** The caller named this file, so it is a problem if it holds no cases. */
  readonly isNamed: boolean;
}

function toReadSettings({ knownSkills, missingFiles = 'error', newCassettes = false }: ReadCasesOptions): ReadSettings {
  const names = new Map<string, readonly string[]>();
  return {
    knownSkills: knownSkills === undefined ? undefined : new Set(knownSkills),
    missingFiles,
    newCassettes,
    skillNamesIn(folder) {
      const known = names.get(folder) ?? skillNamesIn(folder);
      names.set(folder, known);
      return known;
    },
  };
}

function readFile(found: CollectedCases, given: GivenFile, settings: ReadSettings): void {
  if (found.files.has(given.file)) return;
  const opened = openFile(found, given, settings);
  if (opened === undefined) return;
  const { file, document } = opened;
  const foreign = readForeign(file, document.value, {
    open(name, at) {
      // A file that several suites name is read for each of them.
      const other = openFile(found, { file: name, start: given.start, isNamed: true }, settings);
      if (other === undefined)
        addProblem(file.report, at, `cannot use ${quoted(path.basename(name))}`, 'see its problem');
      if (other === undefined) return undefined;
      // The files of a suite are about its skill.
      const suite = {
        ...other.file.suite,
        skill: other.file.suite.skill ?? file.suite.skill,
        folder: file.suite.folder,
      };
      return { file: { ...other.file, suite }, value: other.document.value, text: other.text };
    },
    passOver: (name, reason) => void found.passedOver.push({ file: name, reason }),
  });
  if (foreign === undefined) return readRecognized(found, file, { document, isNamed: given.isNamed });
  if (foreign.type === 'other')
    return addFileProblem(found, given.file, `not a case file: ${foreign.reason}`, 'add one');
  found.suites.push({ file: given.file, shape: foreign.shape, entries: foreign.cases.length });
  found.drafts.push(...readForeignCases(file, foreign.cases));
}

interface OpenedFile {
  readonly file: CaseFile;
  readonly document: CaseDocument;
  readonly text: string;
}

function openFile(
  found: CollectedCases,
  { file, start, isNamed }: GivenFile,
  settings: ReadSettings,
): OpenedFile | undefined {
  found.files.add(file);
  const read = readTextFile(file, MAX_BYTES);
  if (read.type !== 'read') {
    const reason = read.type === 'absent' ? 'the file was removed' : read.reason;
    const hint = 'case files are regular files of at most 16 MiB';
    addFileProblem(found, file, `cannot read the file: ${reason}`, hint);
    return undefined;
  }
  if (!read.validUtf8) {
    addFileProblem(found, file, 'the file is not valid UTF-8', 'save it as UTF-8');
    return undefined;
  }
  const document: DocumentReading =
    read.text.trim() === ''
      ? { type: 'broken', at: TOP, reason: 'the file is empty', hint: 'add cases, or remove it' }
      : readDocument(file, read.text);
  if (document.type === 'broken') {
    const { at, reason, hint } = document;
    // What cannot be read may be the cases that fail.
    if (isNamed || isCaseFileName(path.basename(file)) || isOfCases(file, start))
      addFileProblem(found, file, reason, hint, at);
    else found.passedOver.push({ file, reason: `${reason} (line ${String(at.line)})` });
    return undefined;
  }
  const report: CaseReport = { file, locate: document.document.locate, problems: found.problems };
  return { file: { report, suite: findSuite(file, start), settings }, document: document.document, text: read.text };
}

/** Whether a file is in a folder that holds nothing but cases. */
function isOfCases(file: string, start: string): boolean {
  const within = path.relative(start, path.dirname(file)).split(path.sep);
  return [path.basename(start), ...within].some((name) => CASE_FOLDERS.includes(name));
}

/** Cases of other tools are checked as ours are. Their ids are made unique, and each problem points at the case. */
function readForeignCases(file: CaseFile, cases: readonly ForeignCase[]): readonly LocatedDraft[] {
  const stem = idStem(file);
  return cases.flatMap(({ file: own, at, id, written, ungraded = [] }, place) => {
    const madeId = cases.length === 1 ? stem : `${stem}-${String(place + 1)}`;
    const report = relocated(own.report, () => at);
    const draft = readOwnCase({ ...own, report }, { path: at, value: written, defaults: {}, madeId, foreignId: id });
    if (draft === undefined) return [];
    const expect = { ...draft.case.expect, ...(ungraded.length === 0 ? {} : { ungraded }) };
    return [{ draft: { ...draft, case: { ...draft.case, expect } }, position: own.report.locate(at) }];
  });
}

function readRecognized(
  found: CollectedCases,
  file: CaseFile,
  { document, isNamed }: { readonly document: CaseDocument; readonly isNamed: boolean },
): void {
  const { report } = file;
  const recognized = recognize(document.value, path.extname(report.file).toLowerCase() === '.csv');
  if (recognized.type === 'cases') {
    found.suites.push({ file: report.file, shape: recognized.shape, entries: recognized.items.length });
    reportDuplicateKeys(report, document, recognized.shape);
    found.drafts.push(...readItems(file, recognized));
    found.thresholds.push(readFileThresholds(recognized));
  } else if (recognized.type === 'other') {
    found.passedOver.push({ file: report.file, reason: recognized.reason });
    if (isNamed) addProblem(report, [], `not a case file: ${recognized.reason}`, 'name a file with cases');
  } else if (isNamed || isCaseFileName(path.basename(report.file))) {
    addProblem(report, [], 'the file contains no cases', 'add a case: an empty suite does not pass');
  } else found.passedOver.push({ file: report.file, reason: 'an empty list' });
}

/** JSON keeps only the last of two equal keys. */
function reportDuplicateKeys(report: CaseReport, { repeated }: CaseDocument, shape: CaseShape): void {
  for (const at of repeated) {
    const severity = shape === 'own' || shape === 'case-folder' ? 'error' : 'warning';
    const message = `duplicate key ${quoted(String(at.at(-1)))}`;
    addProblem(report, at, message, 'remove one of them', severity);
  }
}

function readItems(
  file: CaseFile,
  { shape, items, head }: Extract<Recognized, { type: 'cases' }>,
): readonly LocatedDraft[] {
  const isOwn = shape === 'own' || shape === 'case-folder';
  const defaults = isOwn ? ownDefaults(file.report, head) : {};
  const target = isOwn ? undefined : targetOfFile(file, head);
  const stem = idStem(file);
  const read = (item: (typeof items)[number], place: number): DraftCase | undefined => {
    if (!isOwn) return readCommunityCase(file, item, { target, place });
    const { path: at, value } = item;
    const madeId = items.length === 1 ? stem : `${stem}-${String(place)}`;
    return shape === 'case-folder' && isObject(value)
      ? readFolderCase(file, { path: at, value, defaults, madeId })
      : readOwnCase(file, { path: at, value, defaults, madeId });
  };
  return items.flatMap((item, index) => {
    const draft = read(item, index + 1);
    return draft === undefined ? [] : [{ draft, position: file.report.locate(draft.at) }];
  });
}

function ownDefaults(report: CaseReport, head: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (Object.keys(head).length === 0) return {};
  const around = { ...head, cases: [] };
  for (const problem of checkJson(around, EVAL_SUITE_SCHEMA)) addSchemaProblem(report, problem);
  return isObject(head['defaults']) ? head['defaults'] : {};
}

/** What is not valid is a problem of the file, which `ownDefaults` reports. */
function readFileThresholds({ shape, head }: Extract<Recognized, { type: 'cases' }>): WrittenThresholds {
  const { thresholds } = head;
  return shape === 'own' && isThresholds(thresholds) ? thresholds : {};
}

function isThresholds(value: unknown): value is WrittenThresholds {
  return value !== undefined && checkJson(value, THRESHOLDS_SCHEMA).length === 0;
}

/** `<case>/case.json` gets the name of its folder. */
function idStem({ report, suite }: CaseFile): string {
  const { name } = path.parse(report.file);
  const own = name === 'case' ? path.basename(suite.dir) : name;
  return suite.skill === undefined ? own : `${suite.skill.name}-${own}`;
}

function addFileProblem(found: CollectedCases, file: string, message: string, hint: string, at = TOP): void {
  found.problems.push({ code: 'input/invalid', file, ...at, message, hint, severity: 'error' });
}

const MAX_NAMED_FILES = 3;

/** Explains skipped files, since one of them may be the intended case file. */
function emptySuite(paths: readonly string[], passedOver: ReadCases['passedOver']): CaseProblem {
  const skipped = passedOver
    .slice(0, MAX_NAMED_FILES)
    .map(({ file, reason }) => `skipped ${quoted(path.basename(file))}: ${reason}`);
  const hint = 'write evals/cases.yaml, or run skillwright eval init';
  const message = ['no cases found', ...skipped].join('; ');
  return { code: 'input/invalid', file: paths[0] ?? '.', ...TOP, message, hint, severity: 'error' };
}

interface LocatedDraft {
  readonly draft: DraftCase;
  readonly position: ReturnType<typeof positionOf>;
}

const ID = /^[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]{0,127}$/u;
const ID_HINT = 'use up to 128 letters, digits, dots, hyphens and underscores, starting with a letter or digit';
const MAX_CHARACTERS = 128;
/** Reserved device names of Windows. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

function withUniqueIds(drafts: readonly LocatedDraft[]): Pick<ReadCases, 'cases' | 'problems'> {
  const cases: EvalCase[] = [];
  const problems: CaseProblem[] = [];
  const first = new Map<string, LocatedDraft>();
  const numbers = new Map<string, number>();
  const add = ({ draft, position }: LocatedDraft, message: string, using: string | undefined, hint: string): void => {
    const how =
      using === undefined ? ({ hint, severity: 'error' } as const) : ({ hint: using, severity: 'warning' } as const);
    problems.push({ code: 'input/invalid', file: draft.case.place.file, ...position, message, ...how });
  };
  for (const located of drafts) {
    const { id, case: rest } = located.draft;
    const fit = fitId(id.text);
    const isOwn = id.origin === 'own';
    if (id.origin !== 'made' && fit !== id.text)
      add(located, `invalid case id ${quoted(id.text)}`, isOwn ? undefined : `using ${fit}`, ID_HINT);
    if (isOwn && fit !== id.text) continue;
    const before = first.get(fold(fit));
    const free = before === undefined || isOwn ? fit : freeId(fit, first, numbers);
    if (before !== undefined && id.origin !== 'made') {
      const used = `${printable(before.draft.case.place.file)}:${String(before.position.line)}`;
      const message = `duplicate id ${quoted(fit)}: already used at ${used}`;
      add(located, message, isOwn ? undefined : `using ${free} here`, 'give each case a unique id');
    }
    if (isOwn && before !== undefined) continue;
    first.set(fold(free), located);
    cases.push({ id: free, ...rest });
  }
  return { cases, problems };
}

/** Many file systems treat names that differ only in case as equal. */
function fold(id: string): string {
  return id.normalize('NFC').toLowerCase();
}

function fitId(text: string): string {
  if (ID.test(text) && !DEVICE.test(text) && !text.endsWith('.')) return text;
  const slug = text
    .normalize('NFC')
    .replaceAll(/[^\p{L}\p{M}\p{N}._-]+/gu, '-')
    .replace(/^[^\p{L}\p{N}]+/u, '')
    .slice(0, MAX_CHARACTERS - 8)
    .replace(/[-.\uD800-\uDBFF]+$/, '');
  return slug === '' ? 'case' : DEVICE.test(slug) ? `case-${slug}` : slug;
}

/** `numbers` keeps the last number per stem, so that many equal ids stay linear. */
function freeId(id: string, used: ReadonlyMap<string, unknown>, numbers: Map<string, number>): string {
  const stem = id.slice(0, MAX_CHARACTERS - 8);
  let number = (numbers.get(fold(stem)) ?? 1) + 1;
  while (used.has(fold(`${stem}-${String(number)}`))) number += 1;
  numbers.set(fold(stem), number);
  return `${stem}-${String(number)}`;
}
