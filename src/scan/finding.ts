/** The types of the static scan: files, findings and the policy. */

export const SCAN_SEVERITIES = ['low', 'medium', 'high', 'critical'] as const;
export type ScanSeverity = (typeof SCAN_SEVERITIES)[number];

/** A file of a skill; its text is decoded. Binary files have an empty text. */
export interface ScanFile {
  /** Relative to the skill, with `/` as the separator. */
  readonly path: string;
  readonly text: string;
  /** Absent for text. A `program` is native code or bytecode. */
  readonly binary?: 'archive' | 'program' | 'other';
  readonly isExecutable: boolean;
  /** `text` is truncated; the scan reports it. */
  readonly isCut?: boolean;
}

export interface ScanFinding {
  /** A rule id of `rules.ts`, for example `download-and-run`. */
  readonly rule: string;
  readonly severity: ScanSeverity;
  readonly path: string;
  /** 1-based. */
  readonly line: number;
  readonly column: number;
  /** One line; untrusted text in it is quoted and truncated. */
  readonly message: string;
}

/** The effect of a finding on an install. */
export const SCAN_VERDICTS = ['stop', 'warn', 'ignore'] as const;
export type ScanVerdict = (typeof SCAN_VERDICTS)[number];

/** The content of the file that `install.scan_policy` names. The verdict of a rule overrides that of its severity. */
export interface ScanPolicy {
  readonly severities: Readonly<Record<ScanSeverity, ScanVerdict>>;
  readonly rules: Readonly<Record<string, ScanVerdict>>;
}

export const DEFAULT_SCAN_POLICY: ScanPolicy = {
  severities: { critical: 'stop', high: 'warn', medium: 'warn', low: 'ignore' },
  rules: {},
};

/** Shown with every scan result, even without findings. */
export const SCAN_NOTE =
  'the scan is triage: it finds careless or crude attacks; a skill without findings is not proven safe';
