import type { Executor, ExecutorName, HostMount } from '../../core/execution.ts';
import { NODE_TARGET } from '../../sandbox/environments/build-node.ts';
import { PYTHON_TARGET } from '../../sandbox/environments/build-python.ts';
import type { StoredLayer } from '../../sandbox/environments/layers.ts';
import type { Venv } from '../../sandbox/environments/venv.ts';

/** What a program gets: layers to mount, and warnings about packages that it runs without. */
export interface PreparedPackages {
  readonly layers: readonly StoredLayer[];
  /** A virtual environment of the user. */
  readonly venv?: Venv;
  readonly warnings: readonly string[];
}

/** Executors without a file system of their own. Declared packages are checked there and never installed. */
const WITHOUT_LAYERS: ReadonlySet<ExecutorName> = new Set<ExecutorName>(['local', 'macos', 'landlock']);

export function mountsLayers({ name }: Pick<Executor, 'name'>): boolean {
  return !WITHOUT_LAYERS.has(name);
}

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
