import {
  amountText,
  ARM_TITLES,
  armTexts,
  attemptNames,
  costOf,
  dateText,
  failuresFirst,
  flakyText,
  incompleteText,
  invalidLines,
  invalidTitle,
  isInvalid,
  modelsText,
  numberText,
  ownArm,
  percentText,
  sequentialText,
  sumOf,
  testedText,
  tokensOf,
} from '../../report/report-text.ts';
import { CASE_STATUSES } from '../../report/result.ts';
import type { CaseResult, CaseStatus, EvalReport, FlakyCase } from '../../report/result.ts';
import { durationText } from '../../../core/text/line-text.ts';
import type { PageData } from '../view.ts';
import { comparisonSection } from './comparison.ts';
import { h, line, list } from './dom.ts';
import { rateBar, rateCell, section, shortDigest, statusBar, statusMark, table } from './marks.ts';

const MOST_FAILURES = 8;
const MOST_TAGS = 20;

export function overview({ report }: PageData): HTMLElement {
  return h(
    'div.view',
    invalidBanner(report),
    report.isPartial ? banner('warning', 'Partial', ['The evaluation was stopped before all cases ran.']) : undefined,
    incompleteBanner(report),
    cards(report),
    armTable(report),
    ...report.comparisons.map(comparisonSection),
    failures(report),
    h('div.columns', byTag(report), byKind(report)),
    h('div.columns', flaky(report), skills(report)),
  );
}

function invalidBanner(report: EvalReport): HTMLElement | undefined {
  if (!isInvalid(report)) return undefined;
  return banner('bad', `INVALID: ${invalidTitle(report)}`, invalidLines(report));
}

function incompleteBanner(report: EvalReport): HTMLElement | undefined {
  const text = incompleteText(report);
  return text === undefined ? undefined : banner('warning', 'Incomplete', [text.replace(/^incomplete: /, '')]);
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
  const { results, models } = report;
  const own = ownArm(report);
  const { passRate } = own;
  const cost = costOf(results);
  const cached = results.filter(({ isCached }) => isCached).length;
  const rate = isInvalid(report) || passRate.of === 0 ? '—' : percentText(passRate.count / passRate.of);
  const about = cost.tokensAreEstimated ? 'estimated' : 'reported by the model';
  const tested = testedText(report);
  const [first, ...others] = models;
  return h(
    'div.cards',
    card(
      `Pass rate, ${ARM_TITLES[own.arm]}`,
      rate,
      ...(rate === '—' ? [] : [rateBar(passRate)]),
      note(rate === '—' ? (isInvalid(report) ? 'no score' : 'no verdicts') : `95 % interval: ${armTexts(own).rate}`),
    ),
    card(
      'Results',
      numberText(results.length),
      ...report.arms.map((arm) => note(`${ARM_TITLES[arm.arm]}: ${armTexts(arm).results}`)),
    ),
    card(
      report.arms.length > 1 ? 'Tokens, all arms' : 'Tokens',
      numberText(tokensOf(cost)),
      note(`${numberText(cost.inputTokens)} in, ${numberText(cost.outputTokens)} out; ${about}`),
      note(`${amountText(cost.toolCalls, 'tool call')}, ${amountText(cost.turns, 'turn')}`),
    ),
    card(
      'Time',
      durationText(report.wallMs),
      note(`${durationText(cost.wallMs)} in runs`),
      note(cached === 0 ? 'nothing from the cache' : `${amountText(cached, 'result')} from the cache`),
      ...(report.sequential === undefined ? [] : [note(`stopped ${sequentialText(report.sequential)}`)]),
    ),
    card(
      others.length === 0 ? 'Model' : 'Models',
      others.length === 0 ? line(first?.id ?? 'none') : `${numberText(models.length)} models`,
      note(line(modelsText(models))),
      ...(tested === undefined ? [] : [note(tested)]),
    ),
  );
}

/** Every number of an arm, so that they add up. */
function armTable({ arms }: EvalReport): HTMLElement {
  const rows = arms.map((arm) => {
    const { totals, harness, cost, passRate } = arm;
    const number = (value: number): HTMLElement => h('td.number', numberText(value));
    return h(
      'tr',
      h('th', { scope: 'row' }, ARM_TITLES[arm.arm]),
      ...CASE_STATUSES.map((status) => number(totals[status])),
      number(sumOf(harness)),
      number(sumOf(totals) + sumOf(harness)),
      h('td', rateCell(passRate)),
      number(tokensOf(cost)),
      h('td.number', durationText(cost.wallMs)),
    );
  });
  const heads = ['arm', ...CASE_STATUSES, 'harness checks', 'results in all', 'pass rate', 'tokens', 'time in runs'];
  return section('Arms', table('Arms', heads, rows));
}

function card(label: string, value: string, ...more: readonly Node[]): HTMLElement {
  return h('div.card', h('div.label', label), h('div.value', value), ...more);
}

function note(text: string): HTMLElement {
  return h('div.note', text);
}

function failures(report: EvalReport): HTMLElement | undefined {
  const { results } = report;
  const nameOf = attemptNames(report);
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
            h('b', line(result.case), h('span.faint', nameOf(result) === '' ? '' : ` ${nameOf(result)}`)),
            h('span.faint', line(firstProblem(result))),
          ),
        ),
      ),
      bad.length > MOST_FAILURES
        ? h(
            'li',
            h('a', { class: 'more', href: '#cases:failed,error' }, `all ${numberText(bad.length)} failures and errors`),
          )
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
  return countTable('Results by tag, all arms', 'tag', rows.slice(0, MOST_TAGS));
}

function byKind({ results }: EvalReport): HTMLElement | undefined {
  const rows = counted(
    results.flatMap(({ checks }) => checks),
    ({ kind }) => [kind],
    ({ status }) => status,
  );
  return countTable('Checks by kind, all arms', 'kind', rows);
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
  return section(title, table(title, [label, 'passed of judged', 'passed, failed, errors, skipped'], cells));
}

function flaky({ flaky: cases, results, arms }: EvalReport): HTMLElement | undefined {
  if (cases.length === 0) return undefined;
  const placeOf = ({ case: id, arm }: FlakyCase): number =>
    results.findIndex((result) => result.case === id && result.arm === arm && result.status === 'failed');
  return section(
    'Flaky cases: attempts differ',
    h(
      'ul',
      { class: 'panel plain' },
      list(cases.slice(0, 100), (one) =>
        h('li', h('a', { href: `#case:${String(placeOf(one))}` }, line(flakyText(one, arms.length > 1)))),
      ),
    ),
  );
}

function skills({ skills: all, tool, startedAt }: EvalReport): HTMLElement {
  const controls = all.filter(({ role }) => role === 'control');
  return section(
    'Evaluated skills',
    h(
      'div.panel',
      skillList(all.filter(({ role }) => role !== 'control')),
      controls.length === 0
        ? undefined
        : h(
            'div',
            h(
              'p.faint',
              'Control skills were installed beside them to test the evaluation itself; they have no score:',
            ),
            skillList(controls),
          ),
      h('p.faint', `by ${line(tool)}, ${line(dateText(startedAt))}`),
    ),
  );
}

function skillList(skills: EvalReport['skills']): HTMLElement {
  return h(
    'ul.plain',
    list(skills.slice(0, 200), ({ name, digest, version }) =>
      h(
        'li',
        h('b', line(name)),
        version === undefined ? '' : ` ${line(version)}`,
        ' ',
        h('code', { class: 'faint', title: line(digest) }, shortDigest(digest)),
      ),
    ),
  );
}
