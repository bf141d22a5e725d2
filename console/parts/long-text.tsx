/** Text of any length: the start first, more on request, so that a line of megabytes does not stop the page. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';

import { t } from '../language.ts';
import { number, visible } from '../text.ts';

const FIRST = 4_000;
const STEP = 60_000;

interface LongTextProps {
  readonly text: string;
  readonly label: string;
  /** Shows all of it, up to the size of a step. */
  readonly isWhole?: boolean;
}

export function LongText({ text, label, isWhole = false }: LongTextProps): JSX.Element {
  const [shown, setShown] = useState(isWhole ? STEP : FIRST);
  return (
    <div class="long-text">
      <pre tabIndex={0} aria-label={label}>
        {visible(text.slice(0, shown))}
      </pre>
      {text.length > shown ? (
        <button type="button" class="small" onClick={() => setShown(shown + STEP)}>
          {t('Show more ({count} characters left)', { count: number(text.length - shown) })}
        </button>
      ) : null}
    </div>
  );
}

/** A value as JSON lines; texts with line breaks are shown as text. */
export function JsonView({ value }: { readonly value: unknown }): JSX.Element {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return (
      <LongText text={typeof value === 'string' ? value : JSON.stringify(value, undefined, 2)} label={t('Value')} />
    );
  return (
    <dl class="json">
      {Object.entries(value).map(([name, part]) => (
        <div key={name}>
          <dt>{visible(name)}</dt>
          <dd>
            {typeof part === 'string' ? (
              part.length > 80 || part.includes('\n') ? (
                <LongText text={part} label={name} />
              ) : (
                <code>{visible(part)}</code>
              )
            ) : typeof part === 'object' && part !== null ? (
              <LongText text={JSON.stringify(part, undefined, 2)} label={name} />
            ) : (
              <code>{String(part)}</code>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}
