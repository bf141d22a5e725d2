/** The parts of the data of a report, by the names that its views use. */
import type { PageData } from '#evals/report';

export type { PageData };
export type EvalReport = PageData['report'];
export type CaseResult = EvalReport['results'][number];
export type CaseStatus = CaseResult['status'];
export type CheckResult = CaseResult['checks'][number];
export type Arm = CaseResult['arm'];
export type ReportSkill = EvalReport['skills'][number];
export type StatusCounts = EvalReport['arms'][number]['totals'];
export type Rate = EvalReport['arms'][number]['passRate'];
export type Measure = EvalReport['arms'][number]['perRun']['tokens'];
export type Comparison = EvalReport['comparisons'][number];
export type TriggerReport = NonNullable<EvalReport['trigger']>;
export type ReportComparison = NonNullable<PageData['comparison']>;
export type RunView = PageData['views'][string];
export type RunStep = RunView['steps'][number];
export type TurnView = RunView['turns'][number];
export type ContextSection = keyof TurnView['sections'];
export type CaseChange = ReportComparison['changes'][number];
