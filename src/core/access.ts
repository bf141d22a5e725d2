/** What actions do to the world, in the words of rules; and what was decided about it. */
import type { CommandLine } from './command.ts';
import type { Host } from './network/host-pattern.ts';

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
  /** `hasVariables`: whoever asks gives it an environment of its own, which may make another program of it. */
  | {
      readonly kind: 'command';
      readonly line: CommandLine;
      /** By name, those that others run included; none where the line is unclear. */
      readonly programs: readonly string[];
      readonly hasVariables: boolean;
      /** It starts in another folder than such commands usually do. */
      readonly isElsewhere: boolean;
    }
  /** `skill` is a name, `script` a path in it. */
  | { readonly kind: 'script'; readonly skill: string; readonly script: string; readonly args: readonly string[] }
  /** `host` is absent where the address has none that could be judged. */
  | { readonly kind: 'host'; readonly host: Host | undefined; readonly port: number; readonly method: string }
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
