/**
 * The public names of scan.
 */

export { DEFAULT_SCAN_POLICY, SCAN_NOTE, countByRule, findingText, type ScanFile } from './finding.ts';
export {
  acceptReviewed,
  allowOption,
  applyScanPolicy,
  isScanPolicy,
  readScanPolicy,
  type PolicyResult,
} from './policy.ts';
export { scanSarif } from './sarif.ts';
export { scanSkill } from './scan.ts';
