/** Builtins of bash: what they run, which variables they set, and which of their words the shell evaluates. */
import { ANY, NUMBER, textLevel, type CommandWord, type SimpleCommand, type WordValue } from './command-words.ts';
import type { LineFacts } from './line-facts.ts';
import { variableValue } from './shell-expansions.ts';

export type Words = readonly CommandWord[];

/** What a command runs, besides its own program. */
export interface Inside {
  readonly role: SimpleCommand['role'];
  readonly inner?: readonly SimpleCommand[];
  readonly mentions?: readonly SimpleCommand[];
  readonly hides?: string;
}

/** They neither start a program nor set a variable, whatever their words are. */
const FREE: ReadonlySet<string> = new Set(
  ': true false echo pwd cd pushd popd dirs exit return break continue shift umask ulimit fg bg disown times type kill'.split(
    ' ',
  ),
);

/** Builtins that set variables by name, with the options that are understood. */
const NAMING: ReadonlyMap<string, RegExp> = new Map([
  ['read', /^-[rs]*(?:[adnNptu]|[nNtu]\d+|d.)?$/],
  ['mapfile', /^-t?[dnsu]?$/],
  ['readarray', /^-t?[dnsu]?$/],
  ['getopts', /^$/],
  ['unset', /^-[fv]$/],
  ['export', /^-[fp]$/],
  ['readonly', /^-[afp]$/],
  ['declare', /^-[xrgapfF]+$/],
  ['typeset', /^-[xrgapfF]+$/],
  ['local', /^-[xra]+$/],
]);

/** Builtins whose words must all be known, and harmless. */
const FIXED: ReadonlyMap<string, RegExp> = new Map([
  ['set', /^$/],
  ['shopt', /^(?:-[supq]+|nullglob|globstar|dotglob|failglob|nocaseglob|nocasematch|inherit_errexit|lastpipe)$/],
  ['jobs', /^-[lnprs]+$/],
  ['hash', /^-r$/],
]);

/** Builtins that change what later words mean, or run text, in ways that are not read. */
const HIDING: ReadonlySet<string> = new Set(
  'alias unalias bind caller compgen complete compopt enable fc help history logout suspend'.split(' '),
);

/** What a builtin runs; undefined if the name is not that of a builtin. */
export function readBuiltin(
  [first, ...rest]: Words,
  facts: LineFacts,
  readText: (text: CommandWord | undefined) => Inside,
): Inside | undefined {
  const name = first?.text ?? '';
  const shown = (isShown: boolean): Inside =>
    isShown ? { role: 'shell' } : { role: 'program', hides: `${name} may change what later words run` };
  if (FREE.has(name)) return { role: 'shell' };
  if (HIDING.has(name)) return shown(false);
  const options = NAMING.get(name);
  if (options !== undefined) return shown(setNames(name, rest, options, facts));
  switch (name) {
    case 'set':
      return shown(isKnownSet(rest));
    case 'test':
    case '[':
      return shown(isKnownTest(rest, facts));
    case 'printf':
      return shown(isKnownPrint(rest, facts));
    case 'let':
      return shown(rest.every(({ kind, text }) => kind === 'fixed' && isKnownArithmetic(text, facts)));
    case 'wait':
      for (const { text, value } of rest) if (!/^(?:-[nf]+|%\S*)$/.test(text)) facts.need('number', value);
      return shown(true);
    case 'eval': {
      const args = rest[0]?.text === '--' ? rest.slice(1) : rest;
      const inside = readText(joinWords(args));
      return inside.hides === undefined ? { ...inside, role: 'shell' } : inside;
    }
    case 'trap':
      return readTrap(rest, readText);
    default: {
      const known = FIXED.get(name);
      return known && shown(rest.every(({ kind, text }) => kind === 'fixed' && known.test(text)));
    }
  }
}

/** The words with blanks between them; undefined if one of them is computed. */
export function joinWords(words: Words): CommandWord | undefined {
  if (words.some(({ kind }) => kind !== 'fixed')) return undefined;
  const text = words.map((word) => word.text).join(' ');
  return { text, kind: 'fixed', pieces: [text], isSplit: false, value: ANY };
}

function textValue(text: string): WordValue {
  return { level: textLevel(text), from: [] };
}

/** Any word may be a name: which of them are depends on the options. */
function setNames(builtin: string, words: Words, options: RegExp, facts: LineFacts): boolean {
  const isDeclared = /^(?:export|readonly|declare|typeset|local|unset)$/.test(builtin);
  if (builtin === 'unset') facts.unset();
  return words.every(({ text, kind, pieces: [start = ''], isSplit, value }, index) => {
    const [, name, sign] = /^([A-Za-z_]\w*)(?:(\+?=)|$)/.exec(kind === 'fixed' ? text : start) ?? [];
    if (name !== undefined && (kind === 'fixed' || (sign !== undefined && !isSplit))) {
      // `export x` leaves the value; `read x` does not.
      const known =
        sign === undefined ? NUMBER : kind === 'fixed' ? textValue(text.slice(text.indexOf('=') + 1)) : value;
      facts.set(name, isDeclared ? known : ANY, !isDeclared);
      return true;
    }
    if (kind !== 'fixed') return false;
    return text.startsWith('-')
      ? text === '--' || options.test(text) || words[index - 1]?.text === '-d'
      : !/[[$`]/.test(text);
  });
}

const SET_NAMES = /^(?:pipefail|errexit|nounset|xtrace|verbose|noglob|noclobber|errtrace|functrace)$/;

/** Options of `set` and of a shell: `-k` and others change how later words are read. */
export function isKnownOption(text: string, before: string | undefined): boolean {
  return before?.endsWith('o') === true ? SET_NAMES.test(text) : /^[-+][efuvxCETh]*o?$/.test(text);
}

function isKnownSet(words: Words): boolean {
  const end = words.findIndex(({ text }) => text === '--');
  const options = end === -1 ? words : words.slice(0, end);
  return options.every(({ text, kind }, index) => kind === 'fixed' && isKnownOption(text, options[index - 1]?.text));
}

/** `test -v 'a[$(x)]'` runs a command, and a word may become `-v`. */
function isKnownTest(words: Words, facts: LineFacts): boolean {
  return words.every(({ text, kind, pieces: [start = ''], isSplit, value }, index) => {
    if (kind !== 'fixed' && isSplit) facts.need('plain', value);
    const next = words[index + 1];
    if (next === undefined || !(kind === 'fixed' ? /^-[vR]$/.test(text) : '-vR'.startsWith(start))) return true;
    if (next.kind !== 'fixed') facts.need('plain', next.value);
    return next.kind !== 'fixed' || !next.text.includes('[');
  });
}

/** `printf -v NAME` sets a variable. */
function isKnownPrint([first, second]: Words, facts: LineFacts): boolean {
  if (first === undefined) return true;
  if (first.kind !== 'fixed') {
    if (first.isSplit || first.pieces.every((piece) => /^-?\w*$/.test(piece))) facts.need('number', first.value);
    return true;
  }
  if (!first.text.startsWith('-v')) return true;
  const name = first.text === '-v' ? second : undefined;
  if (name?.kind !== 'fixed' || !/^\w+$/.test(name.text)) return false;
  facts.set(name.text, ANY, true);
  return true;
}

function isKnownArithmetic(text: string, facts: LineFacts): boolean {
  if (!/^[\w\s+\-*/%<>=!&|^~?:,()]*$/.test(text)) return false;
  for (const [name] of text.matchAll(/\b[A-Za-z_]\w*/g)) {
    facts.set(name, NUMBER, true);
    facts.need('number', variableValue(name));
  }
  return true;
}

function readTrap(words: Words, readText: (text: CommandWord | undefined) => Inside): Inside {
  const [action, ...signals] = words[0]?.text === '--' ? words.slice(1) : words;
  if (action === undefined || (action.kind === 'fixed' && /^(?:-|-[lpP]+|)$/.test(action.text)) || signals.length === 0)
    return { role: 'shell' };
  return { ...readText(action), role: 'shell' };
}
