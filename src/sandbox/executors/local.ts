import type { Executor, AttachedWorkspace } from '#core';
import { isPresent } from '#platform';
import { isRoot } from '../workspace/layout.ts';
import { plainProcesses } from './plain-processes.ts';
import { UNPRIVILEGED_USER } from './unprivileged-user.ts';
import { tryRead } from '../process/proc.ts';
import type { RunLimits, Identity } from '../program-types.ts';

export interface LocalOptions {
  /** User for programs when the caller is root (default: 65534). */
  readonly identity?: Identity;
}

const PRLIMIT = '/usr/bin/prlimit';
const SCRIPT = '/usr/bin/script';
const OPEN_FILES = 1024;
/** Headroom over the polled process limit. The kernel's limit counts all processes of the user and only stops fork bombs between two polls. */
const SPARE_PROCESSES = 4096;

/**
 * Runs programs as plain processes: their own process group, a clean environment, limits, and no isolation at all. Used only when
 * chosen by name. When the caller is root, programs run as another user.
 */
export function localExecutor({ identity = UNPRIVILEGED_USER }: LocalOptions = {}): Executor {
  return plainProcesses({
    name: 'local',
    identity: isRoot() ? identity : undefined,
    capabilities: detectCapabilities,
    commandsFor:
      () =>
      ({ argv, env, limits }) => ({ argv: limited(argv, limits), env }),
  });
}

function detectCapabilities(): AttachedWorkspace['capabilities'] {
  const hasProcesses = process.platform === 'linux' && isPresent('/proc/self/status');
  return {
    isolation: 'none',
    limits: {
      wallMs: 'runtime',
      outputBytes: 'runtime',
      diskBytes: 'watched',
      files: 'watched',
      ...(hasProcesses ? { memoryBytes: 'watched', processes: 'watched' } : {}),
      ...(isPresent(PRLIMIT) ? { fileBytes: 'rlimit' } : {}),
    },
    hasNetworkGrants: false,
    hasInteraction: true,
    hasTerminal: isPresent(SCRIPT),
  };
}

/** Wraps the command in prlimit, whose limits apply to each process alone; polling checks their sum. */
function limited(argv: readonly string[], { memoryBytes, fileBytes, processes }: RunLimits): readonly string[] {
  // An empty command is rejected when the process is started.
  if (!isPresent(PRLIMIT) || argv[0] === undefined || argv[0] === '') return argv;
  const limits = [
    // Twice the limit: a program over the limit should be ended with the reason `memory` instead of failing on its own.
    limit('data', 'Max data size', memoryBytes * 2),
    limit('fsize', 'Max file size', fileBytes),
    limit('nofile', 'Max open files', OPEN_FILES),
    limit('nproc', 'Max processes', processes + SPARE_PROCESSES),
    '--core=0',
  ];
  return [PRLIMIT, ...limits, '--', ...argv];
}

/** Capped at the hard limit of this process, because raising it would fail. */
function limit(option: string, row: string, requested: number): string {
  const allowed = hardLimits().get(row) ?? Infinity;
  return `--${option}=${String(Math.min(Math.floor(requested), allowed))}`;
}

function hardLimits(): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const [, name = '', hard] of (tryRead('/proc/self/limits') ?? '').matchAll(/^(\S.*?)\s{2,}\S+\s+(\d+)\s/gm))
    found.set(name, Number(hard));
  return found;
}
