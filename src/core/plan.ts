export type StepState = 'pending' | 'in_progress' | 'completed';

export interface PlanStep {
  readonly id: string;
  readonly title: string;
  readonly status: StepState;
}

export interface Plan {
  readonly goal: string;
  readonly steps: readonly PlanStep[];
  readonly assumptions: readonly string[];
  readonly constraints: Readonly<Record<string, number | string>>;
}
