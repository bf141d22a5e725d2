/**
 * Binds the signature of a pack to its contents. minisign signs the bytes and one line of text, the trusted comment. That line contains the
 * skills, their versions, the hash and the time, so that a signature cannot be reused for another pack, name or version.
 *
 *     skillwright pack name=a,b version=1.0.0,2.1 sha256=<hex> time=2026-01-31T12:00:00Z
 */
import { isValidName } from '#core';

export interface SignedSkill {
  readonly name: string;
  readonly version: string;
}

export interface PackComment {
  /** Sorted by name. */
  readonly skills: readonly SignedSkill[];
  /** Hash of the signed bytes, in hex. */
  readonly sha256: string;
  /** ISO 8601 to the second. */
  readonly time: string;
}

const START = 'skillwright pack';
const LINE = /^skillwright pack name=([^ =]+) version=([^ =]+) sha256=([0-9a-f]{64}) time=(\S+)$/;
const VERSION = /^[0-9A-Za-z](?:[0-9A-Za-z.+_-]{0,62}[0-9A-Za-z])?$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/** Whether a version can be part of a signed comment: short, and without separators. */
export function isSignableVersion(version: string): boolean {
  return VERSION.test(version);
}

export function formatPackComment({ skills, sha256, time }: PackComment): string {
  const names = skills.map(({ name }) => name).join(',');
  const versions = skills.map(({ version }) => version).join(',');
  return `${START} name=${names} version=${versions} sha256=${sha256} time=${time}`;
}

/** Parses a canonical comment. Undefined for other lines. */
export function parsePackComment(line: string): PackComment | undefined {
  const [, names, versions, sha256, time] = LINE.exec(line) ?? [];
  if (names === undefined || versions === undefined || sha256 === undefined || time === undefined) return undefined;
  if (!TIME.test(time) || Number.isNaN(Date.parse(time))) return undefined;
  const [listed, stated] = [names.split(','), versions.split(',')];
  const skills = listed.map((name, at) => ({ name, version: stated[at] ?? '' }));
  const isWhole = listed.length === stated.length && new Set(listed).size === listed.length;
  if (!isWhole || !skills.every(({ name, version }) => isValidName(name) && isSignableVersion(version)))
    return undefined;
  return { skills, sha256, time };
}
