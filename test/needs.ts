import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import type { TaskMeta } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    /** What the machine lacks for this test; `test/skipped-tests.ts` counts by it. */
    missing?: string;
  }
}

/** The programs of the tests run as this user where the tests run as root, as the executors do. */
const ORDINARY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
const START_MS = 30_000;

function starts(argv: readonly string[], options: { readonly uid?: number; readonly gid?: number } = {}): boolean {
  const [command = '', ...args] = argv;
  const { status } = spawnSync(command, args, { stdio: 'ignore', timeout: START_MS, cwd: '/', ...options });
  return status === 0;
}

function first(files: readonly string[]): string | undefined {
  return files.find((file) => existsSync(file));
}

const isLinux = process.platform === 'linux';
const isRoot = process.getuid?.() === 0;
const POSTGRES_ROOT = '/usr/lib/postgresql';

/** The folder of the newest installed PostgreSQL, which may not start. */
export function postgresFolder(): string | undefined {
  if (!existsSync(POSTGRES_ROOT)) return undefined;
  return readdirSync(POSTGRES_ROOT)
    .toSorted((a, b) => Number(a) - Number(b))
    .map((version) => path.join(POSTGRES_ROOT, version, 'bin'))
    .findLast((folder) => existsSync(path.join(folder, 'initdb')));
}

export function chromiumProgram(): string | undefined {
  return first(['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']);
}

/** The Python of the system: that of a version manager is a shell script, which starts dozens of programs before Python. */
export const PYTHON = existsSync('/usr/bin/python3') ? '/usr/bin/python3' : 'python3';

/** What a test can need of a machine. A program counts only if it starts: a file may be broken or made for another machine. */
const PROBES = {
  linux: () => isLinux,
  root: () => isRoot,
  'an ordinary user': () => !isRoot,
  bubblewrap: () =>
    isLinux &&
    starts(
      ['/usr/bin/bwrap', '--unshare-all', '--unshare-user', '--disable-userns', '--ro-bind', '/', '/', '/bin/true'],
      ORDINARY,
    ),
  namespaces: () =>
    isLinux &&
    starts(['/usr/bin/perl', '-e', '1']) &&
    starts(['/usr/bin/unshare', '--user', '--mount', 'true'], ORDINARY),
  landlock: () => isLinux && starts(['/usr/bin/perl', '-e', 'exit !(syscall(444, 0, 0, 1) > 0)']),
  mounts: () => isLinux && isRoot && starts(['/usr/bin/unshare', '--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']),
  // Of an ordinary user, in a namespace of the user.
  'user mounts': () => isLinux && starts(['unshare', '-rm', 'mount', '-t', 'tmpfs', 'none', '/mnt']),
  dockerd: () => isLinux && starts(['dockerd', '--version']),
  postgresql: () => starts([path.join(postgresFolder() ?? '/nonexistent', 'initdb'), '--version']),
  chromium: () => starts([chromiumProgram() ?? '/nonexistent', '--version']),
  minisign: () => starts(['minisign', '-v']),
  python3: () => starts([PYTHON, '-I', '-c', '']),
  // The module pty, which is missing in a minimal Python.
  'python3 with pty': () => starts([PYTHON, '-I', '-c', 'import pty']),
  pip: () =>
    starts(['/usr/bin/python3', '-I', '-c', "import importlib.util as u, sys; sys.exit(u.find_spec('pip') is None)"]),
  bash: () => starts(['bash', '-c', ':']),
  zsh: () => starts(['zsh', '-c', ':']),
  fish: () => starts(['fish', '-c', ':']),
  curl: () => starts(['curl', '--version']),
  patch: () => starts(['patch', '--version']),
  zip: () => starts(['zip', '-v']),
  unzip: () => starts(['unzip', '-v']),
  script: () => starts(['/usr/bin/script', '--version']),
} satisfies Readonly<Record<string, () => boolean>>;

export type Need = keyof typeof PROBES;

/** The Debian package that brings a program, if it has another name. */
export const PACKAGES: Partial<Record<Need, string>> = {
  dockerd: 'docker.io',
  'python3 with pty': 'python3',
  pip: 'python3-pip',
  script: 'bsdutils',
};

/** Programs that a fresh machine may lack, in the order of installation. */
export const PROGRAMS: readonly Need[] = [
  ...(['bubblewrap', 'dockerd', 'minisign', 'chromium', 'postgresql', 'python3', 'python3 with pty', 'pip'] as const),
  ...(['zsh', 'fish', 'curl', 'patch', 'zip', 'unzip'] as const),
];

/** Read by the processes of a run, so that each program is started once for all of them. */
const KNOWN = 'TEST_NEEDS';
let known: Partial<Record<Need, boolean>> | undefined;

/** Whether this machine has it. */
export function has(need: Need): boolean {
  known ??= JSON.parse(process.env[KNOWN] ?? '{}') as Partial<Record<Need, boolean>>;
  return (known[need] ??= PROBES[need]());
}

/** Tries every program before the tests start; forgets what was found before, so that it can follow an installation. */
export function probeAll(): void {
  delete process.env[KNOWN];
  known = {};
  for (const need of Object.keys(PROBES) as Need[]) has(need);
  process.env[KNOWN] = JSON.stringify(known);
}

export interface SkipOptions {
  readonly skip: boolean;
  readonly meta: Partial<TaskMeta>;
}

/** Options for `test` and `describe`, which skip it where the machine lacks something and say what. */
export function needs(...all: readonly Need[]): SkipOptions {
  return skipUnless(
    all.every((need) => has(need)),
    all.filter((need) => !has(need)).join(' and '),
  );
}

/** The same for a condition that only one test has. `missing` completes "needs ...". */
export function skipUnless(isPossible: boolean, missing: string): SkipOptions {
  return { skip: !isPossible, meta: isPossible ? {} : { missing } };
}
