import { describe, expect, test } from 'vitest';

import { PATTERNS } from '../../src/scan/patterns/all.ts';

/** The worst-case cost of an expression. */
interface Shape {
  readonly isUnbounded: boolean;
  /** A repeated group contains a repetition with many choices. */
  readonly isNested: boolean;
  /** The product of the widths of all gaps that match anything. */
  readonly gaps: number;
}

/** A group can repeat a few words, but not a part that is long itself. */
const MAX_REPEATS = 8;
const LONG_PART = 24;
const FEW_CHOICES = 3;
const GAP = 20;
const MAX_GAPS = 20_000;

/** Parses the source of an expression. */
function shapeOf(source: string): Shape {
  let at = 0;
  let isUnbounded = false;
  let isNested = false;
  const quantifier = (): number => {
    const found = /^(?:\{(\d+)(,(\d*))?\}|[*+?])\??/.exec(source.slice(at));
    if (found === null) return 1;
    at += found[0].length;
    if (found[0].startsWith('?')) return 1;
    if (!found[0].startsWith('{') || found[3] === '') {
      isUnbounded = true;
      return Number.POSITIVE_INFINITY;
    }
    return Number(found[3] ?? found[1]);
  };
  /** The number of lengths that a part can have; a fixed length leaves nothing to backtrack. */
  const choices = (from: number, most: number): number => {
    const least = /^\{(\d+)/.exec(source.slice(from))?.[1];
    return least === undefined ? most : most - Number(least) + 1;
  };
  const atom = (): { readonly isAny: boolean } => {
    if (source[at] === '\\') at += 2;
    else if (source[at] === '[') {
      const end = /^\[(?:\\.|[^\\\]])*\]/.exec(source.slice(at))?.[0] ?? '[';
      at += end.length;
      return { isAny: end.startsWith('[^') };
    } else at += 1;
    return { isAny: source[at - 1] === '.' && source[at - 2] !== '\\' };
  };
  const group = (): { readonly gaps: number; readonly longest: number } => {
    let worst = 1;
    let gaps = 1;
    let longest = 1;
    while (at < source.length && source[at] !== ')') {
      if (source[at] === '|') {
        worst = Math.max(worst, gaps);
        gaps = 1;
        at += 1;
        continue;
      }
      if (source[at] === '(') {
        at += /^\((?:\?(?:<?[=!]|:))?/.exec(source.slice(at))?.[0].length ?? 1;
        const inner = group();
        at += 1;
        const repeats = quantifier();
        if (repeats > MAX_REPEATS && inner.longest > FEW_CHOICES) isNested = true;
        if (repeats > 1 && inner.longest > LONG_PART) isNested = true;
        gaps *= inner.gaps;
        longest = Math.max(longest, inner.longest);
        continue;
      }
      const { isAny } = atom();
      const from = at;
      const repeats = quantifier();
      longest = Math.max(longest, choices(from, repeats));
      if (isAny && repeats >= GAP) gaps *= repeats;
    }
    return { gaps: Math.max(worst, gaps), longest };
  };
  const { gaps } = group();
  return { isUnbounded, isNested, gaps };
}

const expressions = PATTERNS.flatMap(({ find, also, unless }) =>
  [find, also, unless].filter((one) => one !== undefined),
);

describe('the scan patterns', () => {
  test('the cost estimate recognizes expensive expressions', () => {
    expect(shapeOf('a(?:b{2,9}|c)d')).toEqual({ isUnbounded: false, isNested: false, gaps: 1 });
    expect(shapeOf('(?:a+)+$').isUnbounded).toBe(true);
    expect(shapeOf('a{3,}').isUnbounded).toBe(true);
    expect(shapeOf('(?:a{1,60}b?){2,5}').isNested).toBe(true);
    expect(shapeOf('(?:a{1,9}){0,50}').isNested).toBe(true);
    expect(shapeOf('a[^\\n]{0,100}b.{0,200}c|d[^.]{0,30}e').gaps).toBe(20_000);
    expect(shapeOf('a\\.{0,90}').gaps).toBe(1);
  });

  test('have no unbounded or nested repetition, and few and narrow gaps', () => {
    const bad = expressions.filter(({ source }) => {
      const { isUnbounded, isNested, gaps } = shapeOf(source);
      return isUnbounded || isNested || gaps > MAX_GAPS;
    });
    expect(bad.map(({ source }) => source)).toEqual([]);
  });

  test('never match across two passages', () => {
    const crossing = expressions.filter(
      ({ source }) => /\[\^(?!(?:\\.|[^\\\]])*\\n)/.test(source) || /\\[sDW]/.test(source),
    );
    expect(crossing.map(({ source }) => source)).toEqual([]);
  });

  test('have the flag `g` on `find` and no flags on `also` and `unless`', () => {
    expect(PATTERNS.filter(({ find }) => find.flags !== 'g')).toEqual([]);
    expect(PATTERNS.filter(({ also, unless }) => (also?.flags ?? '') + (unless?.flags ?? '') !== '')).toEqual([]);
  });

  test('contain no upper-case letters', () => {
    const upper = expressions.filter(({ source }) => /[A-Z]/.test(source.replaceAll(/\\[A-Z]/g, '')));
    expect(upper.map(({ source }) => source)).toEqual([]);
  });
});
