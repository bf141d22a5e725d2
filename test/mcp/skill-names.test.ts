/** Names of skills of one server, from all URIs of its listing. */
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { nameSkills } from '../../src/mcp/skill-names.ts';

const named = (uris: readonly string[], taken: readonly string[] = []): Readonly<Record<string, string>> =>
  Object.fromEntries(
    nameSkills(
      uris.map((uri) => `${uri}/SKILL.md`),
      new Set(taken),
    ),
  );

test('equal names are told apart by the folders before them, in any order', () => {
  const uris = ['skill://acme/billing/refunds', 'skill://acme/support/refunds', 'skill://acme/greet'];
  const expected = {
    'skill://acme/billing/refunds/SKILL.md': 'billing-refunds',
    'skill://acme/support/refunds/SKILL.md': 'support-refunds',
    'skill://acme/greet/SKILL.md': 'greet',
  };
  expect(named(uris)).toEqual(expected);
  expect(named(uris.toReversed())).toEqual(expected);
});

test('a name that another URI has, or that is taken, is told apart by its URI', () => {
  const uris = ['skill://a/b-refunds', 'skill://b/refunds', 'skill://c/refunds', 'github://c/refunds'];
  const names = Object.values(named(uris, ['greet']));
  expect(new Set(names).size).toBe(4);
  expect(names).not.toContain('refunds');
  expect(Object.values(named(['skill://greet'], ['greet']))).toEqual([expect.stringMatching(/^greet-[0-9a-f]{8}$/)]);
});

test('names of random listings are unique, valid and independent of the order', () => {
  const segment = fc.constantFrom('a', 'b', 'refunds', 'A-B', 'a-b', '%2e', '\u202e', 'x'.repeat(80), '');
  const uri = fc.array(segment, { maxLength: 4 }).map((parts) => `skill://${parts.join('/')}/SKILL.md`);
  fc.assert(
    fc.property(fc.uniqueArray(uri, { maxLength: 12 }), (uris) => {
      const names = nameSkills(uris);
      expect(new Set(names.values()).size).toBe(uris.length);
      for (const name of names.values()) expect(name).toMatch(/^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/);
      expect(Object.fromEntries(nameSkills(uris.toReversed()))).toEqual(Object.fromEntries(names));
    }),
  );
});
