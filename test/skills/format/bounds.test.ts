import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { findFrontmatter } from '../../../src/skills/format/bounds.ts';
import { findFences } from '../../../src/skills/format/fences.ts';
import { anyText } from './yaml-ish.ts';
import { runs } from '../../property-runs.ts';

const encoder = new TextEncoder();

function boundsOf(text: string, complete = true): ReturnType<typeof findFrontmatter> {
  const bytes = encoder.encode(text);
  return findFrontmatter(bytes, bytes.length, complete);
}

describe('findFrontmatter', () => {
  it.each([
    ['---\nname: x\n---\nbody', { type: 'found', end: 16 }],
    ['---\n---\n', { type: 'found', end: 8 }],
    ['---\na: b\n---', { type: 'found', end: 12 }],
    ['---\r\na: b\r\n---\r\nbody', { type: 'found', end: 16 }],
    ['\ufeff---\na: b\n---\n', { type: 'found', end: 16 }],
    ['\n\n ---\na: b\n---\n', { type: 'found', end: 16 }],
    ['--- \na: b\n---  \nx', { type: 'found', end: 16 }],
    ['---\na: b\n-----\nx', { type: 'found', end: 15 }],
    ['---\na: b\n...\nx', { type: 'found', end: 13 }],
    ['---\na: b\n--- x\n', { type: 'unterminated' }],
    ['---\na: b\n ---\n', { type: 'unterminated' }],
    ['---\na: b\n....\n', { type: 'unterminated' }],
    ['---', { type: 'unterminated' }],
    ['# Title\n---\n', { type: 'none' }],
    ['--\n', { type: 'none' }],
    ['', { type: 'none' }],
    ['   \n\n', { type: 'none' }],
  ])('%j: %j', (text, bounds) => {
    expect(boundsOf(text)).toEqual(bounds);
  });

  it('asks for more while the end may still come, and never reads past the limit', () => {
    expect(boundsOf('', false)).toEqual({ type: 'more' });
    expect(boundsOf('--', false)).toEqual({ type: 'more' });
    expect(boundsOf('---\na: b\n--', false)).toEqual({ type: 'more' });
    expect(boundsOf('---\na: b\n---', false)).toEqual({ type: 'more' });
    expect(boundsOf('# no', false)).toEqual({ type: 'none' });
    expect(boundsOf(`---\n${'x'.repeat(70_000)}`, false)).toEqual({ type: 'unterminated' });
    expect(boundsOf(' '.repeat(70_000), false)).toEqual({ type: 'none' });
  });

  it('looks only at the bytes that were read', () => {
    const bytes = encoder.encode('---\na: b\n---\n');
    expect(findFrontmatter(bytes, 8, false)).toEqual({ type: 'more' });
    expect(findFrontmatter(bytes, 8, true)).toEqual({ type: 'unterminated' });
  });

  it('finds in bytes what findFences finds in text, and needs no byte more', () => {
    fc.assert(
      fc.property(
        anyText,
        fc.constantFrom('---\n', '--- \n', '\ufeff---\r\n', ' ---\n', ''),
        fc.constantFrom('\n---\nbody', '\n...\n', '', '\n---'),
        (inner, open, close) => {
          const text = `${open}${inner}${close}`.replaceAll(/[\ud800-\udfff]/g, '');
          const bytes = encoder.encode(text);
          const bounds = findFrontmatter(bytes, bytes.length, true);
          const fences = findFences(text);
          expect(bounds.type).toBe(fences.type);
          if (bounds.type !== 'found' || fences.type !== 'found') return;
          expect(bounds.end).toBe(encoder.encode(text.slice(0, fences.fences.end)).length);
          expect(findFrontmatter(bytes.subarray(0, bounds.end), bounds.end, true)).toEqual(bounds);
        },
      ),
      { numRuns: runs(2000) },
    );
  });
});
