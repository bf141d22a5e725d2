/** What was decided about an action, and by which rule. */

/** Strictest first. */
export const EFFECTS = ['deny', 'ask', 'allow'] as const;
export type Effect = (typeof EFFECTS)[number];
export type Risk = 'low' | 'medium' | 'high';

const POLICY_LAYERS = [
  'built-in',
  'user',
  'environment',
  'option',
  'program',
  'project',
  'run',
  'skill',
  'trust',
] as const;

/** Where a rule comes from. */
export interface RuleOrigin {
  readonly layer: (typeof POLICY_LAYERS)[number];
  /** The file, option or skill; empty for built-in rules. */
  readonly where: string;
}

const CAPABILITY_NAMES = ['project_write', 'network', 'secrets', 'weak_isolation', 'no_isolation'] as const;

/** Something that a program reaches outside its sandbox. */
export interface Capability {
  readonly name: (typeof CAPABILITY_NAMES)[number];
  /** Host folders, hosts, or names of secrets. */
  readonly on: readonly string[];
}

/** The decision about an action and the rule behind it (POL-7). */
export interface Decision {
  readonly effect: Effect;
  readonly tool: string;
  /** The highest risk of anything the action does. */
  readonly risk: Risk;
  /** The rule as written; `by risk` if no rule matched. */
  readonly rule: string;
  readonly origin: RuleOrigin;
  /** One sentence for a person or a model. */
  readonly reason: string;
  /** What the program reaches outside its sandbox; empty if it is fully contained, absent if no program runs. */
  readonly capabilities?: readonly Capability[];
}
