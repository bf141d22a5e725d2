import { readlinkSync } from 'node:fs';

import { quietly } from '#platform';
import type { EngineClient } from './client.ts';
import { field, listField, textField } from './json-answer.ts';
import { removeContainer } from './warm-container.ts';
import { readProcess, tryRead } from '../../process/proc.ts';

/** Labels that name the owning process, so that containers of dead processes can be removed. */
const LABEL = 'dev.skillwright';

export function ownerLabels(workspaceId: string): Readonly<Record<string, string>> {
  return {
    [`${LABEL}.owner`]: ownerText(process.pid) ?? '',
    [`${LABEL}.workspace`]: workspaceId,
  };
}

/** Removes containers and volumes of processes that were killed before they could clean up. */
export async function removeLeftovers(client: EngineClient): Promise<void> {
  const filters = encodeURIComponent(JSON.stringify({ label: [`${LABEL}.owner`] }));
  const namesOfDead = (list: unknown, key: string): readonly string[] =>
    listField(list)
      .filter((item) => isDeadOwner(textField(field(item, 'Labels', `${LABEL}.owner`)) ?? ''))
      .flatMap((item) => textField(field(item, key)) ?? []);
  const containers = await client.get(`/containers/json?all=true&filters=${filters}`);
  for (const id of namesOfDead(containers.body, 'Id')) await removeContainer(client, id);
  const volumes = await client.get(`/volumes?filters=${filters}`);
  for (const name of namesOfDead(field(volumes.body, 'Volumes'), 'Name'))
    await client.delete(`/volumes/${encodeURIComponent(name)}`, { also: [404, 409] });
}

/** False for owners of another boot, machine or PID namespace, whose state is unknown here. */
function isDeadOwner(owner: string): boolean {
  const match = /^(\d{1,10})\/\d+\//.exec(owner);
  const here = machineText();
  if (match === null || here === undefined || !owner.endsWith(`/${here}`)) return false;
  return ownerText(Number(match[1])) !== owner;
}

/** Process ids are reused; together with the start time an id is unique. */
function ownerText(pid: number): string | undefined {
  const here = machineText();
  const started = readProcess(pid)?.started;
  return here === undefined || started === undefined ? undefined : `${String(pid)}/${String(started)}/${here}`;
}

function machineText(): string | undefined {
  const boot = tryRead('/proc/sys/kernel/random/boot_id')?.trim();
  const namespace = quietly(() => readlinkSync('/proc/self/ns/pid'));
  return boot === undefined || namespace === undefined ? undefined : `${boot}/${namespace}`;
}
