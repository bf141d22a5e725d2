import { chmodSync, chownSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import {
  DEFAULT_LIMITS,
  type AttachedWorkspace,
  type Executor,
  type ExecutorName,
  type OutputSink,
  type ProgramEnd,
  type ProgramSpec,
  type RunLimits,
  type StagedSkill,
} from '../../src/core/execution.ts';
import { bubblewrapExecutor, type BubblewrapOptions } from '../../src/sandbox/executors/bubblewrap/executor.ts';
import { namespacesExecutor } from '../../src/sandbox/executors/namespaces/executor.ts';
import { has } from '../needs.ts';
import { removeTree } from '../../src/platform/fs/remove-tree.ts';

/** Executors with namespaces of their own that work here. */
export const SANDBOXES = (
  [
    ['bubblewrap', bubblewrapExecutor],
    ['namespaces', namespacesExecutor],
  ] as const
).filter(([name]) => has(name));

/**
 * For tests of everything that is not the sandbox itself: without isolation, and with the sandbox that `auto` takes here. Names of tests do not
 * say which one that is, so that a test is the same one on every machine.
 */
export const EXECUTORS: readonly (readonly [title: string, name: ExecutorName])[] = [
  ['no sandbox', 'local'],
  ...SANDBOXES.slice(0, 1).map(([name]) => ['a sandbox', name] as const),
];

export interface OpenWorkspace {
  readonly workspace: AttachedWorkspace;
  readonly executor: Executor;
  /** The workspace on the host. */
  readonly root: string;
  /** Everything of this test lies below. */
  readonly base: string;
  readonly skill: StagedSkill;
  readonly close: () => Promise<void>;
}

export async function openBubblewrap(options: BubblewrapOptions = {}): Promise<OpenWorkspace> {
  return await openWorkspace(bubblewrapExecutor(options));
}

/** A workspace as the runtime makes them, with one skill of two files. */
export async function openWorkspace(executor: Executor): Promise<OpenWorkspace> {
  const base = mkdtempSync(path.join(os.tmpdir(), 'skillwright-executor-'));
  chmodSync(base, 0o755);
  const root = path.join(base, 'workspace');
  mkdirSync(root);
  chmodSync(root, 0o711);
  for (const name of ['skills', 'work', 'work/inputs', 'out', 'runs']) {
    mkdirSync(path.join(root, name));
    if (executor.identity !== undefined) chownSync(path.join(root, name), executor.identity.uid, executor.identity.gid);
  }
  writeFileSync(path.join(root, 'metadata.json'), '{"secret":"metadata"}');
  const snapshot = path.join(base, 'snapshots', 'pdf');
  mkdirSync(path.join(snapshot, 'scripts'), { recursive: true });
  writeFileSync(path.join(snapshot, 'SKILL.md'), '---\nname: pdf\ndescription: d\n---\n');
  writeFileSync(path.join(snapshot, 'scripts', 'hello.sh'), '#!/bin/sh\necho hello\n', { mode: 0o755 });
  const skill = { name: 'pdf', digest: 'd', snapshot };
  // Programs leave trees that `rm` of Node cannot walk.
  const clean = async (): Promise<void> => void (await removeTree(base));
  try {
    const workspace = await executor.attach({ id: 'w', root, skills: [skill] });
    return {
      workspace,
      executor,
      root,
      base,
      skill,
      close: async () => {
        await workspace.detach();
        await clean();
      },
    };
  } catch (error) {
    await clean();
    throw error;
  }
}

export interface Collected {
  readonly end: ProgramEnd;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CollectOptions extends Partial<Omit<ProgramSpec, 'argv' | 'limits'>> {
  readonly limits?: Partial<RunLimits>;
  readonly signal?: AbortSignal;
}

export async function collected(
  workspace: AttachedWorkspace,
  argv: readonly string[],
  { limits, signal, ...rest }: CollectOptions = {},
): Promise<Collected> {
  const stdout = textSink();
  const stderr = textSink();
  const end = await workspace.run(programSpec(argv, { ...rest, limits }), {
    stdout,
    stderr,
    signal,
  });
  return { end, stdout: stdout.text(), stderr: stderr.text() };
}

export function programSpec(argv: readonly string[], { limits, ...rest }: CollectOptions = {}): ProgramSpec {
  return {
    argv,
    cwd: 'work',
    env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
    stdin: new Uint8Array(),
    network: [],
    ...rest,
    limits: { ...DEFAULT_LIMITS, wallMs: 60_000, ...limits },
  };
}

const MAX_KEPT = 1024 * 1024;

/** Keeps the beginning and takes the rest. */
export function textSink(): OutputSink & { readonly text: () => string } {
  const chunks: Uint8Array[] = [];
  let size = 0;
  return {
    write: (chunk) => {
      if (size < MAX_KEPT) chunks.push(Uint8Array.from(chunk));
      size += chunk.length;
      return true;
    },
    text: () => Buffer.concat(chunks).toString('utf8'),
  };
}
