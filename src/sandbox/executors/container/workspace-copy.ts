import { mkdirSync, readdirSync, renameSync } from 'node:fs';
import path from 'node:path';

import { toProblem, type Identity, type RunLimits, type WorkspaceFolder, type ProgramEnd } from '#core';
import { removeTree, temporaryName } from '#platform';
import { SKILL_LINKS, isRoot } from '../../workspace/layout.ts';
import { engineFailure, type EngineClient } from './client.ts';
import { INSIDE } from './settings.ts';
import { extractTree, treeBudget, type TreeBudget } from './extract-tree.ts';
import { isTarProblem, readTar, writeTar, type PackedEntry } from './tar.ts';
import type { WarmContainer } from './warm-container.ts';
import { packFolder, packLink, packTree } from './pack-tree.ts';

const COPY_MS = 300_000;
/** Owner of the skills in a container: programs never run as root, so they cannot change them. */
const ROOT: Identity = { uid: 0, gid: 0 };

export interface WorkspaceCopyOptions {
  readonly client: EngineClient;
  readonly container: WarmContainer;
  readonly place: WorkspaceFolder;
  readonly user: Identity;
  /** The folders that the program may write to, relative to the workspace. */
  readonly folders: readonly string[];
}

/** Copies a workspace into a container before a program runs and back afterwards, for engines that cannot mount files of this machine. */
export class WorkspaceCopy {
  readonly #options: WorkspaceCopyOptions;

  constructor(options: WorkspaceCopyOptions) {
    this.#options = options;
  }

  async upload(signal?: AbortSignal): Promise<void> {
    const { client, container } = this.#options;
    const target = `/containers/${container.id}/archive?path=${encodeURIComponent(INSIDE)}`;
    await client.put(target, { bytes: writeTar(this.#entries()), deadlineMs: COPY_MS, signal });
  }

  /** Replaces each writable folder by what the program left. Returns `disk`, and replaces nothing, where that exceeds the limits. */
  async download(limits: RunLimits): Promise<ProgramEnd['reason'] | undefined> {
    const { container, folders } = this.#options;
    const source = await container.openVolume();
    const budget = treeBudget(limits);
    const extracted: { readonly name: string; readonly folder: string }[] = [];
    try {
      for (const name of folders) extracted.push({ name, folder: await this.#extract(source.id, name, budget) });
      for (const { name, folder } of extracted) await this.#replace(name, folder);
      return undefined;
    } catch (error) {
      for (const { folder } of extracted) await removeTree(folder);
      const { code, message } = toProblem(error, isTarProblem);
      if (code === 'tar/too-large') return 'disk';
      throw engineFailure(`the container engine sent an invalid archive: ${message}`, message);
    } finally {
      await source.close();
    }
  }

  *#entries(): Generator<PackedEntry, void> {
    const { place, user, folders } = this.#options;
    yield packFolder('skills', ROOT);
    for (const { name, snapshot } of place.skills) {
      const prefix = `skills/${name}/`;
      yield packFolder(`skills/${name}`, ROOT);
      yield* packTree(snapshot, { prefix, owner: ROOT });
      const own = new Set(readdirSync(snapshot));
      for (const [link, target] of Object.entries(SKILL_LINKS))
        if (!own.has(link)) yield packLink(prefix + link, target, ROOT);
    }
    yield packFolder('home', ROOT);
    for (const name of folders) {
      yield packFolder(name, user);
      yield* packTree(path.join(place.root, name), { prefix: `${name}/`, owner: user });
    }
  }

  async #extract(containerId: string, name: string, budget: TreeBudget): Promise<string> {
    const { client, place, user } = this.#options;
    const folder = temporaryName(path.join(place.root, name), '.copy');
    mkdirSync(folder, { mode: 0o700 });
    try {
      const target = `/containers/${containerId}/archive?path=${encodeURIComponent(`${INSIDE}/${name}`)}`;
      const entries = readTar(await client.download(target, { deadlineMs: COPY_MS }));
      await extractTree(entries, {
        top: path.posix.basename(name),
        folder,
        owner: isRoot() ? user : undefined,
        budget,
      });
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
