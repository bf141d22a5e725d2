import { amount, count, map, section, text } from '../json/schema-of.ts';

const SHARE = [0, 1] as const;
const MAX_AMOUNT = 1_000_000_000;

/** What an evaluation must reach, by the names that `--threshold` takes with hyphens; also the key `thresholds` of a case file. */
export const THRESHOLDS_SCHEMA = section('What an evaluation must reach to pass.', {
  pass_rate: amount('Minimum pass rate.', ...SHARE),
  errors: count('Maximum number of errors.', 0, MAX_AMOUNT),
  precision: amount('Minimum precision of a trigger evaluation.', ...SHARE),
  recall: amount('Minimum recall of a trigger evaluation.', ...SHARE),
  difference: amount(
    'Minimum difference of the pass rate to the baseline; above 0 only if chance does not explain it.',
    -1,
    1,
  ),
  tokens: amount('Maximum mean number of tokens of a run with the skill.', 0, MAX_AMOUNT),
  usd: amount('Maximum mean price of a run with the skill, in US dollars.', 0, MAX_AMOUNT),
  seconds: amount('Maximum mean latency of a run with the skill.', 0, MAX_AMOUNT),
});

const price = (what: string) => amount(`${what}, in US dollars per million tokens.`, 0, 1_000_000);

/** The key `evals` of `.agent/config.json`. */
export const EVALS_SCHEMA = section('Evaluations.', {
  thresholds: THRESHOLDS_SCHEMA,
  prices: map(
    'Prices of models by name, such as openai-compatible/qwen3; they replace the built-in ones.',
    section(
      'The price of one model.',
      {
        input: price('Input'),
        cached_input: price('Input from the cache of the provider (default: as input)'),
        cache_write: price('Input that is written to the cache (default: as input)'),
        output: price('Output'),
        date: text('When the price was read, such as 2026-11-10; shown beside the money.'),
      },
      ['input', 'output', 'date'],
    ),
  ),
});
