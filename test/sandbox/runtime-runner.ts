/**
 * A program of its own: builds the layout of each version manager, runs its Node or Python in every sandbox, and prints what the program
 * printed and which canaries it read. The test starts it as root and as an ordinary user. `self` runs the Node that runs this program.
 */
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';

import type { Executor } from '../../src/core/execution.ts';
import { bubblewrapExecutor } from '../../src/sandbox/executors/bubblewrap/executor.ts';
import { landlockExecutor } from '../../src/sandbox/executors/landlock/executor.ts';
import { findUserPython, nodeRuntime, type Runtime } from '../../src/sandbox/executors/linux/runtimes.ts';
import { namespacesExecutor } from '../../src/sandbox/executors/namespaces/executor.ts';
import { buildLayout, copyOriginals, runtimeLayouts, type BuiltLayout, type Layout } from './runtime-layouts.ts';
import { collected, openWorkspace } from './sandbox.ts';

const EXECUTORS: Readonly<Record<string, (options: { runtimes?: readonly Runtime[]; isKnown?: boolean }) => Executor>> =
  {
    bubblewrap: bubblewrapExecutor,
    namespaces: namespacesExecutor,
    landlock: landlockExecutor,
  };

/** Starts the runtime by the name of its program, from a shell that finds the first file of that name. */
const COMMANDS = {
  // npm is started by `self` only: each takes a start of Node.
  node: 'node -p "process.execPath"; for name in npm npx; do [ -r "$(readlink -f "$(command -v $name)")" ] && echo $name; done',
  python: `python3 -I -c 'import json, os, sys; print(os.path.realpath(sys.executable)); print(os.path.dirname(json.__file__))'`,
};
const STARTED = 'node -p "process.execPath" && npm && npx';
/** Reads every canary; perl of the system, not the one beside the runtime. */
const READ = String.raw`
while (my $file = <STDIN>) {
  chomp $file;
  for my $path ($file, "/proc/self/root$file", "/proc/self/cwd/../../../../../../../../..$file") {
    next unless open my $in, '<', $path;
    print "$file\n";
    last;
  }
}
print "done\n";
`;

async function tryLayout(layout: Layout, built: BuiltLayout, executorName: string): Promise<readonly string[]> {
  const runtime = layout.language === 'node' ? nodeRuntime(built.executable) : findUserPython(built.home);
  if (runtime === undefined) return ['no runtime was found'];
  return await tryRuntime(
    EXECUTORS[executorName]?.({ runtimes: [runtime], isKnown: true }),
    runtime.folder,
    built,
    COMMANDS[layout.language],
  );
}

async function tryRuntime(
  executor: Executor | undefined,
  folder: string,
  { home, canaries }: BuiltLayout,
  command: string,
): Promise<readonly string[]> {
  if (executor === undefined) return ['no executor'];
  const { workspace, close } = await openWorkspace(executor);
  try {
    const env = { PATH: `${folder}:/usr/local/bin:/usr/bin:/bin` };
    const { stdout, stderr } = await collected(workspace, ['bash', '-c', `${command}; perl -e "$1"`, 'bash', READ], {
      env,
      stdin: Buffer.from(canaries.map((file) => `${file}\n`).join('')),
    });
    return `${stdout}${stderr}`.trim().replaceAll(home, '~').split('\n');
  } finally {
    await close();
  }
}

const [mode = '', ...rest] = process.argv.slice(2);
if (mode === 'self') {
  const [name = '', home = ''] = rest;
  const built = { home, executable: process.execPath, canaries: listCanaries(home) };
  const lines = await tryRuntime(EXECUTORS[name]?.({}), path.dirname(process.execPath), built, STARTED);
  writeSync(1, JSON.stringify(lines));
} else {
  process.setMaxListeners(100);
  const folder = mkdtempSync('/var/tmp/skillwright-homes-');
  chmodSync(folder, 0o755);
  process.umask(0o022);
  try {
    const originals = copyOriginals(folder, mode);
    const layouts = runtimeLayouts(path.basename(realpathSync(mode)));
    const results = await Promise.all(
      layouts.map(async (layout, at) => {
        const home = path.join(folder, `home${String(at)}`);
        mkdirSync(home);
        const built = buildLayout(home, layout, originals);
        const lines = await Promise.all(
          rest.map(async (name) => [name, await tryLayout(layout, built, name)] as const),
        );
        return {
          layout: `${layout.language} of ${layout.name}`,
          lines: Object.fromEntries(lines),
          canaries: built.canaries.length,
        };
      }),
    );
    writeSync(1, JSON.stringify(results));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function listCanaries(home: string): readonly string[] {
  return readdirSync(home, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('canary.txt'))
    .map((name) => path.join(home, name));
}
