/** A value as a tree whose branches open and close. Branches that are closed are not in the document. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';

import { counted, t } from '../language.ts';
import { number, visible } from '../text.ts';

/** Branches down to this depth are open at first, unless they are long. */
const OPEN_DEPTH = 2;
const OPEN_LENGTH = 30;
const SHOWN = 200;
const MAX_TEXT = 2_000;

export function JsonTree({ value, label }: { readonly value: unknown; readonly label: string }): JSX.Element {
  return (
    <div class="json-tree framed" role="group" aria-label={label}>
      <Branch value={value} depth={0} />
    </div>
  );
}

interface BranchProps {
  readonly name?: string;
  readonly value: unknown;
  readonly depth: number;
}

function Branch({ name, value, depth }: BranchProps): JSX.Element {
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : undefined;
  const [isOpen, setOpen] = useState(depth < OPEN_DEPTH && (entries?.length ?? 0) <= OPEN_LENGTH);
  const [shown, setShown] = useState(SHOWN);
  const key = name === undefined ? null : <span class="json-key">{visible(name)}: </span>;
  if (entries === undefined || entries.length === 0)
    return (
      <div class="json-leaf">
        {key}
        <Leaf value={value} />
      </div>
    );
  const isList = Array.isArray(value);
  return (
    <div class="json-branch">
      <button type="button" class="json-head" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span class="chevron" aria-hidden="true" />
        {key}
        <span class="faint">
          {isList ? '[' : '{'}
          {isOpen ? '' : `${counted(isList ? '{count} items' : '{count} fields', entries.length)}${isList ? ']' : '}'}`}
        </span>
      </button>
      {isOpen ? (
        <div class="json-children">
          {entries.slice(0, shown).map(([part, child]) => (
            <Branch key={part} name={part} value={child} depth={depth + 1} />
          ))}
          {entries.length > shown ? (
            <button type="button" class="small" onClick={() => setShown(shown + 10 * SHOWN)}>
              {t('Show more ({count} rows left)', { count: number(entries.length - shown) })}
            </button>
          ) : null}
          <span class="faint">{isList ? ']' : '}'}</span>
        </div>
      ) : null}
    </div>
  );
}

function Leaf({ value }: { readonly value: unknown }): JSX.Element {
  const [isWhole, setWhole] = useState(false);
  if (typeof value !== 'string') return <code class="json-value">{JSON.stringify(value)}</code>;
  const isLong = value.length > MAX_TEXT && !isWhole;
  return (
    <>
      <code class="json-text">{visible(isLong ? value.slice(0, MAX_TEXT) : value)}</code>
      {isLong ? (
        <button type="button" class="small" onClick={() => setWhole(true)}>
          {t('Show more ({count} characters left)', { count: number(value.length - MAX_TEXT) })}
        </button>
      ) : null}
    </>
  );
}
