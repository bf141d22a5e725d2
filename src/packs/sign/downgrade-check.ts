/** Checks whether a version may replace the installed one: it must not be older, and not unsigned or signed by another key. */
import { quoted } from '#core';
import { packRefusal, type PackRefusal } from '../problems.ts';
import { compareVersions } from '../compare-versions.ts';

export interface VersionAndSigner {
  readonly name: string;
  readonly version?: string;
  /** Key id; absent if it is unsigned. */
  readonly signedBy?: string;
}

/** Checks signed skills only. Returns undefined if the replacement is allowed. */
export function downgradeProblem(installed: VersionAndSigner, next: VersionAndSigner): PackRefusal | undefined {
  const name = quoted(installed.name);
  if (installed.signedBy !== undefined && next.signedBy === undefined)
    return packRefusal('signature/downgrade', `the installed ${name} is signed, the new one is not`);
  if (installed.signedBy !== undefined && next.signedBy !== installed.signedBy)
    return packRefusal(
      'signature/downgrade',
      `the installed ${name} is signed with the key ${quoted(installed.signedBy)}, the new one with ${quoted(next.signedBy ?? '')}`,
    );
  if (installed.signedBy === undefined) return undefined;
  return orderProblem(name, installed.version, next.version);
}

function orderProblem(name: string, before: string | undefined, after: string | undefined): PackRefusal | undefined {
  if (before === undefined) return undefined;
  const old = `${name} ${quoted(before)} is installed`;
  if (after === undefined) return packRefusal('signature/rollback', `${old}, and the new one has no version`);
  const order = compareVersions(after, before);
  if (order === undefined)
    return packRefusal('signature/rollback', `${old}, and ${quoted(after)} cannot be compared with it`);
  return order < 0 ? packRefusal('signature/rollback', `${old}, and ${quoted(after)} is older`) : undefined;
}
