import { eventText, visibleJson, type JournalLine, type RunEvent } from '#core';

type TextLine = ReturnType<typeof eventText>[number];

/** The part of a line that a sink receives. */
export type SinkLine = Pick<JournalLine, 'seq' | 'time' | 'elapsed' | 'event'>;

/** Receives each event of a run, in order. Must not throw: observers must not change a run. */
export type EventSink = (line: SinkLine) => void;

export interface TerminalSinkOptions {
  readonly level: Parameters<typeof eventText>[1];
  /** Receives whole lines, including line breaks. */
  readonly write: (text: string) => void;
  /** Applies colors; the identity without colors. */
  readonly style: (style: 'dim' | 'green' | 'yellow' | 'red', text: string) => string;
  /** Draws one line (default: the text in the color of its tone). */
  readonly draw?: (line: TextLine) => string;
  /** Events that are followed and not printed. */
  readonly isHidden?: (event: RunEvent) => boolean;
}

interface OpenCall extends NonNullable<Parameters<typeof eventText>[2]> {
  /** Later by the time in which a person was asked. */
  readonly startedAt: number;
  /** While a person is asked. */
  readonly askedAt?: number | undefined;
}

const STYLES = { faint: 'dim', good: 'green', warning: 'yellow', bad: 'red' } as const;

/** Prints lines for a user. Start and duration of an action are kept until it ends. */
export function terminalSink(options: TerminalSinkOptions): EventSink {
  const { level, write, style, draw = colored(style), isHidden = () => false } = options;
  const calls = new Map<number, OpenCall>();
  const replayed = openReplayFilter();
  return harmless(({ elapsed, event }) => {
    const open = 'call' in event && event.call !== undefined ? calls.get(event.call) : undefined;
    if (event.type === 'action') calls.set(event.call, { action: event.action, tool: event.tool, startedAt: elapsed });
    if (event.type === 'decision' && open !== undefined) calls.set(event.call, { ...open, decision: event.decision });
    if (event.type === 'approval-ask' && open !== undefined) calls.set(event.call, { ...open, askedAt: elapsed });
    if (event.type === 'approval-answer' && open?.askedAt !== undefined)
      calls.set(event.call, { ...open, startedAt: open.startedAt + elapsed - open.askedAt, askedAt: undefined });
    if (event.type === 'observation') calls.delete(event.call);
    if (event.type === 'run-end') calls.clear();
    const call = open === undefined ? {} : { ...open, durationMs: (open.askedAt ?? elapsed) - open.startedAt };
    const isReplayed = replayed(event);
    if ((isReplayed && level !== 'verbose') || isHidden(event)) return;
    for (const { tone, text } of eventText(event, level, call))
      write(`${draw({ tone, text: isReplayed ? `replayed: ${text}` : text })}\n`);
  });
}

function colored(style: TerminalSinkOptions['style']): (line: TextLine) => string {
  return ({ tone, text }) => (tone === 'plain' ? text : style(STYLES[tone], text));
}

/** Recognizes the events of a resumed run that repeat the record of an earlier one: nothing happens again. */
export function openReplayFilter(): (event: RunEvent) => boolean {
  let answers = 0;
  let calls = 0;
  return (event) => {
    if (event.type === 'run-start') {
      ({ answers, calls } = event.agent?.resumes ?? { answers: 0, calls: 0 });
      return false;
    }
    if (event.type === 'run-end' || (answers <= 0 && calls <= 0)) return false;
    if (event.type === 'model-call' && answers === 0) calls = 0;
    if (event.type === 'model-answer') answers -= 1;
    if (event.type === 'observation') {
      calls -= 1;
      return true;
    }
    return answers > 0 || calls > 0 || event.type === 'model-answer';
  };
}

/** Prints one line of JSON per event. */
export function jsonlSink(write: (text: string) => void): EventSink {
  return harmless(({ seq, time, elapsed, event }) =>
    write(`${visibleJson(JSON.stringify({ seq, time, elapsed, event }))}\n`),
  );
}

/** A closed pipe or a full disk behind a sink must not end a run. */
function harmless(sink: EventSink): EventSink {
  return (line) => {
    try {
      sink(line);
    } catch {
      // There is no other place to report it.
    }
  };
}
