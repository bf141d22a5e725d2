import { statSync } from 'node:fs';
import path from 'node:path';

import type { EngineClient } from './client.ts';
import { field, parseJson, textField } from './json-answer.ts';
import { INSIDE } from './settings.ts';
import { WRITABLE_FOLDERS } from '../../workspace/layout.ts';

/**
 * Whether the engine mounted the folders of this machine and not folders of the same name on its own. Compares modification times, so
 * that nothing has to be written.
 */
export async function mountsOurFiles(client: EngineClient, containerId: string, root: string): Promise<boolean> {
  for (const name of WRITABLE_FOLDERS) {
    const ours = Number(statSync(path.join(root, name), { bigint: true }).mtimeNs / 1_000_000n);
    if ((await folderTime(client, containerId, name)) !== ours) return false;
  }
  return true;
}

async function folderTime(client: EngineClient, containerId: string, name: string): Promise<number | undefined> {
  const target = encodeURIComponent(`${INSIDE}/${name}`);
  const headers = await client.head(`/containers/${containerId}/archive?path=${target}`);
  const stat = headers['x-docker-container-path-stat'];
  if (typeof stat !== 'string') return undefined;
  const changed = textField(field(parseJson(Buffer.from(stat, 'base64')), 'mtime'));
  return changed === undefined ? undefined : Date.parse(changed);
}
