type Table = Record<string, unknown>;

const HEADER = /^\s*(\[\[?)\s*([\w."-]+)\s*\]\]?\s*(?:#.*)?$/;
const PAIR = /^\s*([\w."-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|(true|false)|([\d_]+))\s*(?:#.*)?$/;

/** Reads tables and pairs of text, numbers and booleans of a TOML file. Everything else, such as arrays, is left out. */
export function readToml(text: string): Readonly<Table> {
  const top: Table = {};
  let table = top;
  for (const line of text.split(/\r?\n/)) {
    const [, bracket, header] = HEADER.exec(line) ?? [];
    if (header !== undefined) table = openTable(top, keysOf(header), bracket === '[[');
    const [, key, basic, literal, flag, number] = PAIR.exec(line) ?? [];
    if (key === undefined) continue;
    const keys = keysOf(key);
    const value =
      flag === undefined
        ? number === undefined
          ? unescape(basic, literal)
          : Number(number.replaceAll('_', ''))
        : flag === 'true';
    Object.assign(openTable(table, keys.slice(0, -1), false), { [keys.at(-1) ?? '']: value });
  }
  return top;
}

function unescape(basic: string | undefined, literal: string | undefined): string {
  return literal ?? (basic ?? '').replaceAll(/\\(.)/g, '$1');
}

function keysOf(text: string): readonly string[] {
  return text.split('.').map((key) => key.replaceAll('"', '').trim());
}

/** The table at a path; with `isNew`, a new one in the array there. */
function openTable(top: Table, keys: readonly string[], isNew: boolean): Table {
  let table = top;
  for (const [at, key] of keys.entries()) {
    const found = Object.hasOwn(table, key) ? table[key] : undefined;
    const isLast = at === keys.length - 1;
    const list: readonly unknown[] = Array.isArray(found) ? found : [];
    const next: Table = (isNew && isLast ? undefined : asTable(list.at(-1) ?? found)) ?? {};
    if (isNew && isLast)
      if (Array.isArray(found)) found.push(next);
      else table[key] = [next];
    else if (next !== (list.at(-1) ?? found)) table[key] = next;
    table = next;
  }
  return table;
}

function asTable(value: unknown): Table | undefined {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every object in the result was made by this file.
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Table) : undefined;
}
