/** The runs of a project: filtered, sorted and counted by what the address says, so that a view can be kept and shared. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { usdText } from '#evals/report';
import type { Answers, ServerStatus } from '#server/api';
import { useVersion } from '../changes.ts';
import { get, type Values } from '../client.ts';
import { useChunks, useGet } from '../hooks.ts';
import { counted, t } from '../language.ts';
import { Choice } from '../parts/fields.tsx';
import { Empty, State } from '../parts/parts.tsx';
import { RunCharts } from '../parts/run-charts.tsx';
import { SearchField } from '../parts/search-field.tsx';
import { ChunkList } from '../parts/virtual-list.tsx';
import { WaitingRuns } from '../parts/waiting-runs.tsx';
import { useMay } from '../rights.ts';
import { link, replaceQuery } from '../route.ts';
import { date, duration, line } from '../text.ts';

type RunRow = Answers['/runs']['runs'][number];

const STATES = ['running', 'done', 'degraded', 'failed', 'refused', 'cancelled', 'killed', 'unreadable'] as const;
const SORTS = [
  ['started', 'Started'],
  ['duration', 'Time'],
  ['tokens', 'Tokens'],
  ['money', 'Money'],
] as const;
const FILTERS = ['query', 'state', 'skill', 'model', 'label', 'from', 'to'] as const;
/** Costs that are still being read are asked for again. */
const UNREAD_MS = 1_500;

interface RunsPageProps {
  readonly query: URLSearchParams;
  readonly status: ServerStatus | undefined;
}

export function RunsPage({ query, status }: RunsPageProps): JSX.Element {
  const version = useVersion('runs', 'newest', 'active');
  const mayAsk = useMay('submit');
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const [hasCharts, setCharts] = useState(true);
  const isFleet = status?.isFleet === true;
  const value = (name: string): string => query.get(name) ?? '';
  const change = (name: string, next: string): void => replaceQuery(link('runs'), query, { [name]: next });
  const [sort, order] = [value('sort') || 'started', value('order') || 'down'];
  const filter = readFilter(value);
  const statistics = useGet(hasCharts ? '/run-statistics' : undefined, filter, version);
  const unread = useUnread(statistics.data?.unread ?? 0, statistics.reload);
  const chunks = useChunks<RunRow>(
    JSON.stringify([filter, sort, order, version, unread]),
    async (offset, limit, signal) => {
      const { runs, total } = await get('/runs', { offset, limit, ...filter, sort, order }, signal);
      return { items: runs, total };
    },
  );
  const toggle = (run: string): void =>
    setChosen(chosen.includes(run) ? chosen.filter((one) => one !== run) : [...chosen.slice(-1), run]);
  const [left, right] = chosen;
  const isFiltered = FILTERS.some((name) => value(name) !== '');
  return (
    <div class="page full">
      <div class="page-title">
        <h1>{t('Runs')}</h1>
        <div class="actions">
          <button type="button" aria-pressed={hasCharts} onClick={() => setCharts(!hasCharts)}>
            {t('Charts')}
          </button>
          <a
            class={`button ${right === undefined ? 'disabled' : 'primary'}`}
            aria-disabled={right === undefined}
            href={left === undefined || right === undefined ? link('runs') : link('runs', 'compare', left, right)}
          >
            {right === undefined ? t('Choose two runs to compare') : t('Compare two runs')}
          </a>
        </div>
      </div>
      <WaitingRuns />
      <div class="filters" role="search">
        <SearchField
          label={t('Search requests and skills')}
          value={value('query')}
          change={(next) => change('query', next)}
        />
        <Choice
          label={t('Outcome')}
          value={value('state')}
          change={(next) => change('state', next)}
          options={[['', t('Outcome')], ...STATES.map((name) => [name, t(name)] as const)]}
        />
        {isFleet ? null : (
          <>
            <Choice
              label={t('Skill')}
              value={value('skill')}
              change={(next) => change('skill', next)}
              options={choices(
                t('Skill'),
                value('skill'),
                statistics.data?.skills.map(({ skill }) => skill),
              )}
            />
            <Choice
              label={t('Model')}
              value={value('model')}
              change={(next) => change('model', next)}
              options={choices(t('Model'), value('model'), statistics.data?.models)}
            />
          </>
        )}
        <FilterField label={t('Label (NAME=VALUE)')} value={value('label')} change={(next) => change('label', next)} />
        <FilterField isDay label={t('From day')} value={value('from')} change={(next) => change('from', next)} />
        <FilterField isDay label={t('To day')} value={value('to')} change={(next) => change('to', next)} />
        {isFiltered ? (
          <a class="button" href={link('runs')}>
            {t('Clear')}
          </a>
        ) : null}
      </div>
      {hasCharts && (statistics.data?.days.length ?? 0) > 0 ? (
        <RunCharts
          data={statistics.data}
          chooseDay={(day) => replaceQuery(link('runs'), query, { from: day, to: day })}
          chooseSkill={(skill) => change('skill', skill)}
        />
      ) : null}
      <div class="list-line">
        <p class="faint count-line" role="status">
          {counted('{count} runs', chunks.total)}
        </p>
        {isFleet ? null : (
          <div class="sorts" role="group" aria-label={t('Sort by')}>
            {SORTS.map(([name, label]) => (
              <button
                type="button"
                class="small"
                key={name}
                aria-pressed={sort === name}
                onClick={() =>
                  replaceQuery(link('runs'), query, {
                    sort: name,
                    order: sort === name && order === 'down' ? 'up' : 'down',
                  })
                }
              >
                {t(label)} {sort === name ? <span aria-hidden="true">{order === 'down' ? '↓' : '↑'}</span> : null}
              </button>
            ))}
          </div>
        )}
      </div>
      <ChunkList
        class="run-list"
        chunks={chunks}
        rowHeight={64}
        rowClass="run-line"
        label={t('Runs')}
        row={(row) => <RunLine row={row} isChosen={chosen.includes(row.run)} toggle={toggle} />}
        empty={
          <Empty
            title={isFiltered ? t('No run matches') : t('No runs yet')}
            command='skillwright run "What is in this file?" --in data.csv'
          >
            {mayAsk ? (
              <p>
                {t('Start one here:')} <a href={link('ask')}>{t('Ask')}</a>. {t('Or in a terminal:')}
              </p>
            ) : null}
          </Empty>
        }
      />
    </div>
  );
}

/** Counts how often costs that were unread have become known, so that the list is read again. */
function useUnread(unread: number, reload: () => void): number {
  const [count, setCount] = useState(0);
  useEffect(() => {
    if (unread === 0) return undefined;
    const timer = setTimeout(() => {
      setCount((now) => now + 1);
      reload();
    }, UNREAD_MS);
    return () => clearTimeout(timer);
  }, [unread, count]);
  return count;
}

/** A label that is not complete yet filters nothing. Days are those of this browser's clock. */
function readFilter(value: (name: string) => string): Values {
  const label = value('label');
  return {
    query: value('query'),
    state: value('state'),
    skill: value('skill'),
    model: value('model'),
    label: label.includes('=') && !label.startsWith('=') ? label : '',
    since: dayStart(value('from'), 0),
    until: dayStart(value('to'), 1),
  };
}

function dayStart(day: string, days: number): string {
  const at = new Date(`${day}T00:00:00`);
  if (Number.isNaN(at.getTime())) return '';
  at.setDate(at.getDate() + days);
  return at.toISOString();
}

function choices(
  title: string,
  chosen: string,
  names: readonly string[] = [],
): readonly (readonly [value: string, text: string])[] {
  const all = new Set([...names, ...(chosen === '' ? [] : [chosen])]);
  return [['', title], ...[...all].toSorted().map((name) => [name, line(name)] as const)];
}

interface FilterFieldProps {
  readonly label: string;
  readonly value: string;
  readonly change: (value: string) => void;
  readonly isDay?: boolean;
}

function FilterField({ label, value, change, isDay = false }: FilterFieldProps): JSX.Element {
  const shared = { class: 'filter-field', 'aria-label': label, title: label, value };
  return isDay ? (
    <input type="date" {...shared} onInput={({ currentTarget }) => change(currentTarget.value)} />
  ) : (
    <input type="text" placeholder={label} {...shared} onInput={({ currentTarget }) => change(currentTarget.value)} />
  );
}

interface RunLineProps {
  readonly row: RunRow;
  readonly isChosen: boolean;
  readonly toggle: (run: string) => void;
}

function RunLine({ row, isChosen, toggle }: RunLineProps): JSX.Element {
  const { usage, labels = {} } = row;
  return (
    <div class="run-line">
      <input
        type="checkbox"
        checked={isChosen}
        aria-label={t('Compare {name}', { name: row.run })}
        onChange={() => toggle(row.run)}
      />
      <a href={link('runs', row.run)}>
        <span class="run-what">
          <span class="run-request">{row.request === '' ? row.run : line(row.request)}</span>
          <span class="run-about faint">
            <State name={row.state} />
            <span>{row.startedAt === undefined ? row.run : date(row.startedAt)}</span>
            {row.skills.length === 0 ? null : <span>{row.skills.map(line).join(', ')}</span>}
            {usage === undefined || usage.models.length === 0 ? null : <span>{usage.models.map(line).join(', ')}</span>}
            {Object.entries(labels).map(([name, label]) => (
              <span key={name}>{line(`${name}=${label}`)}</span>
            ))}
          </span>
        </span>
        <span class="run-number">{usage === undefined ? '' : duration(usage.elapsedMs)}</span>
        <span class="run-number">
          {usage === undefined ? '' : counted('{count} tokens', usage.inputTokens + usage.outputTokens)}
        </span>
        <span class="run-number">{usage?.usd === undefined ? '' : usdText(usage.usd)}</span>
      </a>
    </div>
  );
}
