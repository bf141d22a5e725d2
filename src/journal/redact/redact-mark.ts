import { invalidInput, quoted } from '#core';
import { literal, patternTable, scan, type PatternTable } from './redact-scan.ts';

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
export function marksBeside(variants: readonly Uint8Array[]): (name: string) => Uint8Array {
  // Most runs know no secret.
  const isApart = variants.length === 0 ? () => true : apartFrom(variants);
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

function apartFrom(variants: readonly Uint8Array[]): (mark: Buffer) => boolean {
  const forwards = buildTable(variants);
  const backwards = buildTable(variants.map((variant) => variant.toReversed()));
  const joined = Buffer.concat(variants);
  return (mark) =>
    joined.indexOf(mark) === -1 && meetsNothing(forwards, mark) && meetsNothing(backwards, mark.toReversed());
}

function buildTable(variants: readonly Uint8Array[]): PatternTable {
  return patternTable(variants.map((variant) => literal(variant, variant)));
}

/** Whether no pattern occurs in these bytes or could start at their end. */
function meetsNothing(table: PatternTable, data: Uint8Array): boolean {
  const { pieces, decided } = scan(table, { data, before: -1, isLast: false, covered: 0 });
  return pieces === undefined && decided === data.length;
}
