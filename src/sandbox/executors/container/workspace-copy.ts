import { mkdirSync, readdirSync, renameSync } from 'node:fs';
import path from 'node:path';

import type { EndReason, Identity, RunLimits, WorkspacePlace } from '../../../core/execution.ts';
import { removeTree } from '../../../platform/fs/remove-tree.ts';
import { temporaryName } from '../../../platform/fs/atomic-replace.ts';
import { SKILL_LINKS, isRoot, WRITABLE_FOLDERS } from '../../workspace/layout.ts';
import { engineFailure } from './client.ts';
import type { EngineClient } from './client.ts';
import { INSIDE } from './settings.ts';
import { TreeTooLarge, treeBudget, writeTree } from './tar-tree.ts';
import type { TreeBudget } from './tar-tree.ts';
import { BrokenTar, readTar, tarEnd } from './tar.ts';
import { folderTar, linkTar, treeTar } from './tree-tar.ts';
import type { WarmContainer } from './warm-container.ts';

const COPY_MS = 300_000;
/** Skills belong to somebody that no program is. */
const ROOT: Identity = { uid: 0, gid: 0 };

export interface WorkspaceCopyOptions {
  readonly client: EngineClient;
  readonly container: WarmContainer;
  readonly place: WorkspacePlace;
  readonly user: Identity;
}

/** A workspace for one program, in a container whose engine does not see our files: copied before it and back after it. */
export class WorkspaceCopy {
  readonly #options: WorkspaceCopyOptions;

  constructor(options: WorkspaceCopyOptions) {
    this.#options = options;
  }

  async upload(signal?: AbortSignal): Promise<void> {
    const { client, container } = this.#options;
    const target = `/containers/${container.id}/archive?path=${encodeURIComponent(INSIDE)}`;
    await client.put(target, { bytes: this.#tar(), deadlineMs: COPY_MS, signal });
  }

  /** What the program left replaces what was there, folder by folder. `disk`: it left too much, and nothing was taken. */
  async download(limits: RunLimits): Promise<EndReason | undefined> {
    const { container } = this.#options;
    const source = await container.openVolume();
    const budget = treeBudget(limits);
    const taken: { readonly name: string; readonly folder: string }[] = [];
    try {
      for (const name of WRITABLE_FOLDERS) taken.push({ name, folder: await this.#take(source.id, name, budget) });
      for (const { name, folder } of taken) await this.#replace(name, folder);
      return undefined;
    } catch (error) {
      for (const { folder } of taken) await removeTree(folder);
      if (error instanceof TreeTooLarge) return 'disk';
      if (error instanceof BrokenTar)
        throw engineFailure(`the engine's archive cannot be read: ${error.message}`, error.message);
      throw error;
    } finally {
      await source.close();
    }
  }

  async *#tar(): AsyncGenerator<Buffer, void> {
    const { place, user } = this.#options;
    yield folderTar('skills', ROOT, 0o755);
    for (const { name, snapshot } of place.skills) {
      const prefix = `skills/${name}/`;
      yield folderTar(`skills/${name}`, ROOT, 0o755);
      yield* treeTar(snapshot, { prefix, owner: ROOT, isReadOnly: true });
      const own = new Set(readdirSync(snapshot));
      for (const [link, target] of Object.entries(SKILL_LINKS))
        if (!own.has(link)) yield linkTar(prefix + link, target, ROOT);
    }
    for (const name of WRITABLE_FOLDERS) {
      yield folderTar(name, user, 0o755);
      yield* treeTar(path.join(place.root, name), { prefix: `${name}/`, owner: user });
    }
    yield tarEnd();
  }

  async #take(containerId: string, name: string, budget: TreeBudget): Promise<string> {
    const { client, place, user } = this.#options;
    const folder = temporaryName(path.join(place.root, name), '.copy');
    mkdirSync(folder, { mode: 0o700 });
    try {
      const target = `/containers/${containerId}/archive?path=${encodeURIComponent(`${INSIDE}/${name}`)}`;
      const entries = readTar(await client.download(target, { deadlineMs: COPY_MS }));
      await writeTree(entries, { top: name, folder, owner: isRoot() ? user : undefined, budget });
      return folder;
    } catch (error) {
      await removeTree(folder);
      throw error;
    }
  }

  async #replace(name: string, folder: string): Promise<void> {
    const own = path.join(this.#options.place.root, name);
    const old = temporaryName(own, '.old');
    renameSync(own, old);
    renameSync(folder, own);
    await removeTree(old);
  }
}
