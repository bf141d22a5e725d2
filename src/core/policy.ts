import type { CommandLine } from './command-line.ts';

/**
 * What an action may do. A policy is a row of layers. Each layer judges by itself, and the strictest answer counts: so a layer can
 * only take away, and whoever is given a policy with one layer more has fewer rights, never others.
 *
 *     configuration (built-in, user, environment, options of the program)   opens
 *     project file, each active skill's allowed-tools, policy of the run     narrow
 */

/** The strictest first. */
export const EFFECTS = ['deny', 'ask', 'allow'] as const;
export type Effect = (typeof EFFECTS)[number];

export const RISKS = ['low', 'medium', 'high'] as const;
export type Risk = (typeof RISKS)[number];

/** What an action does to the world, in the words of rules. One action may do several things: a command with an input of the host. */
export interface Access {
  /** `run_command`, `write_file`, ...; or the name of somebody else's tool. */
  readonly tool: string;
  readonly subject: Subject;
}

export type Subject =
  | { readonly kind: 'none' }
  /** `path` relative to the project where it lies in it; else `workspace://…`, `skill://…` or absolute. Resolved: no link is in it. */
  | { readonly kind: 'path'; readonly path: string; readonly absolute?: string }
  | { readonly kind: 'command'; readonly line: CommandLine }
  /** `skill` is a name, `script` a path in it. */
  | { readonly kind: 'script'; readonly skill: string; readonly script: string; readonly args: readonly string[] }
  | { readonly kind: 'host'; readonly host: string; readonly port: number; readonly method: string }
  | { readonly kind: 'skill'; readonly id: string; readonly name: string };

export const POLICY_LAYERS = [
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

/** Who wrote a rule. */
export interface RuleOrigin {
  readonly layer: (typeof POLICY_LAYERS)[number];
  /** The file, the option or the skill; empty for what is built in. */
  readonly where: string;
}

/** What was decided about an action, and by which rule: the record of POL-7. */
export interface Decision {
  readonly effect: Effect;
  readonly tool: string;
  /** The highest of all that the action does. */
  readonly risk: Risk;
  /** As it was written; `by risk` where no rule speaks about it. */
  readonly rule: string;
  readonly origin: RuleOrigin;
  /** One sentence for a person or a model. */
  readonly reason: string;
}
