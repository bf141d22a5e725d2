/** Names planned attempts without a record, where stored runs are graded again. */
import { countText } from '#core';
import type { EvalReport } from './result.ts';

const MOST_NAMES = 20;

/** Undefined if every planned attempt has a record. */
export function missingText({ missing = [] }: Pick<EvalReport, 'missing'>): string | undefined {
  if (missing.length === 0) return undefined;
  const more = missing.length > MOST_NAMES ? ` and ${String(missing.length - MOST_NAMES)} more` : '';
  return `${countText(missing.length, 'attempt')} without a record: ${missing.slice(0, MOST_NAMES).join(', ')}${more}`;
}
