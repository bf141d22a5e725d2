/** Several subjects in one evaluation: one report for each, and the portability matrix over them. */
import path from 'node:path';

import { printable } from '../../core/text/text.ts';
import type { Thresholds } from '../../evals/report/report.ts';
import type { EvalReport } from '../../evals/report/result.ts';
import { makePortability, portabilityExit } from '../../evals/subjects/portability.ts';
import type { PortabilityReport, SubjectReport } from '../../evals/subjects/portability.ts';
import { htmlPortability, markdownPortability, terminalPortability } from '../../evals/subjects/portability-text.ts';
import { writeFileAtomically, writeNamedFile } from '../../platform/fs/atomic-replace.ts';
import { makeFolders } from '../../platform/fs/make-folders.ts';
import { VERSION } from '../../version.ts';
import { UsageError } from '../exit.ts';
import { jsonText } from '../json.ts';
import { wantedReports } from './flags.ts';
import type { EvalInvocation } from './flags.ts';
import { cwdOf } from './inputs.ts';
import { MATRIX_FILE, saveReport } from './report-folder.ts';
import type { EvalSubject } from './subjects.ts';
import { writeReports } from './write-reports.ts';

const FORMATS = { json: 'portability.json', markdown: 'portability.md', html: 'portability.html' } as const;

export interface MatrixOptions {
  readonly subjects: readonly EvalSubject[];
  /** The folder of the evaluation. */
  readonly directory: string;
  readonly thresholds: Thresholds;
  readonly evaluateOne: (subject: EvalSubject, directory: string) => Promise<EvalReport>;
}

/** Whether a format can show a matrix; the others are about one subject. */
export function checkMatrixReports({ flags }: EvalInvocation): void {
  const wrong = wantedReports(flags).find(({ format }) => !Object.hasOwn(FORMATS, format));
  if (wrong === undefined) return;
  throw new UsageError(
    `--report ${wrong.format} is about one subject`,
    `use ${Object.keys(FORMATS).join(', ')}, or name one --subject`,
  );
}

/** Runs the subjects one after the other, writes and prints the matrix, and returns the exit code. */
export async function runMatrix(options: MatrixOptions, invocation: EvalInvocation): Promise<number> {
  const { subjects, directory, thresholds, evaluateOne } = options;
  const { terminal, signal } = invocation;
  const startedAt = new Date();
  const reports: SubjectReport[] = [];
  for (const [place, one] of subjects.entries()) {
    if (signal.aborted) break;
    const folder = folderOf(one, place);
    const report = await evaluateOne(one, path.join(directory, folder));
    saveReport(path.join(directory, folder), report);
    await writeReports(report, invocation, { folder: path.join(directory, folder), only: 'html' });
    reports.push({ subject: one.name, folder, missing: one.subject?.missing ?? '', report });
  }
  const made = makePortability(reports, {
    tool: `skillwright ${VERSION}`,
    startedAt: startedAt.toISOString(),
    wallMs: Date.now() - startedAt.getTime(),
    thresholds,
  });
  const matrix = reports.length === subjects.length ? made : { ...made, isPartial: true };
  writeFileAtomically(path.join(directory, MATRIX_FILE), Buffer.from(jsonText(matrix)));
  const wanted = wantedReports(invocation.flags);
  if (invocation.flags.json === true) terminal.out(jsonText(matrix));
  else if (!wanted.some(({ file }) => file === '-')) terminal.out(terminalPortability(matrix, terminal));
  for (const { format, file } of wanted) writeMatrix(matrix, format, file, { directory, invocation });
  return portabilityExit(matrix);
}

function folderOf({ subject, name }: EvalSubject, place: number): string {
  const words = (subject?.agent.id ?? name).replaceAll(/[^\w.-]+/g, '-').slice(0, 40);
  return `${String(place + 1)}-${words}`;
}

function writeMatrix(
  matrix: PortabilityReport,
  format: string,
  file: string | undefined,
  { directory, invocation }: { readonly directory: string; readonly invocation: EvalInvocation },
): void {
  const known = Object.entries(FORMATS).find(([name]) => name === format);
  if (known === undefined) return;
  const cwd = cwdOf(invocation);
  const place = file === undefined ? path.join(directory, known[1]) : path.resolve(cwd, file);
  const hasPages = format === 'html' && path.dirname(place) === directory;
  const text =
    format === 'json'
      ? jsonText(matrix)
      : format === 'markdown'
        ? markdownPortability(matrix)
        : htmlPortability(matrix, { hasPages });
  if (file === '-') {
    invocation.terminal.out(text.trimEnd());
    return;
  }
  makeFolders(path.dirname(place));
  writeNamedFile(place, text);
  invocation.terminal.remark(`${format}: ${printable(path.relative(cwd, place) || place)}`);
}
