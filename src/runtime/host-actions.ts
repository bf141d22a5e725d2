import type { ActionOfKind, Observation } from '#core';
import { decide, requestRights, type Policy } from '#policy';
import { performHostAction, type ActionRights, type previewWrite } from '#project';

export interface HostRights extends Pick<ActionRights, 'preview' | 'isClosed' | 'signal'> {
  /** Decides about further files of a search and further hosts of a request. */
  readonly policy: Policy;
  /** Whether a person approved exactly this action. */
  readonly isApproved: boolean;
}

/** Performs an action on project files or on the network, as far as the policy allows what it finds on the way. */
export function performAllowed(
  action: ActionOfKind<'host'>,
  path: Parameters<typeof previewWrite>[0] | undefined,
  { policy, isApproved, ...rights }: HostRights,
): Promise<Observation> {
  return performHostAction(action, path, {
    ...rights,
    maySearch: (names) =>
      decide(
        policy,
        names.map((name) => ({ tool: 'grep', subject: { kind: 'path', ...name } })),
      ).effect === 'allow',
    request: action.type === 'network_request' ? requestRights(policy, action, isApproved) : undefined,
  });
}
