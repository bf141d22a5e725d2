import { mkdirSync, readdirSync, renameSync } from 'node:fs';
import path from 'node:path';

import { toProblem, type ProgramEnd } from '#core';
import { removeTree, temporaryName } from '#platform';
import { SKILL_LINKS, isRoot } from '../../workspace/layout.ts';
import { listOwnFolders } from '../../workspace/own-folders.ts';
import { engineFailure, type EngineClient } from './client.ts';
import { INSIDE } from './settings.ts';
import { extractTree } from './extract-tree.ts';
import { isTarProblem, readTar, writeTar, type PackedEntry } from './tar.ts';
import type { WarmContainer } from './warm-container.ts';
import { packFolder, packLink, packTree } from './pack-tree.ts';
import type { RunLimits, WorkspaceFolder, Identity } from '../../program-types.ts';

const COPY_MS = 300_000;
/** Owner of the skills in a container: programs never run as root, so they cannot change them. */
const ROOT: Identity = { uid: 0, gid: 0 };

export interface CopiedWorkspace {
  readonly client: EngineClient;
  readonly container: WarmContainer;
  readonly place: WorkspaceFolder;
  readonly user: Identity;
  /** The folders that the program may write to, relative to the workspace. */
  readonly folders: readonly string[];
}

/** Copies a workspace into a container before a program runs, for engines that cannot mount files of this machine. */
export async function uploadWorkspace(copied: CopiedWorkspace, signal?: AbortSignal): Promise<void> {
  const { client, container } = copied;
  const target = `/containers/${container.id}/archive?path=${encodeURIComponent(INSIDE)}`;
  await client.put(target, { bytes: writeTar(packWorkspace(copied)), deadlineMs: COPY_MS, signal });
}

function* packWorkspace({ place, user, folders }: CopiedWorkspace): Generator<PackedEntry, void> {
  yield packFolder('skills', ROOT);
  for (const { name, snapshot } of place.skills) {
    const prefix = `skills/${name}/`;
    yield packFolder(`skills/${name}`, ROOT);
    const own = new Set<string>(listOwnFolders(snapshot));
    const isOwn = (file: string): boolean => own.has(file.slice(prefix.length).split('/')[0] ?? '');
    for (const entry of packTree(snapshot, { prefix, owner: ROOT, emptied: own }))
      if (!isOwn(entry.header.name)) yield entry;
    const others = new Set(readdirSync(snapshot).filter((file) => !own.has(file)));
    for (const [link, target] of Object.entries(SKILL_LINKS))
      if (!others.has(link)) yield packLink(prefix + link, target, ROOT);
  }
  yield packFolder('home', ROOT);
  for (const name of folders) {
    yield packFolder(name, user);
    yield* packTree(path.join(place.root, name), { prefix: `${name}/`, owner: user });
  }
}

/** Replaces each writable folder by what the program left. Returns `disk`, and replaces nothing, where that exceeds the limits. */
export async function downloadWorkspace(
  copied: CopiedWorkspace,
  { diskBytes, files }: RunLimits,
): Promise<ProgramEnd['reason'] | undefined> {
  const { client, container, place, user, folders } = copied;
  const source = await container.openVolume();
  const budget = { bytes: diskBytes, files };
  const copies = folders.map((name) => {
    const own = path.join(place.root, name);
    return { name, own, folder: temporaryName(own, '.copy') };
  });
  try {
    for (const { name, folder } of copies) {
      mkdirSync(folder, { mode: 0o700 });
      const target = `/containers/${source.id}/archive?path=${encodeURIComponent(`${INSIDE}/${name}`)}`;
      const entries = readTar(await client.download(target, { deadlineMs: COPY_MS }));
      const top = path.posix.basename(name);
      await extractTree(entries, { top, folder, owner: isRoot() ? user : undefined, budget });
    }
    for (const { own, folder } of copies) {
      const old = temporaryName(own, '.old');
      renameSync(own, old);
      renameSync(folder, own);
      await removeTree(old);
    }
    return undefined;
  } catch (error) {
    for (const { folder } of copies) await removeTree(folder);
    const { code, message } = toProblem(error, isTarProblem);
    if (code === 'tar/too-large') return 'disk';
    throw engineFailure(`the container engine sent an invalid archive: ${message}`, message);
  } finally {
    await source.close();
  }
}
