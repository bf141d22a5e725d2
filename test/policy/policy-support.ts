import { EFFECTS, type Effect, type RuleOrigin } from '../../src/core/access.ts';
import { lineSubject } from '../../src/policy/action-access.ts';
import { readCommandLine } from '../../src/policy/command/command-line.ts';
import { readHost } from '../../src/core/network/host-pattern.ts';
import { BY_RISK, decide, type Policy, type PolicyLayer } from '../../src/policy/policy.ts';
import { isRule, readRule, type PolicyRule } from '../../src/policy/policy-rule.ts';
import { policyWithSkills } from '../../src/policy/skill-rules.ts';
import type { Access } from '../../src/policy/access.ts';

export const USER: RuleOrigin = { layer: 'user', where: '~/.agent/config.json' };

export function rules(effect: Effect, texts: readonly string[], origin = USER): readonly PolicyRule[] {
  return texts.map((text) => {
    const rule = readRule(text, { effect, origin, places: { home: '/home/ann' } });
    if (!isRule(rule)) throw new TypeError(rule.problem);
    return rule;
  });
}

export interface Written {
  readonly allow?: readonly string[];
  readonly ask?: readonly string[];
  readonly deny?: readonly string[];
}

export function layerOf(written: Written, origin = USER): readonly PolicyRule[] {
  return EFFECTS.flatMap((effect) => rules(effect, written[effect] ?? [], origin));
}

export function policyOf(written: Written = {}): Policy {
  const base: PolicyLayer = { origin: { layer: 'built-in', where: '' }, rules: layerOf(written), otherwise: BY_RISK };
  return { layers: [base], grants: [] };
}

/** The rules of a skill whose `allowed-tools` count as approval. */
export function skillGrants(id: string, allowedTools: readonly string[]): Policy['grants'] {
  const skill = {
    id,
    controls: { allowedTools, userInvocable: true, disableModelInvocation: false, runMode: 'inline' },
  } as const;
  return policyWithSkills({ policy: { layers: [], grants: [] }, allowedTools: 'grant' }, [skill]).grants;
}

export function command(line: string): readonly Access[] {
  return [{ tool: 'run_command', subject: lineSubject(readCommandLine(line)) }];
}

export function onPath(tool: string, path: string): readonly Access[] {
  return [{ tool, subject: { kind: 'path', path, absolute: `/home/ann/project/${path}` } }];
}

export function script(name: string, args: readonly string[] = []): readonly Access[] {
  return [{ tool: 'run_script', subject: { kind: 'script', skill: 'pdf', script: name, args } }];
}

export function host(name: string, port = 443): readonly Access[] {
  return [{ tool: 'network_request', subject: { kind: 'host', host: readHost(name), port, method: 'GET' } }];
}

export function effectOf(policy: Policy, accesses: readonly Access[]): Effect {
  return decide(policy, accesses).effect;
}
