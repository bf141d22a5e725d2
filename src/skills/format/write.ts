/** Writes values as YAML, for the edits of diagnostics. */

import type { Edit } from './report.ts';
import { isPlainStart } from './scalars.ts';

const UNSAFE_INSIDE = /: |:$| #|[\0-\x1f\x7f-\x9f]|^\s|\s$/;
const OTHER_TYPE = /^(?:[-+.]?\d|true$|false$|yes$|no$|on$|off$|null$|~$)/i;
const FOLD_WIDTH = 100;

/** A value in quotes, in the form that needs the fewest escapes. */
export function quoteYaml(value: string): string {
  if (/[\0-\x1f\x7f-\x9f]/.test(value)) return JSON.stringify(value);
  if (!value.includes('"') && !value.includes('\\')) return `"${value}"`;
  return `'${value.replaceAll("'", "''")}'`;
}

/** A value without quotes if every YAML parser reads it as the same text, otherwise in quotes. */
export function writeYaml(value: string): string {
  const plain = value !== '' && isPlainStart(value, 0) && !UNSAFE_INSIDE.test(value) && !OTHER_TYPE.test(value);
  return plain ? value : quoteYaml(value);
}

export function replacing(range: { readonly start: number; readonly end: number }, text: string): Edit {
  return { offset: range.start, length: range.end - range.start, text };
}

/** The value as a folded block under a key in the given column; `undefined` if folding would change it. */
export function foldYaml(value: string, column = 0): string | undefined {
  if (value === '' || /[\0-\x1f\x7f-\x9f]|^ | $/.test(value)) return undefined;
  const lines: string[] = [];
  let line = '';
  let previous = '';
  for (const word of value.split(' ')) {
    // A line break replaces one space between two words.
    if (lines.length === 0 && line === '') line = word;
    else if (word !== '' && previous !== '' && line.length + word.length >= FOLD_WIDTH) {
      lines.push(line);
      line = word;
    } else line += ` ${word}`;
    previous = word;
  }
  lines.push(line);
  if (lines.some((each) => each.length > 400)) return undefined;
  const indent = ' '.repeat(column + 2);
  return `>-\n${lines.map((each) => indent + each).join('\n')}`;
}
