/** Small components that every page uses. */
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import type { ApiError } from '../client.ts';
import { t } from '../language.ts';
import { line } from '../text.ts';

interface Children {
  readonly children?: ComponentChildren;
}

export type Tone = 'plain' | 'faint' | 'good' | 'warning' | 'bad' | 'info';

export function Badge({ tone = 'plain', children }: Children & { readonly tone?: Tone }): JSX.Element {
  return <span class={`badge ${tone}`}>{children}</span>;
}

export function Problem({ error }: { readonly error: ApiError | undefined }): JSX.Element | null {
  if (error === undefined) return null;
  return (
    <div class="banner bad" role="alert">
      <b>{line(error.message)}</b>
      {error.hint === undefined ? null : <p>{line(error.hint)}</p>}
    </div>
  );
}

export function Banner({
  tone,
  title,
  children,
}: Children & { readonly tone: Tone; readonly title?: string }): JSX.Element {
  return (
    <div class={`banner ${tone}`} role={tone === 'plain' ? undefined : 'alert'}>
      {title === undefined ? null : <b>{title}</b>}
      {children}
    </div>
  );
}

interface CardProps extends Children {
  readonly label: string;
  readonly value: string;
  readonly notes?: readonly string[];
  readonly tone?: Tone;
}

export function Card({ label, value, notes = [], tone = 'plain', children }: CardProps): JSX.Element {
  return (
    <div class="card">
      <div class="label">{label}</div>
      <div class={`value ${tone}`}>{value}</div>
      {children}
      {notes.map((note) => (
        <div class="note" key={note}>
          {note}
        </div>
      ))}
    </div>
  );
}

interface PlanStep {
  readonly title: string;
  readonly status: string;
}

export function PlanSteps({ steps }: { readonly steps: readonly PlanStep[] }): JSX.Element {
  return (
    <ol class="plan-steps">
      {steps.map(({ title, status }, at) => (
        <li key={at} class={status}>
          <span class="mark" aria-hidden="true" />
          <span>
            {line(title)} <span class="hidden-label">({t(status)})</span>
          </span>
        </li>
      ))}
    </ol>
  );
}

/** Says what is missing and what to do about it. */
export function Empty({
  title,
  command,
  children,
}: Children & { readonly title: string; readonly command?: string }): JSX.Element {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
      {command === undefined ? null : <Command text={command} />}
    </div>
  );
}

export function NoMatch({ title }: { readonly title: string }): JSX.Element {
  return (
    <Empty title={title}>
      <p>{t('Use other words, or clear the filters.')}</p>
    </Empty>
  );
}

export function Command({ text }: { readonly text: string }): JSX.Element {
  const [isCopied, setCopied] = useState(false);
  const copy = (): void => {
    navigator.clipboard?.writeText(text).then(
      () => setCopied(true),
      () => undefined,
    );
  };
  return (
    <span class="command">
      <code>{line(text)}</code>
      <button type="button" class="small" onClick={copy}>
        {isCopied ? t('Copied') : t('Copy')}
      </button>
    </span>
  );
}

export function Loading(): JSX.Element {
  return (
    <p class="loading faint" role="status">
      {t('Loading…')}
    </p>
  );
}

/** What a page shows before its data is there. */
export function Waiting({ error }: { readonly error: ApiError | undefined }): JSX.Element {
  return error === undefined ? <Loading /> : <Problem error={error} />;
}

/** Names with their values; a value that is undefined is shown as a dash. */
export function Facts({ facts }: { readonly facts: readonly (readonly [string, ComponentChildren])[] }): JSX.Element {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value ?? '–'}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Texts of strangers, separated by commas; undefined without any. */
export function listed(texts: readonly string[], separator = ', '): string | undefined {
  return texts.length === 0 ? undefined : texts.map(line).join(separator);
}

export interface Tab {
  readonly id: string;
  readonly label: string;
  readonly count?: number;
  readonly content: () => ComponentChildren;
}

export function Tabs({ tabs, label }: { readonly tabs: readonly Tab[]; readonly label: string }): JSX.Element {
  const [chosen, setChosen] = useState(tabs[0]?.id ?? '');
  const list = useRef<HTMLDivElement>(null);
  const current = tabs.find(({ id }) => id === chosen) ?? tabs[0];
  const move = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    const next = tabs[(tabs.findIndex(({ id }) => id === current?.id) + step + tabs.length) % tabs.length];
    if (step === 0 || next === undefined) return;
    event.preventDefault();
    setChosen(next.id);
    list.current?.querySelector<HTMLElement>(`#tab-${next.id}`)?.focus();
  };
  return (
    <div class="tabs">
      <div role="tablist" aria-label={label} ref={list} onKeyDown={move} class="tab-list">
        {tabs.map(({ id, label: name, count }) => (
          <button
            type="button"
            role="tab"
            key={id}
            id={`tab-${id}`}
            aria-selected={id === current?.id}
            aria-controls="tab-panel"
            tabIndex={id === current?.id ? 0 : -1}
            onClick={() => setChosen(id)}
          >
            {name}
            {count === undefined ? null : <span class="count">{count}</span>}
          </button>
        ))}
      </div>
      <div role="tabpanel" id="tab-panel" aria-labelledby={`tab-${current?.id ?? ''}`} tabIndex={0} class="tab-panel">
        {current?.content()}
      </div>
    </div>
  );
}

interface ActionButtonProps extends Children {
  readonly act: () => Promise<void>;
  readonly kind?: string;
  readonly disabled?: boolean;
  readonly onError: (error: unknown) => void;
}

export function ActionButton({ act, children, kind = '', disabled = false, onError }: ActionButtonProps): JSX.Element {
  const [isBusy, setBusy] = useState(false);
  const isHere = useRef(true);
  useEffect(() => () => void (isHere.current = false), []);
  const start = (): void => {
    setBusy(true);
    act()
      .catch(onError)
      .finally(() => {
        if (isHere.current) setBusy(false);
      });
  };
  return (
    <button type="button" class={kind} disabled={disabled || isBusy} aria-busy={isBusy} onClick={start}>
      {children}
    </button>
  );
}

export function Section({ title, children }: Children & { readonly title?: string }): JSX.Element {
  return (
    <section class="panel">
      {title === undefined ? null : <h2>{title}</h2>}
      {children}
    </section>
  );
}

const TONES: Readonly<Record<string, Tone>> = {
  done: 'good',
  intact: 'good',
  same: 'good',
  running: 'info',
  waiting: 'warning',
  allow: 'good',
  ask: 'warning',
  deny: 'bad',
  degraded: 'warning',
  cancelled: 'warning',
  killed: 'warning',
  torn: 'warning',
  unsealed: 'warning',
  newer: 'warning',
  failed: 'bad',
  refused: 'bad',
  tampered: 'bad',
  unreadable: 'bad',
  different: 'bad',
  impossible: 'warning',
  'record-failed': 'bad',
  low: 'good',
  medium: 'warning',
  high: 'bad',
  critical: 'bad',
  passed: 'good',
  error: 'bad',
  warning: 'warning',
  info: 'info',
};

/** A state by name, colored and always with its word. */
export function State({ name }: { readonly name: string }): JSX.Element {
  return <Badge tone={TONES[name] ?? 'plain'}>{t(name)}</Badge>;
}
