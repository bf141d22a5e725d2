/** The data of the report page, which shows all of it as text. */
import type { ReportComparison } from '../report/compare-reports.ts';
import type { EvalReport, Verdict } from '../report/result.ts';
import type { TrendRow } from '../report/trend.ts';
import type { Plan } from '#core';

export interface PageData {
  readonly verdict: Verdict;
  readonly report: EvalReport;
  /** By the index of the result in the report. Some runs may be omitted to limit the size of the page. */
  readonly views: Readonly<Record<string, RunView>>;
  readonly isCut: boolean;
  readonly comparison?: ReportComparison;
  /** This report and earlier ones with the same cases, oldest first; empty if there are none. */
  readonly trend: readonly TrendRow[];
}

export interface RunView {
  readonly run: string;
  readonly outcome: string;
  readonly reason: string;
  readonly elapsedMs: number;
  readonly turns: readonly TurnView[];
  readonly steps: readonly RunStep[];
  readonly stepsLeftOut: number;
  /** The record ends within a line. */
  readonly isTorn: boolean;
}

/** Sections of a request. `observations` is everything since the first request, including answers. */
export type ContextSection = 'rest' | 'catalog' | 'bodies' | 'resources' | 'observations';

export interface TurnView {
  readonly turn: number;
  readonly atMs: number;
  readonly model: string;
  /** Estimated tokens of the request; the sections add up to it. */
  readonly tokens: number;
  readonly sections: Readonly<Record<ContextSection, number>>;
  /** As reported by the model. */
  readonly inputTokens?: number;
  readonly outputTokens?: number;
}

export type StepKind = 'action' | 'model' | 'plan' | 'skill' | 'context' | 'note' | 'end';
export type Tone = 'plain' | 'faint' | 'good' | 'warning' | 'bad';

export interface RunStep {
  /** Numbers of its events; the first one started the step. */
  readonly events: readonly number[];
  readonly atMs: number;
  /** 0 before the first turn. */
  readonly turn: number;
  readonly kind: StepKind;
  readonly tone: Tone;
  readonly text: string;
  /** The decision, approval and outcome, or the text of the model. */
  readonly lines: readonly StepLine[];
  readonly tookMs?: number;
  readonly plan?: Plan;
}

export interface StepLine {
  readonly label: string;
  readonly tone: Tone;
  readonly text: string;
}
