/** What a text is: by the name of its file, otherwise by its own form. Pure, and linear in the length of the text. */
export type Content =
  | { readonly kind: 'text' }
  | { readonly kind: 'markdown' }
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'table'; readonly rows: readonly (readonly string[])[] }
  | { readonly kind: 'diff'; readonly lines: readonly { readonly kind: string; readonly text: string }[] };

/** A longer text is shown as text. */
const MAX_CHARACTERS = 200_000;
const MAX_LINES = 5_000;
/** A text is a table without the name of a file if at least this many lines have the same number of cells. */
const LEAST_LINES = 3;

export function readContent(text: string, name = ''): Content {
  if (text.length > MAX_CHARACTERS) return { kind: 'text' };
  const extension = /\.([a-z]+)$/i.exec(name)?.[1]?.toLowerCase() ?? '';
  if (extension === 'md' || extension === 'markdown') return { kind: 'markdown' };
  return readJson(text) ?? readDiff(text) ?? readTable(text, extension) ?? { kind: 'text' };
}

/** Only objects and lists: a number or a word is read best as it is. */
function readJson(text: string): Content | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return { kind: 'json', value: JSON.parse(text) };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function readDiff(text: string): Content | undefined {
  if (!/^(?:diff --git |--- .*\n\+\+\+ )/.test(text)) return undefined;
  const lines = text.split('\n').slice(0, MAX_LINES);
  return { kind: 'diff', lines: lines.map((line) => ({ kind: diffKind(line), text: line })) };
}

function diffKind(line: string): string {
  if (/^(?:\+\+\+|---|diff |index )/.test(line)) return 'gap';
  if (line.startsWith('+')) return 'added';
  if (line.startsWith('-')) return 'removed';
  return line.startsWith('@@') ? 'gap' : 'same';
}

function readTable(text: string, extension: string): Content | undefined {
  const isNamed = extension === 'csv' || extension === 'tsv';
  const separator = [',', ';', '\t'].find((one) => text.slice(0, text.indexOf('\n')).includes(one));
  if (separator === undefined) return undefined;
  const rows = csvRows(text, separator);
  const [head] = rows;
  if (head === undefined || rows.length < 2) return undefined;
  if (isNamed) return { kind: 'table', rows };
  // Prose has commas too, but not the same number in every line, and a space after each.
  const isTable =
    rows.length >= LEAST_LINES &&
    rows.every((row) => row.length === head.length && row.every((cell) => !cell.startsWith(' ')));
  return isTable ? { kind: 'table', rows } : undefined;
}

/** Cells in quotes may hold separators and line breaks; two quotes are one. */
function csvRows(text: string, separator: string): readonly (readonly string[])[] {
  const rows: string[][] = [];
  let [row, cell, isQuoted]: [string[], string, boolean] = [[], '', false];
  const endRow = (): void => {
    if (row.length > 0 || cell !== '') rows.push(row);
    row.push(cell);
    [row, cell] = [[], ''];
  };
  for (let at = 0; at < text.length && rows.length < MAX_LINES; at += 1) {
    const character = text[at] ?? '';
    if (isQuoted && character === '"' && text[at + 1] === '"') at += 1;
    else if (isQuoted && character === '"') {
      isQuoted = false;
      continue;
    }
    if (isQuoted) cell += character;
    else if (character === '"' && cell === '') isQuoted = true;
    else if (character === separator) {
      row.push(cell);
      cell = '';
    } else if (character === '\n') endRow();
    else if (character !== '\r') cell += character;
  }
  endRow();
  return rows;
}
