/** A virtual environment of the user, mounted read-only at its own path, because its console scripts contain that path. */
import path from 'node:path';

import { quoted, type ActionProblem } from '#core';
import { readTextFile, tryRealPath } from '#platform';
import { packagesFailed } from './build.ts';
import type { BuildSandbox } from './build-sandbox.ts';
import type { HostMount } from '../program-types.ts';

export interface Venv {
  readonly mount: HostMount;
  /** Folder of its programs. */
  readonly bin: string;
}

const MAX_BYTES = 64 * 1024;

/** Checks that the sandbox can run the interpreter. `-S` keeps the environment from running its own start-up files. */
export async function openVenv(folder: string, sandbox: BuildSandbox): Promise<Venv | ActionProblem> {
  const root = tryRealPath(folder);
  const config = root === undefined ? undefined : readTextFile(path.join(root, 'pyvenv.cfg'), MAX_BYTES);
  if (root === undefined || config?.type !== 'read')
    return packagesFailed(
      `${quoted(folder, 200)} is not a virtual environment: it has no pyvenv.cfg`,
      'name the folder that python3 -m venv created, such as .venv',
    );
  const bin = path.join(root, 'bin');
  const mount: HostMount = { source: root, target: root, access: 'read' };
  const argv = [path.join(bin, 'python3'), '-I', '-S', '-c', 'import sys; print(sys.version_info[0])'];
  const { isDone, end } = await sandbox.attempt({ argv, mounts: [mount] });
  if (isDone) return { mount, bin };
  const base = tryRealPath(path.join(bin, 'python3')) ?? /^home\s*=\s*(.+)$/m.exec(config.text)?.[1] ?? 'unknown';
  return packagesFailed(
    `the sandbox cannot run ${quoted(path.join(bin, 'python3'), 200)}: its base interpreter ${quoted(base, 200)} is not visible there (${end})`,
    `create the environment with the Python of the system: /usr/bin/python3 -m venv ${folder}`,
  );
}
