/** The report of an evaluation: a page of the console, and the whole page of an exported file. */
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';

import { CASE_STATUSES, modelsText, countTokens } from '#evals/report';
import type { CaseResult, CaseStatus, PageData } from './data.ts';
import { counted, t } from '../language.ts';
import { go } from '../route.ts';
import { date, duration, line, number } from '../text.ts';
import { CaseView } from './case.tsx';
import { ChangesView } from './changes.tsx';
import { ReportLinkContext, armName, useReportLink, type ReportLink } from './marks.tsx';
import { Overview } from './overview.tsx';
import { COLUMNS, EVERYTHING, toRows, selected, type Column, type Row, type Selection } from './select.ts';
import { TriggerView } from './trigger.tsx';
import { useMedia } from '../hooks.ts';
import { Empty, State } from '../parts/parts.tsx';
import { SearchField } from '../parts/search-field.tsx';
import { VirtualList, isTyping } from '../parts/virtual-list.tsx';

interface ReportProps {
  readonly data: PageData;
  readonly segments: readonly string[];
  readonly link: ReportLink;
  readonly actions?: ComponentChildren;
  readonly history?: (name: string) => ComponentChildren;
}

export function ReportView({ data, segments, link, actions, history }: ReportProps): JSX.Element {
  const { report, comparison } = data;
  const [view = 'overview', argument = ''] = segments;
  const [selection, select] = useState(EVERYTHING);
  const last = useRef<number>(undefined);
  const rows = useMemo(() => toRows(report.results), [report]);
  const shown = useMemo(() => selected(rows, selection), [rows, selection]);
  const place =
    view === 'case'
      ? Number(argument)
      : view === 'named'
        ? report.results.findIndex((result) => result.case === argument && result.arm === (segments[2] ?? 'with'))
        : undefined;
  if (place !== undefined) last.current = place;
  const at = shown.findIndex((row) => row.place === place);
  const neighbours = {
    before: at < 0 ? undefined : shown[at - 1]?.place,
    after: at < 0 ? undefined : shown[at + 1]?.place,
  };
  useEffect(() => {
    const statuses = view === 'cases' ? CASE_STATUSES.filter((status) => argument.split(',').includes(status)) : [];
    if (statuses.length > 0) select({ ...EVERYTHING, statuses });
  }, [view, argument]);
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const next = event.key === 'j' ? neighbours.after : event.key === 'k' ? neighbours.before : undefined;
      if (place !== undefined && next !== undefined) go(link('case', String(next)));
      else if (place !== undefined && event.key === 'Escape') go(link('cases'));
      else if (view !== 'cases' && event.key === '/') go(link('cases', 'filter'));
      else return;
      event.preventDefault();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  });
  const [skill, ...others] = report.skills.filter(({ role }) => role !== 'control');
  const tabs = [
    ['overview', t('Overview'), undefined],
    ['cases', t('Cases'), report.results.length],
    ...(report.trigger === undefined ? [] : [['trigger', t('Trigger'), undefined] as const]),
    ...(comparison === undefined ? [] : [['changes', t('Changes'), comparison.changes.length] as const]),
  ] as const;
  return (
    <ReportLinkContext.Provider value={link}>
      <div class="page-title">
        <div>
          <h1>
            {skill === undefined || others.length > 0
              ? t('Evaluation report')
              : t('Evaluation of {name}', { name: line(skill.name) })}
          </h1>
          <p class="faint">
            {date(report.startedAt)} · {line(modelsText(report.models))}
          </p>
        </div>
        {actions}
      </div>
      <nav class="tab-list" aria-label={t('Views of the report')}>
        {tabs.map(([id, label, count]) => (
          <a
            key={id}
            href={link(id)}
            aria-current={id === view || (id === 'cases' && place !== undefined) ? 'page' : undefined}
          >
            {label}
            {count === undefined ? null : <span class="count">{number(count)}</span>}
          </a>
        ))}
      </nav>
      {place !== undefined ? (
        <CaseView
          key={place}
          data={data}
          place={place}
          neighbours={neighbours}
          history={history?.(report.results[place]?.case ?? '')}
        />
      ) : view === 'cases' ? (
        <Cases
          results={report.results}
          shown={shown}
          selection={selection}
          select={select}
          last={last.current}
          isFiltering={argument === 'filter'}
        />
      ) : view === 'trigger' && report.trigger !== undefined ? (
        <TriggerView trigger={report.trigger} />
      ) : view === 'changes' && comparison !== undefined ? (
        <ChangesView data={data} comparison={comparison} />
      ) : (
        <Overview data={data} />
      )}
    </ReportLinkContext.Provider>
  );
}

const LABELS: Readonly<Record<Column, string>> = {
  status: 'Outcome',
  case: 'Case',
  tags: 'Tags',
  arm: 'Arm',
  checks: 'Checks',
  tokens: 'Tokens',
  time: 'Time',
};

interface CasesProps {
  readonly results: readonly CaseResult[];
  readonly shown: readonly Row[];
  readonly selection: Selection;
  readonly select: (selection: Selection) => void;
  /** The place of the result to focus. */
  readonly last: number | undefined;
  /** Whether the user is about to type a filter. */
  readonly isFiltering: boolean;
}

function Cases({ results, shown, selection, select, last, isFiltering }: CasesProps): JSX.Element {
  const isNarrow = useMedia('(max-width: 760px)');
  const index = shown.findIndex(({ place }) => place === last);
  return (
    <div class="cases">
      <Filters results={results} selection={selection} select={select} isFiltering={isFiltering} />
      <p class="faint" role="status">
        {shown.length === results.length ? '' : `${number(shown.length)} / `}
        {counted('{count} results', results.length)}
      </p>
      {shown.length === 0 ? (
        <Empty title={t('No case matches')}>
          <p>{t('Use other words, or clear the filters.')}</p>
        </Empty>
      ) : (
        <VirtualList
          class="case-list"
          count={shown.length}
          rowHeight={isNarrow ? 52 : 36}
          label={t('Results')}
          {...(index < 0 || isFiltering ? {} : { focused: index })}
          head={<Head selection={selection} select={select} />}
          row={(at) => <CaseLine row={shown[at]} />}
        />
      )}
      <p class="keys faint">
        {Object.entries({ j: 'down', k: 'up', Enter: 'open', '/': 'filter', Esc: 'back' }).map(([key, what]) => (
          <span key={key}>
            <kbd>{key}</kbd> {t(what)}
          </span>
        ))}
      </p>
    </div>
  );
}

function Filters({ results, selection, select, isFiltering }: Omit<CasesProps, 'shown' | 'last'>): JSX.Element {
  const tags = useMemo(() => [...new Set(results.flatMap((result) => result.tags))].toSorted(), [results]);
  const count = (status: CaseStatus): number => results.filter((result) => result.status === status).length;
  const { statuses } = selection;
  const toggled = (status: CaseStatus): readonly CaseStatus[] =>
    statuses.includes(status) ? statuses.filter((one) => one !== status) : [...statuses, status];
  return (
    <div class="filters" role="search">
      <SearchField
        label={t('Filter by id, text, tag or skill')}
        value={selection.text}
        change={(text) => select({ ...selection, text })}
        isFocused={isFiltering}
      />
      <span class="chips">
        {CASE_STATUSES.map((status) => (
          <button
            type="button"
            key={status}
            class="chip"
            aria-pressed={statuses.includes(status)}
            disabled={count(status) === 0}
            onClick={() => select({ ...selection, statuses: toggled(status) })}
          >
            <State name={status} /> {number(count(status))}
          </button>
        ))}
      </span>
      {tags.length === 0 ? null : (
        <select
          value={selection.tag}
          aria-label={t('Tag')}
          onChange={({ currentTarget }) => select({ ...selection, tag: currentTarget.value })}
        >
          <option value="">{t('Tag')}</option>
          {tags.map((tag) => (
            <option key={tag} value={tag}>
              {line(tag)}
            </option>
          ))}
        </select>
      )}
    </div>
  );
}

/** A click sorts ascending, then descending, then in the order of the suite. */
function Head({ selection, select }: Pick<CasesProps, 'selection' | 'select'>): JSX.Element {
  const sort = (column: Column): void => {
    const isSame = selection.column === column;
    select({
      ...selection,
      ...(isSame && selection.isDescending ? { column: '', isDescending: false } : { column, isDescending: isSame }),
    });
  };
  return (
    <div class="case-line head" role="group" aria-label={t('Sort')}>
      {COLUMNS.map((column) => {
        const isSorted = selection.column === column;
        return (
          <span key={column} class={`cell ${column}`}>
            <button type="button" class="link" aria-pressed={isSorted} onClick={() => sort(column)}>
              {t(LABELS[column])}
              {isSorted ? (selection.isDescending ? ' ↓' : ' ↑') : ''}
            </button>
          </span>
        );
      })}
    </div>
  );
}

function CaseLine({ row }: { readonly row: Row | undefined }): JSX.Element | null {
  const link = useReportLink();
  if (row === undefined) return null;
  const { result, place } = row;
  const { checks, cost, arm, attempt } = result;
  const passed = checks.filter(({ status }) => status === 'passed').length;
  return (
    <a class="case-line" href={link('case', String(place))}>
      <span class="cell status">
        <State name={result.status} />
      </span>
      <span class="cell case">
        <b>{line(result.case)}</b>{' '}
        <span class="faint">{line(result.name === result.case ? result.input.slice(0, 200) : result.name)}</span>
      </span>
      <span class="cell tags faint">{result.tags.slice(0, 3).map(line).join(', ')}</span>
      <span class="cell arm">
        {armName(arm)}
        {attempt > 1 ? ` ${String(attempt)}` : ''}
        {result.isHarnessCheck === true ? `, ${t('harness')}` : ''}
        {result.quarantine === undefined ? '' : `, ${t('Quarantine')}`}
      </span>
      <span class="cell checks">{checks.length === 0 ? '' : `${String(passed)}/${String(checks.length)}`}</span>
      <span class="cell tokens">{number(countTokens(cost))}</span>
      <span class="cell time">{duration(cost.wallMs)}</span>
    </a>
  );
}
