/** Rules of active skills: `allowed-tools` as a restriction, as pre-approval, or both, and `disallowed-tools`. */
import type { Config, Decision, SkillEntry, SkillHead } from '#core';
import { isRule, readRule, type PolicyRule } from './policy-rule.ts';
import { narrowPolicy, NO_OPINION, type Policy, type PolicyLayer } from './policy.ts';

const NOTHING_ELSE: Readonly<Record<Decision['risk'], Decision['effect']>> = {
  low: 'deny',
  medium: 'deny',
  high: 'deny',
};

/**
 * Each skill narrows the policy by its `disallowed-tools`, and by its `allowed-tools` if these are used as a restriction. `restricting`
 * are skills that grant nothing.
 */
export function policyWithSkills(
  {
    policy,
    allowedTools: use,
  }: {
    readonly policy: Policy;
    readonly allowedTools: NonNullable<NonNullable<Config['policy']>['allowed_tools']>;
  },
  skills: readonly Pick<SkillEntry, 'id' | 'controls'>[],
  restricting: readonly Pick<SkillEntry, 'id' | 'controls'>[] = [],
): Policy {
  const isRestricting = use === 'restrict' || use === 'both';
  const isGranting = use === 'grant' || use === 'both';
  const layers = [...skills, ...restricting].flatMap(({ id, controls: { allowedTools, disallowedTools } }) => {
    const stated = { allowedTools: isRestricting ? allowedTools : undefined, disallowedTools };
    return stated.allowedTools === undefined && disallowedTools === undefined ? [] : [skillLayer(id, stated)];
  });
  const narrowed = layers.length === 0 ? policy : narrowPolicy(policy, layers);
  if (!isGranting) return narrowed;
  const grants = skills.flatMap(({ id, controls }) =>
    readableRules(controls.allowedTools ?? [], { layer: 'skill', where: id }),
  );
  return { ...narrowed, grants: [...narrowed.grants, ...grants] };
}

/**
 * The layer of an active skill: its `allowed-tools` exclude everything else, and its `disallowed-tools` deny. Unreadable entries allow
 * nothing and deny their whole tool.
 */
export function skillLayer(
  skill: string,
  { allowedTools, disallowedTools = [] }: Pick<SkillHead['controls'], 'allowedTools' | 'disallowedTools'>,
): PolicyLayer {
  const origin: Decision['origin'] = { layer: 'skill', where: skill };
  return {
    origin,
    rules: [
      ...disallowedTools.flatMap((text) => denyRules(text, origin)),
      ...readableRules(allowedTools ?? [], origin),
    ],
    otherwise: allowedTools === undefined ? NO_OPINION : NOTHING_ELSE,
  };
}

/** An unreadable pattern is dropped, so the rule denies the whole tool: more, never less. */
function denyRules(text: string, origin: Decision['origin']): readonly PolicyRule[] {
  const rule = readRule(text, { effect: 'deny', origin });
  if (isRule(rule)) return [rule];
  const whole = readRule(text.slice(0, Math.max(0, text.indexOf('('))), { effect: 'deny', origin });
  return isRule(whole) ? [{ ...whole, text }] : [];
}

function readableRules(texts: readonly string[], origin: Decision['origin']): readonly PolicyRule[] {
  return texts.map((text) => readRule(text, { effect: 'allow', origin })).filter(isRule);
}
