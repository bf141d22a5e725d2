import {
  configProblem,
  EFFECTS,
  invalidInput,
  SkillError,
  type Diagnostic,
  type LoadedConfig,
  type Decision,
} from '#core';
import type { WrittenRule } from './policy-files.ts';
import { builtInRules } from './protected-names.ts';
import { BY_RISK, narrowingLayer, narrowPolicy, type Policy, type PolicyLayer } from './policy.ts';
import { appliesToTool, isRule, readRule, type PolicyRule, type RuleContext } from './policy-rule.ts';
import { actionsOfTool } from './tool-names.ts';

export interface RuleTexts {
  readonly allow?: readonly string[];
  readonly ask?: readonly string[];
  readonly deny?: readonly string[];
}

/** The policy that a program sets for its own session. */
export interface SessionPolicy extends RuleTexts {
  /** Grants for this session, like those of the user's configuration; `deny` and `ask` rules there still apply. */
  readonly opens?: readonly string[];
  /** The effect if none of `allow`, `ask` and `deny` matches (default: `allow`, so that they only restrict). */
  readonly otherwise?: Decision['effect'];
}

/**
 * The policy of a session before any skill is active. A child never has more rights than its parent has now, including the parent's active
 * skills. `opened` are grants that the program implies.
 */
export type StartPolicy = (
  session: SessionPolicy,
  from: ({ readonly parent: Policy } | { readonly opened: readonly string[] }) & {
    /** Tools of the program's own vocabulary (default: none). */
    readonly tools?: readonly OwnTool[] | undefined;
  },
) => Policy;

interface OwnTool {
  readonly name: string;
  readonly action: string;
}

/** Parses the policy of the configuration. An unreadable rule is an error of its file. */
export function openPolicies(
  {
    policies,
    requiredApprovals = [],
    isBroken,
    diagnostics = [],
  }: Pick<LoadedConfig, 'policies' | 'requiredApprovals' | 'isBroken'> & Partial<Pick<LoadedConfig, 'diagnostics'>>,
  home: string | undefined,
): StartPolicy {
  const places = { home };
  const own = policies.filter(({ layer }) => layer !== 'project');
  const asked = requiredApprovals.flatMap(({ rule, layer, where }) =>
    written('ask', [{ rule, where: `require_approval_for of ${where}` }], layer, places),
  );
  const read = (layer: LoadedConfig['policies'][number]): readonly PolicyRule[] => readRules(layer, places);
  const byRisk: Partial<Record<Decision['risk'], Decision['effect']>> = {};
  for (const { policy } of own) Object.assign(byRisk, policy.default);
  // Built-in, user, environment and option rules may grant rights; those of the project only restrict.
  const opening = [...builtInRules(), ...own.flatMap(read), ...asked];
  const narrowing = [
    ...policies
      .filter(({ layer }) => layer === 'project')
      .map((layer) => narrowingLayer({ layer: 'project', where: layer.where }, read(layer), layer.policy.default)),
    // The restrictions of an unreadable file are unknown, so everything beyond reading is denied.
    ...(isBroken ? [narrowingLayer({ layer: 'user', where: brokenText(diagnostics) }, [], CLOSED)] : []),
  ];
  return (session, from) => {
    const layers = runLayers(session, places);
    const { tools = [] } = from;
    if ('parent' in from) return withOwnTools(narrowPolicy(from.parent, layers), tools);
    const allow = [...from.opened, ...ruleTexts(session.opens, 'opens')];
    const base: PolicyLayer = {
      origin: { layer: 'built-in', where: '' },
      rules: [...opening, ...parseRules({ allow }, { layer: 'program', where: '' }, places)],
      otherwise: { ...BY_RISK, ...byRisk },
    };
    return withOwnTools({ layers: [base, ...narrowing, ...layers], grants: [] }, tools);
  };
}

/** Extends deny and ask rules that name tools of the program's own vocabulary to the actions of these tools. */
function withOwnTools(policy: Policy, tools: readonly OwnTool[]): Policy {
  if (tools.length === 0) return policy;
  const { layers, grants } = policy;
  const extend = (rule: PolicyRule): PolicyRule => {
    if (rule.effect === 'allow') return rule;
    const named = tools.filter(({ name }) => appliesToTool(rule, name));
    return { ...rule, tools: [...rule.tools, ...named.flatMap(({ action }) => actionsOfTool(action, rule.effect))] };
  };
  return { layers: layers.map((layer) => ({ ...layer, rules: layer.rules.map(extend) })), grants };
}

function brokenText(diagnostics: readonly Diagnostic[]): string {
  return `${configProblem(diagnostics)?.message ?? 'the configuration is invalid'}; see skillwright config`;
}

const CLOSED = { medium: 'deny', high: 'deny' } as const;

function readRules({ layer, policy }: LoadedConfig['policies'][number], places: RuleContext): readonly PolicyRule[] {
  return EFFECTS.flatMap((effect) => written(effect, policy[effect], layer, places));
}

function written(
  effect: Decision['effect'],
  rules: readonly WrittenRule[],
  layer: Decision['origin']['layer'],
  places: RuleContext,
): readonly PolicyRule[] {
  return rules.flatMap(({ rule: text, where }) => {
    const rule = readRule(text, { effect, origin: { layer, where }, places });
    if (isRule(rule)) return [rule];
    throw new SkillError({
      code: 'config/invalid',
      message: `${where}: ${rule.problem}`,
      hint: 'fix the rule; `skillwright config` lists the files',
      data: { path: where },
    });
  });
}

/** The layers that a program adds for one run; they only restrict. */
function runLayers(session: SessionPolicy, places: RuleContext): readonly PolicyLayer[] {
  const origin: Decision['origin'] = { layer: 'run', where: '' };
  const rules = parseRules(session, origin, places);
  const { otherwise = 'allow' } = session;
  if (!EFFECTS.includes(otherwise))
    throw invalidInput('policy.otherwise is not an effect', EFFECTS.join(', '), `use one of ${EFFECTS.join(', ')}`);
  if (rules.length === 0 && otherwise === 'allow') return [];
  return [narrowingLayer(origin, rules, { low: otherwise, medium: otherwise, high: otherwise })];
}

/** Parses rules of a program; an unreadable one is an error. */
function parseRules(texts: RuleTexts, origin: Decision['origin'], places: RuleContext): readonly PolicyRule[] {
  return EFFECTS.flatMap((effect) =>
    ruleTexts(texts[effect], effect).map((text) => {
      const rule = readRule(text, { effect, origin, places });
      if (isRule(rule)) return rule;
      throw invalidInput(
        rule.problem,
        'a rule',
        'write rules such as run_script, run_command(git status:*), write_file(docs/**)',
      );
    }),
  );
}

/** A program in JavaScript may pass anything; a rule that is not read would not deny. */
function ruleTexts(rules: unknown = [], name: string): readonly string[] {
  if (Array.isArray(rules) && rules.every((rule) => typeof rule === 'string')) return rules;
  throw invalidInput(
    `policy.${name} is not a list of rules`,
    'a list of texts',
    `write policy: { ${name}: ['delete_file'] }`,
  );
}
