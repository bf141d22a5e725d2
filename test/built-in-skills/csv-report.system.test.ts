import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { PYTHON, needs } from '../needs.ts';
import { has, pick, randomFrom, run, SKILLS, withFolder } from './support.ts';

const NODE_SCRIPT = join(SKILLS, 'csv-report/scripts/report.mjs');
const PYTHON_SCRIPT = join(SKILLS, 'csv-report/scripts/report.py');
const python = has(PYTHON, 'the comparison of report.py with report.mjs');

const Statistic = z.number();
const Report = z.object({
  delimiter: z.string(),
  rows: z.int(),
  columns: z.int(),
  blank_lines: z.int(),
  repeated_rows: z.int(),
  fields: z.array(
    z.object({
      name: z.string(),
      type: z.string(),
      filled: z.int(),
      missing: z.int(),
      distinct: z.int(),
      top: z.array(z.object({ value: z.string(), count: z.int() })),
      numbers: z
        .object({ min: Statistic, median: Statistic, max: Statistic, mean: Statistic, outliers: z.int() })
        .nullable(),
      dates: z.object({ earliest: z.string(), latest: z.string() }).nullable(),
    }),
  ),
  notes: z.array(z.string()),
});

async function reportOf(content: string | Buffer, ...options: string[]) {
  return withFolder(async (folder) => {
    const input = join(folder, 'data.csv');
    writeFileSync(input, content);
    const { code, text, stderr } = await run(process.execPath, [NODE_SCRIPT, input, '--format', 'json', ...options]);
    expect([code, stderr]).toEqual([0, '']);
    return Report.parse(JSON.parse(text));
  });
}

/** The means of columns as they are written. */
async function meanTexts(columns: readonly (readonly string[])[]): Promise<readonly string[]> {
  return withFolder(async (folder) => {
    const input = join(folder, 'data.csv');
    const height = Math.max(...columns.map((values) => values.length));
    const rows = Array.from({ length: height }, (_, row) => columns.map((values) => values[row] ?? '').join(','));
    writeFileSync(input, `${columns.map((_, at) => `c${at}`).join(',')}\n${rows.join('\n')}\n`);
    const { text } = await run(process.execPath, [NODE_SCRIPT, input, '--format=json']);
    return [...text.matchAll(/"mean": (\S+?),/g)].map(([, mean = '']) => mean);
  });
}

describe('what the report says', () => {
  test('types, missing values and repeated rows', async () => {
    const report = await reportOf(
      'id,price,day,at,ok,zip,note\n1,2.5,2024-02-29,2024-01-01T10:00Z,yes,01234,x\n2,n/a,2024-03-01,2024-01-02 11:30:15,no,99999,\n2,n/a,2024-03-01,2024-01-02 11:30:15,no,99999,\n',
    );
    expect(report.fields.map((field) => field.type)).toEqual(
      'integer number date datetime boolean mixed text'.split(' '),
    );
    expect(report.fields.map((field) => field.missing)).toEqual([0, 2, 0, 0, 0, 0, 2]);
    expect(report.repeated_rows).toBe(1);
    expect(report.fields[2]?.dates).toEqual({ earliest: '2024-02-29', latest: '2024-03-01' });
    expect(report.fields[3]?.dates).toEqual({ earliest: '2024-01-01 10:00', latest: '2024-01-02 11:30:15' });
  });

  test.each([
    [',', 'comma'],
    [';', 'semicolon'],
    ['\t', 'tab'],
    ['|', 'pipe'],
  ])('finds the delimiter %j', async (mark, name) => {
    const lines = [
      ['a', 'b', 'c'],
      ['1', '"x, y; z|\t"', '2.5'],
      ['3', 'w', '4.5'],
    ];
    const report = await reportOf(lines.map((line) => line.join(mark)).join('\r\n'));
    expect([report.delimiter, report.columns, report.rows]).toEqual([name, 3, 2]);
    expect(report.fields[2]?.numbers).toMatchObject({ min: 2.5, max: 4.5, mean: 3.5, median: 3.5 });
  });

  test('quotes, line breaks in fields, BOM and CRLF', async () => {
    const report = await reportOf('\uFEFFname,text\r\n"a ""b""","one\r\ntwo"\r\n\r\nplain,"x"y\r\n');
    expect(report.fields.map((field) => field.name)).toEqual(['name', 'text']);
    expect(report.fields[0]?.top.map((one) => one.value)).toEqual(['a "b"', 'plain']);
    expect(report.fields[1]?.top.map((one) => one.value)).toEqual(['one\ntwo', 'xy']);
    expect(report.blank_lines).toBe(1);
  });

  test('odd rows, names and quotes are noted', async () => {
    const report = await reportOf('a,a,\n1\n1,2,3,4\n1,2,"open\n');
    expect(report.notes).toEqual(
      expect.arrayContaining([
        'Column 2 repeats the name a.',
        'Column 3 has no name.',
        'Rows with too few fields: 1 (first: line 2).',
        'Rows with too many fields: 1 (first: line 3); the extra ones are ignored.',
        'The quoted field on line 4 is never closed.',
      ]),
    );
    expect((await reportOf('1,2\n3,4\n')).notes).toContain('The first line looks like data, not like column names.');
  });

  test('outliers, decimal commas and empty input', async () => {
    const steady = await reportOf(`x\n${[1, 2, 3, 2, 1, 2, 3, 2, 500].join('\n')}\n`);
    expect(steady.fields[0]?.numbers?.outliers).toBe(1);
    const comma = 'a;b\n1,5;x\n2,5;y\n';
    expect((await reportOf(comma)).notes).toContain('a: numbers with a decimal comma: 2 (try --decimal-comma).');
    expect((await reportOf(comma, '--decimal-comma')).fields[0]?.numbers?.mean).toBe(2);
    for (const empty of ['', '\n\n', '\uFEFF']) {
      const report = await reportOf(empty);
      expect([report.rows, report.columns]).toEqual([0, report.fields.length]);
      expect(report.notes[0]).toBe('The file is empty.');
    }
    expect((await reportOf('a,b\n')).notes).toContain('There is a header but no data row.');
  });

  test('rounding is exact: four decimals, halves away from zero', async () => {
    const cases: [string[], string][] = [
      [['0.1', '0.2'], '0.15'],
      [['2.00005'], '2.0001'],
      [['-2.00005'], '-2.0001'],
      [['2.000049999999999999999999'], '2'],
      [['1.00015'], '1.0002'],
      [['1', '2', '2'], '1.6667'],
      [['-1', '-2', '-2'], '-1.6667'],
      [['0.0000123456'], '0.00001235'],
      [['1e-40'], '0.0000000000000000000000000000000000000001'],
      [['9007199254740993', '9007199254740993'], '9007199254740993'],
      [['99999.99995'], '100000'],
      [['-0.0'], '0'],
      [['1e30', '1'], '500000000000000000000000000000.5'],
    ];
    expect(await meanTexts(cases.map(([values]) => values))).toEqual(cases.map(([, expected]) => expected));
  });

  test('cell text cannot break the Markdown', async () => {
    await withFolder(async (folder) => {
      const input = join(folder, 'data.csv');
      writeFileSync(input, 'a|b,c\n"<img src=x>\n# title","| x | `y`"\n"<img src=x>\n# title",\u202Ez\n');
      const { text } = await run(process.execPath, [NODE_SCRIPT, input]);
      expect(text).toContain('a\\|b');
      expect(text).toContain('\\<img src=x\\> # title');
      expect(text).not.toMatch(/^# title|\u202E|[^\\]</m);
    });
  });
});

describe('files and errors', () => {
  test('--out and OUTPUT_DIR write both files, --format only one', async () => {
    await withFolder(async (folder) => {
      const input = join(SKILLS, 'csv-report/assets/example.csv');
      const out = join(folder, 'deep/out');
      const done = await run(process.execPath, [NODE_SCRIPT, input, '--out', out]);
      expect(done.text).toBe('example.csv: rows: 12, columns: 8, notes: 4\nwrote: report.md, report.json\n');
      expect(readdirSync(out).toSorted()).toEqual(['report.json', 'report.md']);
      const other = join(folder, 'other');
      await run(process.execPath, [NODE_SCRIPT, input, '--format', 'md'], { env: { OUTPUT_DIR: other } });
      expect(readdirSync(other)).toEqual(['report.md']);
      expect(readFileSync(join(other, 'report.md'), 'utf8')).toBe(
        (await run(process.execPath, [NODE_SCRIPT, input])).text,
      );
    });
  });

  test('a link in the output folder is replaced, not followed; the input is never replaced', async () => {
    await withFolder(async (folder) => {
      writeFileSync(join(folder, 'precious'), 'keep');
      mkdirSync(join(folder, 'out'));
      symlinkSync(join(folder, 'precious'), join(folder, 'out/report.md'));
      writeFileSync(join(folder, 'report.json'), 'a,b\n1,2\n');
      await run(process.execPath, [NODE_SCRIPT, join(folder, 'report.json'), '--out', join(folder, 'out')]);
      expect(readFileSync(join(folder, 'precious'), 'utf8')).toBe('keep');
      const same = await run(process.execPath, [NODE_SCRIPT, join(folder, 'report.json'), '--out', folder]);
      expect([same.code, readFileSync(join(folder, 'report.json'), 'utf8')]).toEqual([2, 'a,b\n1,2\n']);
    });
  });

  test('each error has its exit code and one line', async () => {
    await withFolder(async (folder) => {
      const put = (name: string, content: string | Buffer) => {
        writeFileSync(join(folder, name), content);
        return join(folder, name);
      };
      const good = put('good.csv', 'a\n1\n');
      const cases: [string[], number, string][] = [
        [[], 2, 'exactly one'],
        [[good, good], 2, 'exactly one'],
        [[good, '--top', '0'], 2, '--top'],
        [[good, '--top'], 2, '--top needs a value'],
        [[good, '--format=xml'], 2, '--format'],
        [[good, '--delimiter', 'x'], 2, '--delimiter'],
        [[join(folder, 'none.csv')], 1, 'no such file'],
        [[folder], 1, 'not a regular file'],
        [[put('nul.csv', 'a\n\0')], 1, 'line 2 has a NUL byte'],
        [[put('utf16.csv', Buffer.from('\uFEFFa,b', 'utf16le'))], 1, 'UTF-16'],
        [[put('mac.csv', 'a,b\r1,2\r')], 1, 'CR only'],
        [[put('wide.csv', ','.repeat(2_001))], 1, 'more than 2000 columns'],
        [[put('long.csv', `a\n${'x'.repeat(8_388_609)}`)], 1, 'line 2 is longer than 8 MiB'],
        [[put('open.csv', `a\n"${`${'x'.repeat(99)}\n`.repeat(84_000)}`)], 1, 'not closed within 8 MiB'],
        [[good, '--out', good], 1, 'not a folder'],
      ];
      await Promise.all(
        cases.map(async ([args, code, part]) => {
          const outcome = await run(process.execPath, [NODE_SCRIPT, ...args]);
          expect([part, outcome.code, outcome.text]).toEqual([part, code, '']);
          expect(outcome.stderr).toContain(part);
          expect(outcome.stderr.split('\n')).toHaveLength(2);
          if (!python) return;
          const other = await run(PYTHON, [PYTHON_SCRIPT, ...args]);
          expect([other.code, other.stderr]).toEqual([code, outcome.stderr]);
        }),
      );
    });
  });

  test('long runs of spaces stay quick', async () => {
    await reportOf(`a,b\n${' '.repeat(500_000)}x${' '.repeat(500_000)}y,1\n`);
  });
});

const ATOMS = [
  ['1', '-0.00005', '1e5', '1e-39', '.5', '3.', '007', '1,5', '"1,5"', 'true', 'Yes', '2024-02-29', '2023-02-29'],
  ['2024-01-01T10:00:00Z', '2024-01-01 10:00+02:00', 'n/a', '', ' ', '\t', '"a""b"', '"x\ny"', '"x\r\ny"', '"open'],
  ['😀'.repeat(90), '你好', '<b>|*x*`', '\u000B\u001C', '\u007F', '\u0085', '\u2028', '\uFEFF', 'yeſ', '１２'],
  ['1e400', '123456789012345678901234567890.12345', '-7.00005', '2.00015', '"q"tail', 'q"uote', '\r', '9'.repeat(41)],
]
  .flat()
  .map((text) => Buffer.from(text));
const BROKEN = [Buffer.from([0xff, 0xfe]), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from([0xf0, 0x9f, 0x98])];

function randomCsv(seed: number): Buffer {
  const random = randomFrom(seed);
  if (random(10) === 0) return Buffer.from(Array.from({ length: random(300) }, () => 1 + random(255)));
  const [mark, end] = [pick(random, [',', ';', '\t', '|']), pick(random, ['\n', '\r\n'])];
  const width = 1 + random(5);
  const parts: Buffer[] = random(5) === 0 ? [Buffer.from('\uFEFF')] : [];
  for (let row = random(40); row >= 0; row -= 1) {
    const fields = random(10) === 0 ? 1 + random(7) : width;
    for (let at = 0; at < fields; at += 1) {
      if (at > 0) parts.push(Buffer.from(mark));
      parts.push(pick(random, random(30) === 0 ? BROKEN : ATOMS));
    }
    if (row > 0 || random(2) === 0) parts.push(Buffer.from(end));
  }
  return Buffer.concat(parts);
}

/** Both outcomes, to be compared: exit code, messages and output as bytes. */
async function bothOn(input: string, options: readonly string[]): Promise<{ node: unknown; python: unknown }> {
  const [node, other] = await Promise.all([
    run(process.execPath, [NODE_SCRIPT, input, ...options]),
    run(PYTHON, [PYTHON_SCRIPT, input, ...options]),
  ]);
  const [first, second] = [node, other].map(({ code, stderr, stdout }) => [code, stderr, stdout.toString('latin1')]);
  if (node.code !== 0 && node.code !== 1) throw new Error(`report.mjs failed: ${node.stderr}`);
  return { node: first, python: second };
}

describe('report.py and report.mjs give the same bytes', needs('python3'), () => {
  test('for help and for the shipped files', async () => {
    const both = await bothOn('--help', []);
    expect(both.python).toEqual(both.node);
    const folder = join(SKILLS, 'csv-report/evals/files');
    for (const name of readdirSync(folder)) {
      for (const options of [[], ['--format', 'json', '--top', '2', '--decimal-comma']]) {
        const both = await bothOn(join(folder, name), options);
        expect(both.python).toEqual(both.node);
      }
    }
  });

  test('for 8 random and broken files', async () => {
    await withFolder(async (folder) => {
      for (let seed = 1; seed <= 8; seed += 1) {
        const input = join(folder, `${seed} 数据.csv`);
        writeFileSync(input, randomCsv(seed));
        const options = [[], ['--format', 'json'], ['--decimal-comma'], ['--top', '2'], ['--delimiter', 'comma']];
        const both = await bothOn(input, options[seed % options.length] ?? []);
        expect(both.python).toEqual(both.node);
      }
    });
  });

  test('for thousands of random numbers', async () => {
    await withFolder(async (folder) => {
      const random = randomFrom(7);
      const digits = (count: number) => Array.from({ length: count }, () => random(10)).join('');
      const numeral = () =>
        `${pick(random, ['', '-', '+'])}${1 + random(9)}${digits(random(18))}${pick(random, ['', `.${digits(1 + random(20))}`])}${pick(random, ['', '', `e${random(40) - 20}`])}`;
      const rows = Array.from({ length: 400 }, () => Array.from({ length: 12 }, numeral).join(','));
      writeFileSync(join(folder, 'n.csv'), `a,b,c,d,e,f,g,h,i,j,k,l\n${rows.join('\n')}\n`);
      const both = await bothOn(join(folder, 'n.csv'), ['--format', 'json']);
      expect(both.python).toEqual(both.node);
      for (let at = 0; at < 3; at += 1) {
        writeFileSync(join(folder, 'few.csv'), `a,b,c,d,e,f,g,h,i,j,k,l\n${rows.slice(at, at + 3).join('\n')}\n`);
        const both = await bothOn(join(folder, 'few.csv'), []);
        expect(both.python).toEqual(both.node);
      }
    });
  });

  test('for 101000 rows, with little memory and sampled medians', async () => {
    await withFolder(async (folder) => {
      const random = randomFrom(11);
      const lines = ['id,amount,note'];
      for (let row = 0; row < 101_000; row += 1) {
        lines.push(`r${row},${random(1_000_000) / 100},"${'x'.repeat(random(9))}\n"`);
      }
      const input = join(folder, 'big.csv');
      writeFileSync(input, `${lines.join('\n')}\n`);
      const [node, other] = await Promise.all([
        run(process.execPath, ['--max-old-space-size=128', NODE_SCRIPT, input]),
        run(PYTHON, [PYTHON_SCRIPT, input]),
      ]);
      expect([node.code, other.code]).toEqual([0, 0]);
      expect(other.text).toBe(node.text);
      expect(node.text).toContain('- Rows: 101000\n');
      expect(node.text).toContain('come from 50500 of 101000 numbers');
    });
  });

  test('when writing into a folder, and Python leaves no cache', async () => {
    await withFolder(async (folder) => {
      const input = join(SKILLS, 'csv-report/assets/example.csv');
      await run(process.execPath, [NODE_SCRIPT, input, '--out', join(folder, 'node')]);
      await run(PYTHON, [PYTHON_SCRIPT, input], { env: { OUTPUT_DIR: join(folder, 'python') } });
      for (const name of ['report.md', 'report.json']) {
        expect(readFileSync(join(folder, 'python', name))).toEqual(readFileSync(join(folder, 'node', name)));
      }
      expect(readdirSync(join(SKILLS, 'csv-report/scripts'), { recursive: true })).not.toContain('lib/__pycache__');
    });
  });
});
