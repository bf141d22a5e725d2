import type { HostMount } from '../../core/execution.ts';
import { NODE_TARGET } from '../../sandbox/environments/build-node.ts';
import { PYTHON_TARGET } from '../../sandbox/environments/build-python.ts';
import type { PreparedPackages } from './parts.ts';

export const NO_PACKAGES: PreparedPackages = { layers: [], warnings: [] };

/** Node finds packages in a `node_modules` folder above a script, Python in the environment of the interpreter that is found first. */
export function layerMounts({ layers }: PreparedPackages, root: string): readonly HostMount[] {
  return layers.map(({ ecosystem, tree }) =>
    ecosystem === 'python'
      ? { source: tree, target: `${root}/${PYTHON_TARGET}`, access: 'read' }
      : { source: `${tree}/node_modules`, target: `${root}/${NODE_TARGET}`, access: 'read' },
  );
}

/** Folders of the programs that packages bring. */
export function layerFolders({ layers }: PreparedPackages, root: string): readonly string[] {
  return layers.map(({ ecosystem }) =>
    ecosystem === 'python' ? `${root}/${PYTHON_TARGET}/bin` : `${root}/${NODE_TARGET}/.bin`,
  );
}
