/**
 * The static security scan of a skill's files. It reads texts that callers pass, never files, and runs nothing. Read scan.ts first; patterns/ are the rules.
 */

// Files in, findings out.
export { scanSkill } from './scan.ts';
export { SCAN_NOTE, type ScanFile } from './finding.ts';

// Which findings block an install.
export { applyScanPolicy, readScanPolicy, type PolicyResult } from './policy.ts';
export type { ScanPolicy } from './finding.ts';

// Findings for other tools.
export { scanSarif } from './sarif.ts';
