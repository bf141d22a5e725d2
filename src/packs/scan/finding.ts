/** What the static scan says about a skill. It is triage: it finds what is careless or crude, and proves nothing about what it does not find. */
export const SCAN_SEVERITIES = ['low', 'medium', 'high', 'critical'] as const;
export type ScanSeverity = (typeof SCAN_SEVERITIES)[number];

/** A text file of a skill, decoded; what is no text is given by name and first bytes only. */
export interface ScanFile {
  /** Below the skill, `/` between parts. */
  readonly path: string;
  readonly text: string;
  /** Absent for text. `archive`, `program` (native code or bytecode), `other`. */
  readonly binary?: 'archive' | 'program' | 'other';
  readonly isExecutable: boolean;
  /** `text` is not all of it; the scan says so. */
  readonly isCut?: boolean;
}

export interface ScanFinding {
  /** `download-and-run`, `credential-path`, ...; listed in `rules.ts` with what each means. */
  readonly rule: string;
  readonly severity: ScanSeverity;
  readonly path: string;
  /** 1-based. */
  readonly line: number;
  readonly column: number;
  /** What is wrong, in one line; a stranger's text in it is quoted and cut. */
  readonly message: string;
}

/** What a finding means for an install. */
export const SCAN_VERDICTS = ['stop', 'warn', 'ignore'] as const;
export type ScanVerdict = (typeof SCAN_VERDICTS)[number];

/** The file `install.scan_policy` names, and the defaults. A rule's own verdict counts before that of its severity. */
export interface ScanPolicy {
  readonly severities: Readonly<Record<ScanSeverity, ScanVerdict>>;
  readonly rules: Readonly<Record<string, ScanVerdict>>;
}

export const DEFAULT_SCAN_POLICY: ScanPolicy = {
  severities: { critical: 'stop', high: 'warn', medium: 'warn', low: 'ignore' },
  rules: {},
};
