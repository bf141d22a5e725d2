/**
 * Versions and version ranges, evaluated by `semver`. Ranges may use npm syntax (`^18`, `1.x`, `>=1 <2`, `1 || 2`) or Python syntax
 * (`>=3.11,<4`, `~=2.1`, `==1.2.*`, `!=1.2.*`). A pre-release such as `2.0.0-rc.1` or `2.0rc1` is lower than `2.0.0`.
 */
import parse from 'semver/functions/parse.js';
import satisfies from 'semver/functions/satisfies.js';

interface VersionRange {
  /** Every part is understood, so that `includes` accepts only what the author meant. */
  readonly isUnderstood: boolean;
  /** Parts that are not understood, and versions without a number, count as matching. */
  includes(version: string): boolean;
}

export function readRange(range: string): VersionRange {
  const alternatives = range
    .replaceAll(/([<>=!~^])\s+/g, '$1')
    .split('||')
    .map((choice) => choice.trim().split(/[\s,]+/));
  return {
    isUnderstood: alternatives.flat().every((part) => part === '*' || PART.test(part)),
    includes(version) {
      const found = toSemver(version);
      if (found === undefined) return true;
      return alternatives.some((parts) => parts.every((part) => isPartMet(found, part)));
    },
  };
}

const PART = /^(>=|<=|>|<|===|==|!=|~=|=|\^|~)?v?(\d[\w.*+-]*)$/;

function isPartMet(version: string, part: string): boolean {
  const [, operator = '=', text = ''] = PART.exec(part) ?? [];
  const bound = toSemver(text);
  if (bound === undefined) return true;
  const numbers = parseNumbers(text);
  // `1.2` and `1.2.*` mean all versions that start so; an exact version keeps its pre-release.
  const start = numbers.length < 3 || /\.[*x]/i.test(text) ? numbers.join('.') : bound;
  const isMet = (range: string): boolean => satisfies(version, range, { includePrerelease: true });
  switch (operator) {
    case '>=':
    case '>':
    case '<=':
      return isMet(operator + bound);
    case '<':
      // `2.0.0-rc.1` does not satisfy `<2.0.0`, in Python as in npm.
      return isMet(`<${bound}${bound.includes('-') ? '' : '-0'}`);
    case '!=':
      return !isMet(/\.[*x]/i.test(text) ? start : bound);
    case '^':
    case '~':
      return isMet(`>=${bound}`) && isMet(operator + start);
    case '~=':
      return isMet(`>=${bound}`) && isMet(numbers.slice(0, Math.max(1, numbers.length - 1)).join('.'));
    default:
      return isMet(start);
  }
}

const NUMBERS = /^v?(\d+(?:\.\d+)*)/;
const NPM_PRERELEASE = /^-([0-9A-Za-z.-]+)/;
const PYTHON_PRERELEASE = /^[._]?(a|b|c|rc|alpha|beta|pre|preview|dev)[._]?(\d*)/i;

/** The numbers that a version starts with, without leading zeros. Only the first three count, as in semantic versioning. */
function parseNumbers(text: string): readonly string[] {
  const numbers = NUMBERS.exec(text)?.[1]?.split('.') ?? [];
  return numbers.slice(0, 3).map((number) => number.replace(/^0+(?=\d)/, ''));
}

function toSemver(text: string): string | undefined {
  const start = NUMBERS.exec(text)?.[0];
  if (start === undefined) return undefined;
  const [major = '0', minor = '0', patch = '0'] = parseNumbers(text);
  const rest = text.slice(start.length);
  const [, word, count = ''] = PYTHON_PRERELEASE.exec(rest) ?? [];
  const before =
    NPM_PRERELEASE.exec(rest)?.[1] ?? (word === undefined ? undefined : `${word}.${count === '' ? '0' : count}`);
  return parse(`${major}.${minor}.${patch}${before === undefined ? '' : `-${before}`}`, true)?.version;
}
