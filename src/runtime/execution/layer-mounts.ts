import type { HostMount } from '../../core/execution.ts';
import { NODE_TARGET } from '../../sandbox/environments/build-node.ts';
import { PYTHON_TARGET } from '../../sandbox/environments/build-python.ts';
import type { PreparedPackages } from './parts.ts';

export const NO_PACKAGES: PreparedPackages = { layers: [], warnings: [] };

/** Node finds packages in a `node_modules` folder above a script, Python in the environment of the interpreter that is found first. */
export function layerMounts({ layers, venv }: PreparedPackages, root: string): readonly HostMount[] {
  const mounts = layers.map(({ ecosystem, tree }): HostMount =>
    ecosystem === 'python'
      ? { source: tree, target: `${root}/${PYTHON_TARGET}`, access: 'read' }
      : { source: `${tree}/node_modules`, target: `${root}/${NODE_TARGET}`, access: 'read' },
  );
  return venv === undefined ? mounts : [...mounts, venv.mount];
}

/** Folders of the programs that packages bring. */
export function layerPrograms({ layers, venv }: PreparedPackages, root: string): readonly string[] {
  const folders = layers.map(({ ecosystem }) =>
    ecosystem === 'python' ? `${root}/${PYTHON_TARGET}/bin` : `${root}/${NODE_TARGET}/.bin`,
  );
  return venv === undefined ? folders : [venv.bin, ...folders];
}
