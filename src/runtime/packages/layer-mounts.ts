import { randomBytes } from 'node:crypto';
import { renameSync, symlinkSync } from 'node:fs';
import path from 'node:path';

import type { Executor, HostMount } from '#core';
import { NODE_TARGET, PYTHON_TARGET, type StoredLayer, type Venv } from '#sandbox';

/** What a program gets: layers to mount, and warnings about packages that it runs without. */
export interface PreparedPackages {
  readonly layers: readonly StoredLayer[];
  /** A virtual environment of the user. */
  readonly venv?: Venv;
  readonly warnings: readonly string[];
}

/** Executors without isolation or without a way to build layers. Declared packages are checked there and never installed. */
const WITHOUT_LAYERS: ReadonlySet<Executor['name']> = new Set<Executor['name']>(['local', 'macos']);

export function mountsLayers({ name }: Pick<Executor, 'name'>): boolean {
  return !WITHOUT_LAYERS.has(name);
}

/** Whether programs see layers where they are on the host, because nothing can be mounted elsewhere. */
export function usesOwnPaths({ name }: Pick<Executor, 'name'>): boolean {
  return name === 'landlock';
}

export const NO_PACKAGES: PreparedPackages = { layers: [], warnings: [] };

/** Node finds packages in a `node_modules` folder above a script, Python in the environment of the interpreter that is found first. */
export function layerMounts({ layers, venv }: PreparedPackages, place: LayerLocation): readonly HostMount[] {
  const mounts = layers.map((layer): HostMount => ({
    source: layer.ecosystem === 'python' ? layer.tree : `${layer.tree}/node_modules`,
    target: toInsidePath(layer, place),
    access: 'read',
  }));
  return venv === undefined ? mounts : [...mounts, venv.mount];
}

/** Folders of the programs that packages bring. */
export function layerPrograms({ layers, venv }: PreparedPackages, place: LayerLocation): readonly string[] {
  const folders = layers.map(
    (layer) => `${toInsidePath(layer, place)}/${layer.ecosystem === 'python' ? 'bin' : '.bin'}`,
  );
  return venv === undefined ? folders : [venv.bin, ...folders];
}

/** Where programs see the workspace, and whether layers are at their own path. */
export interface LayerLocation {
  readonly root: string;
  readonly isOwnPath: boolean;
}

function toInsidePath({ ecosystem, tree }: StoredLayer, { root, isOwnPath }: LayerLocation): string {
  if (isOwnPath) return ecosystem === 'python' ? tree : `${tree}/node_modules`;
  return `${root}/${ecosystem === 'python' ? PYTHON_TARGET : NODE_TARGET}`;
}

/** Leads Node from the workspace to a layer at its own path. Programs cannot change the link. */
export function linkNodeLayer({ layers }: PreparedPackages, { root, isOwnPath }: LayerLocation): void {
  const layer = layers.find(({ ecosystem }) => ecosystem === 'node');
  if (!isOwnPath || layer === undefined) return;
  const link = path.join(root, NODE_TARGET);
  const made = `${link}.${randomBytes(6).toString('hex')}`;
  symlinkSync(`${layer.tree}/node_modules`, made);
  renameSync(made, link);
}
