import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  constants,
  cpSync,
  existsSync,
  lstatSync,
  openSync,
  readFileSync,
  readSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { runIds } from '../../src/journal/run-folder.ts';
import type { EvalReport } from '../../src/evals/report/result.ts';
import { verifies } from '../conformance/verifies.ts';
import { scratch } from '../skills/registry/support.ts';
import { cli, skillText, writeFiles } from './run-cli.ts';

const CASES = `
cases:
  - id: fires
    input: count the rows
    expect: { trigger: true, output: { contains: rows } }
    tags: [smoke]
    mock: { turns: [ { toolCalls: [ { name: load_skill, input: { skill: tables } } ] }, { text: 42 rows } ] }
  - id: quiet
    input: write a poem
    expect: { trigger: false }
    mock: { turns: [ { text: Roses are red } ] }
`;

function project(files: Readonly<Record<string, string>> = {}): string {
  const root = scratch();
  writeFiles(root, {
    'skills/tables/SKILL.md': skillText('tables', 'Counts rows of tables. Use it for tables.'),
    'skills/tables/evals/cases.yaml': CASES,
    ...files,
  });
  return root;
}

const env = (root: string): Readonly<Record<string, string>> => ({ HOME: path.join(root, 'home') });
const run = (root: string, ...words: readonly string[]) =>
  cli(root, ['eval', ...words, '--executor', 'none'], { env: env(root) });
const evaluations = (root: string): readonly string[] => readdirSync(path.join(root, '.agent/evals')).sort();

describe('eval', () => {
  verifies('EVAL-3', 'runs the cases of a skill with no model and keeps what came of them', async () => {
    const root = project();
    const { status, out } = await run(root, 'skills/tables', '--no-eval-cache');
    expect([status, out.includes('2 passed')]).toEqual([0, true]);
    const [folder = ''] = evaluations(root);
    expect(readdirSync(path.join(root, '.agent/evals', folder)).sort()).toEqual([
      'report.json',
      'results.jsonl',
      'runs',
    ]);
  });

  verifies('EVAL-4', 'fails with 1 where a case fails, and lets a threshold decide', async () => {
    const root = project({ 'skills/tables/evals/cases.yaml': CASES.replace('contains: rows', 'contains: columns') });
    const failing = await run(root, 'skills/tables');
    expect([failing.status, failing.err]).toEqual([
      1,
      expect.stringContaining('the pass rate is 0.500; the minimum is 1'),
    ]);
    expect((await run(root, 'skills/tables', '--threshold', 'pass-rate=0.5')).status).toBe(0);
    expect((await run(root, 'skills/tables', '--suite', 'smoke')).status).toBe(1);
    expect((await run(root, 'skills/tables', '--suite', 'nothing')).status).toBe(2);
  });

  verifies('EVAL-4', 'writes every kind of report', async () => {
    const root = project();
    const formats = ['json=a/r.json', 'markdown=r.md', 'junit=r.xml', 'html=r.html', 'skill-creator=sc'];
    const { status } = await run(root, 'skills/tables', ...formats.flatMap((format) => ['--report', format]));
    expect(status).toBe(0);
    const starts = ['a/r.json', 'r.md', 'r.xml', 'r.html'].map((file) =>
      readFileSync(path.join(root, file), 'utf8').trimStart().slice(0, 2),
    );
    expect(starts).toEqual(['{\n', expect.stringMatching(/^[#*]/), '<?', '<!']);
    expect(existsSync(path.join(root, 'sc/benchmark.json'))).toBe(true);
    const printed = await run(root, 'skills/tables', '--report', 'junit=-');
    expect(printed.out.startsWith('<?xml')).toBe(true);
  });

  test('a report goes into a pipe and through a link, and what it replaces keeps its bits', async () => {
    const root = project({ 'kept.json': 'old', 'real.xml': 'old' });
    chmodSync(path.join(root, 'kept.json'), 0o644);
    symlinkSync('real.xml', path.join(root, 'link.xml'));
    execFileSync('mkfifo', [path.join(root, 'pipe')]);
    // Both ends are open, so that the writer does not wait for a reader.
    const reader = openSync(path.join(root, 'pipe'), constants.O_RDWR | constants.O_NONBLOCK);
    const reports = ['json=kept.json', 'junit=link.xml', 'junit=pipe'].flatMap((report) => ['--report', report]);
    expect((await run(root, 'skills/tables', ...reports)).status).toBe(0);
    const xml = readFileSync(path.join(root, 'real.xml'), 'utf8');
    const piped = Buffer.alloc(64 * 1024);
    expect(piped.toString('utf8', 0, readSync(reader, piped))).toBe(xml);
    closeSync(reader);
    expect([xml.slice(0, 5), lstatSync(path.join(root, 'pipe')).isFIFO()]).toEqual(['<?xml', true]);
    expect(lstatSync(path.join(root, 'link.xml')).isSymbolicLink()).toBe(true);
    expect(statSync(path.join(root, 'kept.json')).mode & 0o777).toBe(0o644);
  });

  test('what cannot be written as asked is wrong usage before anything is run', async () => {
    const root = project();
    for (const words of [
      ['--report', 'json='],
      ['--report', 'html=skills'],
      ['--report', 'json=-', '--json'],
      ['--report', 'json=-', '--report', 'markdown=-'],
      ['--report', 'junit', '--threshold', 'pass-rate'],
    ])
      expect([words, (await run(root, 'skills/tables', ...words)).status]).toEqual([words, 2]);
    expect(existsSync(path.join(root, '.agent/evals'))).toBe(false);
  });

  test('one that did not begin leaves nothing that is taken for the last', async () => {
    const root = project();
    expect((await run(root, 'skills/tables')).status).toBe(0);
    const [first] = evaluations(root);
    expect((await run(root, 'skills/tables', '--baseline', 'HEAD')).status).toBe(5);
    expect((await run(root, 'skills/tables', '--judge', 'nobody')).status).toBe(4);
    expect(evaluations(root)).toEqual([first]);
    // As one leaves it that was killed.
    writeFiles(root, { '.agent/evals/29990101T000000/results.jsonl': '' });
    const same = await run(root, 'compare', 'last', 'last');
    expect([same.status, same.out]).toEqual([0, expect.stringContaining('warning: both are the same report')]);
  });

  test('problems of case files, and runs that are not there, are JSON too', async () => {
    const root = project({ 'skills/tables/evals/cases.yaml': 'cases: [{ id: a, input: b }]' });
    const { status, out } = await run(root, 'skills/tables', '--json');
    expect([status, JSON.parse(out)]).toEqual([
      5,
      {
        schema: 1,
        error: {
          code: 'input/invalid',
          message: expect.stringContaining('skills/tables/evals/cases.yaml:1:') as string,
          hint: expect.any(String) as string,
          data: { problems: expect.any(Array) as unknown[] },
        },
      },
    ]);
    const good = project();
    const graded = await run(good, 'grade', 'nowhere', '--cases', 'skills/tables/evals/cases.yaml', '--json');
    expect([graded.status, JSON.parse(graded.out)]).toEqual([
      2,
      {
        schema: 1,
        error: {
          code: 'usage',
          message: 'no run at "nowhere"',
          hint: 'name run folders, or folders of .agent/evals',
        },
      },
    ]);
  });

  test('ends with 5 and names file and line where case files have problems, or there are none', async () => {
    const root = project({ 'skills/tables/evals/cases.yaml': `${CASES}  - id: fires\n    input: x\n    expekt: {}\n` });
    const broken = await run(root, 'skills/tables');
    expect([broken.status, broken.err]).toEqual([
      5,
      expect.stringMatching(/skills\/tables\/evals\/cases\.yaml:1[0-9]:\d+: error: /),
    ]);
    const empty = scratch();
    writeFiles(empty, { 'tables/SKILL.md': skillText('tables', 'Counts rows. Use it.') });
    expect((await run(empty, 'tables')).status).toBe(5);
    expect((await run(empty, 'nowhere')).status).toBe(5);
    const good = project();
    const compared = await run(good, 'skills/tables', '--baseline', 'HEAD');
    expect([compared.status, compared.err]).toEqual([5, expect.stringContaining('no baseline version of "tables"')]);
  });

  test('exits with 4 if no model answers, and with 2 on wrong usage', async () => {
    const root = project({
      'skills/tables/evals/cases.yaml':
        'cases: [{ id: a, input: count, expect: { trigger: true } }, { id: b, input: sing, expect: { trigger: false } }]',
    });
    expect((await run(root, 'skills/tables')).status).toBe(4);
    expect((await run(root, 'trigger', 'skills/tables')).status).toBe(4);
    for (const words of [
      ['--report', 'pdf'],
      ['--threshold', 'recall=2'],
      ['--threshold', 'beauty=1'],
      ['--repeat', '0'],
      ['--update-cassettes'],
      ['--resume'],
      ['compare', 'last'],
      ['grade', 'x'],
      ['init', 'a', 'b'],
    ])
      expect([
        words,
        (await run(root, ...words, ...(words[0]?.startsWith('--') ? ['skills/tables'] : []))).status,
      ]).toEqual([words, 2]);
  });

  test('trigger on the rule model scores for nothing, and among others', async () => {
    const root = project({
      'skills/tables/evals/trigger-eval.json': JSON.stringify([
        { query: 'count the rows of tables', should_trigger: true },
        { query: 'write a poem about spring', should_trigger: false },
      ]),
    });
    const { out, status } = await run(root, 'trigger', 'skills', '--model', 'rules', '--distractors', '5', '--json');
    const report: EvalReport = JSON.parse(out);
    expect([status, report.trigger?.isValid, report.models]).toEqual([0, true, [{ id: 'rules', way: 'rules' }]]);
    expect(report.trigger?.sweep.map(({ distractors, recall }) => [distractors, recall.count])).toEqual([[5, 1]]);
  });

  test('compares two evaluations, and fails where a case that passed does not any more', async () => {
    const root = project();
    const cases = path.join(root, 'skills/tables/evals/cases.yaml');
    expect((await run(root, 'skills/tables', '--report', 'json=before.json')).status).toBe(0);
    writeFileSync(cases, CASES.replace('42 rows', 'no idea'));
    expect((await run(root, 'skills/tables')).status).toBe(1);
    const worse = await run(root, 'compare', 'before.json', 'last');
    expect([worse.status, worse.out.includes('fires')]).toEqual([1, true]);
    expect((await run(root, 'compare', 'last', 'before.json')).status).toBe(0);
    const written = await run(
      root,
      'compare',
      'before.json',
      'last',
      '--report',
      'markdown=c.md',
      '--report',
      'html=c.html',
    );
    expect([written.status, readFileSync(path.join(root, 'c.md'), 'utf8')]).toEqual([
      1,
      expect.stringContaining('fires'),
    ]);
    expect((await run(root, 'compare', 'last', 'skills/tables/SKILL.md')).status).toBe(2);
  });

  verifies('EVAL-5', 'grades stored runs again with other cases and runs nothing', async () => {
    const root = project();
    await run(root, 'skills/tables', '--no-eval-cache');
    const [folder = ''] = evaluations(root);
    writeFiles(root, { 'skills/tables/evals/cases.yaml': CASES.replace('contains: rows', 'contains: columns') });
    const words = ['grade', `.agent/evals/${folder}`, '--cases', 'skills/tables/evals/cases.yaml'];
    const again = await run(root, ...words, '--json');
    const report: EvalReport = JSON.parse(again.out);
    expect([again.status, report.results.map(({ case: id, status }) => `${id} ${status}`)]).toEqual([
      1,
      ['fires failed', 'quiet passed'],
    ]);
    expect(evaluations(root)).toEqual([folder]);
    const runs = runIds(path.join(root, '.agent/evals', folder, 'runs'));
    const single = await run(
      root,
      'grade',
      `.agent/evals/${folder}/runs/${runs[0] ?? ''}`,
      ...words.slice(2),
      '--json',
    );
    expect(JSON.parse(single.out).results).toHaveLength(1);
    // A run counts once, and two evaluations are no repetitions of one.
    const twice = await run(root, 'grade', `.agent/evals/${folder}`, ...words.slice(1), '--json');
    expect(JSON.parse(twice.out).results).toHaveLength(2);
    await run(root, 'skills/tables', '--no-eval-cache');
    const both = await run(
      root,
      ...words,
      ...evaluations(root)
        .slice(1)
        .map((one) => `.agent/evals/${one}`),
    );
    expect([both.status, both.err]).toEqual([2, expect.stringContaining('both have attempt 1 at the case')]);
  });

  test('does not take its own results for cases', async () => {
    const about = 'cases: [{ id: a, input: x, expect: { skills_only: [] }, mock: { turns: [{ text: y }] } }]';
    const root = project({ '.agent/evals/cases.yaml': about });
    await run(root, 'skills/tables');
    const { status, out } = await run(root, '--root', 'skills', '--only-root', '.agent/evals', '--json');
    expect([status, JSON.parse(out).results.length]).toEqual([0, 1]);
  });

  verifies(
    'MOD-5',
    'a suite that was recorded once is played elsewhere for nothing, and misses where the skill changed',
    async () => {
      const cases = 'cases: [{ id: a, input: count the rows of tables, cassette: a.jsonl, expect: { trigger: true } }]';
      const live = 'cases: [{ id: b, input: count the columns of tables, expect: { trigger: true } }]';
      const files = { 'skills/tables/evals/cases.yaml': cases, 'skills/tables/evals/live.yaml': live };
      const [here, there] = [project(files), scratch()];
      const nothing = await run(here, 'skills/tables/evals/live.yaml', '--model', 'rules', '--update-cassettes');
      expect([nothing.status, nothing.err]).toEqual([2, expect.stringContaining('no case names a cassette')]);
      rmSync(path.join(here, 'skills/tables/evals/live.yaml'));
      expect((await run(here, 'skills/tables')).status).toBe(5);
      expect((await run(here, 'skills/tables', '--model', 'rules', '--update-cassettes')).status).toBe(0);
      const tape = readFileSync(path.join(here, 'skills/tables/evals/a.jsonl'), 'utf8');
      expect([tape.includes(here), readdirSync(path.join(here, 'skills/tables/evals')).sort()]).toEqual([
        false,
        ['a.jsonl', 'cases.yaml'],
      ]);
      cpSync(path.join(here, 'skills'), path.join(there, 'skills'), { recursive: true });
      const played = await run(there, 'skills/tables', '--json');
      const report: EvalReport = JSON.parse(played.out);
      expect([played.status, report.models]).toEqual([0, [{ id: 'rules', way: 'cassette' }]]);
      writeFiles(there, {
        'skills/tables/SKILL.md': skillText('tables', 'Counts rows of any table. Use it for tables.'),
      });
      const missed = await run(there, 'skills/tables');
      expect([missed.status, missed.out]).toEqual([5, expect.stringContaining('this request was not recorded')]);
    },
  );

  test('says so where its results cannot be kept', async () => {
    const root = project({ '.agent/evals': 'no folder' });
    const { status, err } = await run(root, 'skills/tables');
    expect([status, err]).toEqual([5, expect.stringContaining('cannot read or write evaluation files')]);
  });

  test('keeps what is finished when it is interrupted, and goes on from there', async () => {
    const slow = CASES.replace('{ text: Roses are red }', '{ text: Roses are red, delayMs: 2000 }');
    const root = project({ 'skills/tables/evals/cases.yaml': slow });
    const interrupt = new AbortController();
    const words = [
      '--cwd',
      root,
      'eval',
      'skills/tables',
      '--executor',
      'none',
      '--concurrency',
      '1',
      '--no-eval-cache',
    ];
    let said = '';
    const quiet = { write: () => true };
    const main = async (signal: AbortSignal, ...more: readonly string[]): Promise<number> =>
      (await import('../../src/cli/main.ts')).main({
        words: [...words, ...more],
        streams: { stdout: quiet, stderr: { write: (text) => (said += text) } },
        env: env(root),
        signal,
      });
    const ending = main(interrupt.signal);
    const isOneDone = (): boolean =>
      existsSync(path.join(root, '.agent/evals')) &&
      evaluations(root).some((name) => existsSync(path.join(root, '.agent/evals', name, 'results.jsonl')));
    while (!isOneDone()) await new Promise((resolve) => void setTimeout(resolve, 20));
    interrupt.abort(new Error('stopped by SIGINT'));
    expect([await ending, said]).toEqual([130, expect.stringContaining('continue with the same command and --resume')]);
    const [folder = ''] = evaluations(root);
    const report = (): EvalReport =>
      JSON.parse(readFileSync(path.join(root, '.agent/evals', folder, 'report.json'), 'utf8'));
    expect([report().isPartial, report().results.map(({ case: id }) => id)]).toEqual([true, ['fires']]);
    expect(await main(new AbortController().signal, '--resume')).toBe(0);
    expect(report().results.map(({ case: id, isCached }) => [id, isCached])).toEqual([
      ['fires', true],
      ['quiet', false],
    ]);
    expect(evaluations(root)).toEqual([folder]);
  });
});
