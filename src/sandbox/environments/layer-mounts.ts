import { randomBytes } from 'node:crypto';
import { renameSync, symlinkSync } from 'node:fs';
import path from 'node:path';

import { NODE_TARGET } from './build-node.ts';
import { PYTHON_TARGET } from './build-python.ts';
import type { StoredLayer } from './layers.ts';
import type { Venv } from './venv.ts';
import type { HostMount } from '../program-types.ts';

/** What a program gets: layers to mount, and warnings about packages that it runs without. */
export interface PreparedPackages {
  readonly layers: readonly StoredLayer[];
  /** A virtual environment of the user. */
  readonly venv?: Venv;
  readonly warnings: readonly string[];
}

/** What a program sees of its packages. */
export interface MountedPackages {
  readonly mounts: readonly HostMount[];
  /** Folders of the programs that packages bring. */
  readonly programFolders: readonly string[];
}

/** Node finds packages in a `node_modules` folder above a script, Python in the environment of the interpreter that is found first. */
export function mountPackages(
  { layers, venv }: PreparedPackages,
  { root, isOwnPath }: { readonly root: string; readonly isOwnPath: boolean },
): MountedPackages {
  const mounted = layers.map(({ ecosystem, tree }) => {
    const isPython = ecosystem === 'python';
    const source = isPython ? tree : `${tree}/node_modules`;
    const target = isOwnPath ? source : `${root}/${isPython ? PYTHON_TARGET : NODE_TARGET}`;
    if (isOwnPath && !isPython) linkNodeLayer(root, source);
    return { source, target, programs: `${target}/${isPython ? 'bin' : '.bin'}` };
  });
  return {
    mounts: [
      ...mounted.map(({ source, target }): HostMount => ({ source, target, access: 'read' })),
      ...(venv?.mounts ?? []),
    ],
    programFolders: [...(venv === undefined ? [] : [venv.bin]), ...mounted.map(({ programs }) => programs)],
  };
}

/** Leads Node from the workspace to a layer at its own path. Programs cannot change the link. */
function linkNodeLayer(root: string, modules: string): void {
  const link = path.join(root, NODE_TARGET);
  const temporary = `${link}.${randomBytes(6).toString('hex')}`;
  symlinkSync(modules, temporary);
  renameSync(temporary, link);
}
