/** What `eval` says about tokens, money and latency of a real server, which reports usage as it likes. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import { chunk, serve, startStream } from '../model/local-server.ts';
import { scratch } from '../skills/registry/support.ts';
import { runCli, skillText, writeFiles } from './run-cli.ts';

/** Different requests: with one expectation, similar ones would count as one case. */
const REQUESTS = {
  apples: 'How many lines does the list of apples have?',
  bridges: 'count rows in the table with bridges of Hamburg',
  candles: 'I lost track of our candle orders, sum up their number',
  deserts: 'give me the size of the desert survey',
  engines: 'the engine log: entries, please',
  forests: 'was there more than one forest plot recorded, and if so what is the total',
  glaciers: 'Tell Anna the quantity of measured glaciers',
  harbours: 'harbour visits this year',
};
const MODEL = 'openai-compatible/m';

/** A server that answers each request at once; `usage` gets the request and returns what the last chunk reports. */
async function modelWith(usage: (asked: string) => unknown): Promise<readonly string[]> {
  const server = await serve((response, _turn, { body }) => {
    startStream(response);
    response.write(chunk({ content: 'It has seven rows.' }));
    response.write(chunk({}, 'stop'));
    const reported = usage(JSON.stringify(body));
    const last = { id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage: reported };
    if (reported !== undefined) response.write(`data: ${JSON.stringify(last)}\n\n`);
    response.end('data: [DONE]\n\n');
  });
  onTestFinished(() => server.close());
  return ['--model', MODEL, '--set', `model.params.base_url=${server.url}/v1`, '--executor', 'none'];
}

function project(more: { readonly suite?: object; readonly config?: object } = {}): string {
  const root = scratch();
  const cases = Object.entries(REQUESTS).map(([id, input]) => ({
    id,
    input,
    expect: { output: { contains: 'seven rows' } },
  }));
  writeFiles(root, {
    'tables/SKILL.md': skillText('tables', 'Counts rows of tables. Use it for tables.'),
    'tables/evals/cases.yaml': JSON.stringify({ ...more.suite, cases }),
    '.agent/config.json': JSON.stringify(more.config ?? {}),
  });
  return root;
}

async function evaluate(root: string, ...words: readonly string[]) {
  const env = { HOME: path.join(root, 'home') };
  const { status, out, err } = await runCli(root, ['eval', 'tables', '--report', 'json=r.json', ...words], env);
  const lines = out.split('\n');
  const read = (): { readonly arms: readonly { readonly perRun: unknown }[]; readonly prices: unknown } =>
    JSON.parse(readFileSync(path.join(root, 'r.json'), 'utf8'));
  return { status, lines, err, read };
}

const PRICES = { prices: { [MODEL]: { input: 10, cached_input: 1, output: 100, date: '2026-11-18' } } };
const EXACT = { prompt_tokens: 1000, completion_tokens: 10, prompt_tokens_details: { cached_tokens: 400 } };

describe('the costs of an evaluation', () => {
  test('are those that the server reports, at the prices of the configuration', async () => {
    const model = await modelWith(() => EXACT);
    const { status, lines, read } = await evaluate(project({ config: { evals: PRICES } }), ...model);
    expect(status).toBe(0);
    expect(lines.filter((line) => /^(?:tokens|of which|money)/.test(line))).toEqual([
      'tokens     1,010 a run (1,010 to 1,010)',
      'of which   in 1,000 (1,000 to 1,000), cached 400 (400 to 400), out 10 (10 to 10)',
      'money      $0.0074 a run ($0.0074 to $0.0074), prices of 2026-11-18',
    ]);
    expect(lines.filter((line) => /^latency {4}\d+ m?s a run \(/.test(line.replace(/\.\d/, '')))).toHaveLength(1);
    const known = (mean: number) => ({ mean, low: mean, high: mean, cases: 8, of: 8 });
    const { arms, prices } = read();
    expect(arms[0]?.perRun).toEqual({
      tokens: known(1010),
      inputTokens: known(1000),
      cachedTokens: known(400),
      outputTokens: known(10),
      usd: known(expect.closeTo(0.0074, 9) as number),
      wallMs: { mean: expect.any(Number), low: expect.any(Number), high: expect.any(Number), cases: 8, of: 8 },
    });
    expect(prices).toEqual([
      { model: MODEL, input: 10, cachedInput: 1, cacheWrite: 10, output: 100, date: '2026-11-18' },
    ]);
  });

  test('are known for some cases only if the server reports usage for some, and then no threshold is met', async () => {
    const model = await modelWith((asked) => (/apples|bridges/.test(asked) ? undefined : EXACT));
    const root = project({ config: { evals: PRICES } });
    const { status, lines, err } = await evaluate(root, ...model, '--threshold', 'usd=100');
    expect(status).toBe(1);
    expect(lines).toContain('tokens     1,010 a run (1,010 to 1,010), known for 6 of 8 cases');
    expect(lines).toContain('  the money threshold cannot be checked: known for 6 of 8 cases');
    expect(err).toContain('the money threshold cannot be checked: known for 6 of 8 cases');
  });

  test.each([
    ['negative', { prompt_tokens: -1000, completion_tokens: -10 }],
    ['0', { prompt_tokens: 0, completion_tokens: 0 }],
    ['only of the input', { prompt_tokens: 1000 }],
    ['huge', { prompt_tokens: 1e300, completion_tokens: 1e300 }],
    ['missing', undefined],
  ])('are unknown and never 0 if the reported usage is %s', async (_, usage) => {
    const model = await modelWith(() => usage);
    const { status, lines } = await evaluate(project({ config: { evals: PRICES } }), ...model);
    expect(status).toBe(0);
    expect(lines).toContain('tokens     unknown: the model reported no usage');
    expect(lines.filter((line) => line.startsWith('money'))).toEqual(['money      unknown']);
  });

  test('have no money without a price, which is said', async () => {
    const model = await modelWith(() => EXACT);
    const { lines } = await evaluate(project(), ...model);
    expect(lines.filter((line) => line.startsWith('money'))).toEqual([
      `money      unknown, no price for ${MODEL} (set evals.prices)`,
    ]);
  });

  test('fail above the threshold of the configuration; a case file replaces it, and a flag both', async () => {
    const model = await modelWith(() => EXACT);
    const config = { evals: { ...PRICES, thresholds: { tokens: 900 } } };
    const above = '  a run needs 1,010 tokens on average; the maximum is 900 tokens';
    const first = await evaluate(project({ config }), ...model);
    expect([first.status, first.lines.includes(above)]).toEqual([1, true]);
    const suite = { thresholds: { tokens: 2000, usd: 0.001, seconds: 100 } };
    const second = await evaluate(project({ config, suite }), ...model);
    const tooDear = '  a run needs $0.0074 on average; the maximum is $0.0010';
    expect([second.status, second.lines.includes(above), second.lines.includes(tooDear)]).toEqual([1, false, true]);
    const third = await evaluate(project({ config, suite }), ...model, '--threshold', 'usd=0.5');
    expect(third.status).toBe(0);
    const fourth = await evaluate(
      project({ config, suite }),
      ...model,
      '--threshold',
      'usd=1',
      '--threshold',
      'seconds=0',
    );
    expect(fourth.status).toBe(1);
  });
});

test.each([
  ['tokens=-1', '--threshold tokens must be a number from 0 to 1000000000'],
  ['usd=free', '--threshold usd must be a number from 0 to 1000000000'],
  ['seconds=NaN', '--threshold seconds must be a number from 0 to 1000000000'],
  ['errors=1.5', '--threshold errors must be a whole number from 0 to 1000000000'],
  ['dollars=1', 'unknown key for --threshold: "dollars"'],
])('--threshold %s is a usage error', async (word, message) => {
  const { status, err } = await evaluate(project(), '--model', 'rules', '--threshold', word);
  expect([status, err.includes(message)]).toEqual([2, true]);
});

test.each([
  [{ input: -1, output: 1, date: '2026' }, /must be a number from 0 to 1000000/],
  [{ input: '3', output: 1, date: '2026' }, /must be a number from 0 to 1000000/],
  [{ input: 1, output: 1e9, date: '2026' }, /must be a number from 0 to 1000000/],
  [{ input: 1, output: 1 }, /"evals.prices.*date" must be a string/],
])('a price of %j is refused', async (price, message) => {
  const root = project({ config: { evals: { prices: { [MODEL]: price } } } });
  const { status, err } = await evaluate(root, '--model', 'rules');
  expect([status, err]).toEqual([5, expect.stringMatching(message)]);
});

test('a threshold of a case file that is no number makes the file invalid', async () => {
  const root = project({ suite: { thresholds: { tokens: 'few', beauty: 1 } } });
  const { status, err } = await evaluate(root, '--model', 'rules');
  expect(status).toBe(5);
  expect(err).toContain('"thresholds.tokens" must be a number from 0 to 1000000000');
  expect(err).toContain('unknown key "thresholds.beauty"');
});
