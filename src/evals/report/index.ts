/**
 * Reports as the page in `console/report` shows them: its data, and texts that it shares with the other formats. Pure, because it runs in a
 * browser. Read `../page/view.ts` first.
 */

export type { PageData } from '../page/view.ts';
export { listMoneySources, usdText } from './cost-text.ts';
export {
  chanceText,
  countTokens,
  listFailures,
  modelsText,
  percentText,
  quarantineText,
  signedNumber,
  summarizeReport,
  verdictOfDifference,
} from './report-text.ts';
export { CASE_STATUSES } from './result.ts';
