/** Shows an agent at work: the plan, one line per action, and the answer while it streams. */
import { readFileSync } from 'node:fs';

import {
  actionFailed,
  agentEventText,
  cleanText,
  describeAction,
  durationText,
  failure,
  interruptedText,
  describeOutcome,
  printable,
  shownText,
  type Action,
  type Plan,
  type RunEvent,
  type RunResult,
  type eventText,
} from '#core';
import { jsonlSink, terminalSink, type EventSink } from '#journal';
import { fitText, monotonicMs, quietly, textWidth } from '#platform';
import { askStreams, isTerminal, setRawMode, takeKeys } from '../terminal/ask.ts';
import type { Style, Terminal } from '../terminal/terminal.ts';
import { wrapWords } from '../terminal/wrap.ts';
import { openAnswerStream } from './answer-stream.ts';
import { isAttended } from './approval.ts';
import type { TypeAhead } from './type-ahead.ts';

type TextLine = ReturnType<typeof eventText>[number];

type TextLevel = Parameters<typeof eventText>[1];

export interface AgentDisplay {
  readonly sink: EventSink;
  readonly output: (stream: 'stdout' | 'stderr', chunk: Uint8Array) => void;
  readonly end: (answer: string) => void;
}

/** Calls back for each key that shows or hides the output of a program, until the returned function is called. */
export type WatchOutputKey = (onKey: () => void) => () => void;

/** Takes all keys while something is waited for, and calls back after each. */
export interface TypedKeys {
  readonly shown: string;
  readonly watch: (onKey: (isOutputKey: boolean) => void) => () => void;
}

/**
 * On a terminal, a status line with the elapsed time shows what the agent waits for, and the answer streams. Elsewhere, plain lines are
 * printed and the answer when it is complete. Progress goes to stderr, the answer to stdout.
 */
export function openAgentDisplay(
  terminal: Terminal,
  level: TextLevel,
  watchKey?: WatchOutputKey,
  typed?: TypedKeys,
): AgentDisplay {
  const stream = openAnswerStream(terminal);
  const status = level === 'quiet' ? openStatus(terminal) : openStatus(terminal, watchKey, typed);
  let plan: Plan | undefined;
  let waited: string | undefined;
  const say = (text: string): void => {
    status.clear();
    stream.interrupt();
    terminal.remark(text);
  };
  const draw = ({ tone, text }: TextLine): string => {
    const [mark, style] = TONES[tone];
    const line = mark === '' ? text : `${terminal.style(style, mark)} ${text}`;
    return wrapWords(tone === 'faint' ? terminal.style('dim', line) : line, { width: terminal.width, indent: 2 });
  };
  const lines = terminalSink({
    level,
    write: (line) => say(line.trimEnd()),
    style: terminal.style,
    isHidden: (event) => event.type === 'plan' || isShownElsewhere(event, terminal),
    ...(terminal.isInteractive ? { draw } : {}),
  });
  const open = new Map<number, Action['type']>();
  const stopped = new Set<number>();
  /** What was already said, once each. */
  const warned = new Set<string>();
  let last: { readonly line: Parameters<EventSink>[0]; readonly seenAt: number } | undefined;
  const sink: EventSink = (line) => {
    const { event } = line;
    last = { line, seenAt: performance.now() };
    if (event.type === 'action') open.set(event.call, event.action.type);
    if (event.type === 'observation') {
      open.delete(event.call);
      if (stopped.delete(event.call)) return;
    }
    if (event.type === 'answer-delta') {
      status.end();
      return stream.add(event.text);
    }
    if (event.type === 'decision-delta') {
      // The text of an answer follows at once.
      if (event.text === 'final_answer' || level === 'quiet') return;
      stream.interrupt();
      return status.change(agentEventText(event));
    }
    if (!isSilent(event)) status.end();
    if (event.type === 'model-call') stream.begin();
    // Text that is drawn again later would replace the lines of a question.
    if (event.type === 'action' || event.type === 'approval-ask') stream.interrupt();
    if (event.type === 'plan') {
      if (level !== 'quiet') for (const step of planLines(plan, event.plan, terminal)) say(step);
      plan = event.plan;
    }
    lines(line);
    if ((terminal.isInteractive || isAttended()) && level !== 'quiet')
      for (const row of failedOutput(event)) say(terminal.style('dim', fitText(`  │ ${row}`, terminal.width - 1)));
    if (level !== 'quiet')
      for (const warning of failedWarnings(event)) {
        if (!warned.has(warning)) say(terminal.wrap(`  ${terminal.style('yellow', warning)}`, 2));
        warned.add(warning);
      }
    waited = waitText(event) ?? waited;
    const isWaiting = waitText(event) !== undefined || event.type === 'approval-answer';
    if (isWaiting && waited !== undefined && level !== 'quiet') status.begin(waited);
  };
  /** A step that was stopped may end after the answer, when the next message is being typed: it gets its line before the answer. */
  const endSteps = (): void => {
    for (const [call, action] of open) {
      if (last === undefined || action === 'final_answer') continue;
      const { line, seenAt } = last;
      const observation = actionFailed(action, failure('run/interrupted', interruptedText(action)));
      const elapsed = line.elapsed + performance.now() - seenAt;
      sink({ ...line, elapsed, event: { type: 'observation', call, observation } });
      stopped.add(call);
    }
  };
  return {
    sink,
    output: status.output,
    end(answer) {
      endSteps();
      status.end();
      stream.end(answer);
    },
  };
}

const TONES: Readonly<Record<TextLine['tone'], readonly [mark: string, style: Style]>> = {
  plain: ['', 'dim'],
  faint: ['', 'dim'],
  good: ['✓', 'green'],
  warning: ['!', 'yellow'],
  bad: ['✗', 'red'],
};

const OUTPUT_ROWS = 3;

/** The last lines that a failed program printed, which often say what is wrong. */
function failedOutput(event: RunEvent): readonly string[] {
  const result = failedResult(event);
  if (result === undefined) return [];
  const { stdout, stderr } = result;
  const lines = cleanText(stderr.trim() === '' ? stdout : stderr).split('\n');
  return lines
    .filter((line) => line.trim() !== '')
    .slice(-OUTPUT_ROWS)
    .map(printable);
}

/** What we know about the failure, such as the flag that a program needs. */
function failedWarnings(event: RunEvent): readonly string[] {
  return failedResult(event)?.warnings.map(printable) ?? [];
}

function failedResult(event: RunEvent): RunResult | undefined {
  if (event.type !== 'observation' || event.observation.type !== 'program-ran') return undefined;
  const { result } = event.observation;
  const isFailed = describeOutcome(event.observation, false).tone === 'warning' && result.reason !== 'cancelled';
  return isFailed ? result : undefined;
}

/** Events that come while a step goes on. */
function isSilent({ type }: RunEvent): boolean {
  return (
    type === 'content-keep' || type === 'session' || type === 'span' || type === 'skill-use' || type === 'decision'
  );
}

/** The answer, the outcome and the id of the run are printed at the end; at a terminal, a question shows itself and its answer. */
function isShownElsewhere(event: RunEvent, { isInteractive }: Terminal): boolean {
  if (event.type === 'observation') return event.observation.type === 'answered';
  if (event.type === 'run-start') return isInteractive;
  if (event.type === 'approval-ask') return isInteractive || isAttended();
  // The line of the action and the question after it say so.
  if (event.type === 'note') return isInteractive && event.message.startsWith('interrupted: ');
  if (event.type === 'approval-answer' && typeof event.answer === 'object')
    // The prompt shows the mode that accepts edits.
    return event.answer.by === 'terminal' || (isInteractive && event.answer.reason === '--accept');
  return event.type === 'run-end' && event.outcome === 'done';
}

function waitText(event: RunEvent): string | undefined {
  if (event.type === 'model-call') return `turn ${String(event.turn)}: asking ${shownText(event.model)}`;
  if (event.type === 'action' && event.action.type !== 'final_answer') return describeAction(event.action, event.tool);
  return undefined;
}

const MARKS: Readonly<Record<Plan['steps'][number]['status'], readonly [mark: string, style: Style]>> = {
  completed: ['[x]', 'green'],
  in_progress: ['[>]', 'bold'],
  pending: ['[ ]', 'dim'],
};

/** The display that the flags select: JSON lines or text. A command that prints one JSON value shows nothing before it. */
export function displayFor(
  { log: level = 'normal' }: { readonly log?: TextLevel },
  terminal: Terminal,
  { isOneValue, typeAhead }: { readonly isOneValue: boolean; readonly typeAhead: TypeAhead | undefined },
): AgentDisplay {
  const nothing = (): void => undefined;
  const lines = jsonlSink((text) => terminal.pass('stdout', text));
  if (terminal.isJson) return { sink: isOneValue ? nothing : lines, output: nothing, end: nothing };
  const watch: WatchOutputKey = (onKey) => watchOutputKey(process, onKey);
  if (typeAhead === undefined) return openAgentDisplay(terminal, level, watch);
  return openAgentDisplay(terminal, level, watch, {
    get shown() {
      return typeAhead.shown;
    },
    watch: (onKey) =>
      watchOutputKey(
        process,
        () => onKey(true),
        (text) => {
          typeAhead.press(text);
          onKey(false);
        },
      ),
  });
}

export function planLines(
  before: Plan | undefined,
  { steps }: Plan,
  { style }: Pick<Terminal, 'style'>,
): readonly string[] {
  const known = new Map(before?.steps.map((step) => [step.id, step]));
  return steps
    .filter((step) => !isSame(known.get(step.id), step))
    .map(({ title, status }) => {
      const [mark, look] = MARKS[status];
      return `  ${style(look, `${mark} ${printable(title)}`)}`;
    });
}

function isSame(before: Plan['steps'][number] | undefined, { title, status }: Plan['steps'][number]): boolean {
  return before?.title === title && before.status === status;
}

interface StatusLine {
  /** Shows what is waited for, with the elapsed time, until `end`. */
  begin(text: string): void;
  change(text: string): void;
  /** Takes what a program prints; its last line is shown after the key. */
  readonly output: (stream: 'stdout' | 'stderr', chunk: Uint8Array) => void;
  /** Makes room for another line; the status appears again below it. */
  clear(): void;
  end(): void;
}

const FRAMES = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏';
const REDRAW_MS = 100;
/** More of a line is never shown. */
const MAX_LINE = 500;
const OUTPUT_HINT = 'Ctrl-O: output';

/** One line on stderr that is redrawn in place; nothing where stderr is not a terminal. */
function openStatus(terminal: Terminal, watchKey?: WatchOutputKey, typed?: TypedKeys): StatusLine {
  const decoder = new TextDecoder();
  let current: { readonly text: string; readonly startedAt: number } | undefined;
  let timer: NodeJS.Timeout | undefined;
  let release: (() => void) | undefined;
  let isOpen = false;
  let hasOutput = false;
  /** The last line of the running program, and the part of the next one. */
  let printed = { last: '', partial: '' };

  const draw = (): void => {
    if (current === undefined) return;
    const ms = monotonicMs() - current.startedAt;
    const frame = FRAMES.charAt(Math.floor(ms / REDRAW_MS) % FRAMES.length);
    // The elapsed time is ours and comes first, so that no name can push it away.
    const step = `${frame} ${ms < 1000 ? '' : `${durationText(Math.floor(ms / 1000) * 1000)} `}${current.text}`;
    const last = printed.partial.trim() === '' ? printed.last : printed.partial;
    const line = typed?.shown ?? '';
    const output = isOpen ? `  │ ${printable(last.trim())}` : `  ${OUTPUT_HINT}`;
    const rest = line === '' ? (hasOutput ? output : '') : `  ${printable(line)}`;
    terminal.overwrite(terminal.style('dim', besides(step, rest, terminal.width - 1)));
  };
  const end = (): void => {
    clearInterval(timer);
    timer = undefined;
    release?.();
    release = undefined;
    if (current !== undefined) terminal.overwrite('');
    current = undefined;
    hasOutput = false;
    printed = { last: '', partial: '' };
  };
  const onKey = (isOutputKey: boolean): void => {
    if (isOutputKey) isOpen = !isOpen;
    draw();
  };
  const begin = (text: string, startedAt = monotonicMs()): void => {
    if (!terminal.isInteractive) return;
    end();
    current = { text, startedAt };
    release = typed?.watch(onKey);
    draw();
    timer = setInterval(draw, REDRAW_MS).unref();
  };
  return {
    begin: (text) => begin(text),
    change: (text) => begin(text, current?.startedAt),
    output(_stream, chunk) {
      if (current === undefined || watchKey === undefined) return;
      hasOutput = true;
      release ??= watchKey(() => onKey(true));
      const lines = (printed.partial + decoder.decode(chunk, { stream: true })).split(/\r\n|\r|\n/);
      const partial = (lines.pop() ?? '').slice(-MAX_LINE);
      const last = lines.findLast((line) => line.trim() !== '') ?? printed.last;
      printed = { last: last.slice(0, MAX_LINE), partial };
    },
    clear() {
      if (current !== undefined) terminal.overwrite('');
    },
    end,
  };
}

/** Shortens the step before the output, to half of the columns at most: a long command must not hide what it prints. */
function besides(step: string, output: string, columns: number): string {
  const room = Math.max(columns >> 1, columns - textWidth(output));
  return fitText(fitText(step, room) + output, columns);
}

const CTRL_C = '\u0003';
const CTRL_O = '\u000F';
const CTRL_Z = '\u001A';

/**
 * Calls `onKey` for each Ctrl-O until the returned function is called. Ctrl-C and Ctrl-Z act as in a terminal's normal mode, and other keys
 * go to `onTyped`, or are kept for the next reader.
 */
function watchOutputKey(process: NodeJS.Process, onKey: () => void, onTyped?: (typed: string) => void): () => void {
  const streams = askStreams(process);
  const { stdin } = process;
  // A background job that changes the mode of the terminal is stopped by the system.
  if (!isTerminal(streams) || isInBackground()) return () => undefined;
  let ahead = '';
  const onContinue = (): void => {
    if (!isInBackground()) setRawMode(stdin, true);
  };
  const release = takeKeys(
    stdin,
    (typed) => {
      if (typed === CTRL_O) onKey();
      else if (typed.includes(CTRL_C)) streams.interrupt();
      else if (typed === CTRL_Z) {
        setRawMode(stdin, false);
        process.kill(process.pid, 'SIGTSTP');
      } else if (onTyped === undefined) ahead += typed;
      else onTyped(typed);
    },
    () => undefined,
  );
  process.on('SIGCONT', onContinue);
  return () => {
    process.off('SIGCONT', onContinue);
    release();
    if (ahead !== '') stdin.unshift(Buffer.from(ahead));
  };
}

/** Whether another process group has the terminal. Known on Linux only. */
function isInBackground(): boolean {
  return quietly(() => {
    const fields = readFileSync('/proc/self/stat', 'latin1').split(') ').at(-1)?.split(' ') ?? [];
    return fields[2] !== fields[5];
  }, false);
}
