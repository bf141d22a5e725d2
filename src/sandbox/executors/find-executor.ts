/** The executors of this machine: how each is made, and which one programs use. */
import path from 'node:path';

import type { Executor, ExecutorName, ProgramSpec, SkillError } from '#core';
import { sha256 } from '#platform';
import { VERSION } from '../../version.ts';
import { openBridge, openPortProxy, type Bridge } from '../network/bridge.ts';
import {
  chooseExecutor,
  examineCandidates,
  type ChooseOptions,
  type ExecutorCandidate,
  type ExecutorExamination,
} from '../probe/detect.ts';
import { isRoot } from '../workspace/layout.ts';
import { executorUnavailable } from './failures.ts';
import { bubblewrapExecutor, bubblewrapFingerprint } from './bubblewrap/executor.ts';
import type { ContainerOptions } from './container/engine.ts';
import { containerExecutor } from './container/executor.ts';
import { landlockExecutor, landlockFingerprint } from './landlock/executor.ts';
import { localExecutor } from './local.ts';
import { macosExecutor } from './macos/macos.ts';
import { namespacesExecutor, namespacesFingerprint } from './namespaces/executor.ts';
import { UNPRIVILEGED_USER } from './unprivileged-user.ts';

export interface ExecutorSettings {
  readonly container?: ContainerOptions;
  /** Folder for the sockets to granted hosts. */
  readonly bridgeFolder: string;
}

const NOT_KNOWN = { isKnown: false };

/** All executors of this operating system, in the order in which `auto` tries them. */
export function executorCandidates({ container = {}, bridgeFolder }: ExecutorSettings): readonly ExecutorCandidate[] {
  // If this process is root, programs run as another user, who must own the socket to granted hosts.
  const identity = isRoot() ? UNPRIVILEGED_USER : undefined;
  const bridge = (hosts: readonly string[], proxyFrom: ProgramSpec['proxyFrom'], isInImage = false): Promise<Bridge> =>
    openBridge({ hosts, proxyFrom, isInImage, folder: bridgeFolder, identity });
  const [isLinux, isMac] = [process.platform === 'linux', process.platform === 'darwin'];
  const candidates: readonly (readonly [ExecutorName, boolean, ExecutorCandidate['make'], () => unknown])[] = [
    ['bubblewrap', true, ({ isKnown } = NOT_KNOWN) => bubblewrapExecutor({ isKnown, bridge }), bubblewrapFingerprint],
    [
      'namespaces',
      isLinux,
      ({ isKnown } = NOT_KNOWN) => namespacesExecutor({ isKnown, bridge }),
      namespacesFingerprint,
    ],
    ['macos', isMac, () => macosExecutor(), () => ''],
    [
      'container',
      true,
      () => containerExecutor({ ...container, bridge: (hosts, proxyFrom) => bridge(hosts, proxyFrom, true) }),
      () => container,
    ],
    [
      'landlock',
      isLinux,
      () => landlockExecutor({ openProxy: (hosts, proxyFrom) => openPortProxy({ hosts, proxyFrom }) }),
      landlockFingerprint,
    ],
    ['local', true, () => localExecutor(), () => ''],
  ];
  return candidates.flatMap(([name, isOffered, make, settings]) =>
    isOffered ? [{ name, make, fingerprint: sha256(JSON.stringify([VERSION, name, settings()])) }] : [],
  );
}

interface FoundExecutor {
  readonly executor: Executor;
  /** Identifies version, sandbox and image for records. Absent for a custom executor. */
  readonly profile?: string;
  /** Only scripts of built-in skills may run; this error is for everything else. */
  readonly restriction?: SkillError | undefined;
}

interface FindOptions extends Pick<ChooseOptions, 'allowWeaker' | 'runsBuiltIn' | 'onTrial' | 'probed'> {
  readonly cacheDir: string | undefined;
}

/** Returns the given executor, the one with that name, or the first that isolates. */
export async function findExecutor(
  choice: 'auto' | ExecutorName | Executor,
  settings: ExecutorSettings,
  { cacheDir, ...options }: FindOptions,
): Promise<FoundExecutor> {
  if (typeof choice === 'object') return { executor: choice };
  refuseOtherRuntimes(choice, process.versions);
  const candidates = executorCandidates(settings);
  const { executor, restriction } = await chooseExecutor(choice, {
    candidates,
    ...options,
    cacheDirectory: cacheDir === undefined ? undefined : path.join(cacheDir, 'executors'),
  });
  const { fingerprint = '' } = candidates.find(({ name }) => name === executor.name) ?? {};
  return { executor, profile: `sha256:${fingerprint}`, restriction };
}

/** Probes what each executor blocks on this machine. */
export function examineExecutors(settings: ExecutorSettings): Promise<readonly ExecutorExamination[]> {
  return examineCandidates({ candidates: executorCandidates(settings) });
}

/** Under Bun and Deno, programs of skills would seem to run: their limits of time, outputs and pipes differ from those of Node. */
export function refuseOtherRuntimes(executor: string, versions: Readonly<Record<string, string | undefined>>): void {
  const name = ['bun', 'deno'].find((one) => versions[one] !== undefined);
  if (name === undefined) return;
  const message = `programs of skills cannot run under ${name === 'bun' ? 'Bun' : 'Deno'} ${versions[name] ?? ''}`;
  const hint = 'start this program with Node.js 20.19 or newer, pass an executor of your own, or only read skills';
  throw executorUnavailable(executor, message, { hint, reasons: [message], install: '' });
}
