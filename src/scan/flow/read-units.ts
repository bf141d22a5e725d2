/** Reads the code of a skill: its scripts, and the fenced code of its documents, as units with names of their own. */
import { fenceAfter } from '#core';
import type { ScanFile } from '../finding.ts';
import { isDocument } from '../passages.ts';
import { readExecutedTexts } from './executed-text.ts';
import { foldScript, foldShell } from './fold.ts';
import { splitCode, type Language, type Statement, type Strings } from './split-code.ts';

export interface FlowStatement extends Statement {
  readonly unit: Unit;
  readonly scope: Scope;
  /** With all constants folded. */
  readonly code: string;
  /** As written, for what folding removes. */
  readonly written: string;
  /** What is assigned to; empty if nothing is. */
  readonly left: string;
  readonly right: string;
  /** Texts that a decoder gave. */
  readonly decoded: readonly string[];
}

export interface Scope {
  readonly id: number;
  readonly parent?: Scope;
  readonly level: number;
  /** Names that belong to it. */
  readonly names: Set<string>;
  /** Folded values: strings, lists of strings, modules and functions. */
  readonly constants: Map<string, string>;
  /** Its function; absent for the scope of a unit. */
  readonly of?: FlowFunction;
}

export interface FlowFunction {
  readonly name: string;
  readonly params: readonly string[];
  readonly scope: Scope;
}

export interface Unit {
  readonly id: number;
  readonly file: ScanFile;
  readonly language: Language;
  readonly isFence: boolean;
  readonly statements: FlowStatement[];
  readonly functions: Map<string, FlowFunction>;
  /** Local name to the module and the name in it; `*` is the whole module. */
  readonly imports: { readonly local: string; readonly module: string; readonly name: string }[];
}

const LANGUAGES: readonly (readonly [RegExp, Language])[] = [
  [/^(?:py|pyw|python[\d.]*)$/, 'python'],
  [/^(?:m?js|cjs|jsx|m?ts|cts|tsx|javascript|typescript|node)$/, 'javascript'],
  [/^(?:sh|bash|zsh|ksh|dash|command|shell|console|shell-session|terminal|)$/, 'shell'],
];

interface Piece {
  readonly language: Language;
  readonly line: number;
  readonly text: string;
  readonly isFence: boolean;
}

function languageNamed(name: string): Language | undefined {
  return LANGUAGES.find(([names]) => names.test(name.toLowerCase()))?.[1];
}

/** The code of one file. */
function readPieces(file: ScanFile): readonly Piece[] {
  if (file.binary !== undefined) return [];
  if (isDocument(file)) return fencedPieces(file.text);
  const first = /^#![^\n]{0,200}/.exec(file.text)?.[0];
  const extension = /\.(\w{1,10})$/.exec(file.path)?.[1] ?? (/(?:^|\/)makefile$/i.test(file.path) ? 'sh' : '?');
  const program = /(?:\/|env (?:-S )?)(python|node|bun|deno|(?:ba|z|k|da)?sh)[\d.]{0,5}(?: |$)/.exec(first ?? '')?.[1];
  const language = languageNamed(program === 'bun' || program === 'deno' ? 'node' : (program ?? extension));
  return language === undefined || isMinified(file.text)
    ? []
    : [{ language, line: 1, text: file.text, isFence: false }];
}

/** Bundles use the same few names for everything, so nothing can be followed in them. */
function isMinified(text: string): boolean {
  return text.length > MAX_DENSE && text.length / (text.split('\n', 1_000).length || 1) > DENSE;
}

const MAX_DENSE = 40_000;
const DENSE = 300;

function fencedPieces(text: string): readonly Piece[] {
  if (!text.includes('```') && !text.includes('~~~')) return [];
  const lines = text.split('\n');
  const byLanguage = new Map<Language, string[]>();
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const fence = fenceAfter(line);
    if (fence === undefined) continue;
    const language = languageNamed(/^[\s>]*[`~]{3,}\s*([\w-]{0,20})/.exec(line)?.[1] ?? '?');
    let end = at + 1;
    while (end < lines.length && fenceAfter(lines[end] ?? '', fence) !== undefined) end += 1;
    if (language !== undefined) {
      const code = byLanguage.get(language) ?? [];
      byLanguage.set(language, code);
      // Blank lines keep the numbers of the lines.
      while (code.length <= at) code.push('');
      code.push(...lines.slice(at + 1, end));
    }
    at = end;
  }
  return [...byLanguage].map(([language, code]) => ({ language, line: 1, text: code.join('\n'), isFence: true }));
}

export function readUnits(files: readonly ScanFile[], strings: Strings): readonly Unit[] {
  const units: Unit[] = [];
  for (const file of files) {
    const executed = readExecutedTexts(file, files).map((one) => ({ ...one, line: 1, isFence: false }));
    const pieces: Piece[] = [...readPieces(file), ...executed];
    for (let piece = pieces.shift(); piece !== undefined && units.length < 2_000; piece = pieces.shift()) {
      const { language, line, text, isFence } = piece;
      const { statements, inner } = splitCode(text, language, strings);
      const unit: Unit = {
        id: units.length,
        file,
        language,
        isFence,
        statements: [],
        functions: new Map(),
        imports: [],
      };
      units.push(unit);
      readStatements(unit, statements, { strings, line });
      pieces.push(...inner.map((one) => ({ ...one, line: one.line + line - 1, isFence })));
    }
  }
  return units;
}

const FUNCTION_HEADS: Readonly<Record<Language, readonly RegExp[]>> = {
  python: [/^(?:async )?def (\w{1,80}) ?\((.*)\)/, /^(\w{1,80}) ?= ?lambda ([^:]*):/],
  javascript: [
    /\bfunction ?\*? ?([\w$]{0,80}) ?\(([^()]*)\)[^(){}]{0,80}\{$/,
    /(?:\b(?:const|let|var)|exports\.|,|\{) ?([\w$]{1,80}) ?(?::[^=]{0,80})?[=:] ?(?:async )?\(?([^()=]*)\)?[^=]{0,60}=> ?\{?/,
    /(?:\b(?:const|let|var)|exports\.) ?([\w$]{1,80}) ?= ?(?:async )?function[ \w]{0,40}\(([^()]*)\)/,
    /^(?:async |static |public |private |export |default )*(?!if\b|for\b|while\b|switch\b|catch\b|function\b)([\w$]{1,80}) ?\(([^()]*)\)[^(){}]{0,80}\{$/,
  ],
  shell: [/^(?:function )?([\w-]{1,80}) ?(?:\( ?\))() ?\{?$/, /^function ([\w-]{1,80})() ?\{?$/],
};

function readStatements(
  unit: Unit,
  statements: readonly Statement[],
  { strings, line }: { readonly strings: Strings; readonly line: number },
): void {
  let next = 0;
  const scopes: Scope[] = [newScope(next, -1)];
  for (const statement of statements) {
    while (scopes.length > 1 && statement.level <= (scopes.at(-1)?.level ?? -1)) scopes.pop();
    const scope = scopes.at(-1) ?? newScope(0, -1);
    const folded = foldStatement(unit, statement.code, { scope, strings });
    const { left, right } = folded;
    if (left !== '') {
      // Attributes of an object are shared by its methods.
      for (const name of assignedNames(left)) (name.startsWith('self$') ? (scopes[0] ?? scope) : scope).names.add(name);
      keepConstant(scope, left, right, unit.language);
    }
    if (MAY_IMPORT.test(folded.code)) readImports(unit, folded.code, scope, strings);
    unit.statements.push({
      ...statement,
      ...folded,
      line: statement.line + line - 1,
      written: statement.code,
      unit,
      scope,
      left,
      right,
    });
    const head = MAY_BE_HEAD.test(folded.code) ? findHead(folded.code, unit.language) : undefined;
    if (head === undefined) continue;
    const params = (head[2] ?? '').split(',').map((one) => /[\w$]+/.exec(one.replace(/^[ *.{]+/, ''))?.[0] ?? '');
    // The body of an arrow function can be an expression, which itself can end with an open block.
    const isExpression = head[0].includes('=>') && head.index + head[0].length < folded.code.length;
    const isBody = (/(?:\{|:)$/.test(folded.code) && !isExpression) || unit.language === 'shell';
    const own = isBody ? newScope((next += 1), statement.level, scope) : scope;
    const flow: FlowFunction = {
      name: head[1] ?? '',
      params: params.filter((name) => name !== 'self' && name !== 'cls'),
      scope: own,
    };
    for (const name of flow.params) own.names.add(name);
    if (unit.language === 'shell') own.names.add('@');
    if (flow.name !== '') {
      scope.names.add(flow.name);
      unit.functions.set(flow.name, flow);
    }
    if (isBody) scopes.push({ ...own, of: flow });
  }
}

const MAY_BE_HEAD = /^(?:async )?def |\blambda\b|=>|\bfunction\b|\{$|^[\w-]{1,80} ?\( ?\)/;

function findHead(code: string, language: Language): RegExpExecArray | undefined {
  for (const pattern of FUNCTION_HEADS[language]) {
    const found = pattern.exec(code);
    if (found !== null) return found;
  }
  return undefined;
}

function newScope(id: number, level: number, parent?: Scope): Scope {
  return { id, level, parent, names: new Set(), constants: new Map() };
}

const MAY_IMPORT = /^(?:from|import|source|\.) |\brequire\(|\bimport\(/;

export function assignedNames(left: string): readonly string[] {
  const exported = /^(?:module\.)?exports\.(\w{1,80})$/.exec(left)?.[1];
  if (exported !== undefined) return [exported];
  return [...left.replaceAll('...', ' ').matchAll(/(?<![\w$.])[A-Za-z_$][\w$]*/g)].map(([name]) => name);
}

interface FoldContext {
  readonly scope: Scope;
  readonly strings: Strings;
}

function foldStatement(
  unit: Unit,
  code: string,
  { scope, strings }: FoldContext,
): Pick<FlowStatement, 'code' | 'decoded' | 'left' | 'right'> {
  if (unit.language === 'shell') {
    const folded = foldShell(code, scope.constants);
    return { ...folded, ...splitAssignment(folded.code, 'shell') };
  }
  const plain = code.includes('.') ? code.replaceAll(/\b(?:self|this)\.(\w{1,60})\b(?! ?\()/g, 'self$$$1') : code;
  const { left, operator, right } = splitAssignment(plain, unit.language);
  const known = hasConstants(scope) ? right.replaceAll(NAME_IN_CODE, (name) => constantOf(scope, name) ?? name) : right;
  const { code: folded, decoded } = foldScript(known, strings);
  return { code: left === '' ? folded : `${left} ${operator} ${folded}`, decoded, left, right: folded };
}

const NAME_IN_CODE = /(?<![\w$.\ue000])[A-Za-z_$][\w$]*(?![\w$])(?! ?=(?!=|>))/g;

function hasConstants(scope: Scope): boolean {
  for (let at: Scope | undefined = scope; at !== undefined; at = at.parent) if (at.constants.size > 0) return true;
  return false;
}

function constantOf(scope: Scope | undefined, name: string): string | undefined {
  for (let at = scope; at !== undefined; at = at.parent) {
    const value = at.constants.get(name);
    if (value !== undefined) return value;
    if (at.names.has(name)) return undefined;
  }
  return undefined;
}

const VALUE = String.raw`(?:\ue000\d+\ue001|0x[0-9a-f]+|\d+)`;
/** A text, or a list of texts and numbers. The comma is required: without it a long number can be split in many ways. */
const CONSTANT = new RegExp(
  String.raw`^(?:\ue000\d+\ue001|str\.maketrans\( ?\ue000\d+\ue001 ?, ?\ue000\d+\ue001 ?\)|[[(] ?${VALUE}(?: ?, ?${VALUE})* ?,? ?[\])])$`,
  'i',
);
/** A module or one of its functions: an alias for it. */
const ALIAS =
  /^(?:await )?(?:(?:requests|httpx|urllib|socket|os|subprocess|base64|codecs|pty|http|https|net|tls|dns|child_process|fs|axios|node-fetch|got|builtins|importlib|zlib|marshal|vm|smtplib|ftplib|process|exec|eval|compile|fetch|atob|Function|Buffer)(?:\.\w{1,30}){0,3})$/;

function keepConstant(scope: Scope, left: string, right: string, language: Language): void {
  const name = /^(?:(?:const|let|var|export|local|readonly|declare(?: -\w+)?) )*([\w$]{1,80})(?: ?:[^=]{1,80})?$/.exec(
    left.trim(),
  )?.[1];
  if (name === undefined) {
    const pairs = /^(?:const|let|var) ?\{([^{}]{1,400})\}$/.exec(left.trim())?.[1];
    if (pairs !== undefined && ALIAS.test(right.trim()))
      for (const pair of pairs.split(',')) {
        const [from = '', to = from] = pair.split(':').map((one) => one.trim());
        if (from !== '') scope.constants.set(to, `${right.trim()}.${from}`);
      }
    return;
  }
  // A name in a loop stands for each word of its list.
  const words =
    language === 'shell'
      ? /^for \w{1,80} in ((?:[A-Za-z.~_-][\w.~-]{0,40} ){1,12}[A-Za-z.~_-][\w.~-]{0,40})$/.exec(right)?.[1]
      : undefined;
  const value = words === undefined ? right.trim() : `{${words.replaceAll(' ', ',')}}`;
  const isKept =
    language === 'shell'
      ? value.length <= 8_000 && !/[$`|<>]|^for /.test(value)
      : CONSTANT.test(value) || (ALIAS.test(value) && value !== name);
  if (isKept) scope.constants.set(name, value);
  else scope.constants.delete(name);
}

const OPERATOR = /^(?:\+=|\|=|\?\?=|\|\|=|:=|=)/;

/** Splits `left = right` outside brackets; `left` is empty if the statement assigns nothing. */
export function splitAssignment(
  code: string,
  language: Language,
): { readonly left: string; readonly operator: string; readonly right: string } {
  if (language === 'shell') {
    const match =
      /^(?:(?:do|then|else) )?(?:(?:export|local|readonly|declare(?: -\w{1,4})?|typeset) )?(\w{1,80})=(.*)$/s.exec(
        code,
      );
    if (match !== null) return { left: match[1] ?? '', operator: '=', right: match[2] ?? '' };
    const read =
      /\bread (?:-\w{1,4} )*(\w{1,80})\b/.exec(code) ??
      /^for (\w{1,80}) in /.exec(code) ??
      /\b(?:mapfile|readarray) (?:-\w{1,4} )*(\w{1,80})\b/.exec(code);
    return { left: read?.[1] ?? '', operator: '=', right: code };
  }
  const isHead = /^(?:async )?(?:for|with)\b/.test(code);
  const loop = !isHead ? null : /^(?:async )?for \(?(?:(?:const|let|var) )?([^()]{1,80}?) (?:in|of) (.*)$/s.exec(code);
  if (loop !== null) return { left: loop[1] ?? '', operator: '=', right: loop[2] ?? '' };
  const opened = !isHead ? null : /^(?:async )?with (.*) as (\w{1,80}) ?:?$/s.exec(code);
  if (opened !== null) {
    const others = [...(opened[1] ?? '').matchAll(/ as (\w{1,80}) ?,/g)].map(([, name = '']) => name);
    return { left: [...others, opened[2] ?? ''].join(', '), operator: '=', right: opened[1] ?? '' };
  }
  let depth = 0;
  for (let at = 0; at < code.length && at < 400; at += 1) {
    const one = code.charAt(at);
    if ('([{'.includes(one)) depth += 1;
    else if (')]}'.includes(one)) depth -= 1;
    if (depth !== 0 || !'=+|?:'.includes(one)) continue;
    const operator = OPERATOR.exec(code.slice(at, at + 3))?.[0];
    if (operator === undefined) continue;
    const after = code.charAt(at + operator.length);
    if (operator === '=' && (after === '=' || after === '>' || '!<>='.includes(code.charAt(at - 1)))) {
      at += 1;
      continue;
    }
    return { left: code.slice(0, at).trim(), operator, right: code.slice(at + operator.length).trim() };
  }
  return { left: '', operator: '', right: code };
}

function readImports({ language, imports }: Unit, code: string, scope: Scope, strings: Strings): void {
  const add = (module: string, name: string, local: string): void => {
    const clean = module.replace(/^node:/, '');
    imports.push({ module: clean, name, local });
    const target = name === '*' ? clean : `${clean}.${name}`;
    if (ALIAS.test(target) && target !== local) scope.constants.set(local, target);
  };
  const names = (list: string, separator: RegExp): readonly (readonly [string, string])[] =>
    list.split(',').flatMap((one) => {
      const [name = '', local = name] = one.trim().split(separator);
      return name === '' ? [] : [[name, local] as const];
    });
  if (language === 'python') {
    const from = /^from ([\w.]{1,80}) import \(?([^()]{1,800})\)?$/.exec(code);
    if (from !== null)
      for (const [name, local] of names(from[2] ?? '', / as /)) add((from[1] ?? '').replace(/^\.+/, ''), name, local);
    const plain = /^import ([^()]{1,400})$/.exec(code);
    if (plain !== null) for (const [name, local] of names(plain[1] ?? '', / as /)) add(name, '*', local);
  } else if (language === 'javascript') {
    const from = /^import (.{1,400}?) from ?\ue000(\d+)\ue001/.exec(code);
    const required = /^(?:const|let|var) (.{1,400}?) = (?:await )?(?:require|import)\( ?\ue000(\d+)\ue001 ?\)/.exec(
      code,
    );
    const [, clause = '', index] = from ?? required ?? [];
    const module = strings[Number(index)] ?? '';
    if (module === '') return;
    const inner = /\{([^{}]*)\}/.exec(clause)?.[1] ?? '';
    for (const [name, local] of names(inner, /(?: as | ?: ?)/)) add(module, name, local);
    const whole = /^(?:\* as )?([\w$]{1,80})/.exec(clause)?.[1];
    if (whole !== undefined) add(module, '*', whole);
  } else {
    const sourced = /^(?:source|\.) (\S{1,200})/.exec(code)?.[1];
    if (sourced !== undefined) add(sourced, '*', '*');
  }
}
