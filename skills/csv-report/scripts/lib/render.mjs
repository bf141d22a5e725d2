// Builds the report from a table and writes it as Markdown or JSON.
// render.py is the same program in Python. Change both together: a test compares their output.
import { KINDS, parseNumber, SCALE, shorten } from './table.mjs';

const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

/** A number that is already written out, for the JSON text. */
class Raw extends String {}

/** The text on one line, without control and direction characters. */
export const printable = (text) => text.replace(CONTROL, ' ');
export const plain = (text) => shorten(printable(text), 40);
const escapeMarkdown = (text) => text.replace(/[\\`*[\]<>|]/g, '\\$&');
const cell = (text) => escapeMarkdown(plain(text));
const label = (column) => (column.name === '' ? `column ${column.index}` : plain(column.name));

/** num/den with `digits` decimals, halves away from zero, trailing zeros dropped. */
function rounded(num, den, digits) {
  const size = num < 0n ? -num : num;
  const scaled = (size * 10n ** BigInt(digits) * 2n + den) / (2n * den);
  const text = scaled.toString().padStart(digits + 1, '0');
  const fraction = text.slice(-digits).replace(/0+$/, '');
  const sign = num < 0n && scaled > 0n ? '-' : '';
  return sign + text.slice(0, -digits) + (fraction === '' ? '' : `.${fraction}`);
}

/** Four decimals; below 0.1 four significant digits. */
function decimal(num, den) {
  const size = num < 0n ? -num : num;
  let [digits, grown] = [4, size * 10_000n];
  while (grown > 0n && grown < 1000n * den && digits < 44) {
    digits += 1;
    grown *= 10n;
  }
  return rounded(num, den, digits);
}

const share = (part, whole) => `${rounded(BigInt(part) * 100n, BigInt(whole), 1)}%`;

/** Twice the median of sorted values, so that it stays a whole number. */
function twiceMedian(sorted) {
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half] * 2n : sorted[half - 1] + sorted[half];
}

function numberStats(column) {
  if (column.numeric === 0 || column.numeric * 10 < column.filled * 9) return null;
  const sorted = column.kept.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const half = sorted.length >> 1;
  const middle = twiceMedian(sorted);
  const q1 = half === 0 ? middle : twiceMedian(sorted.slice(0, half));
  const q3 = half === 0 ? middle : twiceMedian(sorted.slice(sorted.length - half));
  // Fences of 1.5 times the distance between the quartiles, all four times their size.
  const low = 2n * q1 - 3n * (q3 - q1);
  const high = 2n * q3 + 3n * (q3 - q1);
  const outside = sorted.filter((value) => value * 4n < low || value * 4n > high).length;
  return {
    count: column.numeric,
    min: decimal(column.min, SCALE),
    max: decimal(column.max, SCALE),
    mean: decimal(column.sum, SCALE * BigInt(column.numeric)),
    median: decimal(middle, 2n * SCALE),
    q1: decimal(q1, 2n * SCALE),
    q3: decimal(q3, 2n * SCALE),
    outliers: sorted.length < 8 ? 0 : outside,
    low: decimal(low, 4n * SCALE),
    high: decimal(high, 4n * SCALE),
    sampled: column.stride > 1 ? sorted.length : 0,
  };
}

function typeOf(column) {
  const present = KINDS.filter((kind) => column.kinds[kind] > 0);
  if (present.length === 0) return 'empty';
  if (present.length === 1) return present[0];
  const joined = present.join('+');
  if (joined === 'integer+number') return 'number';
  return joined === 'date+datetime' ? 'datetime' : 'mixed';
}

function summarize(column, top) {
  const type = typeOf(column);
  const dated = (type === 'date' || type === 'datetime') && !column.offsets;
  const sorted = [...column.counts].toSorted((a, b) => b[1] - a[1]);
  return {
    column,
    type,
    distinct: column.counts.size,
    top: sorted.slice(0, top).map(([key, count]) => ({ value: key.split('\0')[0], count })),
    numbers: numberStats(column),
    dates: dated ? { earliest: column.earliest, latest: column.latest } : null,
  };
}

function columnNotes({ column, type, distinct, numbers }, rows, decimalComma) {
  const notes = [];
  const name = label(column);
  if (type === 'empty' && rows > 0) notes.push(`${name}: no value at all.`);
  else if (column.missing * 5 >= rows && column.missing > 0) {
    notes.push(`${name}: ${share(column.missing, rows)} of the values are missing.`);
  }
  if (distinct === 1 && column.filled === rows && rows > 1) {
    notes.push(`${name}: the same value in every row.`);
  }
  if (type === 'mixed') {
    const present = KINDS.filter((kind) => column.kinds[kind] > 0);
    const counts = present.map((kind) => `${column.kinds[kind]} ${kind}`).join(', ');
    const rare = present.reduce((a, b) => (column.kinds[b] < column.kinds[a] ? b : a));
    const { line, text } = column.first[rare];
    const where = `the first ${rare} is on line ${line}`;
    notes.push(`${name}: mixed types (${counts}); ${where}: ${plain(text)}`);
  }
  if (column.decimalCommas > 0 && !decimalComma) {
    const count = column.decimalCommas;
    notes.push(`${name}: numbers with a decimal comma: ${count} (try --decimal-comma).`);
  }
  if (numbers !== null && numbers.outliers > 0) {
    const range = `${numbers.low} to ${numbers.high}`;
    notes.push(`${name}: possible outliers: ${numbers.outliers} (outside ${range}).`);
  }
  if (numbers !== null && numbers.sampled > 0) {
    const sample = `${numbers.sampled} of ${numbers.count} numbers`;
    notes.push(`${name}: median, quartiles and outliers come from ${sample}.`);
  }
  if (column.offsets) {
    notes.push(`${name}: times with different offsets; earliest and latest are not given.`);
  }
  if (column.distinctCapped) {
    notes.push(`${name}: more than ${distinct} distinct values; only the first ${distinct} are counted.`);
  }
  return notes;
}

function tableNotes(table) {
  const notes = [];
  const { columns, rows, odd } = table;
  if (columns.length === 0) notes.push('The file is empty.');
  else if (rows === 0) notes.push('There is a header but no data row.');
  if (columns.length > 0 && columns.every((column) => parseNumber(column.name))) {
    notes.push('The first line looks like data, not like column names.');
  }
  const names = new Set();
  for (const column of columns) {
    if (column.name === '') notes.push(`Column ${column.index} has no name.`);
    else if (names.has(column.name)) {
      notes.push(`Column ${column.index} repeats the name ${plain(column.name)}.`);
    }
    names.add(column.name);
  }
  if (odd.short > 0) {
    notes.push(`Rows with too few fields: ${odd.short} (first: line ${odd.shortLine}).`);
  }
  if (odd.long > 0) {
    notes.push(`Rows with too many fields: ${odd.long} (first: line ${odd.longLine}); the extra ones are ignored.`);
  }
  if (odd.unclosed > 0) notes.push(`The quoted field on line ${odd.unclosed} is never closed.`);
  if (odd.replaced > 0) {
    notes.push(`Some text is not valid UTF-8 (first: line ${odd.replaced}).`);
  }
  if (table.duplicates > 0) notes.push(`Rows that repeat an earlier row: ${table.duplicates}.`);
  if (table.rowsCapped) notes.push('Repeated rows are looked for among the first 300000 different rows only.');
  return notes;
}

function topLine({ column, type, distinct, top }) {
  const numeric = type === 'integer' || type === 'number';
  if (column.filled === 0 || (numeric && distinct > 20)) return [];
  const name = escapeMarkdown(label(column));
  if (distinct === column.filled && distinct > 1) return [`- ${name}: every value is different`];
  const values = top.map(({ value, count }) => `${cell(value)} (${count}, ${share(count, column.filled)})`);
  return [`- ${name}: ${values.join(', ')}`];
}

function section(title, head, rows) {
  if (rows.length === 0) return [];
  const line = (cells) => `| ${cells.join(' | ')} |`;
  const rule = line(head.map((name) => (name === '#' ? '---:' : '---')));
  return ['', `## ${title}`, '', line(head), rule, ...rows.map(line)];
}

export function markdown(report) {
  const { table, fields } = report;
  const lines = [`# CSV report: ${cell(report.file)}`, ''];
  lines.push(`- Rows: ${table.rows}`, `- Columns: ${fields.length}`);
  lines.push(`- Delimiter: ${report.delimiter}`, `- Blank lines skipped: ${table.blank}`);
  lines.push(`- Repeated rows: ${table.duplicates}`);
  const about = fields.map(({ column, type, distinct }) => {
    const many = column.distinctCapped ? `${distinct}+` : `${distinct}`;
    const name = escapeMarkdown(label(column));
    return [column.index, name, type, column.filled, column.missing, many];
  });
  lines.push(...section('Columns', ['#', 'Column', 'Type', 'Filled', 'Missing', 'Distinct'], about));
  const numbers = fields.flatMap(({ column, numbers: n }) => {
    if (n === null) return [];
    const name = escapeMarkdown(label(column));
    return [[name, n.min, n.q1, n.median, n.q3, n.max, n.mean, n.outliers]];
  });
  const head = ['Column', 'Min', 'Q1', 'Median', 'Q3', 'Max', 'Mean', 'Outliers'];
  lines.push(...section('Numbers', head, numbers));
  const dates = fields.flatMap(({ column, dates: d }) =>
    d === null ? [] : [[escapeMarkdown(label(column)), d.earliest, d.latest]],
  );
  lines.push(...section('Dates', ['Column', 'Earliest', 'Latest'], dates));
  const tops = fields.flatMap(topLine);
  if (tops.length > 0) lines.push('', '## Top values', '', ...tops);
  if (report.notes.length > 0) {
    lines.push('', '## Notes', '', ...report.notes.map((note) => `- ${escapeMarkdown(note)}`));
  }
  return `${lines.join('\n')}\n`;
}

export function json(report) {
  const { table } = report;
  const fields = report.fields.map(({ column, type, distinct, top, numbers, dates }) => ({
    index: column.index,
    name: column.name,
    type,
    filled: column.filled,
    missing: column.missing,
    distinct,
    distinct_is_minimum: column.distinctCapped,
    top,
    numbers: numbers && {
      count: numbers.count,
      min: new Raw(numbers.min),
      q1: new Raw(numbers.q1),
      median: new Raw(numbers.median),
      q3: new Raw(numbers.q3),
      max: new Raw(numbers.max),
      mean: new Raw(numbers.mean),
      outliers: numbers.outliers,
      sampled: numbers.sampled > 0,
    },
    dates,
  }));
  const whole = {
    file: report.file,
    delimiter: report.delimiter,
    rows: table.rows,
    columns: fields.length,
    blank_lines: table.blank,
    repeated_rows: table.duplicates,
    fields,
    notes: report.notes,
  };
  return `${jsonText(whole, '')}\n`;
}

function jsonText(value, pad) {
  if (value instanceof Raw) return value.toString();
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const deeper = `${pad}  `;
  const isList = Array.isArray(value);
  const items = isList
    ? value.map((item) => deeper + jsonText(item, deeper))
    : Object.entries(value).map(([key, item]) => `${deeper}${JSON.stringify(key)}: ${jsonText(item, deeper)}`);
  const [open, close] = isList ? '[]' : '{}';
  return items.length === 0 ? open + close : `${open}\n${items.join(',\n')}\n${pad}${close}`;
}

const DELIMITER_NAMES = { ',': 'comma', ';': 'semicolon', '\t': 'tab', '|': 'pipe' };

export function buildReport(file, table, top, decimalComma) {
  const fields = table.columns.map((column) => summarize(column, top));
  const notes = tableNotes(table);
  for (const field of fields) notes.push(...columnNotes(field, table.rows, decimalComma));
  return { file, table, delimiter: DELIMITER_NAMES[table.delimiter], fields, notes };
}
