/**
 * The public names of scan.
 */

export {
  DEFAULT_SCAN_POLICY,
  SCAN_NOTE,
  countByRule,
  findingText,
  type RuleCount,
  type ScanFile,
  type ScanPolicy,
} from './finding.ts';
export {
  acceptReviewed,
  allowOption,
  applyScanPolicy,
  isScanPolicy,
  readScanPolicy,
  type PolicyResult,
  type ReviewedSkill,
} from './policy.ts';
export { scanSarif } from './sarif.ts';
export { scanSkill, type KnownTexts } from './scan.ts';
