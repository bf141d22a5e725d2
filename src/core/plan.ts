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

/** A whole plan, or a patch, in the format of skills-agent. */
export type PlanUpdate =
  | { readonly mode: 'replace'; readonly plan: Plan }
  | {
      readonly mode: 'patch';
      readonly goal?: string;
      /** Changes existing steps by id and adds the others. */
      readonly steps?: readonly (Partial<PlanStep> & { readonly id: string })[];
      readonly remove?: readonly string[];
      /** Ids in the new order; the others follow in their old order. */
      readonly order?: readonly string[];
      /** Replaces all assumptions. */
      readonly assumptions?: readonly string[];
      /** Sets the named constraints; the others stay. */
      readonly constraints?: Readonly<Record<string, number | string>>;
    };
