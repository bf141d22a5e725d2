/** Rules as files write them: read, joined and compared. */

import { EFFECTS, type Config, type LoadedConfig, type Decision } from '#core';

export type PolicyConfig = LoadedConfig['policies'][number]['policy'];
export type WrittenRule = LoadedConfig['policies'][number]['policy']['allow'][number];

export type WrittenPolicy = NonNullable<Config['policy']>;

export interface Contradiction {
  readonly rule: string;
  readonly loses: Decision['effect'];
  /** The file with the rule that has no effect. */
  readonly where: string;
  readonly wins: Decision['effect'];
  readonly by: string;
}

export function ownPolicy(written: WrittenPolicy, where: string): PolicyConfig {
  const rules = (list: Decision['effect']): readonly WrittenRule[] =>
    (written[list] ?? []).map((text) => ({ rule: text, where }));
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
  const rules = (list: Decision['effect']): readonly WrittenRule[] => policies.flatMap((policy) => policy[list]);
  return {
    default: Object.assign({}, ...policies.map((policy) => policy.default).reverse()),
    allow: rules('allow'),
    ask: rules('ask'),
    deny: rules('deny'),
    allowedTools: policies.find(({ allowedTools }) => allowedTools !== undefined)?.allowedTools,
  };
}

/** Finds rules with the same text and different effects. The strictest one wins; the others are reported. */
export function contradictions(policy: PolicyConfig): readonly Contradiction[] {
  const strictest = new Map<string, { readonly effect: Decision['effect']; readonly where: string }>();
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
