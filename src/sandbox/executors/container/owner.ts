import { readFileSync, readlinkSync } from 'node:fs';

import { isSystemError } from '../../../platform/fs/paths.ts';
import type { EngineClient } from './client.ts';
import { field, listField, textField } from './json-answer.ts';
import { removeContainer } from './warm-container.ts';

/** Whose a container is, so that one whose owner died can be told from one that is in use. */
const LABEL = 'dev.skillwright';

export function ownerLabels(workspaceId: string): Readonly<Record<string, string>> {
  return {
    [`${LABEL}.owner`]: ownerText(process.pid) ?? '',
    [`${LABEL}.workspace`]: workspaceId,
  };
}

/** Removes what processes of this machine left behind, killed before they could clean up. Gives how many there were. */
export async function removeLeftovers(client: EngineClient, signal?: AbortSignal): Promise<number> {
  const filters = encodeURIComponent(JSON.stringify({ label: [`${LABEL}.owner`] }));
  const { body } = await client.get(`/containers/json?all=true&filters=${filters}`, { signal });
  let count = 0;
  for (const container of listField(body)) {
    const id = textField(field(container, 'Id'));
    const owner = textField(field(container, 'Labels', `${LABEL}.owner`));
    if (id === undefined || owner === undefined || !isDeadOwner(owner)) continue;
    await removeContainer(client, id);
    count += 1;
  }
  const volumes = await client.get(`/volumes?filters=${filters}`, { signal });
  for (const volume of listField(field(volumes.body, 'Volumes'))) {
    const name = textField(field(volume, 'Name'));
    const owner = textField(field(volume, 'Labels', `${LABEL}.owner`));
    if (name === undefined || owner === undefined || !isDeadOwner(owner)) continue;
    await client.delete(`/volumes/${encodeURIComponent(name)}`, { also: [404, 409], signal });
  }
  return count;
}

/** Known to be dead: an owner from another boot, machine or namespace of processes cannot be judged from here. */
function isDeadOwner(owner: string): boolean {
  const match = /^(\d{1,10})\/\d+\//.exec(owner);
  const here = machineText();
  if (match === null || here === undefined || !owner.endsWith(`/${here}`)) return false;
  return ownerText(Number(match[1])) !== owner;
}

/** Numbers of processes are used again; with the time of its start one is not. */
function ownerText(pid: number): string | undefined {
  const here = machineText();
  const stat = readOrNothing(() => readFileSync(`/proc/${String(pid)}/stat`, 'latin1'));
  // The name in parentheses may hold anything.
  const started = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  return here === undefined || started === undefined ? undefined : `${String(pid)}/${started}/${here}`;
}

function machineText(): string | undefined {
  const boot = readOrNothing(() => readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim());
  const namespace = readOrNothing(() => readlinkSync('/proc/self/ns/pid'));
  return boot === undefined || namespace === undefined ? undefined : `${boot}/${namespace}`;
}

function readOrNothing(read: () => string): string | undefined {
  try {
    return read();
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}
