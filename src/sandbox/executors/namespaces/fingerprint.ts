import { EMPTY_REQUEST, sandboxFingerprint } from '../linux/fingerprint.ts';
import { LAUNCHER_SCRIPT } from './launcher-script.ts';
import { PERL, namespacePlan } from './launcher.ts';

/** Changes with the installed perl, the launcher, the profile and the seccomp filter. */
export function namespacesFingerprint(): string {
  return `namespaces ${sandboxFingerprint(PERL, [LAUNCHER_SCRIPT, namespacePlan(EMPTY_REQUEST, 0)])}`;
}
