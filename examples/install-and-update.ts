/** A pack is built and signed, installed by somebody who pinned the key, edited there, and updated with the edit kept. No network. */
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import * as packs from 'skillwright/packs';

const folder = mkdtempSync(path.join(os.tmpdir(), 'skillwright-packs-'));
const [source, home, pack] = [`${folder}/tables`, `${folder}/home`, `${folder}/tables.zip`];
const settings = must(
  packs.packSettings({ cwd: folder, home, env: {} }, { install: { require_signed: true } }, { root: `${folder}/root` }),
);

try {
  for (const made of [source, home]) mkdirSync(made);
  const { publicText, secretFile } = must(await packs.writeNewKey({ folder, name: 'anna' }));
  await packs.openPinnedKeys({ home }).add('anna', publicText);

  await publish('1.0.0', 'Sum the columns.');
  const installed = must(await packs.installSkills({ settings, source: pack, confirm: async () => true }));
  console.log('installed', ...installed.plan.skills.map(({ lock }) => `${lock.name} ${lock.version ?? ''}`));

  appendFileSync(`${settings.root}/tables/notes.md`, 'mine\n');
  const verified = must(await packs.verifyRoot(settings.root));
  console.log('added here', ...verified.skills.flatMap(({ drift }) => drift.added));

  await publish('1.1.0', 'Sum the columns and the rows.');
  const { skills } = must(await packs.findOutdated({ settings, workFolder: folder }));
  console.log('looked', ...skills.map(({ name, outdated }) => `${name} ${outdated.status}`));

  const updated = must(await packs.updateSkills({ settings, mode: 'merge', confirm: async () => true }));
  for (const update of updated.skills)
    if (update.status === 'update') console.log('updated to', update.lock.version, 'with', ...update.kept, 'kept');

  async function publish(version: string, body: string): Promise<void> {
    const head = `name: tables\ndescription: Sums tables. Use it for sums.\nmetadata:\n  version: "${version}"`;
    writeFileSync(`${source}/SKILL.md`, `---\n${head}\n---\n\n# Tables\n\n${body}\n`);
    const found = must(packs.skillsToPack(source));
    const { manifest } = must(await packs.packSkills({ settings, skills: found, out: pack, force: true }));
    const key = await packs.openKeyFile(secretFile);
    if (key.type === 'invalid') throw new Error(key.reason);
    must(packs.signPack({ file: pack, manifest, key, force: true }));
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function must<T extends object>(value: T | packs.PackRefusal): T {
  if (packs.isRefusal(value)) throw new Error(`${value.code}: ${value.message}`);
  return value;
}
