import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import type { TuneReport } from '../../src/evals/tune/tune.ts';
import { verifies } from '../conformance/verifies.ts';
import { completion, sendJson, serve } from '../model/local-server.ts';
import { scratch } from '../skills/registry/support.ts';
import { runCli, writeFiles } from './run-cli.ts';

const MONTHS = 'January February March April May June July August September October November December'.split(' ');
const QUERIES = [
  ...MONTHS.flatMap((month) =>
    ['balance the ledger of', 'please balance my ledger for'].map((ask) => ({
      query: `${ask} ${month}`,
      should_trigger: true,
    })),
  ),
  ...MONTHS.slice(0, 6).map((month) => ({ query: `write a poem about ${month}`, should_trigger: false })),
];
const VAGUE = 'Helps with assorted office matters.';
const CLEAR = 'Balances a ledger. Use it when the user asks to balance a ledger.';
const SKILL = `---
# kept
name: books
description: >-
  ${VAGUE}
# also kept
license: MIT
---

# Books
`;

function project(files: Readonly<Record<string, string>> = {}): string {
  const root = scratch();
  writeFiles(root, {
    'books/SKILL.md': SKILL,
    'books/evals/trigger-eval.json': JSON.stringify(QUERIES),
    ...files,
  });
  return root;
}

const run = (root: string, ...words: readonly string[]) => runCli(root, ['eval', 'tune', 'books', ...words]);
const skillOf = (root: string): string => readFileSync(path.join(root, 'books/SKILL.md'), 'utf8');

describe('eval tune', () => {
  verifies(
    'EVAL-12',
    'finds a better description on cases that no proposal has seen, and writes it only when asked',
    async () => {
      const server = await serve((response) =>
        sendJson(response, completion(JSON.stringify({ descriptions: [CLEAR, 5] }))),
      );
      onTestFinished(() => server.close());
      const root = project({
        'p.json': JSON.stringify([CLEAR, VAGUE, 'with <angle> brackets', 'x'.repeat(2000)]),
      });
      const proposer = ['--proposer', 'openai-compatible/m', '--set', `model.params.base_url=${server.url}/v1`];
      const found = await run(root, '--model', 'rules', ...proposer, '--json');
      const report: TuneReport = JSON.parse(found.out);
      expect([found.status, skillOf(root)]).toEqual([0, SKILL]);
      expect(report).toMatchObject({
        skill: 'books',
        current: { description: VAGUE },
        proposals: [{ description: CLEAR }],
        rejected: [],
        winner: { description: CLEAR, isImprovement: true },
      });
      expect(report.cases.train + report.cases.validation).toBe(QUERIES.length);
      expect(report.winner?.difference.low).toBeGreaterThan(0);
      expect(report.winner?.validation.of).toBe(report.cases.validation);
      // The model saw only what went wrong on the train part.
      const asked = JSON.stringify(server.requests.map(({ body }) => body));
      const shown = QUERIES.filter(({ query }) => asked.includes(query)).length;
      expect([shown > 0, shown <= report.cases.train, server.requests.length]).toEqual([true, true, 1]);
      const written = await run(root, '--model', 'rules', '--proposals', 'p.json', '--write');
      expect([written.status, skillOf(root)]).toEqual([0, SKILL.replace(VAGUE, CLEAR)]);
      for (const line of [
        ': an improvement',
        'rejected, because it is the current description',
        'rejected, because it contains <, > or a control character',
        'rejected, because it has more than 1024 characters',
      ])
        expect(written.out).toContain(line);
      expect(readdirSync(path.join(root, '.agent/evals')).filter((name) => name.startsWith('tune-'))).toHaveLength(2);
    },
  );

  test('rejects a description that repeats requests which compare it', async () => {
    const copied = `Use it for: ${MONTHS.map((month) => `balance the ledger of ${month}`).join('; ')}.`;
    const root = project({ 'p.json': JSON.stringify([copied, CLEAR]) });
    const { status, out } = await run(root, '--model', 'rules', '--proposals', 'p.json');
    expect([status, out]).toEqual([
      0,
      expect.stringMatching(
        /rejected, because it repeats \d+ requests? of the validation part: "balance the ledger of /,
      ),
    ]);
    expect(out).toContain('best on train: proposal 1');
  });

  test('calls noise no improvement, and does not write it', async () => {
    const root = project({ 'p.txt': `Helps with the ledger\nof April in the office.\n` });
    const { status, out, err } = await run(root, '--model', 'rules', '--proposals', 'p.txt', '--write');
    expect([status, err]).toEqual([1, expect.stringContaining('not written: no proposal is an improvement')]);
    expect(out).toMatch(/no proposal does better|within noise, no improvement/);
    expect(skillOf(root)).toBe(SKILL);
  });

  test('needs enough cases, a skill and proposals', async () => {
    const few = project({
      'books/evals/trigger-eval.json': JSON.stringify(QUERIES.slice(0, 4)),
      'p.txt': CLEAR,
      'e.txt': ' \n',
    });
    const short = await run(few, '--model', 'rules', '--proposals', 'p.txt');
    expect([short.status, short.err]).toEqual([
      5,
      expect.stringContaining('too few trigger cases to tune a description'),
    ]);
    for (const words of [
      ['--model', 'rules'],
      ['--model', 'rules', '--proposals', 'none.txt'],
      ['--model', 'rules', '--proposals', 'e.txt'],
    ])
      expect([words, (await run(few, ...words)).status]).toEqual([words, 2]);
    expect((await runCli(few, ['eval', 'tune', 'nothing', '--model', 'rules'])).status).toBe(2);
  });
});
