import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import {
  DEFAULT_LIMITS,
  type AttachedWorkspace,
  type OutputSink,
  type ProgramEnd,
  type ProgramSpec,
  type StagedSkill,
  type WorkspaceFolder,
} from '../../src/core/execution.ts';
import { connectEngine } from '../../src/sandbox/executors/container/client.ts';
import { listField } from '../../src/sandbox/executors/container/json-answer.ts';

export interface TestWorkspace {
  readonly place: WorkspaceFolder;
  remove(): void;
}

/** A workspace as it lies on the host, with one skill. */
export function makeWorkspace(id = 'w1'): TestWorkspace {
  const base = mkdtempSync(path.join(os.tmpdir(), 'skillwright-container-'));
  chmodSync(base, 0o711);
  const root = path.join(base, id);
  mkdirSync(root, { mode: 0o711 });
  for (const name of ['skills', 'work', 'work/inputs', 'out', 'runs'])
    mkdirSync(path.join(root, name), { mode: 0o755 });
  if (process.getuid?.() === 0)
    for (const name of ['work', 'work/inputs', 'out', 'runs']) chownSync(path.join(root, name), 65_534, 65_534);
  writeFileSync(path.join(root, 'metadata.json'), '{"secret":"of the host"}', { mode: 0o600 });
  const snapshot = path.join(base, 'snapshot');
  mkdirSync(path.join(snapshot, 'scripts', 'größe 大小'), { recursive: true });
  writeFileSync(path.join(snapshot, 'SKILL.md'), '---\nname: demo\ndescription: d\n---\n');
  writeFileSync(path.join(snapshot, 'scripts/hello.sh'), '#!/bin/sh\necho "hello $1"\n', { mode: 0o755 });
  writeFileSync(
    path.join(snapshot, 'scripts/größe 大小/data.bin'),
    Uint8Array.from({ length: 256 }, (_, i) => i),
  );
  const skill: StagedSkill = { name: 'demo', digest: 'sha256:00', snapshot };
  return { place: { id, root, skills: [skill] }, remove: () => rmSync(base, { recursive: true, force: true }) };
}

export class Gathered implements OutputSink {
  #chunks: Buffer[] = [];
  bytes = 0;
  readonly #keep: number;

  constructor(keep = 1024 * 1024) {
    this.#keep = keep;
  }

  write(chunk: Uint8Array): boolean {
    if (this.bytes < this.#keep) this.#chunks.push(Buffer.from(chunk));
    this.bytes += chunk.length;
    return true;
  }

  get buffer(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  get text(): string {
    return this.buffer.toString('utf8');
  }
}

export interface Ran {
  readonly end: ProgramEnd;
  readonly stdout: string;
  readonly stderr: string;
}

export function program(argv: readonly string[], changes: Partial<ProgramSpec> = {}): ProgramSpec {
  return {
    argv,
    cwd: 'work',
    env: { PATH: '/usr/bin:/bin', HOME: '/tmp' },
    stdin: new Uint8Array(),
    limits: DEFAULT_LIMITS,
    network: [],
    ...changes,
  };
}

export async function run(
  workspace: AttachedWorkspace,
  argv: readonly string[],
  changes: Partial<ProgramSpec> & { readonly signal?: AbortSignal } = {},
): Promise<Ran> {
  const { signal, ...spec } = changes;
  const stdout = new Gathered();
  const stderr = new Gathered();
  const end = await workspace.run(program(argv, spec), { stdout, stderr, signal });
  return { end, stdout: stdout.text, stderr: stderr.text };
}

/** An end without its time. */
export function shape({ reason, exitCode, signal }: ProgramEnd): Partial<ProgramEnd> {
  return {
    reason,
    exitCode,
    signal,
  };
}

/** The containers of a workspace, running or not. */
export async function containersOf(socketPath: string, workspace: string): Promise<readonly unknown[]> {
  const client = await connectEngine({ type: 'unix', socketPath });
  const filters = encodeURIComponent(JSON.stringify({ label: [`dev.skillwright.workspace=${workspace}`] }));
  const { body } = await client.get(`/containers/json?all=true&filters=${filters}`);
  client.close();
  return listField(body);
}
