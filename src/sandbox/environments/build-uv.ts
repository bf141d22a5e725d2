/**
 * Python packages by uv, where the user has it: wheels only and by hash, like pip. Versions and hashes are resolved first; the packages are
 * downloaded and installed later, exactly as the lock says. No configuration file and no cache of the user or a project is used.
 */
import path from 'node:path';

import { defined, normalName, quoted, type ActionProblem, type PackageLayer } from '#core';
import { sha256, tryRealPath, findProgram } from '#platform';
import {
  MOVE_SCRIPTS,
  explainOutcome,
  noPythonPackage,
  noWheel,
  packagesFailed,
  unreachableIndex,
  wrongHash,
  type FailureRule,
  type ResolvedPackages,
} from './build.ts';
import type { BuildSandbox } from './build-sandbox.ts';
import type { PipSettings, UserEnvironment } from './index-settings.ts';
import { PROGRAM_FOLDERS } from '../process/program-environment.ts';
import type { HostMount } from '../program-types.ts';
import type { RequestedPackage } from './declared-packages.ts';

const UV_TARGET = 'packages/uv';

/** The uv of the user, mounted for the sandbox. */
interface Uv {
  readonly argv: readonly string[];
  readonly mount: HostMount;
}

/** Where the packages come from. */
interface UvSource extends Pick<ResolvedPackages, 'target'> {
  readonly settings: PipSettings;
  /** Variables for the certificates of the user. */
  readonly trust: Readonly<Record<string, string>>;
  /** Absent where a folder of wheels is used. */
  readonly index: string | undefined;
  /** For messages and the record. */
  readonly from: string;
  readonly network: readonly string[];
  /** Options for a mounted folder of wheels. */
  readonly sources: readonly string[];
  readonly mounts: readonly HostMount[];
}

/** Finds uv and tries it in the sandbox. One that the sandbox cannot run counts as absent. */
export async function findUv({ env, home }: UserEnvironment, sandbox: BuildSandbox): Promise<Uv | undefined> {
  const folders = [
    ...(env['PATH'] ?? '').split(path.delimiter),
    ...(home === undefined ? [] : [path.join(home, '.local/bin'), path.join(home, '.cargo/bin')]),
    ...PROGRAM_FOLDERS,
  ];
  const file = tryRealPath(
    findProgram(
      'uv',
      folders.filter((folder) => path.isAbsolute(folder)),
    ) ?? '',
  );
  if (file === undefined) return undefined;
  const target = sandbox.isOwnPath ? file : `${sandbox.root}/${UV_TARGET}`;
  const mount: HostMount = { source: file, target, access: 'read' };
  const tried = await sandbox.attempt({ argv: [target, '--version'], mounts: [mount] });
  return tried.isDone && tried.stdout.startsWith('uv ') ? { argv: [target], mount } : undefined;
}

/** The index that uv uses by itself, as its help states it. */
export async function readDefaultIndex({ argv, mount }: Uv, sandbox: BuildSandbox): Promise<string | undefined> {
  const { stdout } = await sandbox.run({ argv: [...argv, 'pip', 'compile', '--help'], mounts: [mount] });
  return /--default-index[^]{0,300}?by default: <?(https:[^\s>)]+)/.exec(stdout)?.[1];
}

export async function resolveWithUv(
  { argv, mount }: Uv,
  packages: readonly RequestedPackage[],
  sandbox: BuildSandbox,
  source: UvSource,
): Promise<ResolvedPackages | ActionProblem> {
  const { settings, trust, index, from, network, sources, target } = source;
  const [extra, trusted] = [settings.extraIndexes.join(' '), settings.trustedHosts.join(' ')];
  const env = {
    UV_NO_CONFIG: '1',
    UV_CACHE_DIR: `${sandbox.root}/work/uv-cache`,
    UV_PYTHON_DOWNLOADS: 'never',
    UV_LINK_MODE: 'copy',
    UV_NO_PROGRESS: '1',
    UV_HTTP_TIMEOUT: '20',
    ...trust,
    ...defined({ UV_DEFAULT_INDEX: index }),
    ...(extra === '' ? {} : { UV_INDEX: extra }),
    ...(trusted === '' ? {} : { UV_INSECURE_HOST: trusted }),
  };
  const shared = { env, network, mounts: [mount, ...source.mounts] };
  const resolved = await sandbox.run({
    ...shared,
    argv: [...argv, 'pip', 'compile', ...COMPILE, ...sources, '-'],
    stdin: packages.map(({ text }) => `${text}\n`).join(''),
  });
  if (!resolved.isDone) return explainOutcome(resolved, from, FAILURES);
  const locked = lockedPackages(resolved.stdout);
  if (typeof locked === 'string') return packagesFailed(`the packages cannot be locked: ${locked}`);
  return {
    packages: locked.packages,
    index: from,
    target,
    install: async ({ inside, final, mount: layer }) => {
      const command = [...argv, 'pip', 'install', ...INSTALL_FLAGS, ...sources];
      const installed = await sandbox.run({
        ...shared,
        argv: ['sh', '-c', INSTALL, 'sh', inside, final, ...command],
        stdin: locked.text,
        mounts: [...shared.mounts, layer],
      });
      return installed.isDone ? undefined : explainOutcome(installed, from, FAILURES);
    },
  };
}

const WHEELS_ONLY = ['--only-binary', ':all:', '--quiet'];
const COMPILE = ['--generate-hashes', '--no-header', '--no-annotate', '--python', 'python3', ...WHEELS_ONLY];
const INSTALL_FLAGS = ['--require-hashes', '--no-deps', ...WHEELS_ONLY];

/** As with pip, packages of the system stay visible behind those of the layer. */
const INSTALL = `
target=$1; final=$2; lock=$TMPDIR/lock.txt; shift 2
cat > "$lock" && python3 -I -m venv --without-pip --system-site-packages "$target" &&
"$@" --python "$target/bin/python3" -r "$lock" && ${MOVE_SCRIPTS}`;

interface UvLock {
  readonly packages: PackageLayer['packages'];
  /** The lock in the format of requirements files. */
  readonly text: string;
}

/** The packages of a requirements file with hashes, or why it is refused. */
function lockedPackages(text: string): UvLock | string {
  const lines = text
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'));
  const packages: PackageLayer['packages'][number][] = [];
  for (const line of lines) {
    const [, name, version] = /^([A-Za-z0-9][\w.-]*)==([\w.!+-]+)(?:\s|$)/.exec(line) ?? [];
    const hashes = [...line.matchAll(/--hash=(sha256:[0-9a-f]{64})(?=\s|$)/g)].map(([, hash = '']) => hash).toSorted();
    if (name === undefined || version === undefined) return `${quoted(line, 100)} is not an exact version`;
    if (hashes.length === 0) return `${quoted(name)} has no hash`;
    packages.push({ name: normalName(name), version, hash: joinHashes(hashes) });
  }
  if (packages.length === 0) return 'the lock is empty';
  return { packages: packages.toSorted((a, b) => (a.name < b.name ? -1 : 1)), text: `${lines.join('\n')}\n` };
}

/** uv accepts every wheel of a version, each with its hash. One digest stands for all of them. */
function joinHashes(hashes: readonly string[]): string {
  const [only = ''] = hashes;
  return hashes.length === 1 ? only : `sha256-set:${sha256(hashes.join('\n'))}`;
}

const FAILURES: readonly FailureRule[] = [
  [/Hash mismatch/i, wrongHash],
  [/Because (?:only )?(\S{1,100})[^.]{0,200}has no usable wheels/, noWheel],
  [/building from source is disabled/i, noWheel],
  [/Because (\S{1,100}) was not found in/, noPythonPackage],
  'connection',
  [/error sending request|Failed to fetch|dns error|Connection refused|timed out/i, unreachableIndex],
];
