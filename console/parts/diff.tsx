import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';

import { diffLines } from '#core';
import { t } from '../language.ts';
import { visible } from '../text.ts';

interface ShownLine {
  readonly kind: ReturnType<typeof diffLines>['hunks'][number]['lines'][number]['kind'] | 'gap';
  readonly text: string;
}

const MAX_SHOWN = 3_000;

interface DiffProps {
  readonly before: string;
  readonly after: string;
  readonly label: string;
}

export function Diff({ before, after, label }: DiffProps): JSX.Element {
  const lines = useMemo(() => shownLines(visible(before), visible(after)), [before, after]);
  const marks = { same: ' ', removed: '-', added: '+', gap: ' ' } as const;
  return (
    <pre class="diff" tabIndex={0} aria-label={label}>
      {lines.slice(0, MAX_SHOWN).map(({ kind, text }, at) => (
        <span key={at} class={kind}>{`${marks[kind]} ${text}\n`}</span>
      ))}
      {lines.length > MAX_SHOWN ? (
        <span class="gap">{t('… {count} more lines', { count: lines.length - MAX_SHOWN })}</span>
      ) : null}
    </pre>
  );
}

/** The lines around changes, with the number of lines between them. */
function shownLines(before: string, after: string): readonly ShownLine[] {
  const { hunks } = diffLines(before, after);
  let next = 1;
  const shown = hunks.flatMap(({ line, lines }): readonly ShownLine[] => {
    const left = line - next;
    next = line + lines.filter(({ kind }) => kind !== 'removed').length;
    return [...gap(left), ...lines];
  });
  return [...shown, ...gap(lineCount(after) + 1 - next)];
}

function gap(count: number): readonly ShownLine[] {
  return count <= 0 ? [] : [{ kind: 'gap', text: t('… {count} unchanged lines', { count }) }];
}

function lineCount(text: string): number {
  return text === '' ? 0 : text.replace(/\n$/, '').split('\n').length;
}
