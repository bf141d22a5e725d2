import { spawn } from 'node:child_process';

import { DEFAULT_LIMITS } from '../src/core/execution.ts';
import { containerExecutor } from '../src/sandbox/executors/container/executor.ts';
import { makeWorkspace } from '../test/sandbox/container-support.ts';
import { startDockerEngine } from '../test/sandbox/docker-engine.ts';
import { median } from './median.ts';
import type { BenchRow } from './row.ts';

const ROUNDS = 40;
const AT_ONCE = 20;
const MOST_TIMES_PLAIN = 30;

/** `true` in a warm container beside a plain spawn of it, turn by turn in the same run. Needs root and dockerd. */
export async function benchContainer(): Promise<readonly BenchRow[]> {
  const engine = await startDockerEngine();
  if (typeof engine === 'string') {
    console.log(`  skipped: containers, because ${engine}`);
    return [];
  }
  const made = makeWorkspace();
  try {
    const { socket, rootFileSystem } = engine;
    const executor = containerExecutor({ socket, rootFileSystem });
    // Imports the image.
    await (await executor.attach(made.place)).detach();
    const attachBegan = performance.now();
    const workspace = await executor.attach(made.place);
    const attachMs = performance.now() - attachBegan;
    const sink = { write: () => true };
    const run = async (): Promise<void> => {
      const spec = {
        argv: ['true'],
        cwd: 'work',
        env: {},
        stdin: new Uint8Array(),
        limits: DEFAULT_LIMITS,
        network: [],
      };
      const end = await workspace.run(spec, { stdout: sink, stderr: sink });
      if (end.exitCode !== 0) throw new Error(`true ended with ${end.reason}`);
    };
    const plain: number[] = [];
    const warm: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      plain.push(await timed(plainSpawn));
      warm.push(await timed(run));
    }
    const ratio = median(warm) / median(plain);
    const manyMs = await timed(async () => {
      await Promise.all(Array.from({ length: AT_ONCE }, run));
    });
    await workspace.detach();
    return [
      {
        name: 'true in a warm container',
        value: ratio,
        unit: 'x plain spawn',
        bound: `<= ${String(MOST_TIMES_PLAIN)}`,
        ok: ratio <= MOST_TIMES_PLAIN,
        note: `${median(warm).toFixed(1)} ms against ${median(plain).toFixed(1)} ms, median of ${String(ROUNDS)}`,
      },
      { name: 'attaching a workspace, image present', value: attachMs, unit: 'ms' },
      { name: `${String(AT_ONCE)} programs at once, containers started for them`, value: manyMs, unit: 'ms' },
    ];
  } finally {
    made.remove();
    await engine.stop();
  }
}

function plainSpawn(): Promise<void> {
  return new Promise((resolve, reject) => {
    spawn('/usr/bin/true', [], { stdio: ['ignore', 'pipe', 'pipe'] })
      .once('close', () => resolve())
      .once('error', reject);
  });
}

async function timed(act: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await act();
  return performance.now() - began;
}
