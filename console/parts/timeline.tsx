/**
 * The steps of a run as a waterfall. Steps are drawn in blocks, and only the blocks near the window are in the document, so that thousands
 * of steps with any height scroll smoothly. Bars are placed by CSS from two numbers, so that a run that goes on changes no finished step.
 */
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';

import { useGet } from '../hooks.ts';
import { counted, t } from '../language.ts';
import type { LiveRun } from '../live-run.ts';
import { duration, number } from '../text.ts';
import { Empty, Loading, Problem } from './parts.tsx';
import { SearchField } from './search-field.tsx';
import { StepBlock, BLOCK } from './step-block.tsx';
import type { StepActions } from './step-row.tsx';
import { isTyping } from './virtual-list.tsx';

interface TimelineProps {
  readonly id: string;
  readonly run: LiveRun;
  /** The time of the right end of the bars. */
  readonly total: number;
  /** The event whose step the address names. */
  readonly target: number | undefined;
  readonly fork: StepActions['fork'];
}

const MAX_HITS = 1_000;

export function Timeline({ id, run, total, target, fork }: TimelineProps): JSX.Element {
  const { steps } = run;
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const [active, setActive] = useState<number>();
  const [query, setQuery] = useState('');
  const wanted = useRef<number | undefined>(undefined);
  const list = useRef<HTMLOListElement>(null);
  const hits = useHits({ id, run, query });
  const latest = useRef({ steps, active, open, hits: hits.keys });
  latest.current = { steps, active, open, hits: hits.keys };

  const visit = (key: number | undefined): void => {
    if (key === undefined) return;
    wanted.current = key;
    setActive(key);
  };
  const actions = useMemo<StepActions>(
    () => ({
      toggle: (key) => setOpen(toggled(latest.current.open, key)),
      focus: setActive,
      fork,
    }),
    [fork?.turns.length],
  );
  const isAllOpen = open.size > 0 && open.size === steps.length;
  const toggleAll = (): void => setOpen(isAllOpen ? new Set() : new Set(steps.map(({ key }) => key)));
  const moveHit = (by: number): void => {
    const { keys } = hits;
    const at = keys.findIndex((key) => key === active);
    const next = at === -1 ? (by > 0 ? 0 : keys.length - 1) : (at + by + keys.length) % keys.length;
    visit(keys[next]);
  };

  // The step that has been asked for is drawn by now, because its block draws an active step.
  useLayoutEffect(() => {
    if (wanted.current === undefined) return;
    const step = document.querySelector<HTMLElement>(`#step-${String(wanted.current)}`);
    if (step === null) return;
    wanted.current = undefined;
    step.scrollIntoView({ block: 'nearest' });
    if (!isTyping(document.activeElement))
      step.querySelector<HTMLElement>('.step-head')?.focus({ preventScroll: true });
  });
  const targetStep = target === undefined ? undefined : steps.findLast(({ key }) => key <= target)?.key;
  useEffect(() => {
    if (targetStep === undefined || (run.last < (target ?? 0) && !run.isOver)) return;
    setOpen(new Set([...latest.current.open, targetStep]));
    visit(targetStep);
  }, [targetStep, run.last >= (target ?? 0)]);
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const by =
        event.key === 'j' || event.key === 'ArrowDown' ? 1 : event.key === 'k' || event.key === 'ArrowUp' ? -1 : 0;
      const isInside = event.target instanceof Node && list.current?.contains(event.target) === true;
      if (by !== 0 && (isInside || (event.key.length === 1 && event.target === document.body))) {
        event.preventDefault();
        const { steps: now, active: at } = latest.current;
        const place = at === undefined ? -1 : now.findIndex(({ key }) => key === at);
        visit(now[Math.max(0, Math.min(now.length - 1, place + by))]?.key);
      }
      if (event.key === 'e') toggleAll();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  });
  useHighlights(list, query);

  if (steps.length === 0) return run.isOver ? <Empty title={t('This run has no steps')} /> : <Loading />;
  const blocks: JSX.Element[] = [];
  for (let at = 0; at < steps.length; at += BLOCK)
    blocks.push(
      <StepBlock
        key={at}
        id={id}
        isFirst={at < 2 * BLOCK}
        steps={steps.slice(at, at + BLOCK)}
        open={open}
        hits={hits.set}
        active={active}
        actions={actions}
      />,
    );
  return (
    <div class="timeline">
      <div
        class="timeline-bar"
        role="search"
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !isTyping(event.target)) return;
          event.preventDefault();
          event.stopPropagation();
          moveHit(event.shiftKey ? -1 : 1);
        }}
      >
        <SearchField label={t('Search this run')} value={query} change={setQuery} />
        {query === '' ? null : (
          <>
            <span class="faint" role="status">
              {hits.isLoaded ? counted('{count} matching steps', hits.keys.length) : t('Searching…')}
            </span>
            <button type="button" class="small" aria-label={t('Previous match')} onClick={() => moveHit(-1)}>
              ↑
            </button>
            <button type="button" class="small" aria-label={t('Next match')} onClick={() => moveHit(1)}>
              ↓
            </button>
          </>
        )}
        <button type="button" class="small end" onClick={toggleAll}>
          {isAllOpen ? t('Close all') : t('Open all')}
        </button>
      </div>
      <Problem error={hits.error} />
      {run.stepsLeftOut === 0 ? null : (
        <p class="faint">{t('{count} earlier steps: see the events', { count: number(run.stepsLeftOut) })}</p>
      )}
      <div class="step-columns faint" aria-hidden="true">
        <span />
        <span>{t('Step')}</span>
        <span class="scale">
          <span>0</span>
          <span>{duration(total / 2)}</span>
          <span>{duration(total)}</span>
        </span>
        <span class="step-tokens">{t('Tokens')}</span>
        <span class="step-usd">{t('Money')}</span>
        <span class="step-time">{t('Time')}</span>
      </div>
      <ol class="steps" key={run.attempt} ref={list} style={{ '--total': Math.max(1, total) }}>
        {blocks}
      </ol>
    </div>
  );
}

function toggled(set: ReadonlySet<number>, key: number): ReadonlySet<number> {
  const next = new Set(set);
  if (!next.delete(key)) next.add(key);
  return next;
}

interface Hits {
  readonly keys: readonly number[];
  readonly set: ReadonlySet<number>;
  readonly isLoaded: boolean;
  readonly error: ReturnType<typeof useGet>['error'];
}

/** The steps whose recorded events contain a text. The server searches, because the page has only the start of each text. */
function useHits({ id, run, query }: { readonly id: string; readonly run: LiveRun; readonly query: string }): Hits {
  const [asked, setAsked] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setAsked(query), 120);
    return () => clearTimeout(timer);
  }, [query]);
  const version = run.isOver ? run.last : Math.floor(run.last / 50);
  const { data, error } = useGet(
    asked === '' ? undefined : '/runs/{id}/rows',
    { id, query: asked, limit: MAX_HITS },
    version,
  );
  return useMemo(() => {
    const found = new Set(asked === '' ? [] : data?.rows.map(({ seq }) => seq));
    const keys = run.steps
      .filter(({ row, more }) => [row, ...more].some(({ seq }) => found.has(seq)))
      .map(({ key }) => key);
    return { keys, set: new Set(keys), isLoaded: asked === query && data !== undefined, error };
  }, [data, asked, query, error, run.steps.length]);
}

const MAX_RANGES = 500;

/** Marks the text in what is drawn, where the browser can. */
function useHighlights(list: { readonly current: HTMLElement | null }, query: string): void {
  useEffect(() => {
    if (!('highlights' in CSS)) return undefined;
    CSS.highlights.delete('hits');
    const needle = query.toLowerCase();
    if (needle.length < 2 || list.current === null) return undefined;
    const walker = document.createTreeWalker(list.current, NodeFilter.SHOW_TEXT);
    const ranges: Range[] = [];
    for (let node = walker.nextNode(); node !== null && ranges.length < MAX_RANGES; node = walker.nextNode()) {
      const text = node.nodeValue?.toLowerCase() ?? '';
      for (let at = text.indexOf(needle); at !== -1 && ranges.length < MAX_RANGES; at = text.indexOf(needle, at + 1)) {
        const range = new Range();
        range.setStart(node, at);
        range.setEnd(node, at + needle.length);
        ranges.push(range);
      }
    }
    if (ranges.length > 0) CSS.highlights.set('hits', new Highlight(...ranges));
    return () => void CSS.highlights.delete('hits');
  });
}
