import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import {
  readRequirement,
  requirementRefusal,
  resolveRequirements,
  type RequiringSkill,
} from '../../../src/packs/requires/requires.ts';
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
    wanted: wanted.map(skill),
    installed: installed.map(skill),
    available: available.map(skill),
  });

describe('resolveRequirements', () => {
  test('requirements come first and are taken from the source if they are not installed', () => {
    const found = resolve(['report: charts, pdf'], ['pdf'], ['charts: fonts', 'fonts', 'unrelated']);
    expect(found).toEqual({
      order: ['fonts', 'charts', 'report'],
      added: ['fonts', 'charts'],
      missing: [],
      cycles: [],
      versionProblems: [],
    });
    expect(requirementRefusal(found)).toBeUndefined();
  });

  test('a missing skill is reported with its dependent, its source and similar names', () => {
    const found = resolve(['report: chart from owner/charts'], ['charts']);
    expect(found.missing).toEqual([
      { requirement: { name: 'chart', source: 'owner/charts' }, neededBy: 'report', nearest: ['charts'] },
    ]);
    expect(requirementRefusal(found)).toEqual({
      type: 'refused',
      code: 'requires/missing',
      message: '"report" needs "chart from owner/charts", which is not available ("charts"?)',
      hint: 'install the required skill, or add its source',
    });
  });

  test('cycles are reported from their first name, including cycles through installed skills', () => {
    expect(resolve(['b: c'], [], ['c: a', 'a: b']).cycles).toEqual([['a', 'b', 'c', 'a']]);
    expect(resolve(['b: c'], ['c: b']).cycles).toEqual([['b', 'c', 'b']]);
    const self = resolve(['a: a']);
    expect([self.cycles, self.order]).toEqual([[['a', 'a']], ['a']]);
    expect(requirementRefusal(self)).toMatchObject({ code: 'requires/cycle', message: '"a" needs "a"' });
  });

  test('a version outside the range is reported with the version the source offers; the installed one stays', () => {
    const found = resolve(['report: pdf@>=2'], ['pdf@1.4'], ['pdf@2.1']);
    expect(found.order).toEqual(['report']);
    expect(found.versionProblems).toEqual([
      {
        requirement: { name: 'pdf', range: '>=2' },
        neededBy: 'report',
        found: '1.4',
        where: 'installed',
        offered: '2.1',
      },
    ]);
    expect(requirementRefusal(found)).toMatchObject({
      code: 'requires/version',
      message: '"report" needs "pdf@>=2", and the installed one is "1.4"; the source has "2.1"',
    });
    expect(resolve(['report: pdf@>=2', 'pdf@2.1'], ['pdf@1.4']).versionProblems).toEqual([]);
  });

  test('a skill without a version matches no range', () => {
    for (const version of ['', '@latest'])
      expect(resolve([`report: pdf@*`, `pdf${version}`]).versionProblems).toHaveLength(1);
  });

  test('an update that breaks an installed skill is reported; existing gaps of installed skills are not', () => {
    const found = resolve(['pdf@3'], ['report: pdf@^2, gone', 'pdf@2'], ['gone']);
    expect([found.order, found.missing]).toEqual([['pdf'], []]);
    expect(found.versionProblems).toEqual([
      { requirement: { name: 'pdf', range: '^2' }, neededBy: 'report', found: '3', where: 'wanted' },
    ]);
  });

  test('two requirements on one skill are both checked', () => {
    const found = resolve(['a: x@^1', 'b: x@^2'], [], ['x@1.5']);
    expect(found.versionProblems.map(({ neededBy }) => neededBy)).toEqual(['b']);
  });

  test('prototype property names are valid names', () => {
    expect(resolve(['constructor: valueof'], [], ['valueof']).order).toEqual(['valueof', 'constructor']);
    expect(resolve(['a: constructor']).missing).toHaveLength(1);
  });

  test('a chain of 20,000 skills and many cycles take bounded time and memory', () => {
    const chain = Array.from({ length: 20_000 }, (_, at) => ({
      name: `s${String(at)}`,
      requires: [{ name: `s${String(at + 1)}` }],
    }));
    const found = resolveRequirements({ wanted: chain.slice(0, 1), installed: [], available: chain });
    expect([found.order.length, found.order[0], found.missing.length]).toEqual([20_000, 's19999', 1]);
    const names = Array.from({ length: 60 }, (_, at) => `t${String(at)}`);
    const thicket = names.map((name) => ({ name, requires: names.map((other) => ({ name: other })) }));
    expect(resolveRequirements({ wanted: thicket, installed: [], available: [] }).cycles).toHaveLength(20);
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
        const found = resolveRequirements({ wanted, installed, available });
        const turned = resolveRequirements({
          wanted: wanted.toReversed(),
          installed: installed.toReversed(),
          available: available.toReversed(),
        });
        expect(turned).toEqual(found);
        expect(new Set(found.order).size).toBe(found.order.length);
        for (const { name } of wanted) expect(found.order).toContain(name);
        if (found.cycles.length > 0) return;
        const all = new Map([...available, ...installed, ...wanted].map((one) => [one.name, one]));
        for (const [at, name] of found.order.entries())
          for (const needed of all.get(name)?.requires ?? [])
            if (found.order.includes(needed.name)) expect(found.order.indexOf(needed.name)).toBeLessThan(at);
            else
              expect(
                installed.some((one) => one.name === needed.name) ||
                  found.missing.some(({ requirement }) => requirement.name === needed.name),
              ).toBe(true);
      }),
      { numRuns: runs(200) },
    );
  });
});
