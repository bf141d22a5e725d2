/** Which of two versions is the older one, as far as versions of skills can be told apart: `1.10` is newer than `1.9`. */

interface Version {
  readonly numbers: readonly string[];
  /** `rc`, `1` of `2.0-rc.1`: such a version comes before the one without. */
  readonly before: readonly string[];
}

/** As semantic versioning orders them, with any count of numbers; what follows `+` says nothing about the order. */
const VERSION = /^v?(\d+(?:\.\d+)*)(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?$/;
const MAX_CHARACTERS = 256;

/** Below zero where `a` is older than `b`; nothing where one of them is no version and they are not the same text. */
export function compareVersions(a: string, b: string): number | undefined {
  if (a === b) return 0;
  const [left, right] = [readVersion(a), readVersion(b)];
  if (left === undefined || right === undefined) return undefined;
  return compareLists(left.numbers, right.numbers, '0') || compareEarly(left.before, right.before);
}

function readVersion(text: string): Version | undefined {
  const [, numbers, before] = (text.length <= MAX_CHARACTERS ? VERSION.exec(text.trim()) : undefined) ?? [];
  return numbers === undefined ? undefined : { numbers: numbers.split('.'), before: before?.split('.') ?? [] };
}

function compareEarly(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return b.length - a.length;
  return compareLists(a, b, '');
}

function compareLists(a: readonly string[], b: readonly string[], absent: string): number {
  for (let at = 0; at < Math.max(a.length, b.length); at += 1) {
    const order = compareParts(a[at] ?? absent, b[at] ?? absent);
    if (order !== 0) return order;
  }
  return 0;
}

/** Numbers before words, and by their digits: a date with a time in it is more than a `number` can hold. */
function compareParts(a: string, b: string): number {
  const [left, right] = [digits(a), digits(b)];
  if (left !== undefined && right !== undefined) return left.length - right.length || compareWords(left, right);
  if (a === '' || b === '') return a.length - b.length;
  if (left !== undefined || right !== undefined) return left === undefined ? 1 : -1;
  return compareWords(a, b);
}

function digits(part: string): string | undefined {
  return /^\d+$/.test(part) ? part.replace(/^0+(?=\d)/, '') : undefined;
}

function compareWords(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
