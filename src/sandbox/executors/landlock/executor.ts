import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';

import { invalidInput, shellWord, type Executor, type AttachedWorkspace, type ProgramSpec } from '#core';
import { isPresent, isInside, namesIn } from '#platform';
import { PIPES_FOLDER, isRoot, writableFolders } from '../../workspace/layout.ts';
import { sandboxFingerprint } from '../linux/fingerprint.ts';
import { reachableRuntimes, systemMounts, withheldFiles } from '../linux/mounts.ts';
import { findRuntimes, type Runtime } from '../linux/runtimes.ts';
import { ETC_FILES } from '../linux/profile.ts';
import { unavailable } from '../linux/unavailable.ts';
import { BROKER_SCRIPT, LAUNCHER_WITH_BROKER } from '../namespaces/broker-script.ts';
import { launcherScript } from '../namespaces/executor.ts';
import { OUTER_ENV, PERL } from '../linux/perl.ts';
import { hasBroker, landlockAbi } from './version.ts';
import { callSteps, encodePlan, hiddenSteps, limitSteps, programSteps, type PlanStep } from '../namespaces/plan.ts';
import { plainProcesses, type ProgramStarter, type StartedSpec } from '../plain-processes.ts';
import { checkProgram } from '../program-spec.ts';
import { seccompBytes } from '../seccomp/filter.ts';
import { SECCOMP_ARCHITECTURES, findArchitecture } from '../seccomp/system-calls.ts';
import {
  FILE_RIGHTS,
  LIST,
  READ,
  SINCE,
  TCP_CALLS,
  USE_DEVICE,
  WRITE,
  confinedCalls,
  handledRights,
  scopes,
} from './confinement.ts';
import type { PortProxy } from '../../network/bridge.ts';
import { UNPRIVILEGED_USER } from '../unprivileged-user.ts';
import { RUN_MARK } from '../../process/process-tree.ts';
import { matchHiddenNames } from '../../mounts/hidden-names.ts';
import type { HostMount, WorkspaceFolder, Identity } from '../../program-types.ts';

export interface LandlockOptions {
  /** User for programs when the caller is root (default: 65534). */
  readonly identity?: Identity;
  /** Opens a proxy to granted hosts for package managers. Other programs have no network. */
  readonly openProxy?: OpenPortProxy;
  /** Language runtimes outside /usr that programs see (default: those that `findRuntimes` finds). */
  readonly runtimes?: readonly Runtime[];
  /** Use no more of the kernel than this version of its interface offers (default: all). */
  readonly maxAbi?: number;
}

const OPEN_FILES = 1024;
/** The limit of the kernel counts all processes of the user; the limit of the program is held by polling. */
const SPARE_PROCESSES = 4096;
const DEVICES = ['null', 'zero', 'full', 'random', 'urandom'].map((name) => `/dev/${name}`);
/** Every user may read these, and most programs do; `systemMounts` has the others. */
const NAMES = Object.keys(ETC_FILES).map((name) => `/etc/${name}`);

/**
 * Confines programs by Landlock and a seccomp filter, for machines that forbid user namespaces. Weaker than the other sandboxes: see
 * `docs/executors.md` for what stays open. `auto` uses it only where the user allowed it.
 */
export function landlockExecutor(options: LandlockOptions = {}): Executor {
  const identity = isRoot() ? (options.identity ?? UNPRIVILEGED_USER) : undefined;
  let executor: Executor | undefined;
  const { openProxy } = options;
  return {
    name: 'landlock',
    identity,
    gaps: landlockGaps(),
    attach: async (place) => {
      executor ??= plainProcesses(startLandlock(options, identity));
      const attached = await executor.attach(place);
      const hiding = { ...attached, hidesNames: () => (options.maxAbi ?? Infinity) >= SINCE.refer && hasBroker() };
      return openProxy === undefined ? hiding : withBuildNetwork(hiding, openProxy);
    },
  };
}

/** Changes with the installed perl, the launcher and the rules. */
export function landlockFingerprint(): string {
  const rules = [READ, WRITE, handledRights(99), confinedCalls(0), TCP_CALLS, DEVICES, NAMES];
  return `landlock ${sandboxFingerprint(PERL, [LAUNCHER_WITH_BROKER, BROKER_SCRIPT, rules])}`;
}

function startLandlock({ maxAbi, ...options }: LandlockOptions, identity: Identity | undefined): ProgramStarter {
  const architecture = findArchitecture();
  if (process.platform !== 'linux' || architecture === undefined)
    throw refused(`Landlock runs on Linux on ${SECCOMP_ARCHITECTURES.join(' and ')} only`);
  if (!isPresent(PERL)) throw refused(`${PERL} is not installed`, 'apt-get install perl-base');
  const found = landlockAbi(architecture);
  if (typeof found !== 'number')
    throw refused(`${PERL} does not start: ${found.failure}`, 'apt-get install --reinstall perl-base');
  if (found < 1) throw refused('the kernel has no Landlock, or a container forbids it');
  const abi = Math.min(found, maxAbi ?? found);
  const filter = seccompBytes(architecture, confinedCalls(abi));
  const buildFilter = seccompBytes(architecture, [...confinedCalls(abi), ...TCP_CALLS]);
  const runtimes = reachableRuntimes(options.runtimes ?? findRuntimes(), identity);
  const withheld = withheldFiles();
  const system = systemMounts({ runtimes: [], identity }).flatMap((mount) =>
    mount.type === 'bind' && mount.source !== '/dev/null' ? listExcept(mount.source, withheld) : [],
  );
  return {
    name: 'landlock',
    identity,
    capabilities: () => CAPABILITIES,
    commandsFor: (place) => {
      const starters = makeStarters(runtimes, place.root);
      const fixed: readonly PlanStep[] = [
        ['set', 'mode', 'landlock'],
        ...callSteps(),
        ['set', 'parent', String(process.pid)],
        ['set', 'mark', RUN_MARK],
        ['set', 'handled', String(handledRights(abi))],
        ['set', 'scoped', String(scopes(abi))],
        ['set', 'file rights', String(FILE_RIGHTS)],
        ...allow(READ, [...system, ...NAMES, '/proc', ...(starters === undefined ? [] : [starters])]),
        ...runtimes.flatMap(runtimeRules),
        ...allow(LIST, withheld.length === 0 ? [] : ['/usr']),
        ...allow(USE_DEVICE, DEVICES),
      ];
      return (program) => {
        checkProgram(program);
        const { proxyPort } = program;
        if (proxyPort !== undefined && abi < SINCE.tcp)
          throw refused(
            'Landlock of this kernel cannot confine connections to one port',
            'use Linux 6.7 or newer, or install from a folder of wheels: skillwright prepare SKILL --wheels DIR',
          );
        const env = starters === undefined ? program.env : withStarters(program.env, runtimes, starters);
        const port: readonly PlanStep[] = proxyPort === undefined ? [] : [['set', 'port', String(proxyPort)]];
        const plan = encodePlan([
          ...fixed,
          ...port,
          ...rulesFor(place, program),
          ...hiddenSteps(program.hidden, openedFolders(place, program)),
          ...planSteps({ ...program, env }),
        ]);
        const inherited = [plan, proxyPort === undefined ? filter : buildFilter];
        return { argv: [PERL, '-e', launcherScript(program)], env: OUTER_ENV, inherited, announces: true };
      };
    },
  };
}

/** The folder, or what is in it: a rule for a folder allows all that is in it. */
function listExcept(folder: string, withheld: readonly string[]): readonly string[] {
  if (withheld.includes(folder)) return [];
  if (!withheld.some((file) => isInside(file, folder))) return [folder];
  return namesIn(folder).flatMap((name) => listExcept(path.join(folder, name), withheld));
}

function rulesFor({ root }: WorkspaceFolder, program: StartedSpec): readonly PlanStep[] {
  const inside = (name: string): string => path.join(root, name);
  return [
    ...allow(READ, [inside('skills')]),
    ...allow(WRITE, writableFolders(program).map(inside)),
    // `echo x > /dev/stderr` opens the pipe again.
    ...allow(USE_DEVICE, [inside(PIPES_FOLDER)]),
    ...mountRules(withoutNamed(program)).map(({ path: file, access }): PlanStep => [
      'mounted',
      file,
      String(MOUNTED[access]),
    ]),
  ];
}

/**
 * The mounts without covers of files in read-only folders that the broker hides by name: the rule of such a folder needs no exceptions, so
 * files that are created or replaced while the program runs can be read.
 */
function withoutNamed({ mounts = [], hidden }: StartedSpec): readonly HostMount[] {
  if (hidden === undefined) return mounts;
  const isNamed = matchHiddenNames(hidden.names);
  const readOnly = mounts.filter(({ source, target, access }) => source === target && access === 'read');
  const folders = readOnly.map(({ target }) => target).filter((target) => hidden.folders.includes(target));
  return mounts.filter(
    ({ source, target }) =>
      source === target ||
      !folders.some((folder) => isInside(target, folder) && isNamed(path.relative(folder, target), folder)),
  );
}

/** Where programs may create files. */
function openedFolders({ root }: WorkspaceFolder, program: StartedSpec): readonly string[] {
  const mounts = (program.mounts ?? []).filter(({ access }) => access === 'write');
  return [...writableFolders(program).map((name) => path.join(root, name)), ...mounts.map(({ target }) => target)];
}

const MOUNTED = { read: READ, write: WRITE, list: LIST } as const;

function allow(rights: number, paths: readonly string[]): readonly PlanStep[] {
  return paths.map((file) => ['allow', file, String(rights)]);
}

/** The folder of programs in a workspace. Programs cannot write to it. */
const PROGRAMS_FOLDER = '.programs';

/**
 * Starters of the programs of the runtimes. The folders that hold these programs hold others, which a shell would find and could not start.
 */
function makeStarters(runtimes: readonly Runtime[], root: string): string | undefined {
  const programs = [...new Map(runtimes.flatMap((runtime) => Object.entries(runtime.programs)))];
  if (programs.length === 0) return undefined;
  const folder = path.join(root, PROGRAMS_FOLDER);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  // Whatever the umask is: programs may run as another user.
  chmodSync(folder, 0o755);
  // Behind a link, Python would take this folder for the one of its installation.
  for (const [name, file] of programs) {
    writeFileSync(path.join(folder, name), `#!/bin/sh\nexec ${shellWord(file)} "$@"\n`);
    chmodSync(path.join(folder, name), 0o755);
  }
  return folder;
}

function withStarters(env: StartedSpec['env'], runtimes: readonly Runtime[], starters: string): StartedSpec['env'] {
  if (env['PATH'] === undefined) return env;
  const folders = env['PATH']
    .split(':')
    .map((entry) => (runtimes.some(({ folder }) => folder === entry) ? starters : entry));
  return { ...env, PATH: [...new Set(folders)].join(':') };
}

/** A rule allows everything below its path, so a folder that hides another is allowed entry by entry. */
function runtimeRules({ shown, hidden }: Runtime): readonly PlanStep[] {
  return shown.flatMap(({ source }) => {
    if (!hidden.some((folder) => isInside(folder, source))) return allow(READ, [source]);
    const entries = namesIn(source).map((name) => path.join(source, name));
    return [
      ...allow(LIST, [source]),
      ...allow(
        READ,
        entries.filter((entry) => !hidden.includes(entry)),
      ),
    ];
  });
}

function planSteps({ argv, env, limits, folder }: StartedSpec): readonly PlanStep[] {
  return [
    ...limitSteps({
      processes: limits.processes + SPARE_PROCESSES,
      fileBytes: limits.fileBytes,
      openFiles: OPEN_FILES,
      cpuSeconds: Math.ceil(limits.wallMs / 1000) * availableParallelism() + 1,
      // Twice the limit: a program over the limit should be ended with the reason `memory` instead of failing on its own.
      dataBytes: limits.memoryBytes * 2,
    }),
    ...programSteps(argv, { PWD: folder, ...env }, folder),
  ];
}

const CAPABILITIES: AttachedWorkspace['capabilities'] = {
  isolation: 'landlock',
  limits: {
    wallMs: 'runtime',
    outputBytes: 'runtime',
    diskBytes: 'watched',
    files: 'watched',
    memoryBytes: 'watched',
    processes: 'watched',
    fileBytes: 'rlimit',
  },
  hasNetworkGrants: false,
  hasInteraction: true,
  // A terminal is a device that the rules do not allow.
  hasTerminal: false,
};

function refused(
  reason: string,
  install = 'use a kernel with Landlock (5.13 or newer), or the container executor',
): Error {
  return unavailable('landlock', [reason], install);
}

type OpenPortProxy = (hosts: readonly string[], proxyFrom: ProgramSpec['proxyFrom']) => Promise<PortProxy>;

/**
 * Lets package managers reach their index. Landlock confines connections by port and not by address, so such a program could reach that
 * port of any host; the port is a new one each time. Package managers run no code of packages, and other programs get no socket at all.
 */
function withBuildNetwork(attached: AttachedWorkspace, openProxy: OpenPortProxy): AttachedWorkspace {
  return {
    ...attached,
    run: async (spec, streams) => {
      if (spec.network.length === 0 || spec.proxyFrom === undefined) return await attached.run(spec, streams);
      const proxy = await openProxy(spec.network, spec.proxyFrom);
      try {
        const { network: _granted, ...rest } = spec;
        const building = { ...rest, network: [], env: { ...spec.env, ...proxy.env }, proxyPort: proxy.port };
        return { ...(await attached.run(building, streams)), refused: proxy.refused() };
      } finally {
        await proxy.close();
      }
    },
  };
}

/** What a program can do under Landlock that the other sandboxes block. Measured by the tests; shown by `doctor`. */
export function landlockGaps(isRoot = process.getuid?.() === 0): readonly string[] {
  return [
    `learns size and dates of every file that ${isRoot ? 'user 65534 may reach and ' : ''}it knows the path of, and names of files that are used while it runs, but lists no folder and reads no content`,
    // Programs of root run as another user, who owns none of these files.
    ...(isRoot ? [] : ['changes permissions, group and dates of your files']),
    'sees all processes with their command lines, but no environment or memory',
    'sees network interfaces and routes, but reaches no socket of another process',
    `starts threads that its limit on processes does not count; the kernel stops at ${String(SPARE_PROCESSES)} more, counted for the user`,
    'has no terminal, no /tmp and no network by permission',
    ...(findRuntimes().some(({ hidden }) => hidden.length > 0)
      ? ['lists the names of packages of the Python in your home folder']
      : []),
  ];
}

/** A path and what programs may do below it. */
interface MountRule {
  readonly path: string;
  readonly access: HostMount['access'] | 'list';
}

/** Each rule costs every program an opened file. */
const MAX_RULES = 10_000;

/**
 * Path rules for host folders at their own path. A rule allows everything below its path and none can take a part back, so a folder with
 * hidden or read-only entries is allowed entry by entry: nothing new can be created directly in it.
 */
function mountRules(mounts: readonly HostMount[]): readonly MountRule[] {
  const rules: MountRule[] = [];
  const add = (file: string, access: HostMount['access'], inner: readonly HostMount[]): void => {
    if (rules.length >= MAX_RULES)
      throw invalidInput(`${mounts[0]?.source ?? ''} has too many hidden or protected entries`, 'a smaller folder');
    if (inner.length === 0) {
      rules.push({ path: file, access });
      return;
    }
    rules.push({ path: file, access: 'list' });
    for (const name of namesIn(file)) {
      const entry = path.join(file, name);
      const own = inner.findLast(({ target }) => target === entry);
      // What is covered by something else is hidden.
      if (own !== undefined && own.source !== own.target) continue;
      const below = inner.filter(({ target }) => target !== entry && isInside(target, entry));
      add(entry, own?.access ?? access, below);
    }
  };
  const outer = mounts.filter(
    (mount) => !mounts.some((other) => other !== mount && isInside(mount.target, other.target)),
  );
  for (const { source, access } of outer)
    add(
      source,
      access,
      mounts.filter(({ target }) => target !== source && isInside(target, source)),
    );
  return rules;
}
