import type { Executor } from '#core';
import { isPresent } from '#platform';
import { keepBytes } from '../../process/inherited-descriptors.ts';
import { linuxExecutor, type LinuxSandboxOptions } from '../linux/executor.ts';
import { EMPTY_REQUEST, sandboxFingerprint } from '../linux/fingerprint.ts';
import type { LaunchRequest, Launcher } from '../linux/launcher.ts';
import { SANDBOX_HOST, SANDBOX_ID, type SandboxEntry } from '../linux/profile.ts';
import { PERL } from '../linux/perl.ts';
import { unavailable } from '../linux/unavailable.ts';
import { hasBroker } from '../landlock/version.ts';
import { BROKER_SCRIPT, LAUNCHER_WITH_BROKER } from './broker-script.ts';
import { LAUNCHER_SCRIPT } from './launcher-script.ts';
import {
  callSteps,
  encodePlan,
  hiddenSteps,
  limitSteps,
  programSteps,
  wallSteps,
  writableTargets,
  type PlanStep,
} from './plan.ts';

const INSTALL_PERL = 'apt-get install perl-base, or apt-get install bubblewrap';
/** Files in each file system in memory: they cost kernel memory. */
const TEMPORARY_INODES = 20_000;

/** Runs programs in namespaces that it creates itself, for Linux machines without bubblewrap. */
export function namespacesExecutor(options: LinuxSandboxOptions = {}): Executor {
  return linuxExecutor(namespacesLauncher(), options);
}

/** Changes with the installed perl, the launcher, the profile and the seccomp filter. */
export function namespacesFingerprint(): string {
  return `namespaces ${sandboxFingerprint(PERL, [LAUNCHER_WITH_BROKER, BROKER_SCRIPT, namespacePlan(EMPTY_REQUEST, 0)])}`;
}

/** Starts programs by a script for perl that makes the system calls itself. Needs nothing that is not installed anyway. */
function namespacesLauncher(): Launcher {
  return {
    name: 'namespaces',
    isolation: 'namespaces',
    install:
      'allow unprivileged user namespaces (sysctl -w user.max_user_namespaces=10000), or use the container executor',
    check: async () => {
      await Promise.resolve();
      if (!isPresent(PERL)) throw unavailable('namespaces', [`${PERL} is not installed`], INSTALL_PERL);
    },
    hidesNames: hasBroker,
    open: (filter) => {
      let kept: ReturnType<typeof keepBytes> | undefined;
      return {
        launch: (request) => {
          const { inherited } = (kept ??= keepBytes(filter));
          const plan = encodePlan(namespacePlan(request));
          return {
            argv: [PERL, '-e', launcherScript(request)],
            inherited: (entry) => [
              plan,
              inherited,
              ...(entry === undefined ? [] : [{ file: entry, access: 'write' } as const]),
            ],
          };
        },
        close: () => {
          kept?.close();
          kept = undefined;
        },
      };
    },
  };
}

/** The plan for one program. Pure except for the id of this process: every change of what programs can reach shows in a golden file. */
export function namespacePlan(request: LaunchRequest, parent = process.pid): readonly PlanStep[] {
  const first: readonly PlanStep[] = [
    ['set', 'parent', String(parent)],
    ['set', 'id', String(SANDBOX_ID)],
    ['set', 'host', SANDBOX_HOST],
    ['set', 'inodes', String(TEMPORARY_INODES)],
  ];
  return planFor('namespaces', request, first, request.entries.map(entryStep));
}

/** The plan for a program that bubblewrap starts: limits and Landlock, which bubblewrap does not set. */
export function gatePlan(request: LaunchRequest): readonly PlanStep[] {
  return planFor('gate', { ...request, hasEntry: false }, [], []);
}

function planFor(
  mode: string,
  request: LaunchRequest,
  first: readonly PlanStep[],
  entries: readonly PlanStep[],
): readonly PlanStep[] {
  return [
    ['set', 'mode', mode],
    ...callSteps(),
    ...first,
    // Waits until the host has put it into its control group.
    ['set', 'gate', '1'],
    ...(request.storesInput === true ? [['set', 'input', '1'] as const] : []),
    ...(request.hasEntry ? [['set', 'entry', '1'] as const] : []),
    ...limitSteps(request.limits),
    ...entries,
    ...wallSteps(request.entries),
    ...hiddenSteps(request.hidden, writableTargets(request.entries)),
    // As a shell would set it.
    ...programSteps(request.argv, { PWD: request.cwd, ...request.env }, request.cwd),
  ];
}

/** The launcher without the broker starts faster. */
export function launcherScript({ hidden }: Pick<LaunchRequest, 'hidden'>): string {
  return hidden === undefined ? LAUNCHER_SCRIPT : LAUNCHER_WITH_BROKER;
}

function entryStep(entry: SandboxEntry): PlanStep {
  switch (entry.type) {
    case 'bind':
      return [entry.access, entry.source, entry.target];
    case 'link':
      return ['link', entry.linkTarget, entry.target];
    case 'file':
      return ['file', entry.content, entry.target];
    case 'tmpfs':
      return ['tmpfs', String(entry.bytes), entry.target];
    case 'read-only':
      return ['readonly', entry.target];
    case 'folder':
    case 'proc':
    case 'devices':
      return [entry.type, entry.target];
  }
}
