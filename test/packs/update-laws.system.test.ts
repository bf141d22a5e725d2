import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { expect } from 'vitest';

import { updateSkills } from '../../src/packs/update/update.ts';
import { verifyRoot } from '../../src/packs/verify-root.ts';
import { verifies } from '../conformance/verifies.ts';
import { leftovers, treeOf } from './root/support.ts';
import { packWorld } from './support.ts';
import { runs } from '../property-runs.ts';

const FILES = ['guide.md', 'data.bin', 'references/a.md', 'references/b.md'] as const;
/** The content of each file on one side; undefined if it does not exist. */
const contents = fc.record(
  Object.fromEntries(
    FILES.map((file) => [file, fc.constantFrom('one\ntwo\n', 'ONE\ntwo\n', 'one\nTWO\n', '\0bytes', undefined)]),
  ),
);
type Contents = Readonly<Record<string, string | undefined>>;

function write(dir: string, files: Contents): void {
  for (const [file, text] of Object.entries(files)) {
    const place = path.join(dir, file);
    rmSync(place, { force: true });
    if (text === undefined) continue;
    mkdirSync(path.dirname(place), { recursive: true });
    writeFileSync(place, text);
  }
}

function read(dir: string): Contents {
  const tree = treeOf(dir);
  return Object.fromEntries(
    FILES.map((file) => [file, file in tree ? readFileSync(path.join(dir, file), 'utf8') : undefined]),
  );
}

verifies('PACK-6', 'no update loses a local edit: it is refused, kept or backed up', async () => {
  await fc.assert(
    fc.asyncProperty(
      contents,
      contents,
      contents,
      fc.constantFrom('refuse', 'merge', 'keep', 'force' as const),
      async (base, local, incoming, mode) => {
        const world = packWorld();
        const source = world.skill('source/tables');
        const installed = path.join(world.root, 'tables');
        write(source, base);
        expect(await world.install('./source')).toMatchObject({ isDone: true });
        write(installed, local);
        write(source, incoming);
        const before = treeOf(world.root);
        const done = await updateSkills({ settings: world.settings, mode, confirm: async () => true });
        if (done.type === 'refused') throw new Error(done.message);
        const [update] = done.skills;
        expect(leftovers(world.root)).toEqual([]);
        if (update?.status !== 'update') {
          expect(treeOf(world.root)).toEqual(before);
          if (update?.status === 'current' && mode !== 'force') expect(incoming).toEqual(base);
          return;
        }
        const [kept] = done.kept;
        expect(read(kept?.path ?? '')).toEqual(local);
        const result = read(installed);
        for (const file of FILES) {
          const isEdited = local[file] !== base[file] && local[file] !== incoming[file];
          if (mode === 'force' || !isEdited) expect(result[file]).toBe(incoming[file]);
          else if (incoming[file] === base[file] || mode === 'keep') expect(result[file]).toBe(local[file]);
          else expect(update.merged).toContain(file);
        }
        // The lock describes the source, so drift is exactly what differs from the source.
        const verified = await verifyRoot(world.root);
        const drift = verified.type === 'verified' ? verified.skills[0]?.drift : undefined;
        expect([...(drift?.changed ?? []), ...(drift?.missing ?? []), ...(drift?.added ?? [])].toSorted()).toEqual(
          FILES.filter((file) => result[file] !== incoming[file]).toSorted(),
        );
      },
    ),
    { numRuns: runs(240) },
  );
});
