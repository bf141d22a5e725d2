import type { CallSoFar, TextLevel, TextLine } from '../../core/event-text.ts';
import { eventText } from '../../core/event-text.ts';
import type { JournalLine } from '../../core/run-events.ts';
import { visibleJson } from '../../core/json/visible-json.ts';

/** What a sink is given of a line. */
export type SinkLine = Pick<JournalLine, 'seq' | 'time' | 'elapsed' | 'event'>;

/** Is told of each event of a run, in order. Never throws: what watches a run must not change it. */
export type EventSink = (line: SinkLine) => void;

export interface TerminalSinkOptions {
  readonly level: TextLevel;
  /** Takes whole lines, with their ends. */
  readonly write: (text: string) => void;
  /** Colours; the identity where there are none. */
  readonly style: (style: 'dim' | 'green' | 'yellow' | 'red', text: string) => string;
}

interface OpenCall extends CallSoFar {
  readonly startedAt: number;
}

const STYLES = { faint: 'dim', good: 'green', warning: 'yellow', bad: 'red' } as const;

/** Lines for a person. What an action was and how long it took is kept until it is over. */
export function terminalSink({ level, write, style }: TerminalSinkOptions): EventSink {
  const calls = new Map<number, OpenCall>();
  const draw = ({ tone, text }: TextLine): string => `${tone === 'plain' ? text : style(STYLES[tone], text)}\n`;
  return harmless(({ elapsed, event }) => {
    const open = 'call' in event ? calls.get(event.call) : undefined;
    if (event.type === 'action') calls.set(event.call, { action: event.action, startedAt: elapsed });
    if (event.type === 'decision' && open !== undefined) calls.set(event.call, { ...open, decision: event.decision });
    if (event.type === 'observation') calls.delete(event.call);
    if (event.type === 'run-end') calls.clear();
    const call = open === undefined ? {} : { ...open, durationMs: elapsed - open.startedAt };
    for (const line of eventText(event, level, call)) write(draw(line));
  });
}

/** One line of JSON an event. */
export function jsonlSink(write: (text: string) => void): EventSink {
  return harmless(({ seq, time, elapsed, event }) =>
    write(`${visibleJson(JSON.stringify({ seq, time, elapsed, event }))}\n`),
  );
}

/** Every event to each of them, in the order of the list. */
export function joinedSink(sinks: readonly EventSink[]): EventSink {
  const guarded = sinks.map(harmless);
  return (line) => {
    for (const sink of guarded) sink(line);
  };
}

/** A closed pipe or a full disk behind a sink is no reason to end a run. */
function harmless(sink: EventSink): EventSink {
  return (line) => {
    try {
      sink(line);
    } catch {
      // Nobody is left to be told.
    }
  };
}
