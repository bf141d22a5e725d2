import { spawn } from 'node:child_process';
import { realpathSync } from 'node:fs';
import path from 'node:path';

import {
  SkillError,
  type EndReason,
  type Executor,
  type ProgramEnd,
  type ProgramSpec,
  type RunStreams,
} from '../../src/testing.ts';

/** Plain processes in a group of their own; the group is ended as a whole. Isolates nothing, and says so. */
export function groupExecutor(): Executor {
  // Where we are root, programs are not, and the runtime gives them the folders they write to.
  const identity = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined;
  return {
    name: 'local',
    identity,
    async attach(place) {
      const root = realpathSync(place.root);
      const stops = new Set<() => void>();
      const running = new Set<Promise<unknown>>();
      let isDetached = false;
      return {
        capabilities: {
          isolation: 'none',
          limits: { wallMs: 'runtime', outputBytes: 'runtime' },
          hasNetworkGrants: false,
          hasInteraction: false,
          hasTerminal: false,
        },
        root,
        async run(spec, streams) {
          if (isDetached) throw problem('executor/failed', 'the workspace was detached');
          const run = runOne(spec, { root, identity, streams, stops });
          running.add(run);
          return await run.finally(() => running.delete(run));
        },
        async detach() {
          isDetached = true;
          for (const stop of stops) stop();
          await Promise.allSettled(running);
        },
      };
    },
  };
}

interface Surroundings {
  readonly root: string;
  readonly identity: { readonly uid: number; readonly gid: number } | undefined;
  readonly streams: RunStreams;
  /** Called when the workspace is detached. */
  readonly stops: Set<() => void>;
}

async function runOne(spec: ProgramSpec, { root, identity, streams, stops }: Surroundings): Promise<ProgramEnd> {
  if (streams.signal?.aborted === true) return { reason: 'cancelled', durationMs: 0, warnings: [] };
  const [command = '', ...words] = spec.argv;
  const cwd = path.resolve(root, spec.cwd);
  if (command === '' || spec.argv.some((word) => word.includes('\0')) || !`${cwd}/`.startsWith(`${root}/`))
    throw problem('input/invalid', 'the program or its folder cannot be used');
  const started = performance.now();
  const child = spawn(command, words, { cwd, env: spec.env, detached: true, ...identity });
  return await new Promise((resolve, reject) => {
    let reason: EndReason | undefined;
    let left = spec.limits.outputBytes;
    const end = (why: EndReason): void => {
      reason ??= why;
      killGroup(child.pid);
    };
    const timer = setTimeout(end, spec.limits.wallMs, 'timeout');
    const cancel = (): void => end('cancelled');
    streams.signal?.addEventListener('abort', cancel);
    stops.add(cancel);
    for (const name of ['stdout', 'stderr'] as const)
      child[name].on('data', (chunk: Buffer) => {
        const taken = chunk.subarray(0, Math.max(0, left));
        left -= chunk.length;
        const isWanted = taken.length === 0 || streams[name].write(taken);
        if (left < 0 || !isWanted) end('output');
      });
    // A program need not read its input.
    child.stdin.on('error', () => child.stdin.destroy());
    child.stdin.end(spec.stdin);
    const letGo = (): void => {
      clearTimeout(timer);
      streams.signal?.removeEventListener('abort', cancel);
      stops.delete(cancel);
    };
    child.on('error', (error) => {
      letGo();
      reject(problem('executor/failed', error.message));
    });
    // What it left behind goes with it, and so its streams come to their end.
    child.on('exit', () => killGroup(child.pid));
    child.on('close', (exitCode, signal) => {
      letGo();
      resolve({
        reason: reason ?? (signal === null ? 'exited' : 'signal'),
        ...(exitCode === null || reason !== undefined ? {} : { exitCode }),
        ...(signal === null ? {} : { signal }),
        durationMs: Math.round(performance.now() - started),
        warnings: [],
      });
    });
  });
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // No process of the group is left.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

function problem(code: 'input/invalid' | 'executor/failed', message: string): SkillError {
  const hint = 'look at the program';
  return code === 'input/invalid'
    ? new SkillError({ code, message, hint, data: { expected: 'a program and a folder of the workspace' } })
    : new SkillError({ code, message, hint, data: { executor: 'group', cause: message } });
}
