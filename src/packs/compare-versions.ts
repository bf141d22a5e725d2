import parse from 'semver/functions/parse.js';

interface OrderedVersion {
  readonly numbers: readonly bigint[];
  readonly prerelease: NonNullable<ReturnType<typeof parse>>;
}

/** As in semantic versioning, but with any count of numbers of any length, because skills use dates as versions. Build metadata is ignored. */
const VERSION = /^v?(\d+(?:\.\d+)*)(-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/;

const MAX_CHARACTERS = 256;

/** Negative if `a` is older than `b`. Undefined if one of them is not a version and the texts differ. */
export function compareVersions(a: string, b: string): number | undefined {
  if (a === b) return 0;
  const [left, right] = [readVersion(a), readVersion(b)];
  if (left === undefined || right === undefined) return undefined;
  for (let at = 0; at < Math.max(left.numbers.length, right.numbers.length); at += 1) {
    const difference = (left.numbers[at] ?? 0n) - (right.numbers[at] ?? 0n);
    if (difference !== 0n) return difference < 0n ? -1 : 1;
  }
  return left.prerelease.compare(right.prerelease);
}

function readVersion(text: string): OrderedVersion | undefined {
  const [, numbers, before = ''] = (text.length <= MAX_CHARACTERS ? VERSION.exec(text.trim()) : undefined) ?? [];
  const prerelease = parse(`0.0.0${before}`, true);
  if (numbers === undefined || prerelease === null) return undefined;
  return { numbers: numbers.split('.').map(BigInt), prerelease };
}
