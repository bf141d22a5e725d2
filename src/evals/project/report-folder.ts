/** The folders of evaluations: `.agent/evals/<time>/` holds the report, the results and the runs. */
import { mkdirSync, readFileSync, readdirSync, rmdirSync } from 'node:fs';
import path from 'node:path';

import { isObject, parseJson, printable, quoted } from '#core';
import { findLink, isDirectory, isPresent, makeFolders, quietly, writeFileAtomically, isSystemError } from '#platform';
import { jsonReport, readReport } from '../report/json.ts';
import type { EvalReport } from '../report/result.ts';
import type { PortabilityReport } from '../subjects/portability.ts';
import { renderPortability } from '../subjects/portability-text.ts';
import { raiseUsage } from './raise-usage.ts';

const TIME_NAME = /^\d{8}T\d{6}(?:-\d+)?$/;
const MOST_REPORTS = 20;
const REPORT_FILE = 'report.json';
/** Several subjects have a report each, in folders of their own, and this file over them. */
const MATRIX_FILE = 'portability.json';

export function evaluationsFolder(cwd: string): string {
  return path.join(cwd, '.agent/evals');
}

/** Creates a folder; a second one of the same second gets a number. Only folders without a prefix hold a report. */
export function newEvaluation(cwd: string, at: Date, prefix: '' | 'tune-' = ''): string {
  const above = evaluationsFolder(cwd);
  const link = findLink(above, cwd);
  if (link !== undefined)
    raiseUsage(`${quoted(link, 200)} is a link, behind which no results are stored`, 'replace the link by a folder');
  makeFolders(above);
  const time = `${prefix}${at.toISOString().replaceAll(/[-:]|\.\d+Z$/g, '')}`;
  for (let number = 1; ; number += 1) {
    const folder = path.join(above, number === 1 ? time : `${time}-${String(number)}`);
    try {
      mkdirSync(folder);
      return folder;
    } catch (error) {
      if (!isSystemError(error) || error.code !== 'EEXIST') throw error;
    }
  }
}

/** Removes the folder of an evaluation that has no results, because it cannot be resumed. */
export function dropIfEmpty(folder: string): void {
  quietly(() => rmdirSync(folder));
}

export function unfinishedEvaluation(cwd: string): string {
  const folders = evaluationNames(cwd).map((name) => path.join(evaluationsFolder(cwd), name));
  const last = folders.findLast((folder) => {
    const report = reportIn(folder);
    return report === undefined ? !isFinishedMatrix(folder) : report.isPartial;
  });
  return last ?? raiseUsage('no unfinished evaluation found', 'start a new one without --resume');
}

/** Whether the folder holds a finished matrix, which has no report of its own. */
function isFinishedMatrix(folder: string): boolean {
  const value = quietly(() => parseJson(readFileSync(path.join(folder, MATRIX_FILE), 'utf8')), undefined);
  return isObject(value) && value['isPartial'] === false;
}

export function evaluationNames(cwd: string): readonly string[] {
  return quietly(() => readdirSync(evaluationsFolder(cwd)), [])
    .filter((name) => TIME_NAME.test(name))
    .sort();
}

export function saveReport(folder: string, report: EvalReport): void {
  writeFileAtomically(path.join(folder, REPORT_FILE), Buffer.from(jsonReport(report)));
}

export function saveMatrix(folder: string, matrix: PortabilityReport): void {
  writeFileAtomically(path.join(folder, MATRIX_FILE), Buffer.from(renderPortability(matrix, 'json')));
}

export function reportIn(folder: string): EvalReport | undefined {
  return quietly(() => {
    const read = readReport(readFileSync(path.join(folder, REPORT_FILE), 'utf8'));
    return read.type === 'report' ? read.report : undefined;
  }, undefined);
}

export function storedReports(cwd: string): readonly EvalReport[] {
  return evaluationNames(cwd)
    .slice(-MOST_REPORTS)
    .flatMap((name) => reportIn(path.join(evaluationsFolder(cwd), name)) ?? []);
}

/** Opens a report by the path of its file or folder, or `last`. */
export function openReport(cwd: string, name: string): EvalReport {
  const folder = name === 'last' ? lastEvaluation(cwd) : path.resolve(cwd, name);
  const file = isDirectory(folder) ? path.join(folder, REPORT_FILE) : folder;
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return raiseUnusable(name, `cannot be read (${error.code})`);
  }
  const read = readReport(text);
  return read.type === 'invalid' ? raiseUnusable(name, read.reason) : read.report;
}

function lastEvaluation(cwd: string): string {
  const folders = evaluationNames(cwd).map((name) => path.join(evaluationsFolder(cwd), name));
  // An evaluation that was killed or still runs has no report.
  const last = folders.findLast((folder) => isPresent(path.join(folder, REPORT_FILE)));
  return last ?? raiseUsage('no evaluation found in this project', 'run skillwright eval first');
}

function raiseUnusable(name: string, reason: string): never {
  raiseUsage(
    `not a report: ${quoted(name, 200)}: ${printable(reason)}`,
    'name a folder of .agent/evals, a report.json, or last',
  );
}
