/** The portability matrix: the same cases over several agents and models, with what each loaded and what it cost. */
import { verdictOf } from '../report/verdict.ts';
import type { Thresholds } from '../report/thresholds.ts';
import { sumCosts } from '../report/report-text.ts';
import {
  groupBy,
  hasVerdict,
  isCounted,
  type CaseCost,
  type CaseResult,
  type EvalReport,
  type Rate,
  type Verdict,
} from '../report/result.ts';
import { ratePasses } from '../report/same-requests.ts';

/** `invalid`: a control failed, so there are no scores. `skipped`: the agent cannot run here. */
type SubjectStatus = 'passed' | 'failed' | 'incomplete' | 'invalid' | 'skipped';

export interface SubjectRow {
  readonly subject: string;
  readonly status: SubjectStatus;
  /** Explains every status but `passed`. */
  readonly reasons: readonly string[];
  readonly passRate: Rate;
  readonly trigger?: { readonly precision: Rate; readonly recall: Rate; readonly quiet: Rate };
  readonly cost: CaseCost;
  /** The folder with the report and the runs, relative to the evaluation. */
  readonly folder: string;
}

/** What one agent did in all attempts at one case. */
export interface PortabilityCell {
  readonly passed: number;
  readonly of: number;
  readonly loaded: readonly string[];
}

export interface PortabilityCase {
  readonly case: string;
  readonly input: string;
  /** The expectation about skills, such as `csv-report fires`. */
  readonly asked: string;
  /** One per subject, in their order. */
  readonly cells: readonly PortabilityCell[];
}

export interface PortabilityReport {
  readonly schema: 1;
  readonly type: 'portability';
  readonly verdict: Omit<Verdict, 'skills'>;
  readonly tool: string;
  readonly startedAt: string;
  readonly wallMs: number;
  readonly subjects: readonly SubjectRow[];
  readonly cases: readonly PortabilityCase[];
  readonly isPartial: boolean;
}

export interface SubjectReport {
  readonly subject: string;
  readonly folder: string;
  /** Why the agent cannot run here; empty if it can. */
  readonly missing: string;
  readonly report: EvalReport;
}

export function makePortability(
  reports: readonly SubjectReport[],
  {
    thresholds,
    isStopped,
    ...head
  }: Pick<PortabilityReport, 'tool' | 'startedAt' | 'wallMs'> & {
    readonly thresholds: Thresholds;
    /** Not all subjects ran. */
    readonly isStopped: boolean;
  },
): PortabilityReport {
  const subjects = reports.map((one) => buildRow(one, thresholds));
  const isPartial = isStopped || reports.some(({ report }) => report.isPartial);
  // The results of an invalid evaluation prove nothing.
  const results = reports.map(({ report }, place) => (subjects[place]?.status === 'invalid' ? [] : ownResults(report)));
  const cases = groupBy(results.flat(), (result) => result.case);
  return {
    schema: 1,
    type: 'portability',
    verdict: judgeSubjects(subjects, isPartial),
    ...head,
    subjects,
    cases: [...cases].map(([id, all]) => {
      const checks = all.flatMap((result) => result.checks).filter(({ kind }) => kind === 'trigger');
      return {
        case: id,
        input: all[0]?.input ?? '',
        asked: [...new Set(checks.map(({ asked }) => asked))].join('; '),
        cells: results.map((own) => buildCell(own.filter((result) => result.case === id))),
      };
    }),
    isPartial,
  };
}

function ownResults({ results }: EvalReport): readonly CaseResult[] {
  return results.filter(({ arm }) => arm === 'with');
}

function buildRow({ subject, folder, missing, report }: SubjectReport, thresholds: Thresholds): SubjectRow {
  const own = ownResults(report);
  const base = {
    subject,
    folder,
    passRate: ratePasses(own.filter(isCounted)),
    cost: sumCosts(own),
  };
  if (missing !== '') return { ...base, status: 'skipped', reasons: [missing] };
  const verdict = verdictOf(report, thresholds);
  const reasons = verdict.type === 'passed' ? [] : verdict.reasons;
  if (verdict.type === 'invalid' || report.trigger === undefined) return { ...base, status: verdict.type, reasons };
  const { precision, recall, quiet } = report.trigger.overall;
  return { ...base, status: verdict.type, reasons, trigger: { precision, recall, quiet } };
}

function buildCell(results: readonly CaseResult[]): PortabilityCell {
  const verdicts = results.filter(hasVerdict);
  return {
    passed: verdicts.filter(({ status }) => status === 'passed').length,
    of: verdicts.length,
    loaded: [...new Set(verdicts.flatMap(({ loaded }) => loaded))],
  };
}

/** One invalid subject leaves nothing to compare the others with; one that cannot run here leaves the matrix incomplete. */
function judgeSubjects(subjects: readonly SubjectRow[], isPartial: boolean): PortabilityReport['verdict'] {
  const statuses = new Set(subjects.map(({ status }) => status));
  const isInvalid = statuses.has('invalid');
  const isOpen = isPartial || statuses.has('incomplete');
  const hasResult = isOpen || statuses.has('passed') || statuses.has('failed');
  return {
    validity: isInvalid ? 'invalid' : isOpen || statuses.has('skipped') ? 'incomplete' : 'valid',
    result: isInvalid || !hasResult ? 'none' : statuses.has('failed') || isOpen ? 'failed' : 'passed',
    reasons: [
      ...subjects.flatMap(({ subject, reasons }) => reasons.map((reason) => `${subject}: ${reason}`)),
      ...(isPartial ? ['the evaluation was stopped before all cases ran'] : []),
    ],
    warnings: [],
  };
}

/** `impossible`: no subject could run here. */
export function portabilityVerdict({ verdict: { validity, result } }: PortabilityReport) {
  if (validity === 'invalid') return 'invalid';
  if (result === 'none') return 'impossible';
  return validity === 'incomplete' ? 'incomplete' : result;
}

/** Formats `valid, passed`, `INVALID: there is no verdict` or `INCOMPLETE: failed`. */
export function portabilityTitle({ verdict: { validity, result } }: PortabilityReport): string {
  if (validity === 'invalid') return 'INVALID: there is no verdict';
  const what = result === 'none' ? 'no subject can run here' : result;
  return validity === 'incomplete' ? `INCOMPLETE: ${what}` : `valid, ${what}`;
}
