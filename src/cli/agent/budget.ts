import type { Budget, BudgetName } from '../../core/budget.ts';
import { BUDGET_NAMES } from '../../agent/count-budget.ts';
import { nearest } from '../../core/nearest.ts';
import { quoted } from '../../core/text/text.ts';
import { UsageError } from '../exit.ts';

const MOST = Number.MAX_SAFE_INTEGER;

/** `turns=5,tokens=50000`, once or in several flags; the last one of a name counts. */
export function readBudget(texts: readonly string[]): Partial<Budget> {
  const parts = texts.flatMap((text) => text.split(','));
  return Object.fromEntries(parts.map(readPart));
}

function readPart(text: string): readonly [BudgetName, number] {
  const [written = '', amount = '', ...more] = text.split('=').map((part) => part.trim());
  const name = BUDGET_NAMES.find((known) => known === written);
  if (name === undefined) {
    const [guess] = nearest(written, [...BUDGET_NAMES], 1);
    throw new UsageError(
      `--budget does not know ${quoted(written, 200)}`,
      guess === undefined ? `it knows ${BUDGET_NAMES.join(', ')}` : `did you mean ${guess}?`,
    );
  }
  const number = /^\d{1,16}$/.test(amount) && more.length === 0 ? Number(amount) : Number.NaN;
  if (number <= MOST) return [name, number];
  throw new UsageError(`--budget ${name} must be a whole number`, `write --budget ${name}=5`);
}
