/** The portability matrix as text for a terminal, as Markdown, and as an HTML page without scripts. */
import { createHash } from 'node:crypto';

import { durationText, escapeXml, printable, visibleJson } from '#core';
import { fitText, padText, textWidth } from '#platform';
import { amountText, markdownText, percentText, rateText, countTokens } from '../report/report-text.ts';
import { numberText, usdText } from '../report/cost-text.ts';
import type { Rate } from '../report/result.ts';
import type { Look } from '../report/terminal.ts';
import {
  portabilityTitle,
  type PortabilityCase,
  type PortabilityCell,
  type PortabilityReport,
  type SubjectRow,
} from './portability.ts';

const TONES = { passed: 'green', failed: 'red', incomplete: 'yellow', invalid: 'red', skipped: 'yellow' } as const;

function toLetter(place: number): string {
  return place < 26 ? String.fromCodePoint(65 + place) : `#${String(place + 1)}`;
}

function statusText({ status }: SubjectRow): string {
  return status === 'invalid' ? 'INVALID' : status;
}

/** What is known about a subject: its scores and its cost, or why there are none. */
function listFacts({ trigger, passRate, status, reasons, cost }: SubjectRow): readonly string[] {
  if (status === 'skipped' || status === 'invalid') return reasons.map(printable);
  const rate = (name: string, { count, of }: Rate): string =>
    `${name} ${of === 0 ? 'no data' : percentText(count / of)}`;
  const scores =
    trigger === undefined
      ? [`pass rate ${rateText(passRate)}`]
      : [`recall ${rateText(trigger.recall)}`, rate('precision', trigger.precision), rate('quiet', trigger.quiet)];
  const dollars = cost.usd === undefined ? '' : `${usdText(cost.usd)}, `;
  const tokens = `${cost.tokensAreEstimated ? 'about ' : ''}${numberText(countTokens(cost))} tokens`;
  return [scores.join(', '), `${tokens}, ${dollars}${durationText(cost.wallMs)} for ${amountText(passRate.of, 'run')}`];
}

function cellText({ passed, of }: PortabilityCell): string {
  return of === 0 ? '-' : `${String(passed)}/${String(of)}`;
}

function wrongLoads({ cells }: PortabilityCase): string {
  return cells
    .flatMap(({ passed, of, loaded }, place) =>
      passed === of
        ? []
        : [`${toLetter(place)} loaded ${loaded.length === 0 ? 'none' : loaded.map(printable).join(', ')}`],
    )
    .join('; ');
}

const ASKED = 24;

export const PORTABILITY_FILES = {
  json: 'portability.json',
  markdown: 'portability.md',
  html: 'portability.html',
} as const;

/** With `hasPages`, the HTML page links to the report of each subject beside it. */
export function renderPortability(
  report: PortabilityReport,
  format: keyof typeof PORTABILITY_FILES,
  hasPages = false,
): string {
  if (format === 'json') return visibleJson(JSON.stringify(report, undefined, 2));
  return format === 'markdown' ? markdownPortability(report) : htmlPortability(report, hasPages);
}

export function terminalPortability(report: PortabilityReport, { width, wrap, style }: Look): readonly string[] {
  const { subjects, cases, verdict } = report;
  const letters = subjects.map((_, place) => toLetter(place));
  const free = Math.max(12, width - ASKED - subjects.length * 6 - 2);
  const room = Math.min(free, Math.max(4, ...cases.map(({ input }) => textWidth(printable(input)))));
  const asked = Number.isFinite(width)
    ? ASKED
    : Math.max(ASKED, ...cases.map((one) => textWidth(printable(one.asked))));
  const row = (first: string, second: string, cells: readonly string[]): string =>
    [
      padText(fitText(first, room), room),
      padText(fitText(second, asked), asked),
      ...cells.map((cell) => cell.padStart(5)),
    ].join(' ');
  const tone = verdict.result === 'passed' ? (verdict.validity === 'valid' ? 'green' : 'yellow') : 'red';
  return [
    style(tone, style('bold', portabilityTitle(report))),
    ...verdict.reasons.map((reason) => wrap(`  ${printable(reason)}`, 4)),
    '',
    ...subjects.flatMap((subject, place) => [
      wrap(
        `${style('bold', toLetter(place))}  ${printable(subject.subject)}  ${style(TONES[subject.status], statusText(subject))}`,
        3,
      ),
      ...listFacts(subject).map((text) => wrap(`   ${text}`, 5)),
    ]),
    '',
    style('dim', row('case', 'expected', letters)),
    ...cases.flatMap((one) => {
      const wrong = wrongLoads(one);
      return [
        row(printable(one.input), printable(one.asked), one.cells.map(cellText)),
        ...(wrong === '' ? [] : [style('yellow', wrap(`  ${wrong}`, 4))]),
      ];
    }),
  ];
}

function markdownPortability(report: PortabilityReport): string {
  const cell = (text: string): string => markdownText(text, 160);
  const table = (rows: readonly (readonly string[])[]): readonly string[] => {
    const [head = [], ...rest] = rows.map((row) => `| ${row.map(cell).join(' | ')} |`);
    return [head.toString(), `|${'---|'.repeat(rows[0]?.length ?? 0)}`, ...rest];
  };
  const reasons = report.verdict.reasons.map((reason) => `- ${cell(reason)}`);
  return [
    `### Portability: ${portabilityTitle(report)}`,
    '',
    ...reasons,
    ...(reasons.length === 0 ? [] : ['']),
    ...table(subjectRows(report)),
    '',
    ...table(caseRows(report)),
    '',
  ].join('\n');
}

const HEADINGS = ['', 'subject', 'status', 'recall', 'precision', 'quiet', 'pass rate', 'tokens', 'USD', 'time'];

function subjectRows({ subjects }: PortabilityReport): readonly (readonly string[])[] {
  const rows = subjects.map((row, place) => {
    const { subject, trigger, passRate, cost, reasons, status } = row;
    const head = [toLetter(place), subject, [statusText(row), ...reasons].join(': ')];
    if (status === 'skipped' || status === 'invalid') return [...head, ...HEADINGS.slice(3).map(() => '-')];
    const scores = [trigger?.recall, trigger?.precision, trigger?.quiet, passRate];
    return [
      ...head,
      ...scores.map((rate) => (rate === undefined ? '-' : rateText(rate))),
      numberText(countTokens(cost)),
      cost.usd === undefined ? '-' : usdText(cost.usd),
      durationText(cost.wallMs),
    ];
  });
  return [HEADINGS, ...rows];
}

function caseRows({ subjects, cases }: PortabilityReport): readonly (readonly string[])[] {
  return [
    ['case', 'expected', ...subjects.map((_, place) => toLetter(place)), 'loaded instead'],
    ...cases.map((one) => [one.input, one.asked, ...one.cells.map(cellText), wrongLoads(one)]),
  ];
}

const STYLE =
  'body{font:15px/1.5 system-ui,sans-serif;margin:2rem;max-width:80rem;color-scheme:light dark}table{border-collapse:collapse;margin:1rem 0}' +
  'th,td{border:1px solid #8886;padding:.3rem .6rem;text-align:left;vertical-align:top}.good{color:#15683d}.bad{color:#c0322b}' +
  '@media(prefers-color-scheme:dark){.good{color:#5fc98c}.bad{color:#ff8a80}}';

/** Each subject links to its own report, with the record of every run. */
function htmlPortability(report: PortabilityReport, hasPages: boolean): string {
  const text = (value: string): string => escapeXml(printable(value));
  const cells = (tag: 'td' | 'th', row: readonly string[]): string =>
    row.map((value) => `<${tag}${toToneClass(value)}>${text(value)}</${tag}>`).join('');
  const table = ([head = [], ...rows]: readonly (readonly string[])[], caption: string): string =>
    `<table><caption>${text(caption)}</caption><thead><tr>${cells('th', head)}</tr></thead><tbody>${rows.map((row) => `<tr>${cells('td', row)}</tr>`).join('\n')}</tbody></table>`;
  const links = report.subjects.map(
    ({ subject, folder }) => `<li><a href="${encodeURIComponent(folder)}/report.html">${text(subject)}</a></li>`,
  );
  const hash = createHash('sha256').update(STYLE, 'utf8').digest('base64');
  return [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-${hash}'">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>Portability</title><style>${STYLE}</style></head><body>`,
    `<h1>Portability: ${text(portabilityTitle(report))}</h1><p>${text(report.tool)}, ${text(report.startedAt)}${report.isPartial ? ', stopped before all cases ran' : ''}</p>`,
    table(subjectRows(report), 'Subjects'),
    table(caseRows(report), 'Attempts that met the expectation, by subject'),
    ...(hasPages ? ['<h2>Reports</h2><ul>', ...links, '</ul>'] : []),
    '</body></html>',
    '',
  ].join('\n');
}

function toToneClass(value: string): string {
  const [, passed, of] = /^(\d+)\/(\d+)$/.exec(value) ?? [];
  if (passed !== undefined) return passed === of ? ' class="good"' : ' class="bad"';
  return /^(?:INVALID|failed)/.test(value) ? ' class="bad"' : '';
}
