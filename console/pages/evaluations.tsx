/** Evaluations over time, and their reports. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';

import type { Answers } from '#server/api';
import { useVersion } from '../changes.ts';
import { address } from '../client.ts';
import { useGet } from '../hooks.ts';
import { counted, t } from '../language.ts';
import { Choice } from '../parts/fields.tsx';
import { Badge, Empty, NoMatch, Section, State, Waiting } from '../parts/parts.tsx';
import { SearchField } from '../parts/search-field.tsx';
import { Trend } from '../parts/trend.tsx';
import { VirtualList } from '../parts/virtual-list.tsx';
import { RowsTable, armName, rateText } from '../report/marks.tsx';
import { ReportView } from '../report/report-view.tsx';
import { go, link } from '../route.ts';
import { date, duration, line, number } from '../text.ts';

interface EvaluationsProps {
  /** An evaluation, and the view of its report. */
  readonly segments: readonly string[];
  readonly against: string | undefined;
}

type EvaluationRow = Answers['/evaluations']['evaluations'][number];

const MOST_SUITES = 12;

export function EvaluationsPage({ segments, against }: EvaluationsProps): JSX.Element {
  const { data, error } = useGet('/evaluations', {}, useVersion());
  const [id, ...view] = segments;
  if (data === undefined) return <Waiting error={error} />;
  if (id !== undefined) return <Report id={id} view={view} against={against} evaluations={data.evaluations} />;
  return <EvaluationList evaluations={data.evaluations} />;
}

function toSuiteName({ skills }: EvaluationRow): string {
  return skills.join(', ');
}

function EvaluationList({ evaluations }: { readonly evaluations: readonly EvaluationRow[] }): JSX.Element {
  const [query, setQuery] = useState('');
  const shown = evaluations.filter((row) => toSuiteName(row).toLowerCase().includes(query.trim().toLowerCase()));
  const suites = [...new Set(shown.map(toSuiteName))];
  return (
    <div class="page">
      <h1>{t('Evaluations')}</h1>
      {evaluations.length === 0 ? (
        <Empty title={t('No evaluations yet')} command="skillwright eval init SKILL">
          <p>
            {t('An evaluation shows whether a skill is chosen and whether it helps. Write first cases and run them:')}
          </p>
        </Empty>
      ) : (
        <div class="filters" role="search">
          <SearchField label={t('Search evaluated skills')} value={query} change={setQuery} />
        </div>
      )}
      {evaluations.length > 0 && shown.length === 0 ? <NoMatch title={t('No evaluation matches')} /> : null}
      {suites.slice(0, MOST_SUITES).map((suite) => (
        <Suite key={suite} suite={suite} rows={shown.filter((row) => toSuiteName(row) === suite)} />
      ))}
      {suites.length > MOST_SUITES ? (
        <p class="faint">
          {t('{count} more suites: search for their skills', { count: number(suites.length - MOST_SUITES) })}
        </p>
      ) : null}
    </div>
  );
}

/** The evaluations of the same skills, newest first, and how each case did. */
function Suite({ suite, rows }: { readonly suite: string; readonly rows: readonly EvaluationRow[] }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  return (
    <Section title={line(suite)}>
      {rows.length < 2 ? null : (
        <Trend
          points={rows.toReversed().map((row) => ({
            id: row.id,
            label: `${date(row.startedAt)}: ${rateText(row.passRate)}`,
            rate: row.passRate,
          }))}
        />
      )}
      <RowsTable
        label={`${t('Evaluations')}: ${line(suite)}`}
        heads={['Started', 'Passed', 'Pass rate (95 %)', 'Model', 'Time']}
        header={-1}
        class="numbers"
        rows={rows.map(({ id, startedAt, isPartial, totals, passRate, models, wallMs }) => ({
          cells: [
            <>
              <a href={link('evaluations', id)}>{date(startedAt)}</a>{' '}
              {isPartial ? <Badge tone="warning">{t('Partial')}</Badge> : null}
            </>,
            `${number(totals.passed)} / ${number(totals.passed + totals.failed)}${totals.error === 0 ? '' : ` · ${counted('{count} errors', totals.error)}`}`,
            rateText(passRate),
            models.map(line).join(', '),
            duration(wallMs),
          ],
        }))}
      />
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>{t('Cases over time')}</summary>
        {isOpen ? <CaseGrid suite={suite} rows={rows} /> : null}
      </details>
    </Section>
  );
}

/** One line per case and arm, one mark per evaluation, oldest first. */
function CaseGrid({ suite, rows }: { readonly suite: string; readonly rows: readonly EvaluationRow[] }): JSX.Element {
  const { data, error } = useGet('/case-history', { suite });
  if (data === undefined) return <Waiting error={error} />;
  const columns = rows.map(({ id }) => id).filter((id) => data.attempts.some((attempt) => attempt.id === id));
  const found = new Map<string, Map<string, (typeof data.attempts)[number]>>();
  for (const attempt of data.attempts) {
    const key = JSON.stringify([attempt.case, attempt.arm]);
    const known = found.get(key) ?? new Map<string, typeof attempt>();
    found.set(key, known.set(attempt.id, attempt));
  }
  const lines = [...found.values()];
  return (
    <VirtualList
      class="case-grid"
      count={lines.length}
      rowHeight={34}
      label={t('Cases over time')}
      row={(index) => {
        const attempts = lines[index];
        const [one] = attempts?.values() ?? [];
        if (attempts === undefined || one === undefined) return null;
        return (
          <div class="case-grid-line">
            <a href={link('evaluations', one.id, 'named', one.case, one.arm)}>{line(one.case)}</a>
            <span class="faint">{armName(one.arm)}</span>
            <span class="marks">
              {columns.toReversed().map((id) => {
                const attempt = attempts.get(id);
                const text =
                  attempt === undefined
                    ? t('absent')
                    : `${date(attempt.startedAt)}: ${t(attempt.status)} ${number(attempt.passed)} / ${number(attempt.attempts)}`;
                return (
                  <span
                    key={id}
                    class={`cell-mark ${attempt?.status ?? ''}`}
                    role="img"
                    aria-label={text}
                    title={text}
                  />
                );
              })}
            </span>
          </div>
        );
      }}
    />
  );
}

interface ReportProps {
  readonly id: string;
  readonly view: readonly string[];
  readonly against: string | undefined;
  readonly evaluations: readonly EvaluationRow[];
}

function Report({ id, view, against, evaluations }: ReportProps): JSX.Element {
  const { data, error } = useGet('/evaluations/{id}', { id, against });
  if (data === undefined) return <Waiting error={error} />;
  const at = (earlier: string | undefined, ...segments: readonly string[]): string =>
    `${link('evaluations', id, ...segments)}${earlier === undefined ? '' : `?against=${encodeURIComponent(earlier)}`}`;
  const choose = (earlier: string): void => (earlier === '' ? go(at(undefined)) : go(at(earlier, 'changes')));
  return (
    <div class="page full">
      <a class="back" href={link('evaluations')}>
        {t('All evaluations')}
      </a>
      <ReportView
        data={data}
        segments={view}
        link={(...segments) => at(against, ...segments)}
        history={(name) => <History name={name} />}
        actions={
          <div class="actions">
            <Choice
              label={t('Compare with')}
              value={against ?? ''}
              change={choose}
              options={[
                ['', t('Compare with an earlier evaluation')],
                ...evaluations
                  .filter((row) => row.id !== id)
                  .map((row) => [row.id, `${date(row.startedAt)} ${line(toSuiteName(row)).slice(0, 60)}`] as const),
              ]}
            />
            <a class="button" href={address('/evaluations/{id}/export', { id, against })} download>
              {t('Export as one file')}
            </a>
          </div>
        }
      />
    </div>
  );
}

function History({ name }: { readonly name: string }): JSX.Element | null {
  const { data } = useGet('/case-history', { case: name });
  if (data === undefined || data.attempts.length < 2) return null;
  return (
    <Section title={t('This case over time')}>
      <ul class="history">
        {data.attempts.map(({ id, startedAt, arm, status, passed, attempts }) => (
          <li key={`${id} ${arm}`}>
            <a href={link('evaluations', id, 'named', name, arm)}>{date(startedAt)}</a>
            <span>{armName(arm)}</span>
            <State name={status} />
            <span class="faint">
              {number(passed)} / {number(attempts)}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}
