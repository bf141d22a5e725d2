import { invalidInput, quoted, type Redactor } from '#core';
import {
  literal,
  patternTable,
  scan,
  isPlainlyFree,
  joinedStreams,
  redactBytes,
  redactedStream,
  type PatternTable,
  type Pattern,
} from './redact-scan.ts';
import { redactionProblem, listFixedTexts, splitSecret } from './redact-variants.ts';
import { encodedPatterns } from './redact-encodings.ts';
import { shapePatterns } from './redact-shapes.ts';

const BRACKETS: readonly (readonly [string, string])[] = [
  ['[', ']'],
  ['<', '>'],
  ['{', '}'],
  ['(', ')'],
  ['*', '*'],
  ['|', '|'],
];

/**
 * The mark that replaces a secret, usually `[secret NAME]`. It must neither contain a spelling of a secret nor form one with the
 * adjacent text, so it uses other brackets if a secret starts with `]`, and another word if a secret is called `secret A`.
 */
function marksBeside(texts: readonly Uint8Array[]): (name: string) => Uint8Array {
  // Most runs know no secret.
  const isApart = texts.length === 0 ? () => true : apartFrom(texts);
  return (name) => {
    for (const title of [`secret ${name}`, 'withheld', '###'])
      for (const [open, close] of BRACKETS) {
        const mark = Buffer.from(`${open}${title}${close}`);
        if (isApart(mark)) return mark;
      }
    throw invalidInput(
      `no mark can replace the secret ${quoted(name)}: secrets start or end with every available bracket`,
      'secrets that differ from every mark',
      'use secrets that start and end with letters or digits',
    );
  };
}

function apartFrom(texts: readonly Uint8Array[]): (mark: Buffer) => boolean {
  const forwards = buildTable(texts);
  const backwards = buildTable(texts.map((text) => text.toReversed()));
  const joined = Buffer.concat(texts);
  return (mark) =>
    joined.indexOf(mark) === -1 && meetsNothing(forwards, mark) && meetsNothing(backwards, mark.toReversed());
}

function buildTable(texts: readonly Uint8Array[]): PatternTable {
  return patternTable(texts.map((text) => literal(text, text)));
}

/** Whether no pattern occurs in these bytes or could start at their end. */
function meetsNothing(table: PatternTable, data: Uint8Array): boolean {
  const { pieces, decided } = scan(table, { data, before: -1, isLast: false, covered: 0 });
  return pieces === undefined && decided === data.length;
}

export interface NamedSecret {
  readonly name: string;
  readonly value: string;
}

export interface RedactorOptions {
  /** Also replaces keys that are recognized by their format, by `[secret shape]`. */
  readonly shapes?: boolean;
}

/**
 * Created once for all secrets, because a mark must fit all of them. Throws `input/invalid` for a value that cannot be redacted (see
 * `redactionProblem`) and for an invalid name.
 */
export function createRedactor(secrets: readonly NamedSecret[], { shapes = false }: RedactorOptions = {}): Redactor {
  for (const secret of secrets) checkSecret(secret);
  const spelled = secrets.map(({ name, value }) => ({ name, value, texts: listFixedTexts(value) }));
  const markFor = marksBeside(spelled.flatMap(({ texts }) => texts));
  const marked = spelled.map((secret) => ({ ...secret, mark: markFor(secret.name) }));
  const literals = marked.flatMap(({ mark, texts }) => texts.map((text) => literal(text, mark)));
  const encoded = marked.flatMap(({ value, mark }) => [
    ...[...new Set([value, value.trim()])].flatMap((text) => encodedPatterns(text, mark, true)),
    ...splitSecret(value).flatMap((part) => encodedPatterns(part, mark, false)),
  ]);
  // Known secrets take precedence, so that their names are shown.
  const looks = shapes ? shapePatterns(markFor('shape')) : [];
  return redactorOver(
    [[...unrepeated(literals), ...encoded], looks].filter(({ length }) => length > 0).map(patternTable),
  );
}

function checkSecret({ name, value }: NamedSecret): void {
  const problem = /^[\w./-]{1,100}$/.test(name) ? redactionProblem(value) : 'has an invalid name';
  if (problem === undefined) return;
  throw invalidInput(
    `the secret ${quoted(name)} ${problem}`,
    'a secret that can be redacted',
    'use a longer, unique value, and a name of letters, digits and _',
  );
}

/** If two secrets share an encoding, the first name is used. */
function unrepeated(patterns: readonly Pattern[]): readonly Pattern[] {
  const byBytes = new Map<string, Pattern>();
  for (const pattern of patterns) {
    const bytes = Buffer.from(pattern.start).toString('latin1');
    if (!byBytes.has(bytes)) byBytes.set(bytes, pattern);
  }
  return [...byBytes.values()];
}

function redactorOver(tables: readonly PatternTable[]): Redactor {
  const bytes = (data: Uint8Array): Uint8Array => tables.reduce((found, table) => redactBytes(table, found), data);
  return {
    bytes,
    text: (text) => {
      if (tables.every((table) => isPlainlyFree(table, text))) return text;
      const before = Buffer.from(text);
      const after = bytes(before);
      return after === before ? text : Buffer.from(after).toString('utf8');
    },
    stream: () => joinedStreams(tables.map((table) => redactedStream(table))),
    isEmpty: tables.length === 0,
  };
}
