import type { FromSchema, ObjectSchema } from '../json/json-schema.ts';
import { EFFECTS } from '../access.ts';
import type { Effect, Risk } from '../access.ts';

/** How the `allowed-tools` of a skill are used: as a restriction, as pre-approval, both, or not at all. */
export const ALLOWED_TOOLS_USES = ['restrict', 'grant', 'both', 'ignore'] as const;
export type AllowedToolsUse = (typeof ALLOWED_TOOLS_USES)[number];

/** Whether a program that reaches nothing outside its sandbox needs approval; strictest first. */
export const SANDBOXED_USES = ['ask', 'allow'] as const;
export type SandboxedUse = (typeof SANDBOXED_USES)[number];

const rule = {
  type: 'string',
  description: 'A tool such as run_script, or a tool with a pattern such as Bash(git status:*).',
} as const;
const effect = { type: 'string', enum: EFFECTS } as const;

/** Keys that a policy may have in every file. */
const COMMON = {
  default: {
    type: 'object',
    description: 'Effect for actions that no rule matches, by risk.',
    additionalProperties: false,
    properties: {
      low: { ...effect, description: 'Actions that only read.', default: 'allow' },
      medium: { ...effect, description: 'Actions with reversible effects.', default: 'ask' },
      high: { ...effect, description: 'Actions with irreversible effects, or that reach the network.', default: 'ask' },
    },
  },
  allow: { type: 'array', description: 'Allowed without approval.', maxItems: 1_000, items: rule },
  ask: { type: 'array', description: 'Requires approval.', maxItems: 1_000, items: rule },
  deny: { type: 'array', description: 'Always denied; overrides ask and allow.', maxItems: 1_000, items: rule },
  include: {
    type: 'array',
    description: 'Files with rules: each contains one object with default, allow, ask, deny and include.',
    maxItems: 64,
    items: { type: 'string', description: 'A file, relative to the file that includes it; ~ is the home folder.' },
  },
} as const;

/** The `policy` section of the configuration. */
export const POLICY_SCHEMA = {
  type: 'object',
  description: "What actions may do. A project's rules can only restrict the user's rules.",
  additionalProperties: false,
  properties: {
    ...COMMON,
    allowed_tools: {
      type: 'string',
      description: 'How the allowed-tools of a skill are used; a project file can only set restrict.',
      enum: ALLOWED_TOOLS_USES,
      default: 'restrict',
    },
    sandboxed: {
      type: 'string',
      description:
        'Whether programs that are fully contained (an isolating sandbox, no network, no secrets, no write access to host folders) need approval; a project file can only set ask.',
      enum: SANDBOXED_USES,
      default: 'ask',
    },
  },
} as const satisfies ObjectSchema;

/** The schema of a file that a policy includes. */
export const POLICY_FILE_SCHEMA = {
  type: 'object',
  description: 'Rules that a policy includes.',
  additionalProperties: false,
  properties: { $schema: { type: 'string', description: 'URL of a schema, for editors.' }, ...COMMON },
} as const satisfies ObjectSchema;

/** A policy as written in a file. */
export type WrittenPolicy = FromSchema<typeof POLICY_SCHEMA>;

export interface WrittenRule {
  readonly rule: string;
  /** The file, variable or option that contains the rule. */
  readonly where: string;
}

/** The policy of one layer, including the files it includes. */
export interface PolicyConfig {
  readonly default: Readonly<Partial<Record<Risk, Effect>>>;
  readonly allow: readonly WrittenRule[];
  readonly ask: readonly WrittenRule[];
  readonly deny: readonly WrittenRule[];
  readonly allowedTools: AllowedToolsUse | undefined;
}

/** Converts a policy without its includes. */
export function ownPolicy(written: WrittenPolicy, where: string): PolicyConfig {
  const rules = (list: Effect): readonly WrittenRule[] => (written[list] ?? []).map((text) => ({ rule: text, where }));
  return {
    default: written.default ?? {},
    allow: rules('allow'),
    ask: rules('ask'),
    deny: rules('deny'),
    allowedTools: written.allowed_tools,
  };
}

/** Concatenates the rules; for defaults and `allowed_tools`, the first value wins. */
export function joinPolicies(policies: readonly PolicyConfig[]): PolicyConfig {
  const rules = (list: Effect): readonly WrittenRule[] => policies.flatMap((policy) => policy[list]);
  return {
    default: Object.assign({}, ...policies.map((policy) => policy.default).reverse()),
    allow: rules('allow'),
    ask: rules('ask'),
    deny: rules('deny'),
    allowedTools: policies.find(({ allowedTools }) => allowedTools !== undefined)?.allowedTools,
  };
}

export interface Contradiction {
  readonly rule: string;
  readonly loses: Effect;
  /** The file with the rule that has no effect. */
  readonly where: string;
  readonly wins: Effect;
  readonly by: string;
}

/** Finds rules with the same text and different effects. The strictest one wins; the others are reported. */
export function contradictions(policy: PolicyConfig): readonly Contradiction[] {
  const strictest = new Map<string, { readonly effect: Effect; readonly where: string }>();
  return EFFECTS.flatMap((list) =>
    policy[list].flatMap(({ rule: text, where }) => {
      const before = strictest.get(text);
      if (before === undefined) strictest.set(text, { effect: list, where });
      return before === undefined || before.effect === list
        ? []
        : [{ rule: text, loses: list, where, wins: before.effect, by: before.where }];
    }),
  );
}
