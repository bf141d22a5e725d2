/** Content in the form that a person reads best: Markdown, a table of CSV, a tree of JSON, a diff; always as text too. */
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';

import { t } from '../language.ts';
import { number, visible } from '../text.ts';
import { readContent, type Content } from './content-kind.ts';
import { JsonTree } from './json-tree.tsx';
import { LongText } from './long-text.tsx';
import { Markdown } from './markdown.tsx';

interface ContentViewProps {
  readonly text: string;
  readonly label: string;
  /** The name of the file, which says what the content is; without one the text itself does. */
  readonly name?: string;
}

const LABELS: Readonly<Record<Exclude<Content['kind'], 'text'>, string>> = {
  markdown: 'Formatted',
  json: 'Tree',
  table: 'Table',
  diff: 'Diff',
};

export function ContentView({ text, label, name = '' }: ContentViewProps): JSX.Element {
  const content = useMemo(() => readContent(text, name), [text, name]);
  const [isPlain, setPlain] = useState(false);
  if (content.kind === 'text') return <LongText text={text} label={label} />;
  return (
    <div class="content">
      <div class="content-forms" role="group" aria-label={label}>
        <button type="button" class="small" aria-pressed={!isPlain} onClick={() => setPlain(false)}>
          {t(LABELS[content.kind])}
        </button>
        <button type="button" class="small" aria-pressed={isPlain} onClick={() => setPlain(true)}>
          {t('Text')}
        </button>
      </div>
      {isPlain ? <LongText text={text} label={label} /> : formatted(content, text, label)}
    </div>
  );
}

function formatted(content: Exclude<Content, { readonly kind: 'text' }>, text: string, label: string): JSX.Element {
  switch (content.kind) {
    case 'markdown':
      return (
        <div class="framed">
          <Markdown text={text} />
        </div>
      );
    case 'json':
      return <JsonTree value={content.value} label={label} />;
    case 'table':
      return <CsvTable rows={content.rows} label={label} />;
    case 'diff':
      return (
        <pre class="diff" tabIndex={0} aria-label={label}>
          {content.lines.map(({ kind, text: part }, at) => (
            <span key={at} class={kind}>{`${visible(part)}\n`}</span>
          ))}
        </pre>
      );
  }
}

const ROWS = 100;

function CsvTable({
  rows,
  label,
}: {
  readonly rows: readonly (readonly string[])[];
  readonly label: string;
}): JSX.Element {
  const [shown, setShown] = useState(ROWS);
  const [head = [], ...body] = rows;
  return (
    <>
      <div class="table-box csv" tabIndex={0} role="region" aria-label={label}>
        <table>
          <thead>
            <tr>
              {head.map((cell, at) => (
                <th key={at} scope="col">
                  {visible(cell)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {body.slice(0, shown).map((row, at) => (
              <tr key={at}>
                {row.map((cell, place) => (
                  <td key={place} class={isNumber(cell) ? 'number' : undefined}>
                    {visible(cell)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {body.length > shown ? (
        <button type="button" class="small" onClick={() => setShown(shown + 10 * ROWS)}>
          {t('Show more ({count} rows left)', { count: number(body.length - shown) })}
        </button>
      ) : null}
    </>
  );
}

function isNumber(cell: string): boolean {
  return /^[-+]?[\d.,]+%?$/.test(cell);
}
