/** The decision about an action: the rules, then who asked for it and what its program reaches. */
import path from 'node:path';

import type { Action, Config, Decision, OfType, RunEvent } from '#core';
import { isInside } from '#platform';
import { grantAccess, hostSubject, isContained, listCapabilities, type ProgramFacts } from './action-access.ts';
import { matchesAccess } from './policy-rule.ts';
import { BY_DEFAULT, decide, isSecretFile, type Policy } from './policy.ts';
import type { Access } from './access.ts';

type AskedBy = OfType<RunEvent, 'action'>['askedBy'];

interface DecideOptions {
  readonly program: ProgramFacts;
  readonly askedBy: AskedBy;
  readonly sandboxed: NonNullable<NonNullable<Config['policy']>['sandboxed']>;
}

/** The decision with what the program reaches, under the setting for contained programs. */
export function decideAccesses(
  policy: Policy,
  accesses: readonly Access[],
  { program, askedBy, sandboxed }: DecideOptions,
): Decision {
  const found = allowOwnRequest(decide(policy, withoutSettled(policy, accesses)), askedBy);
  if (program.isolation === undefined) return found;
  const allowed = sandboxed === 'allow' && isContained(program) ? allowContained(found, policy, accesses) : found;
  return { ...allowed, capabilities: listCapabilities(program) };
}

/**
 * A rule that allows `unsafe_local`, or a host input that is not a secret file, settles it, so that the risk is that of what is left to
 * decide.
 */
function withoutSettled(policy: Policy, accesses: readonly Access[]): readonly Access[] {
  const left = accesses.filter((access) => {
    const { tool } = access;
    if (tool !== 'unsafe_local' && (tool !== 'host_input' || isSecretFile(access))) return true;
    const { effect, rule } = decide(policy, [access]);
    return effect !== 'allow' || rule === BY_DEFAULT;
  });
  return left.length === 0 ? accesses : left;
}

/** `policy.sandboxed: allow`: what only its default asks about, and what reaches nothing, is allowed. */
function allowContained(decision: Decision, policy: Policy, accesses: readonly Access[]): Decision {
  if (decision.effect !== 'ask' || decision.rule !== BY_DEFAULT) return decision;
  const others = accesses.filter(({ tool }) => tool !== 'run_script' && tool !== 'run_command');
  if (others.length > 0 && decide(policy, others).effect !== 'allow') return decision;
  const rule = 'policy.sandboxed: allow';
  const reason = `${decision.tool} is allowed: ${rule}, and it is fully contained`;
  return { ...decision, effect: 'allow', rule, reason };
}

/** A person or program that requests an action need not approve it again, unless a rule says `ask` or the risk is high. */
function allowOwnRequest(decision: Decision, askedBy: AskedBy): Decision {
  if (askedBy === 'model' || decision.effect !== 'ask' || decision.rule !== BY_DEFAULT) return decision;
  if (decision.risk === 'high' || decision.tool === 'write_file') return decision;
  const rule = askedBy === 'person' ? 'a person asked for it' : 'the program asked for it';
  return { ...decision, effect: 'allow', rule, reason: `${decision.tool} is allowed: ${rule}` };
}

/** Whether programs may reach the host of a network grant, perhaps after approval. */
export function mayReach(policy: Policy, grant: string): boolean {
  return decide(policy, [grantAccess(grant)]).effect !== 'deny';
}

/**
 * What a network request may reach. A rule or a person allowed the first address; each redirect needs a rule. Approving an IP address or
 * `localhost` approves a private address; approving a name that resolves to one does not. Of rules, only those of the configuration and the
 * program grant private networks, not lists of skills.
 */
export function requestRights(
  policy: Policy,
  { url, method = 'GET' }: OfType<Action, 'network_request'>,
  isApproved: boolean,
): { readonly grants: readonly string[]; readonly decideHost: (name: string, port: number) => boolean } {
  const { host, port } = hostSubject(url, method);
  const isNamed = isApproved && host !== undefined && (host.isAddress || host.name === 'localhost');
  const granted = (policy.layers[0]?.rules ?? []).flatMap(({ effect, subjects }) =>
    effect === 'allow' && subjects?.kind === 'host' ? [subjects.host.text] : [],
  );
  return {
    grants: isNamed ? [...granted, `private://${toAuthority(host.name, port)}`] : granted,
    decideHost(name, at) {
      if (name === host?.name && at === port) return true;
      const subject = hostSubject(`https://${toAuthority(name, at)}/`, 'GET');
      return decide(policy, [{ tool: 'network_request', subject }]).effect === 'allow';
    },
  };
}

/** IPv6 addresses get brackets. */
function toAuthority(name: string, port: number): string {
  return `${name.includes(':') ? `[${name}]` : name}:${String(port)}`;
}

/**
 * Whether a rule with a path denies reading a file of the host: no program gets it by a mount or an input either. Undefined if there is no
 * such rule. `project` is the folder that relative patterns start from.
 */
export function deniedReads({ layers }: Policy, project: string): ((absolute: string) => boolean) | undefined {
  const rules = layers
    .flatMap((layer) => layer.rules)
    .filter(
      ({ effect, origin, subjects, tools }) =>
        effect === 'deny' && origin.layer !== 'built-in' && subjects?.kind === 'path' && tools.includes('read_file'),
    );
  if (rules.length === 0) return undefined;
  return (absolute) => {
    const shown = isInside(absolute, project) ? path.relative(project, absolute) : absolute;
    const access = { tool: 'read_file', subject: { kind: 'path', path: shown, absolute } } as const;
    return rules.some((rule) => matchesAccess(rule, access) === 'yes');
  };
}
