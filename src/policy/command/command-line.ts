/**
 * Parses a shell line into the commands it runs. Only lines that can be understood with certainty are parsed: simple commands with fixed
 * words, joined by `&&`, `||`, `;` and `|`. Everything else is `unclear`, because guessing could be exploited.
 */

import { isWordEnd, readWord, unclear } from './command-words.ts';
import type { ReadWord, Variables } from './command-words.ts';
import type { CommandLine, CommandWord, SimpleCommand, Unclear } from '../../core/command.ts';
import { hiddenCharacters } from '../../core/text/text.ts';

const MAX_LENGTH = 16 * 1024;
const MAX_COMMANDS = 100;

/**
 * Parses a line for `bash -c`. `variables` are those that only the runtime sets; any other variable makes the line unclear, because its
 * value is untrusted.
 */
export function readCommandLine(text: string, variables: Variables = {}): CommandLine {
  const problem = problemOfText(text);
  if (problem !== undefined) return unclear(problem);
  const tokens = readTokens(text, variables);
  return 'type' in tokens ? tokens : assemble(tokens);
}

function problemOfText(text: string): string | undefined {
  if (text.length > MAX_LENGTH) return 'it is longer than 16 KiB; put it into a script';
  if (/[\n\r\u2028\u2029]/.test(text)) return 'it has more than one line; join commands with && or ;';
  if (hiddenCharacters(text) !== undefined || /\p{Cs}/u.test(text)) {
    return 'it contains invisible characters; remove them';
  }
  return undefined;
}

type Token =
  | ReadWord
  | { readonly type: 'operator'; readonly operator: string; readonly end: number }
  /** A redirection that writes no file. */
  | { readonly type: 'redirection'; readonly end: number };
/** Blanks or a comment. */
type Skipped = { readonly type: 'skipped'; readonly end: number };

function readTokens(text: string, variables: Variables): readonly Token[] | Unclear {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const token = readToken(text, at, variables);
    if (token.type === 'unclear') return token;
    if (token.type !== 'skipped') tokens.push(token);
    at = token.end;
  }
  return tokens;
}

function readToken(text: string, at: number, variables: Variables): Token | Skipped | Unclear {
  const character = text.charAt(at);
  if (character === ' ' || character === '\t') return { type: 'skipped', end: at + 1 };
  if (character === '#') return { type: 'skipped', end: text.length };
  if (character === '(' || character === ')') {
    return unclear('( ) starts a subshell or an array; write the commands one after the other');
  }
  if (character === '<' || character === '>' || text.startsWith('&>', at)) return readRedirection(text, at, '');
  if (character === ';' || character === '|' || character === '&') return readOperator(text, at);
  const word = readWord(text, at, variables);
  if (word.type === 'unclear' || !'<>'.includes(text.charAt(word.end)) || word.end >= text.length) return word;
  // A number directly before the sign is a descriptor, and `{name}` would be set to one.
  if (/^\d+$/.test(word.source)) return readRedirection(text, word.end, word.source);
  return word.source.startsWith('{') ? REDIRECTED : word;
}

function readOperator(text: string, at: number): Token | Unclear {
  const operator = /(?:&&|\|\||[;|&])/y;
  operator.lastIndex = at;
  const found = operator.exec(text)?.[0] ?? '';
  const end = at + found.length;
  const next = text.charAt(end);
  if (found === '|' && next === '&') return unclear('|& joins two streams; write 2>&1 |');
  if (found === ';' && (next === ';' || next === '&'))
    return unclear(`;${next} belongs to a case statement; write simple commands`);
  return { type: 'operator', operator: found, end };
}

const TO_NOTHING = /(?:&>>?|>>?|>\||<)[ \t]*\/dev\/null/y;
const DUPLICATION = />&[12]/y;

const REDIRECTED = unclear(
  'a redirection reads or writes a file; only /dev/null and 2>&1 are supported, so let the program open its files',
);

function readRedirection(text: string, at: number, descriptor: string): Token | Unclear {
  if (descriptor.length > 1 || (descriptor !== '' && text.startsWith('&>', at))) return REDIRECTED;
  for (const form of descriptor === '' || '12'.includes(descriptor) ? [TO_NOTHING, DUPLICATION] : [TO_NOTHING]) {
    form.lastIndex = at;
    const match = form.exec(text);
    if (match !== null && isWordEnd(text, at + match[0].length)) {
      // A redirection such as `>&1(` does not end in a way that is understood.
      return '<>()'.includes(text.charAt(at + match[0].length)) && at + match[0].length < text.length
        ? REDIRECTED
        : { type: 'redirection', end: at + match[0].length };
    }
  }
  return REDIRECTED;
}

function assemble(tokens: readonly Token[]): CommandLine {
  const commands: SimpleCommand[] = [];
  let words: CommandWord[] = [];
  let before = '';
  let isNegated = false;
  let hasRedirection = false;
  for (const [index, token] of tokens.entries()) {
    if (token.type === 'redirection') {
      hasRedirection = true;
      continue;
    }
    if (token.type === 'word') {
      if (words.length === 0 && token.source === '!') {
        if (before === '|') return unclear('! must come before a whole pipeline');
        isNegated = true;
        continue;
      }
      const problem = words.length === 0 ? problemOfProgram(token) : undefined;
      if (problem !== undefined) return unclear(problem);
      words.push(token.word);
      continue;
    }
    if (words.length === 0) return unclear(`there is no command before ${token.operator}`);
    if (token.operator === '&' && index < tokens.length - 1) {
      return unclear('& in the middle starts a background command; write ; or && instead');
    }
    commands.push({ words });
    words = [];
    isNegated = false;
    hasRedirection = false;
    before = token.operator;
  }
  if (words.length > 0) commands.push({ words });
  else if (isNegated || hasRedirection || !ENDS.has(before))
    return unclear('a command is missing at the end of the line');
  if (commands.length > MAX_COMMANDS) return unclear('it has more than 100 commands; put them into a script');
  return firstProblem(commands) ?? { type: 'commands', commands };
}

const ENDS: ReadonlySet<string> = new Set([';', '&']);

const RESERVED: ReadonlySet<string> = new Set(
  'if then else elif fi for while until do done case esac select function time coproc [[ ]] { }'.split(' '),
);
const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*(?:\+?=|\[)/;

function problemOfProgram({ word, source, hasVariable }: ReadWord): string | undefined {
  if (RESERVED.has(source)) return `${source} is shell syntax; write simple commands, or put them into a script`;
  if (ASSIGNMENT.test(source)) return 'it sets a variable; pass the variable in the environment of the command';
  if (hasVariable || word.glob !== 'none') return 'the name of the program is computed; write it out';
  return word.text === '' ? 'the name of the program is empty' : undefined;
}

/** Builtins that run text or change how later words are interpreted. */
const CHANGES_THE_SHELL: ReadonlySet<string> = new Set(
  `. alias bg bind builtin caller compgen complete compopt coproc declare dirs disown enable eval exec export fc fg getopts hash history
  jobs let local logout mapfile popd pushd read readarray readonly return set shift shopt source suspend trap typeset unalias unset`.split(
    /\s+/,
  ),
);

function firstProblem(commands: readonly SimpleCommand[]): Unclear | undefined {
  for (const { words } of commands) {
    const [program, ...rest] = withoutCommandWord(words);
    const problem = program === undefined ? undefined : problemOfBuiltin(program, rest);
    if (problem !== undefined) return unclear(problem);
  }
  return undefined;
}

function problemOfBuiltin({ text }: CommandWord, rest: readonly CommandWord[]): string | undefined {
  if (CHANGES_THE_SHELL.has(text)) return `${text} evaluates text or changes the shell; run the program itself`;
  // These builtins evaluate an index such as a[$(..)] in a variable name.
  const naming = NAMES_A_VARIABLE.get(text);
  const isNaming = naming !== undefined && rest.some((word) => word.glob === 'start' || naming.test(word.text));
  return isNaming ? `${text} with this option uses a variable name, which can run a command; remove it` : undefined;
}

const NAMES_A_VARIABLE: ReadonlyMap<string, RegExp> = new Map([
  ['printf', /^-v/],
  ['test', /^-[vR]$/],
  ['[', /^-[vR]$/],
  ['wait', /^-[a-z]*p/],
]);

/** `command` runs the rest of the line, including builtins. */
function withoutCommandWord(words: readonly CommandWord[]): readonly CommandWord[] {
  let from = 0;
  while (words[from]?.text === 'command') {
    from += 1;
    while (words[from]?.text === '-p' || words[from]?.text === '--') from += 1;
  }
  return words.slice(from);
}
