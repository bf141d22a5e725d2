#!/usr/bin/env node
// Turns a CSV file into a short report. report.py gives the same output: change both together.
import { mkdirSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { buildReport, json, markdown, plain, printable } from './lib/render.mjs';
import { InputError, readTable } from './lib/table.mjs';

const HELP = `usage: report INPUT.csv [--out DIR] [--format md|json] [--top N]
              [--delimiter comma|semicolon|tab|pipe] [--decimal-comma]

Prints a report about the columns of a CSV file.

  --out DIR        write report.md and report.json into DIR and print a short summary;
                   without it the folder named by $OUTPUT_DIR is used, when that is set
  --format F       md or json: what to print, or the only file to write
  --top N          how many frequent values to list for each column (1 to 100, default 5)
  --delimiter D    the delimiter; found out from the first lines when not given
  --decimal-comma  read 1,5 as the number 1.5
  --help           print this text

Exit codes: 0 done, 1 the input cannot be read or the report cannot be written, 2 wrong usage.
`;
const NAMES = { comma: ',', semicolon: ';', tab: '\t', pipe: '|' };

class UsageError extends Error {}

function parseArguments(list) {
  const options = { input: undefined, out: undefined, format: undefined, top: '5', help: false };
  const rest = [...list];
  const positional = [];
  while (rest.length > 0) {
    const word = rest.shift();
    const name = word.split('=', 1)[0];
    if (word === '--') positional.push(...rest.splice(0));
    else if (word === '--help' || word === '-h') options.help = true;
    else if (word === '--decimal-comma') options.decimalComma = true;
    else if (['--out', '--format', '--top', '--delimiter'].includes(name)) {
      const value = word.includes('=') ? word.slice(name.length + 1) : rest.shift();
      if (value === undefined || value === '') throw new UsageError(`${name} needs a value`);
      options[name.slice(2)] = value;
    } else if (word.startsWith('-')) throw new UsageError(`unknown option ${word}`);
    else positional.push(word);
  }
  if (options.help) return options;
  if (positional.length !== 1) throw new UsageError('give exactly one CSV file');
  if (![undefined, 'md', 'json'].includes(options.format)) {
    throw new UsageError('--format is md or json');
  }
  if (!/^([1-9][0-9]?|100)$/.test(options.top)) {
    throw new UsageError('--top is a whole number from 1 to 100');
  }
  if (options.delimiter !== undefined && !Object.hasOwn(NAMES, options.delimiter)) {
    throw new UsageError('--delimiter is comma, semicolon, tab or pipe');
  }
  const out = options.out ?? (process.env['OUTPUT_DIR'] || undefined);
  return { ...options, input: positional[0], out, top: Number(options.top) };
}

const REASONS = {
  ENOENT: 'no such file',
  EACCES: 'permission denied',
  EEXIST: 'it is not a folder',
  ENOTDIR: 'it is not a folder',
};

/** Writes next to the final name first, so that a link at that name is replaced, not followed. */
function writeReport(folder, name, text) {
  const draft = join(folder, `.${name}.${process.pid}.tmp`);
  try {
    writeFileSync(draft, text, { flag: 'wx' });
    renameSync(draft, join(folder, name));
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

function isSameFile(a, b) {
  try {
    return realpathSync(a) === realpathSync(b);
  } catch {
    return false;
  }
}

function run(list) {
  const options = parseArguments(list);
  if (options.help) return HELP;
  const { input, out, format, top, decimalComma } = options;
  const kinds = ['md', 'json'].filter((kind) => format === undefined || kind === format);
  if (out !== undefined && kinds.some((kind) => isSameFile(input, join(out, `report.${kind}`)))) {
    throw new UsageError('the report would replace the input');
  }
  let report;
  try {
    const table = readTable(input, { delimiter: NAMES[options.delimiter], decimalComma });
    report = buildReport(basename(input), table, top, decimalComma);
  } catch (error) {
    const reason = error instanceof InputError ? error.message : REASONS[error.code];
    if (reason === undefined && error.code === undefined) throw error;
    throw new InputError(`cannot read ${printable(input)}: ${reason ?? 'it cannot be opened'}`);
  }
  if (out === undefined) return format === 'json' ? json(report) : markdown(report);
  try {
    mkdirSync(out, { recursive: true });
    for (const kind of kinds) {
      writeReport(out, `report.${kind}`, kind === 'md' ? markdown(report) : json(report));
    }
  } catch (error) {
    if (error.code === undefined) throw error;
    const reason = REASONS[error.code] ?? 'it cannot be written';
    throw new InputError(`cannot write to ${printable(out)}: ${reason}`);
  }
  const { rows } = report.table;
  const counts = `rows: ${rows}, columns: ${report.fields.length}, notes: ${report.notes.length}`;
  const files = kinds.map((kind) => `report.${kind}`).join(', ');
  return `${plain(report.file)}: ${counts}\nwrote: ${files}\n`;
}

process.stdout.on('error', () => process.exit(1));
try {
  process.stdout.write(run(process.argv.slice(2)));
} catch (error) {
  if (!(error instanceof InputError || error instanceof UsageError)) throw error;
  const hint = error instanceof UsageError ? ' (see --help)' : '';
  process.stderr.write(`report: ${error.message}${hint}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
