/** Builtins of the shell: those that need no rule, and those that run text or change what later words mean. */

import { fixedWord, type CommandWord, type SimpleCommand } from './command-words.ts';

export type Words = readonly CommandWord[];

/** What a command runs, besides its own program. */
export interface Inside {
  readonly role: SimpleCommand['role'];
  readonly inner?: readonly SimpleCommand[];
  readonly mentions?: readonly SimpleCommand[];
  readonly hides?: string;
}

/** They start no program and reach no file besides redirections, which are read apart. */
const FREE: ReadonlySet<string> = new Set(
  `: true false test [ echo printf cd pwd pushd popd dirs exit return break continue shift set unset export readonly declare typeset local
  read let getopts shopt umask ulimit wait jobs fg bg disown times type hash trap alias unalias mapfile readarray caller help history
  logout suspend`.split(/\s+/),
);

export function isFreeBuiltin(name: string): boolean {
  return FREE.has(name);
}

/** Options with which a builtin runs or loads something that the line does not show. */
const HIDING: ReadonlyMap<string, RegExp> = new Map([
  ['alias', /=/],
  ['enable', /./],
  ['bind', /./],
  ['fc', /^/],
  ['jobs', /^-[a-z]*x/],
  ['hash', /^-[a-z]*p/],
  ['complete', /^-[a-zA-Z]*[CFW]/],
  ['compgen', /^-[a-zA-Z]*[CFW]/],
  ['compopt', /^/],
  ['mapfile', /^-[a-z]*C/],
  ['readarray', /^-[a-z]*C/],
]);

/** What a builtin runs; undefined for a builtin that runs nothing. */
export function readBuiltin(words: Words, readText: (text: CommandWord | undefined) => Inside): Inside | undefined {
  const [first, ...rest] = words;
  const name = first?.text ?? '';
  const hiding = HIDING.get(name);
  if (hiding !== undefined && rest.some(({ text, kind }) => kind !== 'fixed' || hiding.test(text)))
    return { role: 'program', hides: `${name} changes what later words run` };
  if (name === 'eval') {
    const args = rest[0]?.text === '--' ? rest.slice(1) : rest;
    const isFixed = args.every(({ kind }) => kind === 'fixed');
    const text = args.map((word) => word.text).join(' ');
    return readText(isFixed ? fixedWord(text) : undefined);
  }
  if (name !== 'trap') return undefined;
  const [action, ...signals] = rest.filter(({ text }, index) => index > 0 || text !== '--');
  if (action === undefined || (action.kind === 'fixed' && /^(?:-|-[lpP]+|)$/.test(action.text)) || signals.length === 0)
    return { role: 'shell' };
  return { ...readText(action), role: 'shell' };
}
