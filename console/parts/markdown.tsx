/** Shows Markdown of strangers as elements. Nothing becomes markup except the blocks and marks that this file creates. */
import type { ComponentChild, JSX } from 'preact';
import { useMemo } from 'preact/hooks';

import { visible } from '../text.ts';
import { readBlocks, type Block } from './markdown-blocks.ts';

const MAX_CHARACTERS = 200_000;

export function Markdown({ text }: { readonly text: string }): JSX.Element {
  const blocks = useMemo(() => readBlocks(visible(text.slice(0, MAX_CHARACTERS))), [text]);
  return (
    <div class="markdown">
      {blocks.map(blockElement)}
      {text.length > MAX_CHARACTERS ? <p class="faint">…</p> : null}
    </div>
  );
}

function blockElement(block: Block, key: number): JSX.Element {
  switch (block.type) {
    case 'heading': {
      // The page has its own h1 and h2.
      const Tag = block.level <= 1 ? 'h3' : block.level === 2 ? 'h4' : 'h5';
      return <Tag key={key}>{inline(block.text)}</Tag>;
    }
    case 'paragraph':
      return <p key={key}>{inline(block.text)}</p>;
    case 'code':
      return (
        <pre key={key} tabIndex={0}>
          <code>{block.text}</code>
        </pre>
      );
    case 'quote':
      return <blockquote key={key}>{block.blocks.map(blockElement)}</blockquote>;
    case 'list': {
      const items = block.items.map((item, at) => <li key={at}>{item.map(itemElement)}</li>);
      return block.isOrdered ? <ol key={key}>{items}</ol> : <ul key={key}>{items}</ul>;
    }
    case 'table':
      return (
        <div key={key} class="table-box" tabIndex={0}>
          <table>
            <thead>
              <tr>
                {block.head.map((cell, at) => (
                  <th key={at} scope="col">
                    {inline(cell)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {block.rows.map((row, at) => (
                <tr key={at}>
                  {row.map((cell, place) => (
                    <td key={place}>{inline(cell)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      );
    case 'rule':
      return <hr key={key} />;
  }
}

/** The text of an item needs no paragraph. */
function itemElement(block: Block, key: number): ComponentChild {
  return block.type === 'paragraph' ? <span key={key}>{inline(block.text)}</span> : blockElement(block, key);
}

const MARKS = ['`', '**', '__', '*', '_', '['] as const;

/** Inline marks: code, bold, italic and links. A mark without an end is text. */
function inline(text: string): readonly ComponentChild[] {
  const parts: ComponentChild[] = [];
  let plain = '';
  let at = 0;
  const flush = (): void => {
    if (plain !== '') parts.push(plain);
    plain = '';
  };
  while (at < text.length) {
    const mark = MARKS.find((sign) => text.startsWith(sign, at));
    const found = mark === undefined ? undefined : mark === '[' ? linkAt(text, at) : markedAt(text, at, mark);
    if (found === undefined) {
      plain += text[at] ?? '';
      at += 1;
    } else {
      flush();
      parts.push(found.element);
      at = found.end;
    }
  }
  flush();
  return parts;
}

interface MarkedElement {
  readonly element: ComponentChild;
  readonly end: number;
}

/** Longer runs are not searched, so that a text full of marks stays linear. */
const MAX_RUN = 2_000;

function markedAt(text: string, at: number, mark: string): MarkedElement | undefined {
  const start = at + mark.length;
  const end = text.slice(start, start + MAX_RUN).indexOf(mark);
  if (end <= 0 || (mark.startsWith('_') && /\w/.test(text[at - 1] ?? ''))) return undefined;
  const inside = text.slice(start, start + end);
  if (/^\s|\s$/.test(inside) && mark !== '`') return undefined;
  const element =
    mark === '`' ? (
      <code key={at}>{inside}</code>
    ) : mark.length === 2 ? (
      <strong key={at}>{inside}</strong>
    ) : (
      <em key={at}>{inside}</em>
    );
  return { element, end: start + end + mark.length };
}

function linkAt(text: string, at: number): MarkedElement | undefined {
  const rest = text.slice(at, at + MAX_RUN);
  const close = rest.indexOf('](');
  const end = close < 0 ? -1 : rest.indexOf(')', close);
  if (close < 1 || end < 0) return undefined;
  const label = rest.slice(1, close);
  const target = rest.slice(close + 2, end).trim();
  const element = isWebAddress(target) ? (
    <a key={at} href={target} target="_blank" rel="noopener noreferrer nofollow">
      {label}
    </a>
  ) : (
    <span key={at} class="file-link" title={target}>
      {label}
    </span>
  );
  return { element, end: at + end + 1 };
}

/** Only web addresses become links; `javascript:`, `data:` and files are text. */
function isWebAddress(target: string): boolean {
  return /^https?:\/\/[^\s]+$/i.test(target) && URL.canParse(target);
}
