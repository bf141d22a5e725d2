import { chmodSync, chownSync, mkdirSync } from 'node:fs';
import path from 'node:path';

import {
  DEFAULT_LIMITS,
  type AttachedWorkspace,
  type Executor,
  type ProgramEnd,
  type ProgramSpec,
} from '../../src/core/execution.ts';
import { keeping, PATH } from './process/programs.ts';
import { scratch } from '../skills/registry/support.ts';

/** The folders of a workspace, as the executor's programs may use them. */
export function emptyWorkspace({ identity }: Executor): string {
  const root = path.join(scratch(), 'workspace');
  chmodSync(path.dirname(root), 0o711);
  mkdirSync(root, { mode: 0o711 });
  for (const name of ['skills', 'work', 'work/inputs', 'runs', 'out']) {
    mkdirSync(path.join(root, name));
    if (identity !== undefined && name !== 'skills') chownSync(path.join(root, name), identity.uid, identity.gid);
  }
  return root;
}

type Asked = Partial<Pick<ProgramSpec, 'cwd' | 'env'>> & {
  readonly stdin?: string;
  readonly limits?: Partial<ProgramSpec['limits']>;
  readonly signal?: AbortSignal;
};

export function specOf(
  argv: readonly string[],
  { stdin = '', limits, cwd = 'work', env = { PATH } }: Asked = {},
): ProgramSpec {
  return {
    argv,
    cwd,
    env,
    network: [],
    stdin: Buffer.from(stdin),
    limits: { ...DEFAULT_LIMITS, ...limits },
  };
}

/** A line of shell, run to its end: all that can be compared of it. */
export async function runLine(
  workspace: AttachedWorkspace,
  line: string,
  asked: Asked = {},
): Promise<Omit<ProgramEnd, 'durationMs'> & { readonly stdout: string; readonly stderr: string }> {
  const stdout = keeping();
  const stderr = keeping();
  const streams = { stdout, stderr, signal: asked.signal };
  const { durationMs: _, ...end } = await workspace.run(specOf(['bash', '-c', line], asked), streams);
  return { ...end, stdout: stdout.text(), stderr: stderr.text() };
}
