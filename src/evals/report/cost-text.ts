/** Texts about tokens, money and time that the terminal, Markdown and JUnit reports share. */
import { durationText } from '#core';
import { hasUsage, isAsked } from './prices.ts';
import type { CostDifference, CostName, Measure } from './measures.ts';
import type { ArmSummary, Comparison, EvalReport } from './result.ts';

/** Formats `12,345` independent of the locale. */
export function numberText(count: number): string {
  if (!Number.isFinite(count)) return '?';
  return String(Math.round(count)).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
}

/** Formats `$1.23` or `$0.0123`; more digits for less. */
export function usdText(usd: number): string {
  if (!Number.isFinite(usd)) return '?';
  return `$${usd.toFixed(usd >= 1 || usd === 0 ? 2 : usd >= 0.001 ? 4 : 6)}`;
}

export type AmountText = (amount: number) => string;

const FORMATS: Readonly<Record<CostName, AmountText>> = {
  tokens: numberText,
  inputTokens: numberText,
  cachedTokens: numberText,
  outputTokens: numberText,
  usd: usdText,
  wallMs: durationText,
};

/** Formats `4,120 (3,900 to 4,350)`, and `unknown` if nothing is known. */
function measureText({ mean, low, high }: Measure, format: AmountText, unit = ''): string {
  if (mean === undefined) return 'unknown';
  const interval = low === undefined || high === undefined ? '' : ` (${format(low)} to ${format(high)})`;
  return `${format(mean)}${unit}${interval}`;
}

/** Says for how many cases an amount is known, if not for all, and why it has no interval. */
function knownText({ cases, of, low }: Measure): string {
  if (cases === 0) return '';
  const few = low === undefined ? ', no interval: fewer than 6 cases' : '';
  return `${cases === of ? '' : `, known for ${numberText(cases)} of ${numberText(of)} cases`}${few}`;
}

interface CostRow {
  readonly label: 'tokens' | 'of which' | 'money' | 'latency';
  readonly text: string;
}

const UNREPORTED = 'unknown: the model reported no usage';

/** The costs of a run in an arm. What was not to be measured, such as the tokens of scripted answers, has no row. */
export function armCostRows({ arm, perRun }: ArmSummary, report: EvalReport): readonly CostRow[] {
  const { tokens, inputTokens, cachedTokens, outputTokens, usd, wallMs } = perRun;
  const parts = [
    `in ${measureText(inputTokens, numberText)}`,
    `cached ${measureText(cachedTokens, numberText)}`,
    `out ${measureText(outputTokens, numberText)}`,
  ];
  const perRunText = (measure: Measure, format: AmountText): string =>
    `${measureText(measure, format, ' a run')}${knownText(measure)}`;
  const money = moneySource(report, arm);
  const rows: readonly (readonly [CostRow['label'], Measure, string])[] = [
    ['tokens', tokens, tokens.cases === 0 ? UNREPORTED : perRunText(tokens, numberText)],
    ['of which', { ...tokens, of: tokens.cases }, parts.join(', ')],
    ['money', usd, `${usd.cases === 0 ? 'unknown' : perRunText(usd, usdText)}${money === '' ? '' : `, ${money}`}`],
    ['latency', wallMs, wallMs.cases === 0 ? 'unknown: no attempt has a verdict' : perRunText(wallMs, durationText)],
  ];
  return rows.flatMap(([label, { of }, text]) => (of === 0 ? [] : [{ label, text }]));
}

/** `prices of 2026-11-10`, and the models that have no price. */
function moneySource(report: EvalReport, arm: ArmSummary['arm']): string {
  const { dates, isReported, unpriced } = listMoneySources(report, arm);
  return [
    ...(dates.length === 0 ? [] : [`prices of ${dates.join(', ')}`]),
    ...(isReported ? ['as reported by the agent'] : []),
    ...(unpriced.length === 0 ? [] : [`no price for ${unpriced.join(', ')} (set evals.prices)`]),
  ].join(', ');
}

/** Where the money of an arm, or of all, comes from: dates of prices, the agent itself; and models that reported tokens, but have no price. */
export function listMoneySources({ results, prices }: EvalReport, arm?: ArmSummary['arm']) {
  const asked = results.filter((result) => isAsked(result) && (arm === undefined || result.arm === arm));
  const byModel = new Map(prices.map((price) => [price.model, price.date]));
  const dates = asked.flatMap(({ model, cost }) => (cost.usd === undefined ? [] : [byModel.get(model.id)]));
  const unpriced = asked.filter((result) => hasUsage(result) && result.cost.usd === undefined);
  return {
    dates: [...new Set(dates.filter((date) => date !== undefined))].toSorted(),
    isReported: dates.includes(undefined),
    unpriced: [...new Set(unpriced.map(({ model }) => model.id))],
  };
}

/** The differences of the costs of a run between two arms: `tokens 42,000 against 31,000: +11,000 (+9,000 to +13,000)`. */
export function costDifferenceRows({ costs }: Comparison): readonly CostRow[] {
  const rows: readonly (readonly [CostRow['label'], CostName])[] = [
    ['tokens', 'tokens'],
    ['money', 'usd'],
    ['latency', 'wallMs'],
  ];
  return rows.flatMap(([label, name]) => {
    const cost = costs[name];
    return cost.difference.of === 0 ? [] : [{ label, text: differenceRow(cost, FORMATS[name]) }];
  });
}

function differenceRow({ of, against, difference }: CostDifference, format: AmountText): string {
  if (of === undefined || against === undefined) return 'unknown';
  const change = measureText(difference, signed(format));
  return `${format(of)} against ${format(against)}: ${change}${knownText(difference)}`;
}

/** Formats `+25` or `−3`. */
function signed(format: AmountText): AmountText {
  return (amount) => `${amount < 0 ? '−' : '+'}${format(Math.abs(amount))}`;
}
