import { compareReports } from '../report/compare-reports.ts';
import { markdownComparison } from '../report/compare-text.ts';
import { REPORT_FORMATS, type WrittenReport } from '../report/formats.ts';
import type { EvalReport } from '../report/result.ts';
import { storedReports } from './report-folder.ts';

/** The formats of a report and the default names of their files; a name without a dot is a folder. */
export const REPORT_FILES: Readonly<Record<keyof typeof REPORT_FORMATS | 'html', string>> = {
  json: REPORT_FORMATS.json.file,
  markdown: REPORT_FORMATS.markdown.file,
  junit: REPORT_FORMATS.junit.file,
  'skill-creator': REPORT_FORMATS['skill-creator'].file,
  html: 'report.html',
};

interface RenderOptions {
  /** The project, whose stored reports the page shows as a trend. */
  readonly cwd: string;
  /** An earlier report; HTML and Markdown then show what changed. */
  readonly before?: EvalReport;
}

export async function renderReport(
  report: EvalReport,
  format: keyof typeof REPORT_FILES,
  { cwd, before }: RenderOptions,
): Promise<WrittenReport> {
  if (format === 'markdown' && before !== undefined)
    return { type: 'text', text: markdownComparison(compareReports(before, report)) };
  if (format !== 'html') return REPORT_FORMATS[format].write(report);
  const [{ htmlReport }, { resultView: view }] = await Promise.all([
    import('../page/report-page.ts'),
    import('../page/run-view.ts'),
  ]);
  const earlier = storedReports(cwd).filter(({ startedAt }) => startedAt < report.startedAt);
  return { type: 'text', text: htmlReport(report, { view, earlier, before }) };
}
