export interface Stream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** Written out: `util.styleText` looks at the process's own streams on some versions of Node, and not on others. */
const CODES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  yellow: [33, 39],
  green: [32, 39],
  cyan: [36, 39],
} as const;

export type Style = keyof typeof CODES;

/** The two streams a command talks to: `out` is the answer, `err` is talk. */
export interface Terminal {
  readonly width: number;
  /** Progress may be drawn: stderr is a terminal and nobody asked for quiet. */
  readonly isInteractive: boolean;
  readonly isAnswerOnTerminal: boolean;
  readonly out: (text: string) => void;
  /** A piece of somebody else's output, as it comes: no line end is added. */
  readonly pass: (stream: 'stdout' | 'stderr', text: string) => void;
  /** Remarks; silent with --quiet. */
  readonly remark: (text: string) => void;
  /** Errors; never silent. */
  readonly err: (text: string) => void;
  /** Draws over the current line of stderr; an empty text clears it. */
  readonly overwrite: (text: string) => void;
  readonly style: (style: Style, text: string) => string;
}

/** What is about to be done: who is asked sees what about, also with --quiet and --json. */
export function tellPlan(
  lines: readonly string[],
  { isAsked, isJson }: { readonly isAsked: boolean; readonly isJson: boolean },
  { remark, err }: Terminal,
): void {
  if (isJson && !isAsked) return;
  const say = isAsked ? err : remark;
  for (const line of lines) say(line);
}

/** The streams may be getters: opening stderr takes milliseconds, and most runs say nothing there. */
export interface Streams {
  readonly stdout: Stream;
  readonly stderr: Stream;
}

export interface TerminalOptions {
  readonly streams: Streams;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly color: 'auto' | 'always' | 'never';
  readonly quiet: boolean;
}

const DEFAULT_WIDTH = 100;

export function openTerminal({ streams, env, color, quiet }: TerminalOptions): Terminal {
  const { stdout } = streams;
  const onTerminal = stdout.isTTY === true;
  const isColoured = color === 'always' || (color === 'auto' && wantsColour(env, onTerminal));
  return {
    width: Math.max(40, stdout.columns ?? DEFAULT_WIDTH),
    get isInteractive() {
      return !quiet && env['TERM'] !== 'dumb' && !env['CI'] && streams.stderr.isTTY === true;
    },
    isAnswerOnTerminal: onTerminal,
    out: (text) => void stdout.write(`${text}\n`),
    pass: (stream, text) => void streams[stream].write(text),
    remark: (text) => {
      if (!quiet) streams.stderr.write(`${text}\n`);
    },
    err: (text) => void streams.stderr.write(`${text}\n`),
    overwrite: (text) => void streams.stderr.write(`\r\u001B[K${text}`),
    style: (style, text) => (isColoured ? `\u001B[${CODES[style][0]}m${text}\u001B[${CODES[style][1]}m` : text),
  };
}

/** The conventions of no-color.org and of force-color; a pipe has no colours. */
function wantsColour(env: TerminalOptions['env'], onTerminal: boolean): boolean {
  if (env['NO_COLOR'] !== undefined && env['NO_COLOR'] !== '') return false;
  if (env['FORCE_COLOR'] !== undefined && env['FORCE_COLOR'] !== '0') return true;
  return onTerminal && env['TERM'] !== 'dumb';
}
