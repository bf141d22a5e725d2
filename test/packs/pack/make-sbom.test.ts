import { expect, test } from 'vitest';

import { formatSbom, makeSbom } from '../../../src/packs/pack/sbom.ts';
import { scratch } from '../../skills/registry/support.ts';
import { packed, plantDemo, skillsIn } from './pack-world.ts';

const now = new Date('2026-01-31T12:00:00.500Z');

test('the same skills have the same bill of materials, and changed ones another number', async () => {
  const base = scratch();
  for (const name of ['one', 'two']) plantDemo(base, name);
  const { manifest } = await packed({ skills: skillsIn(base, 'one', 'two') });
  const bill = makeSbom(manifest.skills, { now });
  expect(formatSbom(makeSbom(manifest.skills.toReversed(), { now }))).toBe(formatSbom(bill));
  expect(bill.serialNumber).toMatch(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(bill.metadata).toMatchObject({ timestamp: '2026-01-31T12:00:00Z' });
  expect(bill.components.map(({ name, type, components }) => [name, type, components.length])).toEqual([
    ['one', 'application', 6],
    ['two', 'application', 6],
  ]);
  const [one, two] = manifest.skills;
  if (one === undefined || two === undefined) throw new Error('no skills');
  const other = makeSbom([one, { ...two, version: '1.0.1' }], { now });
  expect(other.serialNumber).not.toBe(bill.serialNumber);
});
