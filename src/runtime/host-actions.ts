import type { ActionOfKind, Observation } from '#core';
import { decide, fileAccesses, requestRights, type Policy } from '#policy';
import { performHostAction, type previewWrite } from '#project';
import type { openSkillPlaces } from './skill-places.ts';

export interface HostRights extends Pick<Parameters<typeof performHostAction>[2], 'preview' | 'isClosed' | 'signal'> {
  /** Decides about further files of a search and further hosts of a request. */
  readonly policy: Policy;
  /** Which files belong to loaded skills. */
  readonly skillPlace: ReturnType<typeof openSkillPlaces>;
  /** Whether a person approved exactly this action. */
  readonly isApproved: boolean;
}

/** Performs an action on project files or on the network, as far as the policy allows what it finds on the way. */
export function performAllowed(
  action: ActionOfKind<'host'>,
  path: Parameters<typeof previewWrite>[0] | undefined,
  { policy, isApproved, skillPlace, ...rights }: HostRights,
): Promise<Observation> {
  return performHostAction(action, path, {
    ...rights,
    maySearch: (names) =>
      decide(
        policy,
        names.flatMap((name) =>
          fileAccesses('grep', { ...name, ...skillPlace({ ...name, isInProject: path?.place === 'project' }) }),
        ),
      ).effect === 'allow',
    request: action.type === 'network_request' ? requestRights(policy, action, isApproved) : undefined,
  });
}
