/**
 * Reads the part of TOML that configuration files of agents use: tables, dotted keys, strings on one line, numbers, booleans, lists and inline
 * tables. Everything else, such as dates and lists of tables, is refused with its line: a part of a file is not what its author wrote.
 */
import { isProblem, type Problem } from '#core';

type Table = Record<string, unknown>;

const KEY = /^(?:[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')/;
const MAX_DEPTH = 32;

export function readToml(text: string): Table | Problem {
  const reader = openReader(text);
  const root = newTable();
  let current = root;
  const headers = new Set<string>();
  for (reader.skip(true); !reader.isAtEnd(); reader.skip(true)) {
    const isHeader = reader.take(/^\[(?!\[)/) !== undefined;
    const keys = readKeys(reader);
    if (isProblem(keys)) return keys;
    if (isHeader) {
      const name = JSON.stringify(keys);
      if (reader.take(/^\]/) === undefined || headers.has(name)) return reader.problem();
      headers.add(name);
      const table = tableAt(root, keys);
      if (table === undefined) return reader.problem();
      current = table;
    } else {
      const problem = readEntry(reader, current, keys, 0);
      if (problem !== undefined) return problem;
    }
    reader.skip(false);
    if (!reader.isAtEnd() && reader.take(/^\r?\n/) === undefined) return reader.problem();
  }
  return root;
}

type Reader = ReturnType<typeof openReader>;

function openReader(text: string) {
  let rest = text.replace(/^\uFEFF/, '');
  const take = (pattern: RegExp): string | undefined => {
    const [found] = pattern.exec(rest) ?? [];
    if (found !== undefined) rest = rest.slice(found.length);
    return found;
  };
  return {
    take,
    isAtEnd: () => rest === '',
    /** Skips blanks and a comment, or several lines of them. */
    skip(lines: boolean): void {
      take(lines ? /^(?:[ \t\r\n]|#[^\n]*)*/ : /^[ \t]*(?:#[^\n]*)?/);
    },
    problem: (): Problem => ({
      code: 'config/invalid',
      message: `line ${String(text.slice(0, text.length - rest.length).split('\n').length)} is not understood`,
      hint: 'copy its settings by hand',
    }),
  };
}

function readKeys(reader: Reader): readonly string[] | Problem {
  const keys: string[] = [];
  do {
    reader.skip(false);
    const key = reader.take(KEY);
    if (key === undefined) return reader.problem();
    keys.push(/^["']/.test(key) ? textOf(key) : key);
    reader.skip(false);
  } while (reader.take(/^\./) !== undefined);
  return keys;
}

function readEntry(reader: Reader, table: Table, keys: readonly string[], depth: number): Problem | undefined {
  const target = tableAt(table, keys.slice(0, -1));
  const name = keys.at(-1) ?? '';
  if (target === undefined || name in target || reader.take(/^=/) === undefined) return reader.problem();
  const value = readValue(reader, depth);
  if (isProblem(value)) return value;
  target[name] = value;
  return undefined;
}

function readValue(reader: Reader, depth: number): unknown {
  reader.skip(false);
  if (depth > MAX_DEPTH || reader.take(/^(?="""|''')/) !== undefined) return reader.problem();
  const word = reader.take(/^(?:"(?:[^"\\\n]|\\["\\bfnrt]|\\u[0-9A-Fa-f]{4})*"|'[^'\n]*')/);
  if (word !== undefined) return textOf(word);
  if (reader.take(/^true\b/) !== undefined) return true;
  if (reader.take(/^false\b/) !== undefined) return false;
  const number = reader.take(/^[+-]?\d[\d_]*(?:\.\d+)?(?![\w:.-])/);
  if (number !== undefined) return Number(number.replaceAll('_', ''));
  if (reader.take(/^\[/) !== undefined) return readList(reader, depth + 1);
  return reader.take(/^\{/) === undefined ? reader.problem() : readInline(reader, depth + 1);
}

function readList(reader: Reader, depth: number): unknown {
  const items: unknown[] = [];
  for (reader.skip(true); reader.take(/^\]/) === undefined; reader.skip(true)) {
    const value = readValue(reader, depth);
    if (isProblem(value)) return value;
    items.push(value);
    reader.skip(true);
    if (reader.take(/^(?:,|(?=\]))/) === undefined) return reader.problem();
  }
  return items;
}

function readInline(reader: Reader, depth: number): unknown {
  const table = newTable();
  for (reader.skip(false); reader.take(/^\}/) === undefined; reader.skip(false)) {
    const keys = readKeys(reader);
    if (isProblem(keys)) return keys;
    const problem = readEntry(reader, table, keys, depth);
    if (problem !== undefined) return problem;
    reader.skip(false);
    if (reader.take(/^(?:,|(?=\}))/) === undefined) return reader.problem();
  }
  return table;
}

/** Undefined where a key has a value that is no table. */
function tableAt(table: Table, keys: readonly string[]): Table | undefined {
  let current = table;
  for (const key of keys) {
    const next = current[key] ?? newTable();
    if (!isTable(next)) return undefined;
    current[key] = next;
    current = next;
  }
  return current;
}

function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Without inherited names, so that `__proto__` is a key like any other. */
function newTable(): Table {
  const table: Table = {};
  Object.setPrototypeOf(table, null);
  return table;
}

function textOf(written: string): string {
  return written.startsWith("'") ? written.slice(1, -1) : String(JSON.parse(written));
}
