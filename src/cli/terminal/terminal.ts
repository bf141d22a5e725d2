import { textWidth } from '#platform';
import { jsonText } from '../json.ts';
import { styled, type Style } from './styles.ts';
import { wrapWords } from './wrap.ts';

export type { Style } from './styles.ts';

export interface Stream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
}

/** One text, or lines to print one after the other. */
type Text = string | Iterable<string>;

/** The two streams of a command: stdout carries the answer, stderr everything else. */
export interface Terminal {
  /** Columns of the terminal; 80 when stdout is not a terminal. */
  readonly width: number;
  /** Lines of the terminal; 24 when stdout is not a terminal. */
  readonly rows: number;
  readonly isColored: boolean;
  /** Whether progress may be drawn: stderr is a terminal and --quiet is not given. */
  readonly isInteractive: boolean;
  readonly isAnswerOnTerminal: boolean;
  /** Whether the answer is JSON: --json is given. */
  readonly isJson: boolean;
  /** Whether lines of stdout may be drawn again: stdout is a terminal that understands cursor movements. */
  readonly isRedrawn: boolean;
  readonly out: (text: Text) => void;
  /** Prints the answer as JSON if --json is given, and returns whether it is. */
  readonly printJson: (answer: object) => boolean;
  /** Writes a piece of a program's output as it arrives, without adding a line break. */
  readonly pass: (stream: 'stdout' | 'stderr', text: string) => void;
  /** Prints remarks to stderr; silent with --quiet. */
  readonly remark: (text: Text) => void;
  /** Prints errors and warnings to stderr, also with --quiet. */
  readonly err: (text: Text) => void;
  /** Redraws the current line of stderr; an empty text clears it. */
  readonly overwrite: (text: string) => void;
  readonly style: (style: Style, text: string) => string;
  /** Wraps a text by words when stdout is a terminal; programs that read a pipe get whole lines. */
  readonly wrap: (text: string, indent?: number) => string;
}

export interface Streams {
  readonly stdout: Stream;
  readonly stderr: Stream;
}

export interface TerminalOptions {
  readonly streams: Streams;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly color: 'auto' | 'always' | 'never';
  readonly quiet: boolean;
  readonly json: boolean;
}

const DEFAULT_WIDTH = 80;
const MIN_WIDTH = 40;

export function openTerminal({ streams: { stdout, stderr }, env, color, quiet, json }: TerminalOptions): Terminal {
  const onTerminal = stdout.isTTY === true;
  const isColored = color === 'always' || (color === 'auto' && supportsColor(env, onTerminal));
  const print = (stream: Stream, text: Text): void => {
    if (typeof text === 'string') stream.write(`${text}\n`);
    else if (Array.isArray(text)) stream.write(text.map((line) => `${line}\n`).join(''));
    else for (const line of text) stream.write(`${line}\n`);
  };
  /** Columns of the line that the next `overwrite` replaces. */
  let overwritable = 0;
  const width = (): number => Math.max(MIN_WIDTH, readColumns(stdout));
  return {
    get width() {
      return width();
    },
    get rows() {
      return stdout.rows ?? 24;
    },
    isColored,
    isInteractive: !quiet && env['TERM'] !== 'dumb' && !env['CI'] && stderr.isTTY === true,
    isAnswerOnTerminal: onTerminal,
    isJson: json,
    isRedrawn: onTerminal && env['TERM'] !== 'dumb' && !env['CI'],
    out: (text) => print(stdout, text),
    printJson: (answer) => {
      if (json) print(stdout, jsonText(answer));
      return json;
    },
    pass: (stream, text) => void (stream === 'stdout' ? stdout : stderr).write(text),
    remark: (text) => {
      if (!quiet) print(stderr, text);
    },
    err: (text) => print(stderr, text),
    overwrite: (text) => {
      // A window that became narrower has wrapped the old line over several rows.
      const above = Math.ceil(overwritable / width()) - 1;
      stderr.write(above > 0 ? `\u001B[${String(above)}A\r\u001B[J${text}` : `\r\u001B[K${text}`);
      overwritable = textWidth(text);
    },
    style: (style, text) => (isColored ? styled(style, text) : text),
    wrap: (text, indent = 0) => (onTerminal ? wrapWords(text, { width: width(), indent }) : text),
  };
}

/** The width of a stream. Some terminals report 0 columns. */
export function readColumns({ columns = 0 }: Stream): number {
  return columns > 0 ? columns : DEFAULT_WIDTH;
}

/** Follows no-color.org and the FORCE_COLOR convention; a pipe gets no colors. */
function supportsColor(env: TerminalOptions['env'], onTerminal: boolean): boolean {
  if (env['NO_COLOR'] !== undefined && env['NO_COLOR'] !== '') return false;
  if (env['FORCE_COLOR'] !== undefined && env['FORCE_COLOR'] !== '0') return true;
  return onTerminal && env['TERM'] !== 'dumb';
}

export interface ReportedProblem {
  readonly message: string;
  readonly hint: string;
  /** Shown after the message. */
  readonly code?: string;
}

/** Prints an error with its hint to stderr. */
export function reportProblem(terminal: Terminal, { message, hint, code }: ReportedProblem): void {
  const { err, style } = terminal;
  err(`${style('red', 'error')}: ${message}${code === undefined ? '' : ` ${style('dim', code)}`}`);
  reportHint(terminal, hint);
}

export function reportHint({ err, style }: Terminal, hint: string): void {
  err(style('dim', `hint: ${hint}`));
}

export function reportWarning({ err, style }: Terminal, message: string): void {
  err(`${style('yellow', 'warning')}: ${message}`);
}

/** Shows what a command is about to do. A user who is asked to confirm sees it also with --quiet and --json. */
export function showPlan(lines: readonly string[], isAsked: boolean, { remark, err, isJson }: Terminal): void {
  if (isAsked) err(lines);
  else if (!isJson) remark(lines);
}
