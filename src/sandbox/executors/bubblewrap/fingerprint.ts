import { EMPTY_REQUEST, sandboxFingerprint } from '../linux/fingerprint.ts';
import { sandboxArguments } from './arguments.ts';
import type { BubblewrapOptions } from './executor.ts';
import { isPresent } from '#platform';
import { LAUNCHER_SCRIPT } from '../namespaces/launcher-script.ts';
import { PERL, gatePlan } from '../namespaces/launcher.ts';
import { gatedCommand } from './gate.ts';
import { findBubblewrap } from './support.ts';

/** Changes with the installed bubblewrap, the profile, the seccomp filter and the options. */
export function bubblewrapFingerprint(options: BubblewrapOptions = {}): string {
  const { entries } = EMPTY_REQUEST;
  const profile = sandboxArguments({ ...EMPTY_REQUEST, filter: 0, files: entries.map(() => 0) });
  const gate = gatedCommand({ ...EMPTY_REQUEST, lateEnv: {} });
  const inner = isPresent(PERL) ? [LAUNCHER_SCRIPT, gatePlan(EMPTY_REQUEST)] : [];
  const { bridge, ...settings } = options;
  const tool = options.command ?? findBubblewrap();
  return `bubblewrap ${sandboxFingerprint(tool, [profile, gate, inner, settings, bridge !== undefined])}`;
}
