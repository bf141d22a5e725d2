/** What the page of a report is given: all of it is data, and the page shows it as text. */
import type { ReportComparison } from '../report/compare-reports.ts';
import type { EvalReport } from '../report/result.ts';
import type { Plan } from '../../core/plan.ts';

export interface PageData {
  readonly report: EvalReport;
  /** By the place of a result in the report. */
  readonly views: Readonly<Record<string, RunView>>;
  /** Runs that are on the disk and not in the page, because it would grow too large. */
  readonly viewsLeftOut: number;
  /** Texts of results were cut. */
  readonly isCut: boolean;
  /** Against an earlier report. */
  readonly comparison?: ReportComparison;
}

/** A run as people look at it. */
export interface RunView {
  readonly run: string;
  readonly outcome: string;
  readonly reason: string;
  readonly elapsedMs: number;
  readonly turns: readonly TurnView[];
  readonly steps: readonly RunStep[];
  /** Steps that are not in `steps`, because there are too many. */
  readonly stepsLeftOut: number;
  /** The record ends in the middle of a line. */
  readonly isTorn: boolean;
}

/** What filled the room of a request, in this order. `observations`: what came since the first request, answers included. */
export const CONTEXT_SECTIONS = ['rest', 'catalog', 'bodies', 'resources', 'observations'] as const;
export type ContextSection = (typeof CONTEXT_SECTIONS)[number];

export interface TurnView {
  readonly turn: number;
  readonly atMs: number;
  readonly model: string;
  /** Estimated tokens of the request; the sections add up to it. */
  readonly tokens: number;
  readonly sections: Readonly<Record<ContextSection, number>>;
  /** As the model said. */
  readonly inputTokens?: number;
  readonly outputTokens?: number;
}

export type StepKind = 'action' | 'model' | 'plan' | 'skill' | 'context' | 'note' | 'end';
export type Tone = 'plain' | 'faint' | 'good' | 'warning' | 'bad';

export interface RunStep {
  /** Numbers of the events it is made from; the first one is its own. */
  readonly events: readonly number[];
  readonly atMs: number;
  /** 0: before the first one. */
  readonly turn: number;
  readonly kind: StepKind;
  readonly tone: Tone;
  readonly text: string;
  /** The decision, the question and its answer, the outcome; what the model said. */
  readonly lines: readonly StepLine[];
  readonly tookMs?: number;
  readonly plan?: Plan;
}

export interface StepLine {
  readonly label: string;
  readonly tone: Tone;
  readonly text: string;
}
