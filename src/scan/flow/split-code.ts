/**
 * Splits Python, JavaScript and shell into statements for the data-flow rules. It is no parser: it knows strings, comments, brackets and
 * blocks, so that a statement is whole and the text of a string is not taken for code. Linear in the length of the text.
 */

export type Language = 'python' | 'javascript' | 'shell';

export interface Statement {
  /** 1-based. */
  readonly line: number;
  /** Indentation or nesting: the body of a function is deeper than its head. */
  readonly level: number;
  /** The code with a token instead of each string. Shell: the words without their quotes. */
  readonly code: string;
}

/** Code inside code: the argument of `python -c`, a here-document. */
interface InnerCode {
  readonly language: Language;
  readonly line: number;
  readonly text: string;
}

export interface SplitCode {
  readonly statements: readonly Statement[];
  readonly inner: readonly InnerCode[];
}

/** Values of the strings; a token is the index of one between two private characters, which are removed from the text first. */
export type Strings = string[];
const OPEN = '\ue000';
const CLOSE = '\ue001';
const PRIVATE = /[\ue000-\ue002]/g;
/** Longer strings are data; only their start is kept. */
const MAX_STRING = 20_000;
const MAX_STATEMENT = 20_000;
const MAX_NESTING = 4;

export const TOKEN = String.raw`\ue000(\d{1,7})\ue001`;

export function addString(strings: Strings, value: string): string {
  return `${OPEN}${String(strings.push(value.slice(0, MAX_STRING)) - 1)}${CLOSE}`;
}

export function splitCode(text: string, language: Language, strings: Strings): SplitCode {
  const clean = text.replaceAll(PRIVATE, '');
  return language === 'shell' ? splitShell(clean) : splitScript(clean, language, { strings, nesting: 0 });
}

interface Reading {
  readonly strings: Strings;
  /** Of expressions in template strings. */
  readonly nesting: number;
}

/** Characters without a meaning of their own. */
const RUN = /[^\n#"'`/()[\]{};:,]+/y;
const PYTHON_HEAD = /^(?:async )?(?:def|class|if|elif|for|while|with|try|except|finally|else)\b/;
const ENDS_OPEN = /(?:[,([{=+]|=>|&&|\|\||\?|:|\breturn|\bawait)$/;
const STARTS_OPEN = /^\s{0,200}(?:[.+?:)\]]|&&|\|\||\/(?!\/))/;
/** The head of a statement without braces; its body is a statement of its own. */
const HEAD = /^\s*(?:for|if|while)\s*(?:await\s*)?\(/;
const DECLARATION = /^\s*(?:export )?(?:const|let|var) [^=]*=/;
const FINDS_VARIABLE = /^\/\^?(?:\\s\*)?(?:\(\?:export\\s\+\)\?)?[A-Z][A-Z\d_]{2,60}(?:\\s\*|\s)?=/;
const BLOCK_BEFORE = /(?:\)|=>|\b(?:else|try|finally|do)|^)$/;

function splitScript(text: string, language: 'python' | 'javascript', reading: Reading): SplitCode {
  const isPython = language === 'python';
  const statements: Statement[] = [];
  const blocks: number[] = [];
  const openers: string[] = [];
  let [code, line, start, indent, extra, depth] = ['', 1, 1, 0, 0, 0];
  const end = (): void => {
    // Of one declaration with several names.
    const trimmed = code.trim().replace(/^const {2,}/, 'const ');
    if (trimmed !== '')
      statements.push({
        line: start,
        level: isPython ? indent + extra : blocks.length,
        code: trimmed.slice(0, MAX_STATEMENT),
      });
    code = '';
    start = line;
  };
  for (let at = 0; at < text.length;) {
    RUN.lastIndex = at;
    const run = RUN.exec(text)?.[0];
    if (run !== undefined) {
      code += run;
      at += run.length;
      continue;
    }
    const character = text.charAt(at);
    if (character === '\n') {
      line += 1;
      at += 1;
      const trimmed = code.trimEnd();
      const isContinued = isPython
        ? trimmed.endsWith('\\')
        : ENDS_OPEN.test(trimmed) || (trimmed !== '' && STARTS_OPEN.test(text.slice(at, at + 210)));
      if (isContinued) code = isPython ? trimmed.slice(0, -1) : code;
      if (depth > 0 || isContinued) code += ' ';
      else {
        end();
        start = line;
        extra = 0;
        indent = /^[ \t]{0,400}/.exec(text.slice(at, at + 400))?.[0].length ?? 0;
      }
    } else if (isPython && character === '#') at = endOfLine(text, at);
    else if (!isPython && character === '/' && text[at + 1] === '/') at = endOfLine(text, at);
    else if (!isPython && character === '/' && text[at + 1] === '*') {
      const close = text.indexOf('*/', at + 2);
      const stop = close === -1 ? text.length : close + 2;
      for (let next = text.indexOf('\n', at); next !== -1 && next < stop; next = text.indexOf('\n', next + 1))
        line += 1;
      at = stop;
    } else if (character === '"' || character === "'" || (character === '`' && !isPython)) {
      const prefix = isPython ? (/(?<![\w.])[rbuf]{1,2}$/i.exec(code)?.[0] ?? '') : '';
      if (prefix !== '') code = code.slice(0, -prefix.length);
      const string = readString(text, at, { prefix, isPython });
      code += string.parts
        .map((part, place) =>
          place % 2 === 0 ? addString(reading.strings, part) : `(${inside(part, language, reading)})`,
        )
        .join('+');
      line += countLines(text, at, string.end);
      at = string.end;
    } else if (!isPython && character === '/' && /(?:[(,=:[!&|?{};]|\breturn|^)\s{0,20}$/.test(code.slice(-30))) {
      const stop = endOfRegExp(text, at);
      // Of an expression it matters only whether it finds one variable by its name.
      code += FINDS_VARIABLE.test(text.slice(at, stop)) ? '/NAME/' : '/re/';
      at = stop;
    } else if (!isPython && character === '{' && BLOCK_BEFORE.test(code.trimEnd().slice(-8))) {
      code += '{';
      end();
      blocks.push(depth);
      openers.push('{block');
      depth = 0;
      at += 1;
    } else if (!isPython && character === '}' && openers.at(-1) === '{block') {
      end();
      openers.pop();
      depth = blocks.pop() ?? 0;
      at += 1;
    } else {
      if ('([{'.includes(character)) {
        depth += 1;
        openers.push(character);
      } else if (')]}'.includes(character) && depth > 0) {
        depth -= 1;
        openers.pop();
      }
      at += 1;
      const isHeadEnd =
        character === ')' &&
        depth === 0 &&
        !isPython &&
        HEAD.test(code) &&
        !/^\s{0,200}\{/.test(text.slice(at, at + 210));
      if (isHeadEnd) {
        code += ')';
        end();
      } else if (character === ';' && depth === 0) end();
      else if (character === ',' && !isPython && depth === 0 && DECLARATION.test(code)) {
        end();
        code = 'const ';
      } else if (character === ':' && isPython && depth === 0 && PYTHON_HEAD.test(code.trim())) {
        code += ':';
        end();
        extra += 1;
      } else code += character;
    }
  }
  end();
  return { statements, inner: [] };
}

/** The code of an expression in a template string. */
function inside(expression: string, language: 'python' | 'javascript', { strings, nesting }: Reading): string {
  if (nesting >= MAX_NESTING) return '';
  const { statements } = splitScript(expression, language, { strings, nesting: nesting + 1 });
  return statements.map(({ code }) => code).join(' ');
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
}

function countLines(text: string, from: number, to: number): number {
  let lines = 0;
  for (let at = text.indexOf('\n', from); at !== -1 && at < to; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}

function endOfRegExp(text: string, from: number): number {
  let isClass = false;
  for (let at = from + 1; at < text.length && text[at] !== '\n'; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '[') isClass = true;
    else if (text[at] === ']') isClass = false;
    else if (text[at] === '/' && !isClass) return at + 1;
  }
  return from + 1;
}

interface ReadString {
  /** Text and expression in turn, starting with text. */
  readonly parts: readonly string[];
  readonly end: number;
}

function readString(
  text: string,
  from: number,
  { prefix, isPython }: { readonly prefix: string; readonly isPython: boolean },
): ReadString {
  const quote = text.charAt(from);
  const close = isPython && text.startsWith(quote.repeat(3), from) ? quote.repeat(3) : quote;
  const isRaw = /r/i.test(prefix);
  const opening = isPython ? (/f/i.test(prefix) ? '{' : '') : quote === '`' ? '${' : '';
  const mayWrap = close.length === 3 || quote === '`';
  const parts: string[] = [];
  let [value, at] = ['', from + close.length];
  while (at < text.length && !text.startsWith(close, at)) {
    if (text[at] === '\n' && !mayWrap) break;
    if (opening !== '' && text.startsWith(opening, at) && !text.startsWith('{{', at)) {
      const end = endOfBraces(text, at + opening.length);
      const expression = text.slice(at + opening.length, end);
      parts.push(value, isPython ? expression.replace(/(?:![rsa])?(?::[^:[\](){}'"]{0,20})?$/, '') : expression);
      value = '';
      at = end + 1;
    } else if (text[at] === '\\' && !isRaw) {
      const { decoded, length } = readEscape(text.slice(at, at + 12));
      value += decoded;
      at += length;
    } else {
      value += text.charAt(at);
      at += isPython && opening !== '' && (text.startsWith('{{', at) || text.startsWith('}}', at)) ? 2 : 1;
    }
  }
  return { parts: [...parts, value], end: text.startsWith(close, at) ? at + close.length : at };
}

function endOfBraces(text: string, from: number): number {
  let depth = 0;
  let at = from;
  for (; at < text.length && at < from + 2_000; at += 1) {
    if (text[at] === '{') depth += 1;
    else if (text[at] === '}') {
      if (depth === 0) return at;
      depth -= 1;
    }
  }
  return at;
}

const ESCAPE = /^\\(?:x([0-9a-f]{2})|u\{([0-9a-f]{1,6})\}|u([0-9a-f]{4})|U([0-9a-f]{8})|([0-7]{1,3})|([\s\S]))/i;
const SPECIAL: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', e: '\u001b', '\n': '' };

/** Decodes the escape at the start of a text. */
export function readEscape(text: string): { readonly decoded: string; readonly length: number } {
  const match = ESCAPE.exec(text);
  if (match === null) return { decoded: '', length: 1 };
  const [whole, hex, braces, four, eight, octal, other = ''] = match;
  const number = hex ?? braces ?? four ?? eight;
  const code = number === undefined ? Number.parseInt(octal ?? '', 8) : Number.parseInt(number, 16);
  const decoded = Number.isNaN(code) ? (SPECIAL[other] ?? other) : String.fromCodePoint(Math.min(code, 0x10_ffff));
  return { decoded, length: whole.length };
}

const INTERPRETER = /\b(?:(python[\d.]{0,4})|(node|bun|deno)|(?:ba|z|da|k)?sh|eval)\b[^|;&]{0,80}$/;
const INLINE = /\s(?:-[a-z]{0,4}[ce]|--eval)\s{0,4}$|\beval\s{0,4}$/;
/** What comes next is searched for. */
const SEARCHES = /(?:^|[|;&(\s])(?:[efz]?grep|rg|ag|ack)(?:\s-[\w-]{1,30}(?:[= ]\d{1,4})?)*\s$/;
const HERE_DOCUMENT = /(?<!<)<<-?(?!<)\s{0,4}["']?(\w{1,40})["']?/;

/** The language that a command runs; undefined if it is no interpreter. */
function interpretedLanguage(command: string): Language | undefined {
  const match = INTERPRETER.exec(command);
  if (match === null) return undefined;
  return match[1] === undefined ? (match[2] === undefined ? 'shell' : 'javascript') : 'python';
}

function splitShell(text: string): SplitCode {
  const statements: Statement[] = [];
  const inner: InnerCode[] = [];
  // `read`: how much of the code was searched for a here-document.
  let [code, line, start, depth, level, read] = ['', 1, 1, 0, 0, 0];
  const end = (): void => {
    const trimmed = code.trim().replace(/^\$ /, '');
    if (trimmed.startsWith('}')) level = Math.max(0, level - 1);
    if (trimmed !== '') statements.push({ line: start, level, code: trimmed.slice(0, MAX_STATEMENT) });
    if (/\)\s{0,4}\{$|^function .{1,60}\{$/.test(trimmed)) level += 1;
    code = '';
    read = 0;
    start = line;
  };
  for (let at = 0; at < text.length;) {
    const character = text.charAt(at);
    if (character === '\n') {
      const here = HERE_DOCUMENT.exec(code.slice(read))?.[1];
      line += 1;
      at += 1;
      if (here !== undefined) {
        const close = new RegExp(String.raw`^[\t ]*${here}[\t ]*$`, 'm').exec(text.slice(at));
        const body = text.slice(at, close === null ? text.length : at + close.index);
        const language = interpretedLanguage(code);
        if (language === undefined) code += ` ${body.replaceAll('\n', ' ')}`;
        else inner.push({ language, line, text: body });
        line += countLines(text, at, at + body.length) + 1;
        at = endOfLine(text, at + body.length) + 1;
      }
      read = code.length;
      if (/(?:\||&&|\|\|)\s{0,20}$/.test(code) || depth > 0) code += ' ';
      else end();
      if (code.trim() === '') start = line;
    } else if (character === '\\') {
      if (text[at + 1] === '\n') line += 1;
      code += text[at + 1] === '\n' ? ' ' : (text[at + 1] ?? '');
      at += 2;
    } else if (character === '#' && /(?:^|\s)$/.test(code)) at = endOfLine(text, at);
    else if (character === '"' || character === "'") {
      const isAnsi = character === "'" && code.endsWith('$');
      const string = readShellString(text, at, isAnsi);
      const language = INLINE.test(code) ? interpretedLanguage(code) : undefined;
      if (language !== undefined) inner.push({ language, line, text: string.value });
      const isPattern = SEARCHES.test(code.slice(-200)) && !/[$\x60]/.test(string.value);
      const value = isPattern
        ? /^\^?(?:export )?[A-Z][A-Z\d_]{2,60}=/.test(string.value)
          ? 'NAME='
          : 'pattern'
        : string.value;
      code = `${isAnsi ? code.slice(0, -1) : code}${value.replaceAll('\n', ' ')}`;
      line += countLines(text, at, string.end);
      at = string.end;
    } else if (
      depth === 0 &&
      (character === ';' || (character === '&' && !/[<>&]$/.test(code) && text[at + 1] !== '>'))
    ) {
      end();
      at += 1;
    } else if (depth === 0 && character === '|' && text[at + 1] === '|') {
      end();
      at += 2;
    } else {
      if (character === '(' && code.endsWith('$')) depth += 1;
      else if (character === ')' && depth > 0) depth -= 1;
      code += character;
      at += 1;
    }
  }
  end();
  return { statements, inner };
}

function readShellString(
  text: string,
  from: number,
  isAnsi: boolean,
): { readonly value: string; readonly end: number } {
  const quote = text.charAt(from);
  let [value, at] = ['', from + 1];
  for (; at < text.length && text[at] !== quote;) {
    if (text[at] === '\\' && (isAnsi || quote === '"')) {
      const { decoded, length } = isAnsi ? readEscape(text.slice(at, at + 12)) : readQuoted(text.slice(at, at + 2));
      value += decoded;
      at += length;
    } else {
      value += text.charAt(at);
      at += 1;
    }
  }
  return { value, end: at + 1 };
}

/** Between double quotes a backslash escapes these only. */
function readQuoted(escape: string): { readonly decoded: string; readonly length: number } {
  return { decoded: /^\\[$`"\\\n]/.test(escape) ? escape.slice(1) : escape, length: 2 };
}
