import * as fc from 'fast-check';
import { expect, it } from 'vitest';

import { compareDiagnostics, diagnose, sortDiagnostics } from '../../src/core/diagnostic.ts';

const place = fc.record({
  path: fc.constantFrom('/a/SKILL.md', '/a-b/SKILL.md', '/a/b/SKILL.md', '/c/SKILL.md'),
  line: fc.integer({ min: 1, max: 3 }),
  column: fc.integer({ min: 1, max: 2 }),
  code: fc.constantFrom('field/unknown' as const, 'name/invalid' as const),
  message: fc.string({ maxLength: 2 }),
});

it('diagnostics are sorted by file and place, whether those of a file come together and in order or not', () => {
  fc.assert(
    fc.property(fc.array(place, { maxLength: 12 }), fc.boolean(), (places, areTogether) => {
      const made = places.map((each) => diagnose(each, 'lenient'));
      // Those of the files in any order, those of each in its own.
      const paths = [...new Set(made.map(({ path }) => path))];
      const sorted = made.toSorted(compareDiagnostics);
      const all = areTogether ? paths.flatMap((path) => sorted.filter((each) => each.path === path)) : made;
      expect(sortDiagnostics(all)).toEqual(all.toSorted(compareDiagnostics));
    }),
  );
});
