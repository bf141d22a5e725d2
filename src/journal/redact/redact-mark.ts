import { SkillError } from '../../core/errors.ts';
import { quoted } from '../../core/text/text.ts';
import { literal, patternTable, scan } from './redact-scan.ts';
import type { PatternTable } from './redact-scan.ts';

const BRACKETS: readonly (readonly [string, string])[] = [
  ['[', ']'],
  ['<', '>'],
  ['{', '}'],
  ['(', ')'],
  ['*', '*'],
  ['|', '|'],
];

/**
 * What stands for a secret: `[secret NAME]` nearly always. It must neither hold a spelling of any secret nor make one together with
 * the text beside it, so another bracket is taken where a secret starts with `]`, and another word where one is called `secret A`.
 */
export function marksBeside(variants: readonly Uint8Array[]): (name: string) => Uint8Array {
  // Every run has a redactor, and most know no secret.
  const isApart = variants.length === 0 ? () => true : apartFrom(variants);
  return (name) => {
    for (const title of [`secret ${name}`, 'withheld', '###'])
      for (const [open, close] of BRACKETS) {
        const mark = Buffer.from(`${open}${title}${close}`);
        if (isApart(mark)) return mark;
      }
    throw new SkillError({
      code: 'input/invalid',
      message: `no mark can stand for the secret ${quoted(name)}: the secrets start and end with every bracket there is`,
      hint: 'give secrets that start and end with letters or digits',
      data: { expected: 'secrets that a mark can be told from' },
    });
  };
}

function apartFrom(variants: readonly Uint8Array[]): (mark: Buffer) => boolean {
  const forwards = tableOf(variants);
  const backwards = tableOf(variants.map((variant) => variant.toReversed()));
  const joined = Buffer.concat(variants);
  return (mark) =>
    joined.indexOf(mark) === -1 && meetsNothing(forwards, mark) && meetsNothing(backwards, mark.toReversed());
}

function tableOf(variants: readonly Uint8Array[]): PatternTable {
  return patternTable(variants.map((variant) => literal(variant, variant)));
}

/** Nothing of the table stands in these bytes, and nothing of it could begin at their end. */
function meetsNothing(table: PatternTable, data: Uint8Array): boolean {
  const { pieces, decided } = scan(table, { data, before: -1, isLast: false, covered: 0 });
  return pieces === undefined && decided === data.length;
}
