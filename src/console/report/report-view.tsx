/** The report of an evaluation: a page of the console, and the whole page of an exported file. */
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';

import type { PageData } from '../../evals/page/view.ts';
import { modelsText } from '../../evals/report/report-text.ts';
import { CASE_STATUSES } from '../../evals/report/result.ts';
import { isTyping } from '../keys.ts';
import { t } from '../language.ts';
import { go } from '../route.ts';
import { date, line, number } from '../text.ts';
import { CaseView } from './case.tsx';
import { Cases } from './cases.tsx';
import { ChangesView } from './changes.tsx';
import { ReportLinkContext } from './marks.tsx';
import type { ReportLink } from './marks.tsx';
import { Overview } from './overview.tsx';
import { EVERYTHING, rowsOf, selected } from './select.ts';
import { TriggerView } from './trigger.tsx';

interface ReportProps {
  readonly data: PageData;
  /** The part of the address below the report: a view and its argument. */
  readonly segments: readonly string[];
  readonly link: ReportLink;
  /** Beside the title. */
  readonly actions?: ComponentChildren;
  /** How a case did in other evaluations. */
  readonly history?: (name: string) => ComponentChildren;
}

export function ReportView({ data, segments, link, actions, history }: ReportProps): JSX.Element {
  const { report, comparison } = data;
  const [view = 'overview', argument = ''] = segments;
  const [selection, select] = useState(EVERYTHING);
  const last = useRef<number>(undefined);
  const rows = useMemo(() => rowsOf(report.results), [report]);
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
