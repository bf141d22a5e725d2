import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { readRequirement, resolveRequirements, type RequiringSkill } from '../../../src/packs/requires/requires.ts';
import { runs } from '../../property-runs.ts';

/** `a@1.0: b, c@>=2`. */
const skill = (text: string): RequiringSkill => {
  const [head = '', rest = ''] = text.split(':');
  const [name = '', version] = head.split('@');
  const requires = rest
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map((entry) => readRequirement(entry))
    .map((requirement) => {
      if ('reason' in requirement) throw new Error(requirement.reason);
      return requirement;
    });
  return { name, version, requires };
};
const resolve = (wanted: readonly string[], installed: readonly string[] = [], available: readonly string[] = []) =>
  resolveRequirements({
    requested: wanted.map(skill),
    installed: installed.map(skill),
    available: available.map(skill),
  });

const told = (...request: Parameters<typeof resolve>): string | undefined => resolve(...request).refusal?.message;

describe('resolveRequirements', () => {
  test('requirements come first and are taken from the source if they are not installed', () => {
    expect(resolve(['report: charts, pdf'], ['pdf'], ['charts: fonts', 'fonts', 'unrelated'])).toEqual({
      added: ['fonts', 'charts'],
    });
  });

  test('a missing skill is reported with its dependent, its source and similar names', () => {
    expect(resolve(['report: chart from owner/charts'], ['charts']).refusal).toEqual({
      type: 'refused',
      code: 'requires/missing',
      message: '"report" needs "chart from owner/charts", which is not available ("charts"?)',
      hint: 'install the required skill, or add its source',
    });
    expect(told(['report: gone, lost'])).toBe('"report" needs "gone", which is not available, and 1 more');
  });

  test('cycles are reported from their first name, including cycles through installed skills', () => {
    expect(told(['b: c'], [], ['c: a', 'a: b'])).toBe('"a" needs "b" needs "c" needs "a"');
    expect(told(['b: c'], ['c: b'])).toBe('"b" needs "c" needs "b"');
    expect(resolve(['a: a']).refusal).toMatchObject({ code: 'requires/cycle', message: '"a" needs "a"' });
    expect(told(['a: a, gone'])).toBe('"a" needs "a"');
  });

  test('a version outside the range is reported with the version the source offers; the installed one stays', () => {
    const { added, refusal } = resolve(['report: pdf@>=2'], ['pdf@1.4'], ['pdf@2.1']);
    expect(added).toEqual([]);
    expect(refusal).toMatchObject({
      code: 'requires/version',
      message: '"report" needs "pdf@>=2", and the installed one is "1.4"; the source has "2.1"',
    });
    expect(resolve(['report: pdf@>=2', 'pdf@2.1'], ['pdf@1.4'])).toEqual({ added: [] });
  });

  test('a skill without a version matches no range', () => {
    expect(told(['report: pdf@*', 'pdf'])).toBe('"report" needs "pdf@*", and the requested one has no version');
    expect(told(['report: pdf@*', 'pdf@latest'])).toBe('"report" needs "pdf@*", and the requested one is "latest"');
  });

  test('an update that breaks an installed skill is reported; existing gaps of installed skills are not', () => {
    const { added, refusal } = resolve(['pdf@3'], ['report: pdf@^2, gone', 'pdf@2'], ['gone']);
    expect(added).toEqual([]);
    expect(refusal?.message).toBe('"report" needs "pdf@^2", and the requested one is "3"');
  });

  test('two requirements on one skill are both checked', () => {
    expect(told(['a: x@^1', 'b: x@^2'], [], ['x@1.5'])).toBe('"b" needs "x@^2", and the available one is "1.5"');
  });

  test('prototype property names are valid names', () => {
    expect(resolve(['constructor: valueof'], [], ['valueof'])).toEqual({ added: ['valueof'] });
    expect(resolve(['a: constructor']).refusal?.code).toBe('requires/missing');
  });

  test('a chain of 20,000 skills and many cycles take bounded time and memory', () => {
    const chain = Array.from({ length: 20_000 }, (_, at) => ({
      name: `s${String(at)}`,
      requires: [{ name: `s${String(at + 1)}` }],
    }));
    const { added, refusal } = resolveRequirements({ requested: chain.slice(0, 1), installed: [], available: chain });
    expect([added.length, added[0], refusal?.code]).toEqual([19_999, 's19999', 'requires/missing']);
    const names = Array.from({ length: 60 }, (_, at) => `t${String(at)}`);
    const thicket = names.map((name) => ({ name, requires: names.map((other) => ({ name: other })) }));
    const tangled = resolveRequirements({ requested: thicket, installed: [], available: [] });
    expect(tangled.refusal).toMatchObject({ code: 'requires/cycle', message: '"t0" needs "t0", and 19 more' });
  });

  test('whatever the graph: each skill comes once and after its needs unless a circle is told, and input order says nothing', () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const skills = fc.uniqueArray(
      fc.record({
        name: fc.constantFrom(...names),
        requires: fc.array(
          fc.constantFrom(...names).map((name) => ({ name })),
          { maxLength: 3 },
        ),
      }),
      { selector: ({ name }) => name, maxLength: 6 },
    );
    fc.assert(
      fc.property(skills, skills, skills, (wanted, installed, available) => {
        const found = resolveRequirements({ requested: wanted, installed, available });
        const turned = resolveRequirements({
          requested: wanted.toReversed(),
          installed: installed.toReversed(),
          available: available.toReversed(),
        });
        expect(turned).toEqual(found);
        const { added, refusal } = found;
        expect(new Set(added).size).toBe(added.length);
        if (refusal?.code === 'requires/cycle') return;
        const names = (skills: readonly { readonly name: string }[]) => skills.map(({ name }) => name);
        for (const [at, one] of [...available, ...wanted].entries()) {
          const isWanted = at >= available.length;
          if (!isWanted && !added.includes(one.name)) continue;
          for (const { name } of one.requires) {
            const isThere = [...names(wanted), ...names(installed), ...added].includes(name);
            expect(isThere || refusal?.code === 'requires/missing').toBe(true);
            if (!isWanted && added.includes(name)) expect(added.indexOf(name)).toBeLessThan(added.indexOf(one.name));
          }
        }
      }),
      { numRuns: runs(200) },
    );
  });
});
