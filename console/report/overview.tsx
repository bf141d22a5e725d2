import type { JSX } from 'preact';

import {
  CASE_STATUSES,
  countTokens,
  listFailures,
  modelsText,
  percentText,
  quarantineText,
  signedNumber,
  summarizeReport,
} from '#evals/report';
import type { CaseResult, CaseStatus, EvalReport, PageData, ReportSkill } from './data.ts';
import { counted, t } from '../language.ts';
import { Banner, Card, Section, State } from '../parts/parts.tsx';
import { Trend } from '../parts/trend.tsx';
import { date, duration, line, number, short } from '../text.ts';
import { ArmComparison } from './arm-comparison.tsx';
import { SkillVerdicts } from './skill-verdicts.tsx';
import { Costs } from './costs.tsx';
import {
  RateBar,
  RateCell,
  StatusBar,
  RowsTable,
  Titled,
  armName,
  countsText,
  rateText,
  sumCounts,
  useReportLink,
} from './marks.tsx';

const MOST_FAILURES = 8;
const MOST_TAGS = 20;
const MOST_WARNINGS = 20;

export function Overview({ data: { report, trend, verdict } }: { readonly data: PageData }): JSX.Element {
  const { results } = report;
  return (
    <>
      <VerdictBanner verdict={verdict} />
      <SkillVerdicts verdict={verdict} />
      <Cards report={report} />
      <Arms report={report} />
      <Costs report={report} />
      {report.comparisons.map((comparison) => (
        <ArmComparison key={comparison.against} comparison={comparison} />
      ))}
      <Failures report={report} />
      <TrendSection trend={trend} />
      <div class="columns">
        <Counts
          title={t('Results by tag, all arms')}
          head="Tag"
          rows={countBy(results, ({ tags }) => [...new Set(tags)]).slice(0, MOST_TAGS)}
        />
        <Counts
          title={t('Checks by kind, all arms')}
          head="Kind"
          rows={countBy(
            results.flatMap(({ checks }) => checks),
            ({ kind }) => [kind],
          )}
        />
      </div>
      <div class="columns">
        <Flaky report={report} />
        <Skills report={report} />
      </div>
    </>
  );
}

/** Whether the evaluation can be believed, before any number. */
function VerdictBanner({ verdict }: { readonly verdict: PageData['verdict'] }): JSX.Element {
  const { validity, result, effect, interval, reasons, warnings } = verdict;
  const isBad = validity === 'invalid' || result === 'failed';
  return (
    <Banner
      tone={isBad ? 'bad' : validity === 'incomplete' || warnings.length > 0 ? 'warning' : 'good'}
      title={t(
        validity === 'invalid'
          ? 'INVALID: there is no score'
          : validity === 'incomplete'
            ? 'Incomplete'
            : result === 'passed'
              ? 'Valid: passed'
              : 'Valid: failed',
      )}
    >
      {effect === undefined || interval === undefined ? null : (
        <div>
          {t('{verdict} on these cases', { verdict: t(effect) })}: {signedNumber(interval.mean)} (
          {signedNumber(interval.low)} … {signedNumber(interval.high)})
        </div>
      )}
      {[...reasons, ...warnings.slice(0, MOST_WARNINGS)].map((text) => (
        <div key={text}>{line(text)}</div>
      ))}
    </Banner>
  );
}

function Cards({ report }: { readonly report: EvalReport }): JSX.Element {
  const { results, models, sequential, judge } = report;
  const { own, cost, invalid } = summarizeReport(report);
  const { passRate } = own;
  const cached = results.filter(({ isCached }) => isCached).length;
  const hasRate = invalid.length === 0 && passRate.of > 0;
  const [first] = models;
  return (
    <div class="cards">
      <Card
        label={`${t('Pass rate')}, ${armName(own.arm)}`}
        value={hasRate ? percentText(passRate.count / passRate.of) : '—'}
        notes={
          hasRate
            ? [
                `${t('95 % interval')}: ${rateText(passRate)}`,
                t('{count} verdicts', { count: number(passRate.of) }),
                ...(own.skippedChecks === 0 ? [] : [counted('{count} checks not judged', own.skippedChecks)]),
              ]
            : [invalid.length > 0 ? t('no score') : t('no verdicts')]
        }
      >
        {hasRate ? <RateBar rate={passRate} /> : null}
      </Card>
      <Card
        label={t('Results')}
        value={number(results.length)}
        notes={report.arms.map(({ arm, totals }) => `${armName(arm)}: ${countsText(totals)}`)}
      />
      <Card
        label={report.arms.length > 1 ? t('Tokens, all arms') : t('Tokens')}
        value={number(countTokens(cost))}
        notes={[
          `${t('in')} ${number(cost.inputTokens)}, ${t('out')} ${number(cost.outputTokens)}`,
          cost.tokensAreEstimated ? t('estimated') : t('reported by the model'),
          `${t('Tool calls')}: ${number(cost.toolCalls)}, ${t('Turns')}: ${number(cost.turns)}`,
        ]}
      />
      <Card
        label={t('Time')}
        value={duration(report.wallMs)}
        notes={[
          t('{time} in runs', { time: duration(cost.wallMs) }),
          ...(cached === 0 ? [] : [counted('{count} results from the cache', cached)]),
          ...(sequential === undefined
            ? []
            : [
                t(
                  sequential.rounds < sequential.most
                    ? 'Decided after {rounds} of {most} repetitions'
                    : 'All repetitions ran',
                  { rounds: number(sequential.rounds), most: number(sequential.most) },
                ),
              ]),
        ]}
      />
      <Card
        label={t('Model')}
        value={models.length > 1 ? number(models.length) : line(first?.id ?? '–')}
        notes={[
          line(modelsText(models)),
          ...(own.modelCases === own.cases
            ? []
            : [
                t('{tested} of {all} cases tested a model', { tested: number(own.modelCases), all: number(own.cases) }),
              ]),
        ]}
      />
      {judge === undefined ? null : (
        <Card
          label={t('Judge')}
          value={line(judge.id)}
          notes={[
            t('{kept} of {all} controls kept', {
              kept: number(judge.controls.filter(({ isKept }) => isKept).length),
              all: number(judge.controls.length),
            }),
            `${t('Agreement with labels')}: ${rateText(judge.agreement)}`,
            ...(judge.lengthCorrelation === undefined
              ? []
              : [`${t('Correlation with length')}: ${judge.lengthCorrelation.toFixed(2)}`]),
            `${t('Tokens')}: ${number(judge.cost.inputTokens + judge.cost.outputTokens)}`,
          ]}
        />
      )}
    </div>
  );
}

function Arms({ report }: { readonly report: EvalReport }): JSX.Element {
  const { rated } = summarizeReport(report);
  return (
    <Titled title={t('Arms')}>
      <RowsTable
        label={t('Arms')}
        heads={['Arm', ...CASE_STATUSES, 'harness checks', 'Quarantine', 'all results', 'Pass rate', 'Tokens', 'Time']}
        class="numbers"
        rows={report.arms.map((arm) => ({
          cells: [
            armName(arm.arm),
            ...CASE_STATUSES.map((status) => number(arm.totals[status])),
            number(sumCounts(arm.harness)),
            number(sumCounts(arm.quarantined)),
            number(sumCounts(arm.totals) + sumCounts(arm.harness) + sumCounts(arm.quarantined)),
            rated.includes(arm) ? <RateCell rate={arm.passRate} /> : <span class="faint">{t('no score')}</span>,
            number(countTokens(arm.cost)),
            duration(arm.cost.wallMs),
          ],
        }))}
      />
    </Titled>
  );
}

function Failures({ report }: { readonly report: EvalReport }): JSX.Element | null {
  const link = useReportLink();
  const { results } = report;
  const bad = listFailures(report);
  if (bad.length === 0) return null;
  return (
    <Titled title={t('Failures')}>
      <ul class="failures">
        {bad.slice(0, MOST_FAILURES).map((result) => {
          const place = results.indexOf(result);
          return (
            <li key={place}>
              <a href={link('case', String(place))}>
                <State name={result.status} />
                <b>{line(result.case)}</b>
                <span class="faint">{attemptText(report, result)}</span>
                <span class="faint problem">{line(firstProblem(result).slice(0, 400))}</span>
              </a>
            </li>
          );
        })}
        {bad.length > MOST_FAILURES ? (
          <li>
            <a class="more" href={link('cases', 'failed,error')}>
              {t('All {count} failures and errors', { count: number(bad.length) })}
            </a>
          </li>
        ) : null}
      </ul>
    </Titled>
  );
}

function attemptText({ arms, results }: EvalReport, { arm, attempt, quarantine }: CaseResult): string {
  return [
    ...(arms.length > 1 ? [armName(arm)] : []),
    ...(results.some((one) => one.attempt > 1) ? [t('attempt {number}', { number: attempt })] : []),
    ...(quarantine === undefined ? [] : [t('in quarantine until {day}', { day: line(quarantine.until) })]),
  ].join(', ');
}

function firstProblem({ reason, checks }: CaseResult): string {
  const failed = checks.find(({ status }) => status === 'failed');
  if (reason !== '' || failed === undefined) return reason;
  return `${failed.asked}${failed.found === '' ? '' : ` — ${failed.found}`}`;
}

function TrendSection({ trend }: { readonly trend: PageData['trend'] }): JSX.Element | null {
  if (trend.length === 0) return null;
  return (
    <Titled title={t('The cases of this report over time, with the skill')}>
      <Section>
        <Trend
          points={trend.map(({ startedAt, passRate }) => ({
            id: startedAt,
            label: `${date(startedAt)}: ${rateText(passRate)}`,
            rate: passRate,
          }))}
        />
      </Section>
      <RowsTable
        label={t('Pass rate over time')}
        heads={['Started', 'Pass rate', 'Cases', 'Tokens per run', 'Model', 'Changed skills']}
        class="numbers"
        rows={trend.toReversed().map(({ startedAt, models, cases, passRate, tokens, changed }) => {
          const rate = <RateCell rate={passRate} />;
          const numbers = [number(cases), number(Math.round(tokens))];
          return { cells: [date(startedAt), rate, ...numbers, line(models), line(changed.join(', '))] };
        })}
      />
    </Titled>
  );
}

type CountRow = readonly [name: string, counts: Record<CaseStatus, number>];

function countBy<T extends { readonly status: CaseStatus }>(
  items: readonly T[],
  keys: (item: T) => readonly string[],
): readonly CountRow[] {
  const found = new Map<string, CountRow[1]>();
  for (const item of items)
    for (const key of keys(item)) {
      const counts = found.get(key) ?? { passed: 0, failed: 0, error: 0, skipped: 0 };
      counts[item.status] += 1;
      found.set(key, counts);
    }
  return [...found].toSorted((a, b) => b[1].failed + b[1].error - a[1].failed - a[1].error);
}

function Counts({
  title,
  head,
  rows,
}: Readonly<Record<'title' | 'head', string>> & { readonly rows: readonly CountRow[] }): JSX.Element | null {
  if (rows.length === 0) return null;
  return (
    <Titled title={title}>
      <RowsTable
        label={title}
        heads={[head, 'passed of judged', 'Outcome']}
        columns={['', 'number', 'wide']}
        rows={rows.map(([name, counts]) => {
          const judged = `${number(counts.passed)} / ${number(counts.passed + counts.failed)}`;
          return { cells: [line(name), judged, <StatusBar counts={counts} />] };
        })}
      />
    </Titled>
  );
}

function Flaky({ report: { flaky, results, arms } }: { readonly report: EvalReport }): JSX.Element | null {
  const link = useReportLink();
  if (flaky.length === 0) return null;
  return (
    <Section title={t('Flaky cases: attempts differ')}>
      <ul class="plain">
        {flaky.slice(0, 100).map((one) => {
          const place = results.findIndex(
            (result) => result.case === one.case && result.arm === one.arm && result.status === 'failed',
          );
          return (
            <li key={`${one.case} ${one.arm}`}>
              <a href={link('case', String(place))}>{line(one.case)}</a>{' '}
              <span class="faint">
                {arms.length > 1 ? `${armName(one.arm)}, ` : ''}
                {t('passes {count} of {all}', { count: number(one.rate.count), all: number(one.rate.of) })}
                {one.proposal === undefined ? '' : `: ${quarantineText(one.proposal)}`}
              </span>
            </li>
          );
        })}
      </ul>
    </Section>
  );
}

function Skills({ report: { skills, tool, startedAt } }: { readonly report: EvalReport }): JSX.Element {
  const controls = skills.filter(({ role }) => role === 'control');
  return (
    <Section title={t('Evaluated skills')}>
      <SkillNames skills={skills.filter(({ role }) => role !== 'control')} />
      {controls.length === 0 ? null : (
        <>
          <p class="faint">
            {t('Control skills were installed beside them to test the evaluation itself; they have no score:')}
          </p>
          <SkillNames skills={controls} />
        </>
      )}
      <p class="faint">
        {line(tool)}, {date(startedAt)}
      </p>
    </Section>
  );
}

function SkillNames({ skills }: { readonly skills: readonly ReportSkill[] }): JSX.Element {
  return (
    <ul class="plain">
      {skills.slice(0, 200).map(({ name, digest, version }) => (
        <li key={name}>
          <b>{line(name)}</b> {version === undefined ? '' : line(version)}{' '}
          <code class="faint" title={line(digest)}>
            {line(short(digest))}
          </code>
        </li>
      ))}
    </ul>
  );
}
