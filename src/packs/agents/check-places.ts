/** Whether the links and copies that the lock records are still there. Writes nothing. */
import { lstatSync } from 'node:fs';
import path from 'node:path';

import { isDirectory, isPresent, realPath } from '#platform';
import type { LockedSkill } from '../lock/lock.ts';
import { listFolderAgents } from './agent-view.ts';
import type { AgentBase } from './agents.ts';
import { listLockedFolders } from './lock-places.ts';
import { isCopyOf } from './copies.ts';
import { isLinkTo, type PlacementKind } from './place-skills.ts';

/** `missing`: no entry. `changed`: an entry that is not our link or copy. `edited`: a copy with other bytes. */
export interface CheckedPlace {
  readonly name: string;
  readonly kind: PlacementKind;
  /** Absolute path of the link or copy. */
  readonly path: string;
  readonly agents: readonly string[];
  readonly status: 'same' | 'missing' | 'changed' | 'edited' | 'broken';
}

/** Checks what the lock records about one skill. */
export function checkPlaces(skill: LockedSkill, root: string, base: AgentBase): readonly CheckedPlace[] {
  const places = listLockedFolders(skill);
  if (places.length === 0) return [];
  const real = realPath(root);
  return places.map(({ folder, kind }) => {
    const absolute = path.resolve(real, folder);
    const place = path.join(absolute, skill.name);
    return {
      name: skill.name,
      kind,
      path: place,
      agents: listFolderAgents(absolute, base),
      status: checkStatus(place, { folder, kind }, skill, real),
    };
  });
}

function checkStatus(
  place: string,
  { folder, kind }: { readonly folder: string; readonly kind: PlacementKind },
  skill: LockedSkill,
  root: string,
): CheckedPlace['status'] {
  if (!isPresent(place)) return 'missing';
  if (kind === 'link') {
    const target = path.join(root, skill.name);
    if (!isLinkTo(place, { real: realPath(path.dirname(place)), target })) return 'changed';
    return isDirectory(target) ? 'same' : 'broken';
  }
  if (!lstatSync(place).isDirectory()) return 'changed';
  return isCopyOf(place, skill, folder) ? 'same' : 'edited';
}
