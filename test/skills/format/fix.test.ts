import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { Diagnostic } from '../../../src/core/diagnostic.ts';
import { applyEdits } from '../../../src/skills/format/fix.ts';
import { readHead } from '../../../src/skills/format/read-head.ts';
import { MALFORMED } from './malformed.ts';
import { codesOf, fenced, sourceOf } from '../../core/skill-source.ts';
import { yamlIsh } from './yaml-ish.ts';
import { runs } from '../../property-runs.ts';

function told(text: string): readonly Diagnostic[] {
  return readHead(sourceOf(text), { mode: 'strict' }).diagnostics;
}

/** Reads and mends until nothing mends any more. */
function mend(text: string): { readonly text: string; readonly passes: number } {
  let current = text;
  for (let passes = 0; passes < 20; passes += 1) {
    const { text: next, applied } = applyEdits(current, told(current));
    if (applied.length === 0) return { text: current, passes };
    current = next;
  }
  return { text: current, passes: 20 };
}

const edit = (offset: number, length: number, text: string): Diagnostic => ({
  code: 'field/unknown',
  severity: 'warning',
  path: 'x',
  line: 1,
  column: 1,
  message: '',
  hint: '',
  edit: { offset, length, text },
});

describe('applyEdits', () => {
  it('applies edits in the order of the text and leaves the rest alone', () => {
    const edits = [edit(6, 5, 'there'), edit(0, 5, 'hi')];
    expect(applyEdits('hello world', edits)).toEqual({ text: 'hi there', applied: [edits[1], edits[0]] });
  });

  it('skips an edit that overlaps one before it, and a second insertion in the same place', () => {
    const edits = [edit(0, 5, 'a'), edit(3, 4, 'b'), edit(8, 0, 'c'), edit(8, 0, 'd')];
    expect(applyEdits('0123456789', edits)).toEqual({ text: 'a567c89', applied: [edits[0], edits[2]] });
  });

  it('skips what is no place in the text', () => {
    const edits = [edit(-1, 2, 'x'), edit(5, 100, 'x'), edit(3, -1, 'x')];
    expect(applyEdits('hello', edits)).toEqual({ text: 'hello', applied: [] });
  });

  it('does nothing without edits', () => {
    const { edit: _, ...bare } = edit(0, 1, 'x');
    expect(applyEdits('hello', [bare])).toEqual({ text: 'hello', applied: [] });
  });
});

describe('a malformed file', () => {
  it.each(MALFORMED.filter((each) => each.mends !== undefined))(
    '$title: is mended, and strict mode no longer tells of it',
    ({ text, mends, description }) => {
      const mended = mend(text).text;
      const left = codesOf({ diagnostics: told(mended) });
      for (const code of mends ?? []) expect(left, mended).not.toContain(code);
      if (description !== undefined && description !== '')
        expect(readHead(sourceOf(mended), { mode: 'strict' }).head?.description).toBe(description);
    },
  );

  it.each(MALFORMED.filter((each) => each.text.includes('description:')))(
    '$title: keeps what it restricts when it is mended',
    ({ text }) => {
      const restricted = text.replace('description:', 'allowed-tools: Read\nuser-invocable: false\ndescription:');
      const before = readHead(sourceOf(restricted), { mode: 'lenient' }).head?.controls;
      const after = readHead(sourceOf(mend(restricted).text), { mode: 'lenient' }).head?.controls;
      if (before === undefined || after === undefined) return;
      expect(after.userInvocable).toBe(false);
      expect(after.allowedTools?.every((tool) => tool === 'Read')).toBe(true);
    },
  );

  it('comes to an end, and what was applied is gone', () => {
    fc.assert(
      fc.property(yamlIsh, (inner) => {
        const text = fenced(inner);
        expect(mend(text).passes).toBeLessThan(20);
      }),
      { numRuns: runs(1000) },
    );
  });
});
