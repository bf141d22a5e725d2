/** The text formats of a report. The CLI adds the HTML page, which it loads lazily. */
import type { EvalReport } from './result.ts';
import { jsonReport } from './json.ts';
import { junitReport } from './junit.ts';
import { markdownReport } from './markdown.ts';
import { skillCreatorFiles, type ReportFile } from './skill-creator.ts';

/** One text, or several files below a folder. */
export type WrittenReport =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'files'; readonly files: readonly ReportFile[] };

export interface ReportFormat {
  /** The default file name; a name without a dot is a folder. */
  readonly file: string;
  readonly write: (report: EvalReport) => WrittenReport;
}

/** The formats of a report and what writes them. */
export const REPORT_FORMATS = {
  json: { file: 'report.json', write: (report) => text(jsonReport(report)) },
  markdown: { file: 'report.md', write: (report) => text(markdownReport(report)) },
  junit: { file: 'junit.xml', write: (report) => text(junitReport(report)) },
  'skill-creator': { file: 'skill-creator', write: (report) => ({ type: 'files', files: skillCreatorFiles(report) }) },
} as const satisfies Readonly<Record<string, ReportFormat>>;

function text(written: string): WrittenReport {
  return { type: 'text', text: written };
}
