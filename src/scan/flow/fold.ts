/**
 * Computes the constants of a statement: strings that are joined, reversed, decoded or looked up, modules and functions that are named by a
 * string. What remains is the plain form that the rules know, whatever way it was written.
 */
import { expandWords } from './globs.ts';
import { addString, readEscape, TOKEN, type Strings } from './split-code.ts';

/** What a decoder gave: text that the file itself does not show. */
export interface Folded {
  readonly code: string;
  readonly decoded: readonly string[];
}

interface Folding {
  readonly strings: Strings;
  readonly decoded: string[];
}

type Fold = readonly [
  pattern: RegExp,
  replace: (folding: Folding, groups: readonly (string | undefined)[]) => string | undefined,
];

const MAX_ROUNDS = 12;
const MAX_CODE = 8_000;

const valueOf = ({ strings }: Folding, index: string | undefined): string => strings[Number(index)] ?? '';
const add = ({ strings }: Folding, value: string): string => addString(strings, value);
/** Hidden text; too short ones are characters of a format. */
const reveal = (folding: Folding, value: string | undefined): string | undefined => {
  if (value === undefined) return undefined;
  if (value.length >= 4) folding.decoded.push(value);
  return add(folding, value);
};

/** Patterns with `§` for a string token and `·` for optional blanks. */
const compile = (source: string): RegExp => new RegExp(source.replaceAll('§', TOKEN).replaceAll('·', ' ?'), 'g');

/** One separator between two items, so that no text can be split in several ways. */
const items = (one: string): string => String.raw`(${one}(?:·,·${one}){0,4000}),?·`;
const STRINGS = items(String.raw`\ue000\d{1,7}\ue001`);
const LIST = String.raw`(?:\[|\()·${STRINGS}(?:\]|\))`;
const NUMBERS = String.raw`\[?·${items(String.raw`(?:0x[0-9a-f]{1,6}|\d{1,7})`)}\]?`;

const listOf = (folding: Folding, values: readonly string[]): string =>
  `[${values.map((value) => add(folding, value)).join(', ')}]`;
/** The part that `slice(from, to)` or `[from:to:step]` gives. */
function cut(whole: string | readonly string[], [from, to, step]: readonly (string | undefined)[]): readonly string[] {
  const at = (bound: string | undefined): number | undefined =>
    bound === undefined || bound === '' ? undefined : Number(bound);
  const by = at(step) ?? 1;
  const items = [...whole];
  const part =
    by < 0 && at(from) === undefined && at(to) === undefined ? items.toReversed() : items.slice(at(from), at(to));
  return part.filter((_, place) => place % (Math.abs(by) || 1) === 0);
}
const tokens = (folding: Folding, list: string): readonly string[] =>
  [...list.matchAll(new RegExp(TOKEN, 'g'))].map(([, index]) => valueOf(folding, index));
const characters = (list: string, change = (code: number): number => code): string =>
  [...list.matchAll(/0x[0-9a-f]+|\d+/gi)]
    .map(([number]) => String.fromCodePoint(Math.max(0, Math.min(0x10_ffff, Math.trunc(change(Number(number))) || 0))))
    .join('');
const lettersAt = (text: string, list: string): string =>
  list.replaceAll(/\D*(\d{1,7})\D*/g, (_, at: string) => text.charAt(Number(at)));
const capitalize = (value: string): string => value.replace(/^./, (letter) => letter.toUpperCase());
const MAX_PARTS = 60;
const reverse = (value: string): string => [...value].toReversed().join('');

/** Decodes bytes into Latin-1; undefined if the text is not of the encoding. */
function decode(encoding: string, value: string): string | undefined {
  const name = encoding.toLowerCase().replaceAll(/[-_]/g, '');
  if (name === 'base64' || name === 'base64url') return bytesText(Buffer.from(value, 'base64'));
  if (name === 'hex' || name === 'hexcodec')
    return /^[0-9a-f\s:]*$/i.test(value) ? bytesText(Buffer.from(value.replaceAll(/[\s:]/g, ''), 'hex')) : undefined;
  if (name === 'rot13') return rotate(value);
  if (name === 'base32') return decodeBase32(value);
  return undefined;
}

function bytesText(bytes: Buffer): string {
  return bytes.toString('latin1');
}

/** ROT13. */
export function rotate(value: string): string {
  return value.replaceAll(/[a-z]/gi, (letter) => {
    const base = letter <= 'Z' ? 65 : 97;
    return String.fromCodePoint(((letter.charCodeAt(0) - base + 13) % 26) + base);
  });
}

export function decodeBase32(value: string): string {
  const bits = [...value.toUpperCase().replaceAll(/[^A-Z2-7]/g, '')]
    .map((letter) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'))
    .join('');
  return (bits.match(/.{8}/g) ?? []).map((byte) => String.fromCodePoint(Number.parseInt(byte, 2))).join('');
}

function decodePercent(value: string): string {
  return value
    .replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16)))
    .replaceAll(/%u([0-9a-f]{4})/gi, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16)));
}

function applyNumber(operator: string | undefined, code: number, key: number): number {
  if (operator === '^') return code ^ key;
  return operator === '-' ? code - key : code + key;
}

const isName = (value: string): boolean => /^[A-Za-z_$][\w$]{0,60}$/.test(value);

const FOLDS: readonly Fold[] = (
  [
    // Joined.
    // A method or an index belongs to the right string alone.
    [String.raw`§·\+·§(?!·[.[])`, (f, [a, b]) => add(f, valueOf(f, a) + valueOf(f, b))],
    [String.raw`§ ?§`, (f, [a, b]) => add(f, valueOf(f, a) + valueOf(f, b))],
    [String.raw`(?<![\w$)\]])\(·§·\)`, (f, [a]) => add(f, valueOf(f, a))],
    [String.raw`§·\.join\(·${LIST}·\)`, (f, [a, list = '']) => add(f, tokens(f, list).join(valueOf(f, a)))],
    [String.raw`${LIST}\.join\(·§·\)`, (f, [list = '', a]) => add(f, tokens(f, list).join(valueOf(f, a)))],
    [String.raw`§\.concat\(·§·\)`, (f, [a, b]) => add(f, valueOf(f, a) + valueOf(f, b))],
    [
      String.raw`§\.replace(?:All)?\(·§·,·§·\)`,
      (f, [a, b, c]) =>
        add(f, valueOf(f, b) === '' ? valueOf(f, a) : valueOf(f, a).replaceAll(valueOf(f, b), valueOf(f, c))),
    ],
    [
      String.raw`§·%·§`,
      (f, [a, b]) =>
        add(
          f,
          valueOf(f, a).replace('%s', () => valueOf(f, b)),
        ),
    ],
    // Cut.
    [
      String.raw`§\[·(-?\d{0,5})·:·(-?\d{0,5})·(?::·(-?\d{0,3})·)?\]`,
      (f, [a, ...bounds]) => reveal(f, cut(valueOf(f, a), bounds).join('')),
    ],
    [
      String.raw`§\.(?:slice|substring)\(·(-?\d{1,5})·(?:,·(-?\d{1,5})·)?\)`,
      (f, [a, ...bounds]) => reveal(f, cut(valueOf(f, a), bounds).join('')),
    ],
    [
      String.raw`§\.substr\(·(\d{1,5})·,·(\d{1,5})·\)`,
      (f, [a, from, length]) => reveal(f, valueOf(f, a).substr(Number(from), Number(length))),
    ],
    [
      String.raw`§(?:\[·(-?\d{1,5})·\]|\.(?:charAt|at)\(·(-?\d{1,5})·\))`,
      (f, [a, at, place]) => add(f, valueOf(f, a).at(Number(at ?? place)) ?? ''),
    ],
    [
      String.raw`(?<![\w$)\]])${LIST}(?:\[·(-?\d{1,4})·\]|\.at\(·(-?\d{1,4})·\))`,
      (f, [list = '', at, place]) => add(f, tokens(f, list).at(Number(at ?? place)) ?? ''),
    ],
    [
      String.raw`(?<![\w$)\]])${LIST}(?:\[·(-?\d{0,4})·:·(-?\d{0,4})·(?::·(-?\d{0,3})·)?\]|\.slice\(·(-?\d{1,4})·(?:,·(-?\d{1,4})·)?\))`,
      (f, [list = '', ...bounds]) =>
        listOf(f, cut(tokens(f, list), [bounds[0] ?? bounds[3], bounds[1] ?? bounds[4], bounds[2]])),
    ],
    [
      String.raw`(?:\breversed\(·${LIST}·\)|(?<![\w$)\]])${LIST}\.(?:reverse|toReversed)\(·\))`,
      (f, [a, b]) => listOf(f, tokens(f, a ?? b ?? '').toReversed()),
    ],
    [
      String.raw`§\.split\(·§·\)(?!·\.reverse)`,
      (f, [a, b]) =>
        valueOf(f, b) === '' ? undefined : listOf(f, valueOf(f, a).split(valueOf(f, b)).slice(0, MAX_PARTS)),
    ],
    [
      String.raw`§\.translate\(·str\.maketrans\(·§·,·§·\)·\)`,
      (f, [a, b, c]) => {
        const [from, to] = [[...valueOf(f, b)], [...valueOf(f, c)]];
        return reveal(f, [...valueOf(f, a)].map((one) => to[from.indexOf(one)] ?? one).join(''));
      },
    ],
    [String.raw`§\.(?:upper|toUpperCase)\(\)`, (f, [a]) => add(f, valueOf(f, a).toUpperCase())],
    [String.raw`§\.(?:title|capitalize)\(\)`, (f, [a]) => add(f, capitalize(valueOf(f, a).toLowerCase()))],
    [
      String.raw`§·%·\(·${STRINGS}\)`,
      (f, [a, list = '']) =>
        add(
          f,
          tokens(f, list).reduce((text, one) => text.replace('%s', () => one), valueOf(f, a)),
        ),
    ],
    [
      String.raw`§\.format\(·${STRINGS}\)`,
      (f, [a, list = '']) => {
        const values = tokens(f, list);
        let next = 0;
        return add(
          f,
          valueOf(f, a).replaceAll(/\{(\d?)\}/g, (_, at: string) => values[at === '' ? next++ : Number(at)] ?? ''),
        );
      },
    ],
    // Reversed.
    [String.raw`§\.join\(·reversed\(·§·\)·\)`, (f, [, b]) => reveal(f, reverse(valueOf(f, b)))],
    [
      String.raw`(?:§\.split\(·§·\)|\[\.\.\.§\]|Array\.from\(·§·\))\.reverse\(\)\.join\(·§·\)`,
      (f, [a, , b, c]) => reveal(f, reverse(valueOf(f, a ?? b ?? c))),
    ],
    // Numbers.
    [String.raw`\bchr\(·(0x[0-9a-f]{1,6}|\d{1,7})·\)`, (f, [n]) => add(f, characters(n ?? ''))],
    [
      String.raw`\bString\.from(?:CharCode|CodePoint)\(·(?:\.\.\.)?${NUMBERS}·\)`,
      (f, [list]) => reveal(f, characters(list ?? '')),
    ],
    [
      String.raw`\b(?:bytes|bytearray|Buffer\.from|Uint8Array\.from|new Uint8Array)\(·\[${NUMBERS}·\)`,
      (f, [list]) => reveal(f, characters(list ?? '')),
    ],
    [String.raw`§\.join\(·map\(·chr·,·${NUMBERS}·\)·\)`, (f, [, list]) => reveal(f, characters(list ?? ''))],
    [
      String.raw`§\.join\(·\[?·chr\(·(\w{1,20})·(?:([\^+-])·(0x[0-9a-f]{1,4}|\d{1,4}))?·\)·for (\w{1,20}) in ·(?:${NUMBERS}|§)·\]?·\)`,
      (f, [, , operator, key, , list, a]) =>
        reveal(
          f,
          characters(list ?? [...valueOf(f, a)].map((one) => one.charCodeAt(0)).join(','), (code) =>
            operator === undefined ? code : applyNumber(operator, code, Number(key)),
          ),
        ),
    ],
    [
      String.raw`\[${NUMBERS}\.map\(·\(?(\w{1,20})\)?·=>·String\.from(?:CharCode|CodePoint)\(·\w{1,20}·(?:([\^+-])·(0x[0-9a-f]{1,4}|\d{1,4}))?·\)·\)\.join\(·§·\)`,
      (f, [list = '', , operator, key]) =>
        reveal(
          f,
          characters(list, (code) => (operator === undefined ? code : applyNumber(operator, code, Number(key)))),
        ),
    ],
    [
      String.raw`§\.join\(·\[?·§\[·\w{1,20}·\]·for \w{1,20} in ·(?:\(·)?${NUMBERS}(?:·\))?·\]?·\)`,
      (f, [, abc, list = '']) => reveal(f, lettersAt(valueOf(f, abc), list)),
    ],
    [
      String.raw`\[${NUMBERS}\.map\(·\(?\w{1,20}\)?·=>·§(?:\[·\w{1,20}·\]|\.(?:charA|a)t\(·\w{1,20}·\))·\)\.join\(·§·\)`,
      (f, [list = '', abc]) => reveal(f, lettersAt(valueOf(f, abc), list)),
    ],
    // Decoded.
    [
      String.raw`\b(?:base64\.)?(?:urlsafe_|standard_)?b(64|32|16)decode\(·§·(?:,[^()]{0,40})?\)`,
      (f, [kind, a]) => reveal(f, decode(kind === '16' ? 'hex' : `base${kind ?? ''}`, valueOf(f, a))),
    ],
    [String.raw`\b(?:window\.|globalThis\.)?atob\(·§·\)`, (f, [a]) => reveal(f, decode('base64', valueOf(f, a)))],
    [
      String.raw`\b(?:bytes|bytearray)\.fromhex\(·§·\)|\b(?:binascii\.)?unhexlify\(·§·\)`,
      (f, [a, b]) => reveal(f, decode('hex', valueOf(f, a ?? b))),
    ],
    [String.raw`\bBuffer\.from\(·§·,·§·\)`, (f, [a, b]) => reveal(f, decode(valueOf(f, b), valueOf(f, a)))],
    [String.raw`\b(?:codecs\.)?decode\(·§·,·§·\)`, (f, [a, b]) => reveal(f, decode(valueOf(f, b), valueOf(f, a)))],
    [
      String.raw`\b(?:urllib\.parse\.)?(?:unquote(?:_plus)?|decodeURI(?:Component)?|unescape)\(·§·\)`,
      (f, [a]) => reveal(f, decodePercent(valueOf(f, a))),
    ],
    // Without effect on the text.
    [
      String.raw`§\.(?:decode|encode|toString|strip|trim|rstrip|lstrip|expanduser|resolve|absolute|as_posix)\([^()]{0,40}\)`,
      (f, [a]) => add(f, valueOf(f, a)),
    ],
    [String.raw`§\.(?:lower|toLowerCase)\(\)`, (f, [a]) => add(f, valueOf(f, a).toLowerCase())],
    [
      String.raw`\b(?:str|bytes|bytearray|String|Path|pathlib\.Path|PurePath|os\.path\.expanduser|os\.path\.expandvars|expanduser|os\.path\.abspath|os\.fspath|path\.resolve|path\.normalize|untildify|Buffer\.from|memoryview|r?fsencode)\(·§·(?:,·§·)?\)`,
      (f, [a]) => add(f, valueOf(f, a)),
    ],
    // Paths.
    [
      String.raw`\b(?:pathlib\.)?Path\.home\(\)|\b(?:os\.)?homedir\(\)|\bos\.environ\.(?:HOME|USERPROFILE)\b|\bos\.(?:environ\.get|getenv)\(·§·(?:,[^()]{0,40})?\)|\bprocess\.env\.(?:HOME|USERPROFILE)\b`,
      (f, [a]) => (a === undefined || /^(?:HOME|USERPROFILE)$/.test(valueOf(f, a)) ? add(f, '~') : undefined),
    ],
    [
      String.raw`\b(?:os\.path|path|posixpath|path\.posix)\.(?:join|resolve)\(·${STRINGS}\)|(?<![\w.])join\(·${STRINGS}\)`,
      (f, [a, b]) => add(f, tokens(f, a ?? b ?? '').join('/')),
    ],
    [String.raw`§·\/·§`, (f, [a, b]) => add(f, `${valueOf(f, a)}/${valueOf(f, b)}`)],
    [
      String.raw`§\.joinpath\(·${STRINGS}\)`,
      (f, [a, list = '']) => add(f, [valueOf(f, a), ...tokens(f, list)].join('/')),
    ],
    [String.raw`§·(?:\|\||\?\?|or)·§`, (f, [a]) => add(f, valueOf(f, a))],
    // Names in strings.
    [
      String.raw`\bgetattr\(·([\w.]{1,80})·,·§·(?:,[^()]{0,40})?\)`,
      (f, [base, a]) => (isName(valueOf(f, a)) ? `${base ?? ''}.${valueOf(f, a)}` : undefined),
    ],
    [
      String.raw`\b(?:__import__|importlib\.import_module|import_module|require|(?:await )?import)\(·§·(?:,[^()]{0,80})?\)`,
      (f, [a]) =>
        /^[@\w:./-]{1,80}$/.test(valueOf(f, a)) && !valueOf(f, a).startsWith('.')
          ? valueOf(f, a).replace(/^node:/, '')
          : undefined,
    ],
    [
      String.raw`\b(?:globals|locals|vars)\(\)\[·§·\]|\b(?:globals|locals|vars)\(\)\.get\(·§·\)`,
      (f, [a, b]) => (isName(valueOf(f, a ?? b)) ? valueOf(f, a ?? b) : undefined),
    ],
    [
      String.raw`\b(?:window|globalThis|global|self|__builtins__|builtins)(?:\.__dict__)?(?:\[·§·\]|\.(?=\w{1,30}\())`,
      (f, [a]) => (a === undefined ? '' : isName(valueOf(f, a)) ? valueOf(f, a) : undefined),
    ],
    [
      String.raw`(\b[\w$)]{1,60})(?:\.__dict__)?\[·§·\]`,
      (f, [base = '', a]) => (isName(valueOf(f, a)) ? `${base}.${valueOf(f, a)}` : undefined),
    ],
    [String.raw`\(·0·,·(\w{1,40})·\)`, (_f, [name]) => name],
    [String.raw`\bvars\(·(\w{1,40})·\)(?=[[.])`, (_f, [name]) => name],
    [String.raw`\bsys\.modules\.(\w{1,40})`, (_f, [name]) => name],
    [
      String.raw`(?<![\w$)\]])\(·([A-Za-z_][\w.]{0,80})·\)(?=[.(])`,
      (_f, [name]) => (name === undefined ? undefined : ` ${name}`),
    ],
  ] satisfies readonly (readonly [string, Fold[1]])[]
).map(([source, replace]) => [compile(source), replace]);

/** Whether any fold can apply; most statements have none. */
const FOLDABLE =
  /\ue001[\s,]{0,3}[\])] ?(?:\[|\.(?:at|slice|reverse|toReversed)\()|\breversed\(|\ue001 ?(?:[+/%[.\ue000|?]|or )|[+/] ?\ue000|[\w)\]] ?\[ ?\ue000|(?<![\w$)\]]) ?\( ?\ue000 ?\)|(?:code|lify|fromhex|atob|from|Path|str|bytes|bytearray|String|user|vars|abspath|fspath|join|resolve|normalize|import\w{0,7}|require|attr|getenv|\.get|quote\w{0,5}|escape|Component|URI) ?\( ?[\w., ]{0,80}\ue000|\bchr\b|fromC|homedir\(|\.home\(|(?:environ|env)\.(?:HOME|USER)|modules\.|vars\(|\( ?0 ?,|bytes\(|bytearray\(|Buffer\.from\(|Uint8Array|\]\.map\(|(?<![\w$)\]])\( ?[A-Za-z_][\w.]{0,80} ?\)[.(]/;

/** Folds the constants of Python or JavaScript. */
export function foldScript(source: string, strings: Strings): Folded {
  const folding: Folding = { strings, decoded: [] };
  let code = source.replaceAll(/\s+/g, ' ');
  if (code.length > MAX_CODE || !FOLDABLE.test(code)) return { code, decoded: [] };
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const before = code;
    for (const [pattern, replace] of FOLDS)
      code = code.replaceAll(pattern, (whole, ...groups: readonly unknown[]) => {
        const values = groups.slice(0, -2).map((group) => (typeof group === 'string' ? group : undefined));
        return replace(folding, values) ?? whole;
      });
    if (code === before) break;
  }
  return { code, decoded: folding.decoded };
}

type ShellFold = readonly [pattern: RegExp, decodeText: (value: string, argument: string) => string | undefined];

const ECHO = String.raw`(?:echo(?: -[neE]{1,3})?|printf(?: %s| %b)?|cat ?<<<) {1,4}([^|()\n]{1,8000}?) {0,4}\| {0,4}`;
const SHELL_FOLDS: readonly ShellFold[] = (
  [
    [`${ECHO}base64 (?:-d|-D|--decode|-di)`, (value) => decode('base64', value)],
    [`${ECHO}openssl (?:enc -)?base64 (?:-A )?-d(?: -A)?`, (value) => decode('base64', value)],
    [`${ECHO}base32 (?:-d|--decode)`, (value) => decode('base32', value)],
    [`${ECHO}xxd (?:-r -p|-p -r|-rp|-ps -r|-r -ps)`, (value) => decode('hex', value)],
    [String.raw`(?:echo|printf)(?: -n| %s)? {1,4}([^()\n]{1,8000}?) {0,4}\| {0,4}rev\b`, (value) => reverse(value)],
    [`${ECHO}tr (?:A-Za-z N-ZA-Mn-za-m|a-zA-Z n-za-mN-ZA-M|a-z n-za-m)`, (value) => rotate(value)],
    [`${ECHO}tr -d ([^ |)]{1,20})`, (value, removed) => [...value].filter((one) => !removed.includes(one)).join('')],
    [String.raw`base64 (?:-d|-D|--decode) {0,4}<<< {0,4}([A-Za-z0-9+/=]{4,8000})`, (value) => decode('base64', value)],
    [String.raw`xxd -r -p {0,4}<<< {0,4}([0-9a-f]{4,8000})`, (value) => decode('hex', value)],
    [
      String.raw`(?:printf(?: %b)?|echo -n?e) {1,4}((?:[^ |()\n]{0,400}\\(?:x[0-9a-f]{2}|[0-7]{3})){2,2000}[^ |()\n]{0,400})`,
      (value) =>
        value.replaceAll(
          /\\(?:x[0-9a-f]{2}|0?[0-7]{3})/gi,
          (escape) => readEscape(escape.replace(/^\\0(?=[0-7]{3})/, '\\')).decoded,
        ),
    ],
  ] satisfies readonly (readonly [string, ShellFold[1]])[]
).map(([source, decodeText]) => [new RegExp(source, 'g'), decodeText]);

/** Folds the constants of a shell statement; `variables` are the constant ones. */
export function foldShell(source: string, variables: ReadonlyMap<string, string>): Folded {
  const decoded: string[] = [];
  let code = source.slice(0, MAX_CODE).replaceAll(/\$\{?IFS\}?(?:%\?\?)?/g, ' ');
  for (let round = 0; round < 4; round += 1) {
    const before = code;
    code = expandWords(code).replaceAll(
      /\$(?:\{(\w{1,60})\}|(\w{1,60}))/g,
      (whole, braced?: string, plain?: string) => {
        const name = braced ?? plain ?? '';
        return name === 'HOME' ? '~' : (variables.get(name) ?? whole);
      },
    );
    code = code.replaceAll(
      /\$\{(\w{1,60})(?::(\d{1,3})(?::(\d{1,3}))?|\/\/?([^/{}$\n]{1,20})\/?([^/{}$\n]{0,20}))\}/g,
      (whole, name: string, from?: string, length?: string, old?: string, fresh?: string) => {
        const value = variables.get(name);
        if (value === undefined) return whole;
        if (old !== undefined) return value.replaceAll(old, fresh ?? '');
        return value.substr(Number(from), length === undefined ? undefined : Number(length));
      },
    );
    for (const [pattern, decodeText] of SHELL_FOLDS)
      code = code.replaceAll(pattern, (whole, value: string, argument: unknown) => {
        const text = decodeText(value.trim(), typeof argument === 'string' ? argument : '')?.trim();
        if (text === undefined || text === '' || !/^[\t\n\x20-\x7e]+$/.test(text)) return whole;
        decoded.push(text);
        return `echo ${text}`;
      });
    code = code.replaceAll(/\$\((?:echo|printf)(?: -[neE]{1,3})? {1,4}([^()|$`<>]{1,8000})\)/g, '$1');
    code = code.replaceAll(/`(?:echo|printf)(?: -[neE]{1,3})? {1,4}([^()|$`<>]{1,8000})`/g, '$1');
    code = code.replaceAll(
      /(^|[|;(] ?)\{([\w./-]{1,40}),([^{}\s]{1,400})\}/g,
      (_, start: string, command: string, rest: string) => `${start}${command} ${rest.replaceAll(',', ' ')}`,
    );
    if (code === before) break;
  }
  return { code, decoded };
}
