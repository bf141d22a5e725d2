import { EFFECTS } from '../core/access.ts';
import type { Effect, Risk, RuleOrigin } from '../core/access.ts';
import { builtInRules } from './built-in-policy.ts';
import type { WrittenRule } from '../core/config/policy-config.ts';
import { SkillError } from '../core/errors.ts';
import { BY_RISK, narrowingLayer } from './policy.ts';
import type { Policy, PolicyLayer } from './policy.ts';
import { isRule, readRule } from './policy-rule.ts';
import type { PolicyRule, RulePlaces } from './policy-rule.ts';
import { stableJson } from '../core/json/stable-json.ts';
import { sha256 } from '../platform/hash.ts';
import type { LayerPolicy, LoadedConfig } from '../core/config/loaded-config.ts';

/** Rules of one place, as text. */
export interface RuleTexts {
  readonly allow?: readonly string[];
  readonly ask?: readonly string[];
  readonly deny?: readonly string[];
}

/** What a program says about a session of its own. */
export interface SessionPolicy extends RuleTexts {
  /** Opened for this session as the user's configuration could: a `deny` or an `ask` there still counts. */
  readonly opens?: readonly string[];
  /** What counts where none of `allow`, `ask` and `deny` speaks; `allow`, so that they only take away. */
  readonly otherwise?: Effect;
}

/** What the configuration says, put together by whoever read it. */
export interface ConfiguredPolicy {
  /** Built-in, user, environment and options: these open. */
  readonly opening: { readonly rules: readonly PolicyRule[]; readonly byRisk: Partial<Record<Risk, Effect>> };
  /** The project's: these narrow. */
  readonly narrowing: readonly PolicyLayer[];
  readonly places: RulePlaces;
}

/** What the loaded configuration says about rights. A rule that cannot be read is a problem of its file, and closes what it is about. */
export function configuredPolicy(
  { policies, config, isBroken }: Pick<LoadedConfig, 'policies' | 'config' | 'isBroken'>,
  home: string | undefined,
): ConfiguredPolicy {
  const places = { home };
  const own = policies.filter(({ layer }) => layer !== 'project');
  const asked = (config.execution?.require_approval_for ?? []).map((rule) => ({ rule, where: 'require_approval_for' }));
  const read = (layer: LayerPolicy): readonly PolicyRule[] => readRules(layer, places);
  const byRisk: Partial<Record<Risk, Effect>> = {};
  for (const { policy } of own) Object.assign(byRisk, policy.default);
  const opening = {
    rules: [...builtInRules(), ...own.flatMap(read), ...written('ask', asked, 'user', places)],
    byRisk,
  };
  const narrowing = [
    ...policies
      .filter(({ layer }) => layer === 'project')
      .map((layer) => narrowingLayer({ layer: 'project', where: layer.where }, read(layer), layer.policy.default)),
    // Nobody knows what a file that cannot be read would have forbidden.
    ...(isBroken ? [narrowingLayer({ layer: 'user', where: 'the configuration cannot be read' }, [], CLOSED)] : []),
  ];
  return { opening, narrowing, places };
}

const CLOSED = { medium: 'deny', high: 'deny' } as const;

function readRules({ layer, policy }: LayerPolicy, places: RulePlaces): readonly PolicyRule[] {
  return EFFECTS.flatMap((effect) => written(effect, policy[effect], layer, places));
}

function written(
  effect: Effect,
  rules: readonly WrittenRule[],
  layer: RuleOrigin['layer'],
  places: RulePlaces,
): readonly PolicyRule[] {
  return rules.flatMap(({ rule: text, where }) => {
    const rule = readRule(text, { effect, origin: { layer, where }, places });
    if (isRule(rule)) return [rule];
    throw new SkillError({
      code: 'config/invalid',
      message: `${where}: ${rule.problem}`,
      hint: 'mend the rule; `skillwright config` names the files',
      data: { path: where },
    });
  });
}

/** The policy of a session before any skill is active. */
export function sessionPolicy(configured: ConfiguredPolicy, session: SessionPolicy, opened: readonly string[]): Policy {
  const { opening, narrowing, places } = configured;
  const program: RuleOrigin = { layer: 'program', where: '' };
  const allow = [...opened, ...(session.opens ?? [])];
  const base: PolicyLayer = {
    origin: { layer: 'built-in', where: '' },
    rules: [...opening.rules, ...rulesOf({ allow }, program, places)],
    otherwise: { ...BY_RISK, ...opening.byRisk },
  };
  return { layers: [base, ...narrowing, ...runLayers(session, places)], grants: [] };
}

/** What a program says about one run: it takes away, whatever it is written as. */
export function runLayers(session: SessionPolicy, places: RulePlaces): readonly PolicyLayer[] {
  const origin: RuleOrigin = { layer: 'run', where: '' };
  const rules = rulesOf(session, origin, places);
  const { otherwise = 'allow' } = session;
  if (rules.length === 0 && otherwise === 'allow') return [];
  return [narrowingLayer(origin, rules, { low: otherwise, medium: otherwise, high: otherwise })];
}

/** Rules of a program: what it got wrong is an error, not a rule that silently means nothing. */
function rulesOf(texts: RuleTexts, origin: RuleOrigin, places: RulePlaces): readonly PolicyRule[] {
  return (['deny', 'ask', 'allow'] as const).flatMap((effect) =>
    (texts[effect] ?? []).map((text) => {
      const rule = readRule(text, { effect, origin, places });
      if (isRule(rule)) return rule;
      throw new SkillError({
        code: 'input/invalid',
        message: rule.problem,
        hint: 'write rules such as run_script, run_command(git status:*), write_file(docs/**)',
        data: { expected: 'a rule' },
      });
    }),
  );
}

/** The identity of a policy in a record: the same rules give the same hash. */
export function policyHash({ layers, grants }: Policy): string {
  const written = (rules: readonly PolicyRule[]): unknown =>
    rules.map(({ effect, text, origin }) => ({ effect, text, origin }));
  const content = layers.map(({ origin, otherwise, rules }) => ({ origin, otherwise, rules: written(rules) }));
  return `sha256:${sha256(stableJson({ layers: content, grants: written(grants) }))}`;
}
