import { createHash } from 'node:crypto';
import path from 'node:path';

import type { Executor, ExecutorName, Identity } from '../../core/execution.ts';
import { bubblewrapExecutor } from '../../executor/bubblewrap/executor.ts';
import { bubblewrapFingerprint } from '../../executor/bubblewrap/fingerprint.ts';
import { openBridge } from '../../executor/bridge.ts';
import { containerExecutor } from '../../executor/container/executor.ts';
import type { ContainerOptions } from '../../executor/container/engine.ts';
import { chooseExecutor, examineExecutors as examineCandidates } from '../../executor/detect.ts';
import type { Examined, ExecutorCandidate } from '../../executor/detect.ts';
import { localExecutor } from '../../executor/local.ts';
import { macosExecutor } from '../../executor/macos.ts';
import { VERSION } from '../../version.ts';

export interface ExecutorSettings {
  readonly container?: ContainerOptions;
  /** Where sockets to granted hosts are made. */
  readonly bridgeFolder: string;
}

/** Every way to run programs, in the order in which `auto` tries them. */
export function executorCandidates({ container = {}, bridgeFolder }: ExecutorSettings): readonly ExecutorCandidate[] {
  const candidates: readonly (readonly [ExecutorName, () => Executor, unknown])[] = [
    [
      'bubblewrap',
      () => bubblewrapExecutor({ bridge: (hosts) => openBridge({ hosts, folder: bridgeFolder, ...sandboxUser() }) }),
      bubblewrapFingerprint(),
    ],
    ['macos', macosExecutor, ''],
    ['container', () => containerExecutor(container), container],
    ['local', localExecutor, ''],
  ];
  return candidates
    .filter(([name]) => name !== 'macos' || process.platform === 'darwin')
    .map(([name, make, settings]) => ({
      name,
      make,
      fingerprint: createHash('sha256')
        .update(JSON.stringify([VERSION, name, settings]))
        .digest('hex'),
    }));
}

/** Whom the sandbox runs programs as where we are root: the socket to granted hosts is theirs. */
function sandboxUser(): { readonly identity?: Identity } {
  return process.getuid?.() === 0 ? { identity: { uid: 65_534, gid: 65_534 } } : {};
}

/** The executor that is wanted: itself, the one of that name, or the first that is seen to isolate. */
export async function findExecutor(
  wanted: 'auto' | ExecutorName | Executor,
  settings: ExecutorSettings,
  cacheDir: string | undefined,
): Promise<Executor> {
  if (typeof wanted === 'object') return wanted;
  const { executor } = await chooseExecutor(wanted, {
    candidates: executorCandidates(settings),
    ...(cacheDir === undefined ? {} : { cacheDirectory: path.join(cacheDir, 'executors') }),
  });
  return executor;
}

/** What each way to run programs keeps from them on this machine, found out by trying. */
export function examineExecutors({ executionBase }: { readonly executionBase: string }): Promise<readonly Examined[]> {
  return examineCandidates({ candidates: executorCandidates({ bridgeFolder: executionBase }) });
}
