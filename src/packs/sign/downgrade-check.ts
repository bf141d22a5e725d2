/** Whether one version of a skill may follow another: never an older one, never one with a weaker signature, unless somebody says so. */
import { quoted } from '../../core/text/text.ts';
import { packRefusal } from '../problems.ts';
import type { PackRefusal } from '../problems.ts';
import { compareVersions } from '../../platform/version-range.ts';

export interface VersionInPlace {
  readonly name: string;
  readonly version?: string;
  /** The id of the key; absent where it is not signed. */
  readonly signedBy?: string;
}

/** `rules`: signed skills are held to the order of their versions; with `always`, unsigned ones too. */
export function successionProblem(
  installed: VersionInPlace,
  next: VersionInPlace,
  { rules = 'signed' }: { readonly rules?: 'signed' | 'always' } = {},
): PackRefusal | undefined {
  const name = quoted(installed.name);
  if (installed.signedBy !== undefined && next.signedBy === undefined)
    return packRefusal('signature/downgrade', `the installed ${name} is signed and this one is not`);
  if (installed.signedBy !== undefined && next.signedBy !== installed.signedBy)
    return packRefusal(
      'signature/downgrade',
      `the installed ${name} is signed with the key ${quoted(installed.signedBy)}, this one with ${quoted(next.signedBy ?? '')}`,
    );
  if (installed.signedBy === undefined && rules === 'signed') return undefined;
  return orderProblem(name, installed.version, next.version);
}

function orderProblem(name: string, before: string | undefined, after: string | undefined): PackRefusal | undefined {
  if (before === undefined) return undefined;
  const old = `${name} ${quoted(before)} is installed`;
  if (after === undefined) return packRefusal('signature/rollback', `${old}, and this one states no version`);
  const order = compareVersions(after, before);
  if (order === undefined)
    return packRefusal('signature/rollback', `${old}, and nobody can tell whether ${quoted(after)} is newer`);
  return order < 0 ? packRefusal('signature/rollback', `${old}, and ${quoted(after)} is older`) : undefined;
}
