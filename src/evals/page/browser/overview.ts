import {
  amountText,
  brokenControls,
  costOf,
  dateText,
  failuresFirst,
  isInvalid,
  modelsText,
  numberText,
  percentText,
  rateText,
  tokensOf,
} from '../../report/report-text.ts';
import { CASE_STATUSES } from '../../report/result.ts';
import type { CaseResult, CaseStatus, EvalReport } from '../../report/result.ts';
import { durationText } from '../../../core/text/line-text.ts';
import type { PageData } from '../view.ts';
import { comparisonSection } from './comparison.ts';
import { h, line, list } from './dom.ts';
import { rateBar, section, shortDigest, statusBar, statusMark, table } from './marks.ts';

const MOST_FAILURES = 8;
const MOST_TAGS = 20;

export function overview({ report }: PageData): HTMLElement {
  return h(
    'div.view',
    invalidBanner(report),
    report.isPartial ? banner('warning', 'Partial', ['The evaluation was stopped before all cases ran.']) : undefined,
    cards(report),
    ...report.comparisons.map(comparisonSection),
    failures(report),
    h('div.columns', byTag(report), byKind(report)),
    h('div.columns', flaky(report), skills(report)),
  );
}

function invalidBanner(report: EvalReport): HTMLElement | undefined {
  if (!isInvalid(report)) return undefined;
  const lines = brokenControls(report).map(({ name, asked, found }) => `${name}: expected ${asked}, found ${found}`);
  return banner('bad', 'Invalid: a control failed, so there is no score', lines);
}

function banner(tone: 'bad' | 'warning', title: string, lines: readonly string[]): HTMLElement {
  return h(
    'div',
    { class: `banner ${tone}`, role: 'alert' },
    h('strong', title),
    list(lines, (text) => h('div', line(text))),
  );
}

function cards(report: EvalReport): HTMLElement {
  const { passRate, totals, results, models } = report;
  const cost = costOf(results);
  const cached = results.filter(({ isCached }) => isCached).length;
  const rate = isInvalid(report) || passRate.of === 0 ? '—' : percentText(passRate.count / passRate.of);
  const about = cost.tokensAreEstimated ? 'estimated' : 'reported by the model';
  return h(
    'div.cards',
    card(
      'Pass rate',
      rate,
      ...(rate === '—' ? [] : [rateBar(passRate)]),
      note(
        rate === '—'
          ? isInvalid(report)
            ? 'no score: a control failed'
            : 'no verdicts'
          : `95 % interval ${rateText(passRate).replace(/^.*\((.*)\)$/, '$1')}; ${amountText(passRate.of, 'verdict')}`,
      ),
    ),
    card('Results', numberText(results.length), statusBar(totals), statusCounts(totals)),
    card(
      'Tokens',
      numberText(tokensOf(cost)),
      note(`${numberText(cost.inputTokens)} in, ${numberText(cost.outputTokens)} out; ${about}`),
      note(`${amountText(cost.toolCalls, 'tool call')}, ${amountText(cost.turns, 'turn')}`),
    ),
    card(
      'Time',
      durationText(report.wallMs),
      note(`${durationText(cost.wallMs)} in runs`),
      note(cached === 0 ? 'nothing from the cache' : `${numberText(cached)} from the cache`),
    ),
    card(
      'Model',
      line(models[0]?.id ?? 'none'),
      note(`answers: ${[...new Set(models.map(({ way }) => way))].join(', ') || 'none'}`),
      ...(models.length > 1 ? [note(line(modelsText(models)))] : []),
    ),
  );
}

function card(label: string, value: string, ...more: readonly Node[]): HTMLElement {
  return h('div.card', h('div.label', label), h('div.value', value), ...more);
}

function note(text: string): HTMLElement {
  return h('div.note', text);
}

function statusCounts(totals: Readonly<Record<CaseStatus, number>>): HTMLElement {
  return h(
    'div',
    { class: 'note counts' },
    list(
      CASE_STATUSES.filter((status) => totals[status] > 0),
      (status) => h('a', { class: status, href: `#cases:${status}` }, `${numberText(totals[status])} ${status}`),
    ),
  );
}

function failures({ results }: EvalReport): HTMLElement | undefined {
  const bad = failuresFirst(results).filter(({ status }) => status === 'failed' || status === 'error');
  if (bad.length === 0) return undefined;
  return section(
    'Failures',
    h(
      'ul',
      { class: 'panel failures' },
      list(bad.slice(0, MOST_FAILURES), (result) =>
        h(
          'li',
          h(
            'a',
            { href: `#case:${String(results.indexOf(result))}` },
            statusMark(result.status),
            h('b', line(result.case)),
            h('span.faint', line(firstProblem(result))),
          ),
        ),
      ),
      bad.length > MOST_FAILURES
        ? h('li', h('a', { class: 'more', href: '#cases:failed,error' }, `all ${numberText(bad.length)}`))
        : undefined,
    ),
  );
}

function firstProblem({ reason, checks }: CaseResult): string {
  const failed = checks.find(({ status }) => status === 'failed');
  return reason !== '' || failed === undefined
    ? reason
    : `${failed.asked}${failed.found === '' ? '' : ` — ${failed.found}`}`;
}

type Counts = Record<CaseStatus, number>;

function counted<T>(
  items: readonly T[],
  keys: (item: T) => readonly string[],
  status: (item: T) => CaseStatus,
): readonly (readonly [string, Counts])[] {
  const found = new Map<string, Counts>();
  for (const item of items)
    for (const key of keys(item)) {
      const counts = found.get(key) ?? { passed: 0, failed: 0, error: 0, skipped: 0 };
      counts[status(item)] += 1;
      found.set(key, counts);
    }
  return [...found].toSorted((a, b) => b[1].failed + b[1].error - a[1].failed - a[1].error);
}

function byTag({ results }: EvalReport): HTMLElement | undefined {
  const rows = counted(
    results,
    ({ tags }) => [...new Set(tags)],
    ({ status }) => status,
  );
  return countTable('By tag', 'tag', rows.slice(0, MOST_TAGS));
}

function byKind({ results }: EvalReport): HTMLElement | undefined {
  const rows = counted(
    results.flatMap(({ checks }) => checks),
    ({ kind }) => [kind],
    ({ status }) => status,
  );
  return countTable('By kind of check', 'kind', rows);
}

function countTable(
  title: string,
  label: string,
  rows: readonly (readonly [string, Counts])[],
): HTMLElement | undefined {
  if (rows.length === 0) return undefined;
  const cells = rows.map(([name, counts]) =>
    h(
      'tr',
      h('th', { scope: 'row' }, line(name)),
      h('td.number', `${numberText(counts.passed)} of ${numberText(counts.passed + counts.failed)}`),
      h('td.wide', statusBar(counts)),
    ),
  );
  return section(title, table(title, [label, 'passed', ''], cells));
}

function flaky({ flaky: names, results }: EvalReport): HTMLElement | undefined {
  if (names.length === 0) return undefined;
  return section(
    'Flaky cases: attempts differ',
    h(
      'ul',
      { class: 'panel plain' },
      list(names.slice(0, 100), (name) =>
        h('li', h('a', { href: `#case:${String(results.findIndex((result) => result.case === name))}` }, line(name))),
      ),
    ),
  );
}

function skills({ skills: all, tool, startedAt }: EvalReport): HTMLElement {
  return section(
    'Evaluated skills',
    h(
      'div.panel',
      h(
        'ul.plain',
        list(all.slice(0, 200), ({ name, digest, version }) =>
          h(
            'li',
            h('b', line(name)),
            version === undefined ? '' : ` ${line(version)}`,
            ' ',
            h('code', { class: 'faint', title: line(digest) }, shortDigest(digest)),
          ),
        ),
      ),
      h('p.faint', `by ${line(tool)}, ${line(dateText(startedAt))}`),
    ),
  );
}
