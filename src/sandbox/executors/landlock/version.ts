import { spawnSync } from 'node:child_process';

import { isPresent } from '#platform';
import { OUTER_ENV, PERL } from '../linux/perl.ts';
import { SYSTEM_CALLS, findArchitecture, type SeccompArchitecture } from '../seccomp/system-calls.ts';

const PROBE_MS = 10_000;

/** The version of Landlock's interface on this machine; below 1 without Landlock. */
export function landlockVersion(): number {
  const architecture = findArchitecture();
  if (process.platform !== 'linux' || architecture === undefined || !isPresent(PERL)) return -1;
  const found = landlockAbi(architecture);
  return typeof found === 'number' ? found : -1;
}

/** The version, or why perl cannot be started to ask for it. `LANDLOCK_CREATE_RULESET_VERSION` is 1. */
export function landlockAbi(architecture: SeccompArchitecture): number | { readonly failure: string } {
  const call = String(SYSTEM_CALLS[architecture]['landlock_create_ruleset'] ?? -1);
  const { stdout, stderr, status, error } = spawnSync(PERL, ['-e', 'print syscall(shift() + 0, 0, 0, 1)', call], {
    env: OUTER_ENV,
    encoding: 'utf8',
    timeout: PROBE_MS,
  });
  if (status === 0) return Number(stdout);
  return { failure: error?.message ?? (stderr.trim().split('\n')[0] || `exit code ${String(status)}`) };
}

/** Landlock of Linux 5.19: a program that it restricts may still move files between folders. Each of the broker's calls is older. */
const SINCE_BROKER = 2;
let isBrokerFound: boolean | undefined;

/** Whether the broker of `namespaces/broker-script.ts` works on this machine. */
export function hasBroker(): boolean {
  return (isBrokerFound ??= landlockVersion() >= SINCE_BROKER);
}
