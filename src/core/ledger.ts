import { compareText } from './diagnostic.ts';
import type { SessionEvent } from './session.ts';
import type { ShownContent } from './text/shown.ts';

/** Content shown for the same reason, one or more times. */
export interface LedgerRow extends ShownContent {
  readonly times: number;
  /** Sum over all times. */
  readonly totalTokens: number;
}

/** All skill content shown to the model (DISC-5). */
export interface Ledger {
  readonly rows: readonly LedgerRow[];
  readonly characters: number;
  /** Each content counted once. */
  readonly tokens: number;
  /** Counted each time it was sent. */
  readonly totalTokens: number;
}

export function buildLedger(events: readonly SessionEvent[]): Ledger {
  const rows = new Map<string, LedgerRow>();
  for (const shown of events.flatMap(shownIn)) {
    const key = JSON.stringify([shown.skill, shown.path, shown.digest, shown.reason, shown.characters]);
    const { times = 0, totalTokens = 0 } = rows.get(key) ?? {};
    rows.set(key, { ...shown, times: times + 1, totalTokens: totalTokens + shown.tokens });
  }
  const all = [...rows.values()].sort(
    (a, b) => compareText(a.skill, b.skill) || compareText(a.path, b.path) || compareText(a.reason, b.reason),
  );
  const sum = (field: 'characters' | 'tokens' | 'totalTokens'): number =>
    all.reduce((total, row) => total + row[field], 0);
  return { rows: all, characters: sum('characters'), tokens: sum('tokens'), totalTokens: sum('totalTokens') };
}

function shownIn(event: SessionEvent): readonly ShownContent[] {
  if (event.type === 'content-show') return [event.shown];
  return event.type === 'request-start' ? event.shown : [];
}
