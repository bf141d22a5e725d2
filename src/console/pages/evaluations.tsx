/** Evaluations over time, and their reports. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';

import type { CaseHistory, EvaluationRow } from '../../server/api/govern.ts';
import { useNews } from '../changes.ts';
import { address } from '../client.ts';
import { useGet } from '../hooks.ts';
import { counted, t } from '../language.ts';
import { Empty, Loading, Problem, Section, State } from '../parts/parts.tsx';
import { go, link } from '../route.ts';
import { date, duration, line, number } from '../text.ts';

interface EvaluationsProps {
  readonly id: string | undefined;
  readonly against: string | undefined;
}

export function EvaluationsPage({ id, against }: EvaluationsProps): JSX.Element {
  const { connection } = useNews();
  const { data, error } = useGet<{ readonly evaluations: readonly EvaluationRow[] }>('/evaluations', {}, connection);
  if (error !== undefined) return <Problem error={error} />;
  if (data === undefined) return <Loading />;
  const { evaluations } = data;
  if (id !== undefined) return <Report id={id} against={against} evaluations={evaluations} />;
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
        <>
          <Section title={t('Pass rate over time')}>
            <Trend evaluations={evaluations} />
          </Section>
          <div class="table-box" tabIndex={0} role="region" aria-label={t('Evaluations')}>
            <table>
              <thead>
                <tr>
                  {['Started', 'Skills', 'Passed', 'Pass rate (95 %)', 'Model', 'Time'].map((name) => (
                    <th scope="col" key={name}>
                      {t(name)}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {evaluations.map((row) => (
                  <tr key={row.id}>
                    <td>
                      <a href={link('evaluations', row.id)}>{date(row.startedAt)}</a>
                    </td>
                    <td>{row.skills.map(line).join(', ')}</td>
                    <td>
                      {number(row.totals.passed)} / {number(row.totals.passed + row.totals.failed)}
                      {row.totals.error === 0 ? '' : ` · ${counted('{count} errors', row.totals.error)}`}
                    </td>
                    <td>{rateText(row)}</td>
                    <td>{row.models.map(line).join(', ')}</td>
                    <td>{duration(row.wallMs)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          <History />
        </>
      )}
    </div>
  );
}

function rateText({ passRate: { count, of, low, high } }: EvaluationRow): string {
  const percent = (value: number): string => `${String(Math.round(value * 100))} %`;
  return of === 0 ? '–' : `${percent(count / of)} (${percent(low)} – ${percent(high)})`;
}

/** The pass rate of each evaluation with its interval, oldest first. */
function Trend({ evaluations }: { readonly evaluations: readonly EvaluationRow[] }): JSX.Element {
  const shown = evaluations.slice(0, 60).toReversed();
  const [width, height] = [Math.max(320, shown.length * 44), 140];
  const x = (at: number): number => 52 + at * ((width - 72) / Math.max(1, shown.length - 1));
  const y = (rate: number): number => 8 + (1 - rate) * (height - 28);
  const rate = ({ passRate: { count, of } }: EvaluationRow): number => (of === 0 ? 0 : count / of);
  return (
    <div class="trend" tabIndex={0} role="region" aria-label={t('Pass rate over time')}>
      <svg viewBox={`0 0 ${String(width)} ${String(height)}`} role="img" aria-label={shown.map(rateText).join(', ')}>
        {[0, 0.5, 1].map((level) => (
          <g key={level}>
            <line class="grid" x1="34" x2={width} y1={y(level)} y2={y(level)} />
            <text x="28" y={y(level) + 4}>{`${String(level * 100)} %`}</text>
          </g>
        ))}
        <polyline points={shown.map((row, at) => `${String(x(at))},${String(y(rate(row)))}`).join(' ')} />
        {shown.map((row, at) => (
          <g key={row.id}>
            <line class="interval" x1={x(at)} x2={x(at)} y1={y(row.passRate.low)} y2={y(row.passRate.high)} />
            <circle cx={x(at)} cy={y(rate(row))} r="4">
              <title>{`${date(row.startedAt)}: ${rateText(row)}`}</title>
            </circle>
          </g>
        ))}
      </svg>
    </div>
  );
}

const ARMS: Readonly<Record<string, string>> = {
  with: 'with the skill',
  without: 'without the skill',
  old: 'with its earlier version',
};

function History(): JSX.Element {
  const [name, setName] = useState('');
  const { data } = useGet<CaseHistory>(name.trim() === '' ? undefined : '/case-history', { case: name.trim() });
  return (
    <Section title={t('One case over time')}>
      <input
        type="search"
        value={name}
        placeholder={t('Id of a case')}
        aria-label={t('Id of a case')}
        onInput={({ currentTarget }) => setName(currentTarget.value)}
      />
      {name.trim() === '' || data === undefined ? null : data.attempts.length === 0 ? (
        <p class="faint">{t('No evaluation has this case.')}</p>
      ) : (
        <ul class="history">
          {data.attempts.map(({ id, startedAt, arm, status, passed, attempts }) => (
            <li key={`${id} ${arm}`}>
              <a href={link('evaluations', id)}>{date(startedAt)}</a>
              <span>{t(ARMS[arm] ?? arm)}</span>
              <State name={status} />
              <span class="faint">
                {number(passed)} / {number(attempts)}
              </span>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

/** The report is the page that `eval --report html` writes as one file. */
function Report({
  id,
  against,
  evaluations,
}: {
  readonly id: string;
  readonly against: string | undefined;
  readonly evaluations: readonly EvaluationRow[];
}): JSX.Element {
  const others = evaluations.filter((row) => row.id !== id);
  return (
    <div class="page full report">
      <div class="page-title">
        <a class="back" href={link('evaluations')}>
          {t('All evaluations')}
        </a>
        <select
          value={against ?? ''}
          aria-label={t('Compare with')}
          onChange={({ currentTarget }) =>
            go(`${link('evaluations', id)}${currentTarget.value === '' ? '' : `?against=${currentTarget.value}`}`)
          }
        >
          <option value="">{t('Compare with an earlier evaluation')}</option>
          {others.map((row) => (
            <option key={row.id} value={row.id}>
              {date(row.startedAt)}
            </option>
          ))}
        </select>
        <a class="button" href={address(`/evaluations/${encodeURIComponent(id)}/export`, { against })} download>
          {t('Export as one file')}
        </a>
      </div>
      <iframe
        key={against ?? ''}
        title={t('Report')}
        src={`/report/${encodeURIComponent(id)}${against === undefined ? '' : `?against=${encodeURIComponent(against)}`}`}
      />
    </div>
  );
}
