/** Small parts that several views of a report share. */
import { createContext, type ComponentChildren, type JSX } from 'preact';
import { useContext } from 'preact/hooks';

import { CASE_STATUSES, percentText } from '#evals/report';
import type { Arm, Rate, StatusCounts } from './data.ts';
import { t } from '../language.ts';
import { number } from '../text.ts';

/** Addresses within a report: below an evaluation in the console, at the top in an exported file. */
export type ReportLink = (...segments: readonly string[]) => string;
export const ReportLinkContext = createContext<ReportLink>(() => '#/');

export function useReportLink(): ReportLink {
  return useContext(ReportLinkContext);
}

const ARM_NAMES: Readonly<Record<Arm, string>> = {
  with: 'with the skill',
  without: 'without the skill',
  old: 'with its earlier version',
};

export function armName(arm: string): string {
  return t(Object.entries(ARM_NAMES).find(([name]) => name === arm)?.[1] ?? arm);
}

/** `75 % (47–91 %)`, or a dash without verdicts. */
export function rateText({ count, of, low, high }: Rate): string {
  return of === 0 ? '–' : `${percentText(count / of)} (${rangeText(low, high)})`;
}

function rangeText(low: number, high: number): string {
  return `${percentText(low).replace(' %', '')}–${percentText(high)}`;
}

/** A rate between 0 and 100 %: the interval as a band, the rate as a tick. */
export function RateBar({ rate }: { readonly rate: Rate }): JSX.Element {
  return (
    <span class="rate-bar" role="img" aria-label={rateText(rate)}>
      {rate.of === 0 ? null : (
        <>
          <span class="band" style={{ left: part(rate.low), width: part(rate.high - rate.low) }} />
          <span class="tick" style={{ left: part(rate.count / rate.of) }} />
        </>
      )}
    </span>
  );
}

export function RateCell({ rate }: { readonly rate: Rate }): JSX.Element {
  if (rate.of === 0) return <span class="faint">{t('none')}</span>;
  return (
    <span class="rate">
      <b>{percentText(rate.count / rate.of)}</b>
      <RateBar rate={rate} />
      <span class="faint">{rangeText(rate.low, rate.high)}</span>
    </span>
  );
}

export function sumCounts(counts: StatusCounts): number {
  return CASE_STATUSES.reduce((sum, status) => sum + counts[status], 0);
}

export function StatusBar({ counts }: { readonly counts: StatusCounts }): JSX.Element {
  const all = sumCounts(counts);
  const label = countsText(counts);
  return (
    <span class="status-bar" role="img" aria-label={label} title={label}>
      {CASE_STATUSES.filter((status) => counts[status] > 0).map((status) => (
        <span key={status} class={status} style={{ width: part(counts[status] / all) }} />
      ))}
    </span>
  );
}

/** `passed 3, failed 1`. */
export function countsText(counts: StatusCounts): string {
  return CASE_STATUSES.filter((status) => status === 'passed' || counts[status] > 0)
    .map((status) => `${t(status)} ${number(counts[status])}`)
    .join(', ');
}

export function part(value: number): string {
  return `${String(Math.max(0, Math.min(1, Number.isFinite(value) ? value : 0)) * 100)}%`;
}

interface TableProps {
  readonly label: string;
  readonly heads?: readonly ComponentChildren[];
  readonly children: ComponentChildren;
  readonly class?: string;
}

/** A table in a box that scrolls sideways by itself. */
export function Table({ label, heads, children, class: className = '' }: TableProps): JSX.Element {
  return (
    <div class="table-box" tabIndex={0} role="region" aria-label={label}>
      <table class={className}>
        {heads === undefined ? null : (
          <thead>
            <tr>
              {heads.map((head, at) => (
                <th scope="col" key={at}>
                  {head}
                </th>
              ))}
            </tr>
          </thead>
        )}
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

interface RowsProps extends Pick<TableProps, 'label' | 'class'> {
  readonly heads: readonly string[];
  readonly rows: readonly { readonly cells: readonly ComponentChildren[]; readonly class?: string }[];
  /** The place of the cell that names its row. */
  readonly header?: number;
  /** Classes of columns. */
  readonly columns?: readonly string[];
}

export function RowsTable({ heads, rows, header = 0, columns = [], ...table }: RowsProps): JSX.Element {
  return (
    <Table {...table} heads={heads.map((head) => t(head))}>
      {rows.map(({ cells, class: own }, at) => (
        <tr key={at} class={own}>
          {cells.map((cell, place) =>
            place === header ? (
              <th key={place} scope="row">
                {cell}
              </th>
            ) : (
              <td key={place} class={columns[place]}>
                {cell}
              </td>
            ),
          )}
        </tr>
      ))}
    </Table>
  );
}

interface TitledProps {
  readonly title: string;
  readonly children: ComponentChildren;
}

export function Titled({ title, children }: TitledProps): JSX.Element {
  return (
    <section class="titled">
      <h2>{title}</h2>
      {children}
    </section>
  );
}
