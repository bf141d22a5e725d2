/** A word that makes a command do more than its program name says. */

import type { CommandWord } from '../../core/command.ts';

export interface Hazard {
  /** Index of the word that a rule must spell out; behind the last word if no rule can. */
  readonly at: number;
  readonly reason: string;
  /** Whether it runs another program: none, one that the line shows, or a hidden one. */
  readonly runs: 'nothing' | 'shown' | 'hidden';
  /** `program`: a rule that names only the program covers it too. `all`: only a rule without wildcards covers it. */
  readonly needs: 'word' | 'program' | 'all';
}

export type Words = readonly CommandWord[];

export const RUNS = 'can run other programs or load code';
export const WRITES = 'reads or writes files that the rule does not name';
export const FIND_RUNS: readonly string[] = ['-exec', '-execdir', '-ok', '-okdir'];
/** Maximum nesting of programs that run programs. */
export const MAX_DEPTH = 8;

export function hazard(words: Words, at: number, what: string, needs: Hazard['needs'] = 'word'): Hazard {
  const names = [words[0], ...(at === 0 ? [] : [words[at]])].map((word) => (word?.text ?? '').slice(0, 60));
  return { at, reason: `${names.join(' ').trim()} ${what}`, runs: what === RUNS ? 'hidden' : 'nothing', needs };
}

export function whole(program: string, what: string, runs: Hazard['runs']): Hazard {
  return { at: 0, reason: `${program} ${what}`, runs, needs: 'all' };
}

export function isOperand({ text, glob }: CommandWord): boolean {
  return !text.startsWith('-') || text === '-' || glob !== 'none';
}

/** Whether a word equals a text, or is a pattern that could expand to it. */
export function mayBe({ text, glob }: CommandWord, wanted: string): boolean {
  if (glob === 'none') return text === wanted;
  if (glob === 'inside' && wanted.startsWith('-') && !text.startsWith('-')) return false;
  const [before = ''] = text.split(/[*?[{~]/, 1);
  const after = /[{}~\]]/.test(text) ? '' : text.replace(/^.*[*?[]/s, '');
  return wanted.startsWith(before) && wanted.endsWith(after);
}
