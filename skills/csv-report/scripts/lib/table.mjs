// Reads a CSV file in one pass and keeps bounded statistics for every column.
// table.py is the same program in Python. Change both together: a test compares their output.
import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync, statSync } from 'node:fs';

const HEAD_BYTES = 65_536;
const MAX_RECORD_BYTES = 8_388_608;
const MAX_COLUMNS = 2_000;
const MAX_ROW_KEYS = 300_000;
const LONG_VALUE = 80;
const SCALE_DIGITS = 40;
const DELIMITERS = [',', ';', '\t', '|'];
export const KINDS = ['integer', 'number', 'boolean', 'date', 'datetime', 'text'];
const POWERS = Array.from({ length: 2 * SCALE_DIGITS + 12 }, (_, power) => 10n ** BigInt(power));
export const SCALE = POWERS[SCALE_DIGITS];

const MISSING = new Set(['', '-', 'NA', 'N/A', 'n/a', 'NaN', 'nan', 'NULL', 'Null', 'null', 'None']);
const BOOLEANS = new Set(
  ['true', 'false', 'yes', 'no'].flatMap((word) => [word, word[0].toUpperCase() + word.slice(1), word.toUpperCase()]),
);
const NUMBER = /^([+-]?)(?:(0|[1-9][0-9]*)(?:\.([0-9]*))?|\.([0-9]+))(?:[eE]([+-]?[0-9]{1,3}))?$/;
const DECIMAL_COMMA = /^[+-]?(?:0|[1-9][0-9]*),[0-9]+$/;
const DATE = /^([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[T ]([0-9]{2}):([0-9]{2})(.*))?$/;
const TIME_TAIL = /^(?::([0-9]{2})(?:\.[0-9]{1,9})?)?(Z|[+-][0-9]{2}:?[0-9]{2})?$/;

/** A problem with the input, told to the reader as it is. */
export class InputError extends Error {}

/** Takes spaces and tabs off both ends. (A regular expression would be slow on long runs.) */
export function trim(text) {
  let [start, end] = [0, text.length];
  while (start < end && (text[start] === ' ' || text[start] === '\t')) start += 1;
  while (start < end && (text[end - 1] === ' ' || text[end - 1] === '\t')) end -= 1;
  return text.slice(start, end);
}

/** The first `limit` code points of a text, with an ellipsis when something was cut off. */
export function shorten(text, limit) {
  if (text.length <= limit) return text;
  const points = Array.from(text.slice(0, limit * 2 + 2));
  return points.length > limit ? `${points.slice(0, limit).join('')}…` : text;
}

/** Exact fixed-point value (times 10^40) of a decimal numeral, or undefined when it is none. */
export function parseNumber(text) {
  const match = text.length <= 100 ? NUMBER.exec(text) : null;
  if (!match) return undefined;
  const whole = match[2] ?? '';
  const fraction = match[3] ?? match[4] ?? '';
  const exponent = Number(match[5] ?? 0);
  const digits = BigInt(whole + fraction);
  const shift = SCALE_DIGITS + exponent - fraction.length;
  if (shift < 0 || exponent + whole.length > SCALE_DIGITS) return undefined;
  const value = digits * POWERS[shift];
  const integer = match[3] === undefined && match[4] === undefined && match[5] === undefined;
  return { kind: integer ? 'integer' : 'number', value: match[1] === '-' ? -value : value };
}

function parseDate(text) {
  const match = text.length <= 40 ? DATE.exec(text) : null;
  if (!match) return undefined;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0;
  if (year < 1 || day < 1 || day > days) return undefined;
  if (match[4] === undefined) return { kind: 'date', sortable: text, offset: false };
  const tail = TIME_TAIL.exec(match[6]);
  if (!tail || Number(match[4]) > 23 || Number(match[5]) > 59) return undefined;
  if (tail[1] !== undefined && Number(tail[1]) > 59) return undefined;
  const zone = tail[2] ?? '';
  const sortable = `${text.slice(0, 10)} ${text.slice(11, text.length - zone.length)}`;
  return { kind: 'datetime', sortable, offset: zone !== '' && zone !== 'Z' };
}

class Column {
  constructor(index, name, columns, decimalComma) {
    this.index = index;
    this.name = name;
    this.decimalComma = decimalComma;
    this.distinctLimit = Math.min(10_000, Math.max(100, Math.floor(500_000 / columns)));
    this.keepLimit = Math.min(100_000, Math.max(1_000, Math.floor(1_000_000 / columns)));
    this.missing = 0;
    this.filled = 0;
    this.kinds = Object.fromEntries(KINDS.map((kind) => [kind, 0]));
    this.first = {};
    this.counts = new Map();
    this.distinctCapped = false;
    this.decimalCommas = 0;
    this.numeric = 0;
    this.sum = 0n;
    this.min = 0n;
    this.max = 0n;
    this.kept = [];
    this.stride = 1;
    this.earliest = '';
    this.latest = '';
    this.offsets = false;
  }

  add(raw, line) {
    const text = trim(raw);
    if (MISSING.has(text)) {
      this.missing += 1;
      return;
    }
    this.filled += 1;
    const kind = this.classify(text);
    this.kinds[kind] += 1;
    this.first[kind] ??= { line, text: shorten(text, LONG_VALUE) };
    this.count(text);
  }

  classify(text) {
    if (BOOLEANS.has(text)) return 'boolean';
    const comma = DECIMAL_COMMA.test(text);
    if (comma) this.decimalCommas += 1;
    const number = parseNumber(comma && this.decimalComma ? text.replace(',', '.') : text);
    if (number) {
      this.addNumber(number.value);
      return number.kind;
    }
    const date = parseDate(text);
    if (!date) return 'text';
    if (this.earliest === '' || date.sortable < this.earliest) this.earliest = date.sortable;
    if (date.sortable > this.latest) this.latest = date.sortable;
    this.offsets ||= date.offset;
    return date.kind;
  }

  addNumber(value) {
    if (this.numeric === 0 || value < this.min) this.min = value;
    if (this.numeric === 0 || value > this.max) this.max = value;
    this.sum += value;
    if (this.numeric % this.stride === 0) this.kept.push(value);
    this.numeric += 1;
    if (this.kept.length > this.keepLimit) {
      // Every second value goes; what stays is every stride-th value of the column.
      this.kept = this.kept.filter((_, position) => position % 2 === 0);
      this.stride *= 2;
    }
  }

  count(text) {
    let key = text;
    if (text.length > LONG_VALUE && Array.from(text).length > LONG_VALUE) {
      key = `${shorten(text, LONG_VALUE)}\0${createHash('sha256').update(text).digest('hex')}`;
    }
    const seen = this.counts.get(key);
    if (seen !== undefined) this.counts.set(key, seen + 1);
    else if (this.counts.size >= this.distinctLimit) this.distinctCapped = true;
    // The copy keeps the map from holding the whole line that the text was cut out of.
    else this.counts.set(Buffer.from(key).toString(), 1);
  }
}

function* fileLines(fd) {
  const chunk = Buffer.allocUnsafe(HEAD_BYTES);
  let [position, number, size] = [0, 1, 0];
  let parts = [];
  const grow = (part) => {
    size += part.length;
    if (size > MAX_RECORD_BYTES) throw new InputError(`line ${number} is longer than 8 MiB`);
  };
  const finish = (part) => {
    grow(part);
    const bytes = parts.length === 0 ? part : Buffer.concat([...parts, part]);
    if (bytes.includes(0)) throw new InputError(`line ${number} has a NUL byte: not a text file`);
    [parts, size] = [[], 0];
    number += 1;
    return { text: bytes.toString('utf8'), bytes: bytes.length };
  };
  for (;;) {
    const length = readSync(fd, chunk, 0, chunk.length, position);
    if (length === 0) break;
    position += length;
    const filled = chunk.subarray(0, length);
    let start = 0;
    for (let end = filled.indexOf(10); end >= 0; end = filled.indexOf(10, start)) {
      yield finish(filled.subarray(start, end));
      start = end + 1;
    }
    if (start < length) {
      const rest = Buffer.from(filled.subarray(start));
      grow(rest);
      parts.push(rest);
    }
  }
  if (size > 0) yield finish(Buffer.alloc(0));
}

/** Splits lines into records; a quote counts only at the start of a field. */
function* records(lines, delimiter) {
  let [number, start, size] = [0, 0, 0];
  let [fields, field] = [[], ''];
  let [quoted, fresh] = [false, true];
  for (const line of lines) {
    number += 1;
    let text = line.text;
    if (number === 1 && text.startsWith('\uFEFF')) text = text.slice(1);
    if (text.endsWith('\r')) text = text.slice(0, -1);
    if (quoted) {
      field += '\n';
      size += line.bytes + 1;
    } else {
      [start, size] = [number, line.bytes];
      if (trim(text) === '') {
        yield { line: number, fields: [] };
        continue;
      }
      if (!text.includes('"')) {
        yield { line: number, fields: text.split(delimiter) };
        continue;
      }
    }
    if (size > MAX_RECORD_BYTES) {
      throw new InputError(`line ${start}: a quoted field is not closed within 8 MiB`);
    }
    let at = 0;
    for (;;) {
      if (quoted) {
        const quote = text.indexOf('"', at);
        if (quote < 0) {
          field += text.slice(at);
          break;
        }
        field += text.slice(at, quote);
        if (text[quote + 1] === '"') field += '"';
        else quoted = false;
        at = quote + (quoted ? 2 : 1);
      } else if (fresh && text[at] === '"') {
        [quoted, fresh] = [true, false];
        at += 1;
      } else {
        const next = text.indexOf(delimiter, at);
        fields.push(field + text.slice(at, next < 0 ? text.length : next));
        [field, fresh] = ['', true];
        if (next < 0) {
          yield { line: start, fields };
          fields = [];
          break;
        }
        at = next + 1;
      }
    }
  }
  if (quoted) yield { line: start, fields: [...fields, field], unclosed: true };
}

function sniff(head) {
  const lines = head.toString('utf8').split('\n');
  let best = { delimiter: ',', matches: 0, width: 1 };
  for (const delimiter of DELIMITERS) {
    const widths = [];
    const sized = lines.map((text) => ({ text, bytes: 0 }));
    for (const record of records(sized, delimiter)) {
      if (record.fields.length > 0) widths.push(record.fields.length);
      if (widths.length === 20) break;
    }
    const width = widths[0] ?? 1;
    const matches = widths.filter((other) => other === width).length;
    const better = matches > best.matches || (matches === best.matches && width > best.width);
    if (width > 1 && better) best = { delimiter, matches, width };
  }
  return best.delimiter;
}

function readHead(fd) {
  const buffer = Buffer.alloc(HEAD_BYTES);
  let length = 0;
  for (;;) {
    const count = readSync(fd, buffer, length, HEAD_BYTES - length, length);
    length += count;
    if (count === 0 || length === HEAD_BYTES) break;
  }
  const head = buffer.subarray(0, length);
  const mark = head.subarray(0, 2).toString('hex');
  if (mark === 'fffe' || mark === 'feff') {
    throw new InputError('the file is UTF-16; save it as UTF-8 first');
  }
  const turn = head.indexOf(13);
  if (turn >= 0 && turn < length - 1 && !head.includes(10)) {
    throw new InputError('the lines end with CR only; save the file with LF or CRLF line ends');
  }
  const last = head.lastIndexOf(10);
  return length === HEAD_BYTES && last >= 0 ? head.subarray(0, last) : head;
}

/** Reads the file at `path`; options: delimiter (a character or undefined), decimalComma. */
export function readTable(path, options) {
  if (!statSync(path).isFile()) throw new InputError('it is not a regular file');
  const fd = openSync(path, 'r');
  try {
    const head = readHead(fd);
    const delimiter = options.delimiter ?? sniff(head);
    return collect(records(fileLines(fd), delimiter), delimiter, options.decimalComma);
  } finally {
    closeSync(fd);
  }
}

function collect(source, delimiter, decimalComma) {
  const table = { delimiter, columns: [], rows: 0, blank: 0, duplicates: 0, rowsCapped: false };
  const odd = { short: 0, shortLine: 0, long: 0, longLine: 0, unclosed: 0, replaced: 0 };
  const seen = new Set();
  let header;
  for (const { line, fields, unclosed } of source) {
    if (fields.length === 0) {
      table.blank += 1;
      continue;
    }
    if (fields.length > MAX_COLUMNS && !header) {
      throw new InputError(`the header has more than ${MAX_COLUMNS} columns`);
    }
    if (unclosed) odd.unclosed = line;
    if (odd.replaced === 0 && fields.some((field) => field.includes('\uFFFD'))) odd.replaced = line;
    if (!header) {
      header = fields.map(trim);
      table.columns = header.map((name, at) => new Column(at + 1, name, header.length, decimalComma));
      continue;
    }
    table.rows += 1;
    if (fields.length < header.length) {
      odd.short += 1;
      odd.shortLine ||= line;
    } else if (fields.length > header.length) {
      odd.long += 1;
      odd.longLine ||= line;
    }
    for (const column of table.columns) column.add(fields[column.index - 1] ?? '', line);
    const key = createHash('sha256').update(fields.join('\0')).digest('base64').slice(0, 24);
    if (seen.has(key)) table.duplicates += 1;
    else if (seen.size < MAX_ROW_KEYS) seen.add(key);
    else table.rowsCapped = true;
  }
  return { ...table, odd };
}
