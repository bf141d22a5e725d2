/** A virtual environment of the user, mounted read-only at its own path, because its console scripts contain that path. */
import { readlinkSync } from 'node:fs';
import path from 'node:path';

import { quoted, type ActionProblem } from '#core';
import { isInside, makeFolders, quietly, readTextFile, tryRealPath } from '#platform';
import { isSystemFile, pythonRuntime } from '../executors/linux/runtimes.ts';
import { packagesFailed } from './build.ts';
import type { BuildSandbox } from './build-sandbox.ts';
import type { HostMount } from '../program-types.ts';

export interface Venv {
  readonly mounts: readonly HostMount[];
  /** Folder of its programs. */
  readonly bin: string;
}

const MAX_BYTES = 64 * 1024;

/**
 * Checks that the sandbox can run the interpreter. `-S` keeps the environment from running its own start-up files. The empty folder covers
 * what is hidden of a base interpreter in the home folder.
 */
export async function openVenv(folder: string, sandbox: BuildSandbox, empty: string): Promise<Venv | ActionProblem> {
  const root = tryRealPath(folder);
  const config = root === undefined ? undefined : readTextFile(path.join(root, 'pyvenv.cfg'), MAX_BYTES);
  if (root === undefined || config?.type !== 'read')
    return packagesFailed(
      `${quoted(folder, 200)} is not a virtual environment: it has no pyvenv.cfg`,
      'name the folder that python3 -m venv created, such as .venv',
    );
  const bin = path.join(root, 'bin');
  const python = path.join(bin, 'python3');
  const mounts: readonly HostMount[] = [
    { source: root, target: root, access: 'read' },
    ...baseMounts(python, sandbox.isOwnPath, empty),
  ];
  const argv = [python, '-I', '-S', '-c', 'import sys; print(sys.version_info[0])'];
  const { isDone, end } = await sandbox.attempt({ argv, mounts });
  if (isDone) return { mounts, bin };
  const base = tryRealPath(python) ?? /^home\s*=\s*(.+)$/m.exec(config.text)?.[1] ?? 'unknown';
  return packagesFailed(
    `the sandbox cannot run ${quoted(python, 200)}: its base interpreter ${quoted(base, 200)} is not visible there (${end})`,
    `create the environment with the Python of the system: /usr/bin/python3 -m venv ${folder}`,
  );
}

/** The base interpreter, if it is outside of the system folders: at its own path, and at those by which the environment names it. */
function baseMounts(python: string, isOwnPath: boolean, empty: string): readonly HostMount[] {
  const runtime = pythonRuntime(python);
  if (runtime === undefined) return [];
  makeFolders(empty, 0o755);
  const { folder, shown, hidden } = runtime;
  const names = isOwnPath ? [] : linkedNames(python);
  const prefix = path.dirname(folder);
  const prefixes = new Set([prefix, ...names.map((name) => path.dirname(path.dirname(name)))]);
  const places = (target: string): readonly string[] =>
    isInside(target, prefix) ? [...prefixes].map((at) => path.join(at, path.relative(prefix, target))) : [target];
  const parts = shown.filter(({ target }) => !hidden.some((part) => isInside(target, part)));
  return [
    ...parts.flatMap(({ source, target }) => places(isOwnPath ? source : target).map((at) => ({ source, target: at }))),
    ...names.map((target) => ({ source: path.join(folder, path.basename(tryRealPath(python) ?? '')), target })),
    ...hidden.flatMap((part) => places(part).map((target) => ({ source: empty, target }))),
  ].map((mount) => ({ ...mount, access: 'read' }));
}

const MAX_LINKS = 16;

/** The paths outside of the environment by which its links lead to the base interpreter. */
function linkedNames(python: string): readonly string[] {
  const names: string[] = [];
  for (let file = python; names.length < MAX_LINKS;) {
    const target = quietly(() => readlinkSync(file), undefined);
    if (target === undefined) break;
    file = path.resolve(path.dirname(file), target);
    names.push(file);
  }
  return names.filter((name) => path.dirname(name) !== path.dirname(python) && !isSystemFile(name));
}
