/**
 * Regular expressions of JavaScript that cannot run away: an expression becomes an automaton whose states are followed side by side, so
 * that a text is read once, whatever the expression. Whether a text matches is all that is asked; what was caught is not. Single
 * characters, classes and `\p{…}` are left to the engine of JavaScript, one character at a time, and mean exactly what they mean there.
 */
import { codePointAt } from '../../core/text/code-point.ts';
import { quoted } from '../../core/text/text.ts';
import { assembleRegex } from './regex-automaton.ts';
import type { RegexProgram } from './regex-automaton.ts';
import { RegexProblem, parseRegex } from './regex-syntax.ts';

export interface LinearRegex {
  /** Somewhere in the text, as `RegExp.test` has it. */
  test(text: string): boolean;
}

export type RegexReading =
  | { readonly type: 'regex'; readonly regex: LinearRegex }
  | { readonly type: 'refused'; readonly message: string };

const FLAGS = /^[imsu]*$/;
const LONGEST = 10_000;

/** Flags: `i`, `m`, `s`; `u` always holds. No back references, no look-around: they cannot be matched in one pass. */
export function readLinearRegex(source: string, flags = ''): RegexReading {
  if (source.length > LONGEST) return refused(source, `it has more than ${String(LONGEST)} characters`);
  if (!FLAGS.test(flags)) return refused(source, `the flags ${quoted(flags)} are not among i, m, s and u`);
  const set = new Set(flags);
  const options = { ignoreCase: set.has('i'), multiline: set.has('m'), dotAll: set.has('s') };
  try {
    const program = assembleRegex(parseRegex(source, options), options);
    return { type: 'regex', regex: { test: (text) => follow(program, text) } };
  } catch (error) {
    if (error instanceof RegexProblem) return refused(source, error.message);
    throw error;
  }
}

/** `/expression/flags` as cases write it among plain texts; nothing where a text is none. */
export function readSlashedRegex(text: string): RegexReading | undefined {
  const [, source, flags] = /^\/(.+)\/([a-z]*)$/s.exec(text) ?? [];
  return source === undefined ? undefined : readLinearRegex(source, flags);
}

function refused(source: string, reason: string): RegexReading {
  return { type: 'refused', message: `the expression ${quoted(source)} cannot be used: ${reason}` };
}

/** Every state is entered at most once a place: the work is the length of the text times that of the expression. */
function follow({ states, start }: RegexProgram, text: string): boolean {
  const seen = new Int32Array(states.length).fill(-1);
  const pending: number[] = [];
  let active: number[] = [];
  let at = 0;
  /** Whether the end was reached. */
  const enter = (first: number, list: number[]): boolean => {
    let isEnd = false;
    pending.push(first);
    for (let place = pending.pop(); place !== undefined; place = pending.pop()) {
      const state = states[place];
      if (state === undefined || seen[place] === at) continue;
      seen[place] = at;
      if (state.type === 'end') isEnd = true;
      else if (state.type === 'split') pending.push(...state.next);
      else if (state.type === 'assert') {
        if (state.holds(text, at)) pending.push(state.next);
      } else list.push(place);
    }
    return isEnd;
  };
  let isFound = enter(start, active);
  while (at < text.length && !isFound) {
    const code = codePointAt(text, at);
    const character = String.fromCodePoint(code);
    const from = active;
    const following: number[] = [];
    at += character.length;
    for (const place of from) {
      const state = states[place];
      if (state?.type === 'character' && state.matches(character)) isFound = enter(state.next, following) || isFound;
    }
    // A match may begin anywhere.
    isFound = enter(start, following) || isFound;
    active = following;
  }
  return isFound;
}
