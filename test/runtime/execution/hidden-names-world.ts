import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, onTestFinished } from 'vitest';

import type { RunResult } from '../../../src/core/outputs.ts';
import type { ExecutionOptions } from '../../../src/sandbox/execution/parts.ts';
import { createRuntime } from '../../../src/runtime/runtime.ts';
import { bubblewrapExecutor } from '../../../src/sandbox/executors/bubblewrap/executor.ts';
import { namespacesExecutor } from '../../../src/sandbox/executors/namespaces/executor.ts';
import { landlockExecutor } from '../../../src/sandbox/executors/landlock/executor.ts';
import { hasBroker } from '../../../src/sandbox/executors/landlock/version.ts';
import { scratch, writeSkill } from '../../skills/registry/support.ts';
import { PYTHON, needs, skipUnless } from '../../needs.ts';

type Executor = NonNullable<ExecutionOptions['executor']>;

const EXECUTORS = {
  bubblewrap: () => bubblewrapExecutor({ isKnown: true }),
  namespaces: () => namespacesExecutor({}),
  landlock: () => landlockExecutor(),
} as const;

/** Describes the same for each executor that hides names when files are opened. */
export function describeHiding(title: string, body: (executor: Executor) => void): void {
  for (const name of ['bubblewrap', 'namespaces', 'landlock'] as const) {
    const required = hasBroker() ? needs(name, 'python3') : skipUnless(false, 'Linux 5.19 or later with perl');
    describe(`${title} under ${name}`, required, () => {
      body(EXECUTORS[name]());
    });
  }
}

/** Functions for the programs of the tests: what can be read of each file, and what stops a call. */
const PRELUDE = `import errno, json, os, sys, threading, time
def read(name, flags=os.O_RDONLY):
    try:
        file = os.open(name, flags)
    except OSError as error:
        return errno.errorcode[error.errno]
    try:
        return os.read(file, 1000).decode().strip()
    except OSError as error:
        return errno.errorcode[error.errno]
    finally:
        os.close(file)
def attempt(call, *words):
    try:
        call(*words)
        return 'done'
    except OSError as error:
        return errno.errorcode[error.errno]
def show(value): print(json.dumps(value))
def wait():
    print('ready', flush=True)
    while not os.path.exists('go'): time.sleep(0.01)
`;

interface World {
  readonly project: string;
  readonly write: (name: string, text?: string) => string;
  /** Starts a Python program in the project. When it has printed `ready`, `change` is called and the file `go` appears. */
  readonly run: (code: string, change?: () => void) => Promise<RunResult>;
}

export async function openWorld(
  executor: Executor,
  {
    access = 'read',
    others = [],
    ...given
  }: {
    readonly access?: 'read' | 'write';
    readonly project?: string;
    readonly home?: string;
    /** Further folders that programs read. */
    readonly others?: readonly string[];
  } = {},
): Promise<World> {
  const folder = scratch();
  chmodSync(folder, 0o755);
  const project = given.project ?? path.join(folder, 'project');
  mkdirSync(project, { recursive: true });
  if (access === 'write') chmodSync(project, 0o777);
  const skill = path.join(folder, 'skills/reader');
  writeSkill(skill, { body: '# Reader\n' });
  const write = (name: string, text = 'SECRET\n'): string => {
    const file = path.join(project, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  };
  write('README.md', 'readme\n');
  const runtime = await createRuntime({
    cwd: project,
    home: given.home ?? path.join(folder, 'home'),
    env: {},
    roots: [path.join(folder, 'skills')],
    onlyRoots: true,
    cache: false,
  });
  let change: (() => void) | undefined;
  let shown = '';
  const session = await runtime.startSession({
    execution: {
      executor,
      artifacts: false,
      startsInProject: true,
      mounts: [
        { folder: project, access, isProject: true },
        ...others.map((folder) => ({ folder, access: 'read' }) as const),
      ],
      onOutput: (_, chunk) => {
        shown += Buffer.from(chunk).toString();
        if (change === undefined || !shown.includes('ready')) return;
        const now = change;
        change = undefined;
        now();
        write('go', '');
      },
    },
    approve: () => Promise.resolve({ verdict: 'yes', scope: 'once', by: 'callback' }),
  });
  onTestFinished(() => session.close());
  return {
    project,
    write,
    run: async (code, during) => {
      change = during;
      shown = '';
      const words = [PYTHON, '-c', PRELUDE + code].map((word) => `'${word.replaceAll("'", `'\\''`)}'`);
      const observation = await session.perform({ type: 'run_command', skill: 'reader', command: words.join(' ') });
      if (observation.type !== 'program-ran') throw new Error(JSON.stringify(observation));
      return observation.result;
    },
  };
}

export async function output(running: Promise<RunResult>): Promise<unknown> {
  const { stdout, stderr } = await running;
  if (stderr !== '') throw new Error(stderr);
  return JSON.parse(stdout.replace('ready\n', ''));
}
