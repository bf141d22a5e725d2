import { appendFileSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { isRefusal } from '../../../src/packs/problems.ts';
import { openKeyFile, openPinnedKeys, writeNewKey } from '../../../src/packs/sign/keys.ts';
import { signPack } from '../../../src/packs/sign/sign.ts';
import { packName, packSkills, skillsToPack } from '../../../src/packs/pack/pack.ts';
import { restoreLock } from '../../../src/packs/lock/restore-lock.ts';
import { sbomOfRoot } from '../../../src/packs/pack/sbom.ts';
import { updateSkills } from '../../../src/packs/update/update.ts';
import { verifyRoot } from '../../../src/packs/verify-root.ts';
import { verifies } from '../../conformance/verifies.ts';
import { AT, packWorld, type PackWorld } from '../support.ts';

const version = (text: string): readonly string[] => ['metadata:', `  version: "${text}"`];

/** Packs `source` of the project to `pack.zip`, over what is there. */
async function packed({ project, settings }: PackWorld) {
  const skills = skillsToPack(path.join(project, 'source'));
  if ('type' in skills) throw new Error(skills.message);
  const built = await packSkills({ settings, skills, out: path.join(project, 'pack.zip'), force: true });
  if (isRefusal(built)) throw new Error(built.message);
  return built;
}

describe('skills to pack', () => {
  test('are a folder itself or those directly in it, by the names that they give themselves', () => {
    const { project, skill } = packWorld();
    const tables = skill('source/tables', {}, version('1.0.0'));
    const letters = skill('source/letters');
    mkdirSync(path.join(project, 'source/notes'));
    skill('source/tables/assets/inner');
    symlinkSync(letters, path.join(project, 'source/link'));
    const both = [
      { dir: letters, name: 'letters' },
      { dir: tables, name: 'tables', version: '1.0.0' },
    ];
    expect(skillsToPack(path.join(project, 'source'))).toEqual(both);
    expect(skillsToPack(tables)).toEqual(both.slice(1));
    expect(skillsToPack(path.join(project, 'source/notes'))).toMatchObject({ code: 'pack/no-skill' });
    expect(skillsToPack(path.join(project, 'nowhere'))).toMatchObject({ code: 'source/missing' });
    expect(skillsToPack(path.join(tables, 'SKILL.md'))).toMatchObject({ code: 'source/missing' });
  });

  test('name the pack, whatever somebody wrote as a version', () => {
    const one = { dir: '/x', name: 'tables' };
    expect([
      packName([one]),
      packName([{ ...one, version: '1.0.0-rc.1+b' }]),
      packName([{ ...one, version: '../../etc' }]),
      packName([one, one]),
    ]).toEqual(['tables.zip', 'tables-1.0.0-rc.1+b.zip', 'tables-.._.._etc.zip', 'skills.zip']);
  });

  test('are checked strictly', async () => {
    const world = packWorld();
    const dir = world.skill('source/tables');
    writeFileSync(path.join(dir, 'SKILL.md'), '---\nname: tables\ndescription: Use when: somebody asks\n---\n\n# T\n');
    const skills = [{ dir, name: 'tables' }];
    expect(await packSkills({ settings: world.settings, skills })).toMatchObject({ code: 'pack/format' });
  });
});

describe('a pack that is built anew', () => {
  verifies('PACK-6', 'updates what changed in it, and the lock still reproduces what did not', async () => {
    const world = packWorld();
    const tables = world.skill('source/tables');
    world.skill('source/letters');
    await packed(world);
    expect(await world.install('./pack.zip')).toMatchObject({ isDone: true });
    appendFileSync(path.join(tables, 'SKILL.md'), 'More.\n');
    await packed(world);
    expect(await updateSkills({ settings: world.settings, confirm: async () => true, at: AT })).toMatchObject({
      skills: [
        { name: 'letters', status: 'current' },
        { name: 'tables', status: 'update' },
      ],
    });
    for (const name of ['tables', 'letters']) rmSync(path.join(world.root, name), { recursive: true });
    expect(await restoreLock({ settings: world.settings })).toMatchObject({ brought: ['letters', 'tables'] });
    expect(await verifyRoot(world.root)).toMatchObject({ isIntact: true });
  });

  verifies('PACK-1', 'with an older version, or without the signature of before, is taken only by force', async () => {
    const world = packWorld();
    const { settings, project, home } = world;
    const made = await writeNewKey({ folder: home, name: 'anna' });
    if (isRefusal(made)) throw new Error(made.message);
    await openPinnedKeys({ home }).add('anna', made.publicText);
    const publish = async (text: string, isSigned = true): Promise<void> => {
      world.skill('source/tables', {}, version(text));
      const { manifest } = await packed(world);
      const key = await openKeyFile(made.secretFile);
      if (key.type === 'invalid') throw new Error(key.reason);
      rmSync(path.join(project, 'pack.zip.minisig'), { force: true });
      if (isSigned) signPack({ file: path.join(project, 'pack.zip'), manifest, key });
    };
    const update = (mode: 'refuse' | 'force' = 'refuse') => updateSkills({ settings, mode, confirm: async () => true });
    await publish('1.1.0');
    expect(await world.install('./pack.zip')).toMatchObject({ plan: { signedBy: made.id } });
    await publish('1.0.0');
    expect(await update()).toMatchObject({ skills: [{ refusal: { code: 'signature/rollback' } }] });
    await publish('1.2.0', false);
    expect(await update()).toMatchObject({ skills: [{ refusal: { code: 'signature/downgrade' } }] });
    await publish('1.2.0');
    expect(await update()).toMatchObject({ skills: [{ status: 'update', lock: { signedBy: made.id } }] });
    await publish('1.0.0');
    expect(await update('force')).toMatchObject({ skills: [{ status: 'update', lock: { version: '1.0.0' } }] });
  });
});

test('a bill of materials has the files as they are, and no signature for what was changed', async () => {
  const { install, skill, root, settings } = packWorld();
  skill('source/tables', { 'run.sh': '#!/bin/sh\n' }, [...version('1.0.0'), 'license: MIT']);
  skill('source/letters');
  await install('./source');
  const first = sbomOfRoot(settings, { now: AT });
  expect(first).toMatchObject({
    names: ['letters', 'tables'],
    notes: [],
    sbom: { metadata: { timestamp: '2026-01-02T03:04:05Z' }, components: [{ type: 'data' }, { type: 'application' }] },
  });
  expect(sbomOfRoot(settings, { now: AT })).toEqual(first);
  appendFileSync(path.join(root, 'tables/SKILL.md'), 'mine\n');
  expect(sbomOfRoot(settings, { names: ['tables'] })).toMatchObject({
    notes: ['"tables" was edited: the list describes the edited files'],
  });
  rmSync(path.join(root, 'tables'), { recursive: true });
  expect(sbomOfRoot(settings)).toMatchObject({ type: 'refused' });
  expect(sbomOfRoot(settings, { names: ['nobody'] })).toMatchObject({ code: 'install/not-installed' });
  expect(sbomOfRoot(packWorld().settings)).toMatchObject({ code: 'lock/missing' });
});
