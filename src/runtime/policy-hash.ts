import { stableJson } from '#core';
import { sha256 } from '#platform';
import type { Policy } from '#policy';

type PolicyRule = Policy['grants'][number];

/** Identifies a policy in a record: the same rules give the same hash. */
export function policyHash({ layers, grants }: Policy): string {
  const written = (rules: readonly PolicyRule[]): string => `[${rules.map(ruleText).join(',')}]`;
  const content = layers.map(
    ({ origin, otherwise, rules }) =>
      `{"origin":${stableJson(origin)},"otherwise":${stableJson(otherwise)},"rules":${written(rules)}}`,
  );
  return `sha256:${sha256(`{"grants":${written(grants)},"layers":[${content.join(',')}]}`)}`;
}

/** Sessions share hundreds of rules, and each run needs the hash. */
const RULE_TEXTS = new WeakMap<PolicyRule, string>();

function ruleText(rule: PolicyRule): string {
  const { effect, text, origin } = rule;
  const known = RULE_TEXTS.get(rule) ?? stableJson({ effect, text, origin });
  RULE_TEXTS.set(rule, known);
  return known;
}
