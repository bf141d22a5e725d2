/** Wrappers that only run another program: `timeout 5 git status` is `git status`. */

import type { CommandWord, SimpleCommand } from '../../core/command.ts';

interface WrapperOptions {
  readonly flags?: string;
  /** Letters whose value is the rest of the word or the next word. */
  readonly valued?: string;
  readonly long?: RegExp;
  /** Number of operands before the program. */
  readonly operands?: number;
}

/** Options that are not listed make the command unknown. */
const WRAPPERS: ReadonlyMap<string, WrapperOptions> = new Map<string, WrapperOptions>([
  ['nice', { flags: '0123456789', valued: 'n', long: /^--adjustment=-?\d+$/ }],
  ['nohup', {}],
  ['setsid', { flags: 'cfw', long: /^--(?:ctty|fork|wait)$/ }],
  [
    'timeout',
    {
      flags: 'v',
      valued: 'ks',
      long: /^--(?:foreground|preserve-status|verbose|(?:kill-after|signal)=\w+)$/,
      operands: 1,
    },
  ],
  ['stdbuf', { valued: 'ioe', long: /^--(?:input|output|error)=\w+$/ }],
  ['ionice', { flags: 't', valued: 'cn', long: /^--(?:ignore|class=\w+|classdata=\w+)$/ }],
  ['time', { flags: 'pqvV', valued: 'f', long: /^--(?:portability|quiet|verbose|format=.*)$/ }],
  ['command', { flags: 'p' }],
  ['env', {}],
  [
    'xargs',
    {
      flags: '0rtxo',
      valued: 'nILPsdE',
      long: /^--(?:null|no-run-if-empty|verbose|exit|(?:max-[a-z]+|delimiter)=.+)$/,
    },
  ],
]);

export type Inside =
  /** The wrapped program starts at this word. */
  | { readonly type: 'command'; readonly at: number; readonly command: SimpleCommand }
  | { readonly type: 'nothing' }
  /** The options hide which program is run. */
  | { readonly type: 'unknown'; readonly at: number };

/** What a wrapper runs; undefined if the program is not a wrapper. */
export function insideWrapper(program: string, { words }: SimpleCommand): Inside | undefined {
  const options = WRAPPERS.get(program);
  if (options === undefined) return undefined;
  const start = endOfOptions(words, options);
  if (!start.isUnderstood) {
    const isLookup = program === 'command' && /^-[vV]$/.test(words[1]?.text ?? '');
    return isLookup ? { type: 'nothing' } : { type: 'unknown', at: start.at };
  }
  const at = start.at + (options.operands ?? 0);
  const inner = words[at];
  if (inner === undefined) return { type: 'nothing' };
  const isAssignment = program === 'env' && inner.text.includes('=');
  const isComputed = words.slice(start.at, at + 1).some((word) => word.glob !== 'none');
  if (isAssignment || isComputed || inner.text === '' || inner.text.startsWith('-')) return { type: 'unknown', at };
  if (program !== 'xargs') return { type: 'command', at, command: { words: words.slice(at) } };
  return insideXargs(words, at);
}

/** Words from stdin are appended, or replace the placeholder. */
function insideXargs(words: readonly CommandWord[], at: number): Inside {
  const sign = signOf(words.slice(0, at));
  const filled = words.slice(at).map((word): CommandWord => {
    const place = sign === undefined ? -1 : word.text.indexOf(sign);
    return place === -1 ? word : { text: word.text, glob: place === 0 ? 'start' : 'inside' };
  });
  if (filled[0]?.glob !== 'none') return { type: 'unknown', at };
  return { type: 'command', at, command: { words: [...filled, { text: '', glob: 'start' }] } };
}

function signOf(words: readonly CommandWord[]): string | undefined {
  for (const [index, { text }] of words.entries()) {
    const attached = /^-[^-]*?I(.*)$/s.exec(text)?.[1];
    if (attached !== undefined) return attached === '' ? words[index + 1]?.text : attached;
  }
  return undefined;
}

interface EndOfOptions {
  readonly isUnderstood: boolean;
  readonly at: number;
}

function endOfOptions(words: readonly CommandWord[], { flags = '', valued = '', long }: WrapperOptions): EndOfOptions {
  let at = 1;
  for (let word = words[at]; word !== undefined; word = words[at]) {
    const { text, glob } = word;
    if (!text.startsWith('-') && glob !== 'start') break;
    if (text === '--' && glob === 'none') return { isUnderstood: true, at: at + 1 };
    if (glob !== 'none') return { isUnderstood: false, at };
    if (text.startsWith('--')) {
      if (long?.test(text) !== true) return { isUnderstood: false, at };
      at += 1;
      continue;
    }
    const letters = text.slice(1);
    const taking = Array.from(letters).findIndex((letter) => valued.includes(letter));
    const own = taking === -1 ? letters : letters.slice(0, taking);
    if (letters === '' || !Array.from(own).every((letter) => flags.includes(letter)))
      return { isUnderstood: false, at };
    at += taking === letters.length - 1 ? 2 : 1;
  }
  return { isUnderstood: true, at };
}
