import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { findOmission } from '../../src/packs/sources/skill-folders.ts';
import { isRefusal, type PackRefusal } from '../../src/packs/problems.ts';
import { buildPack } from '../../src/packs/pack/build-pack.ts';
import { readTreeDigest } from '../../src/platform/fs/tree-digest.ts';
import type { Installed, InstallPlan } from '../../src/packs/install/options.ts';
import { verifyRoot } from '../../src/packs/verify-root.ts';
import { verifies } from '../conformance/verifies.ts';
import { makeTarGz } from '../corpus/archives-make-tar.ts';
import { makeZip } from '../corpus/archives-make-zip.ts';
import { SKILL_TEXT } from '../corpus/archives-sample.ts';
import { harvest, plant, type Tree } from '../platform/fs/tree-support.ts';
import { runs } from '../property-runs.ts';
import { packWorld, type PackWorld } from './support.ts';

interface Entry {
  readonly name: string;
  readonly content: string;
  readonly isProgram: boolean;
}

const oneOf = (names: string): fc.Arbitrary<string> => fc.constantFrom(...names.split('|'));
/** Names that are fine alone; together they may be one, or a file and a folder. */
const GOOD = fc.oneof(
  oneOf('a|A|b.md|scripts|é|e\u0301|数据|x y|ß|SS|node_modules|_x|skill.md'),
  oneOf('.gitignore|.skillignore|.env.example|.gitkeep'),
);
/** Ends of paths that are left out. */
const HIDDEN = fc.oneof(
  oneOf('.env|.Env|.git/config|.git|.GIT/config|.claude/x.json|.DS_Store|.ds_store|__MACOSX/a|__macosx/A'),
  oneOf('.gitignore/a|.GITIGNORE|.GitIgnore/a|.skillignore/SKILL.md|.Env.example|.gitkeep/x'),
  oneOf('.é|.e\u0301|.é/x|.h/é|.h/e\u0301|.h/A|.h/a/b|.h/.env'),
);
/** And those that are not. */
const BAD = fc.constantFrom('..', '.', '', 'con', 'x.', 'a\\b', 'C:', '\u202e', '\u001b[2J', '__MACOSX', 'SKILL.md');

function entries(part: fc.Arbitrary<string>): fc.Arbitrary<readonly Entry[]> {
  const entry = fc.record({
    name: fc
      .tuple(fc.array(part, { minLength: 1, maxLength: 4 }), fc.option(HIDDEN, { freq: 3, nil: undefined }))
      .map(([parts, hidden]) => ['sample', ...(hidden === undefined ? parts : [...parts.slice(1), hidden])].join('/')),
    content: fc.string({ maxLength: 40 }),
    isProgram: fc.boolean(),
  });
  return fc.array(entry, { maxLength: 6 });
}

/** Two names that are the same file on some systems, where neither is taken along, or only one is. */
const ONE_NAME: readonly (readonly Entry[])[] = [
  ['sample/.gitignore/A/.env', 'sample/.gitignore/a'],
  ['sample/.env', 'sample/.Env'],
  ['sample/.git', 'sample/.GIT/config'],
  ['sample/.gitignore', 'sample/.GITIGNORE'],
].map((names) => names.map((name) => ({ name, content: '', isProgram: false })));
const SKILL: Entry = { name: 'sample/SKILL.md', content: SKILL_TEXT, isProgram: false };
const folders = (all: readonly Entry[]): readonly string[] => [
  ...new Set(
    all.flatMap(({ name }) =>
      name
        .split('/')
        .slice(0, -1)
        .map((_, at, parts) => `${parts.slice(0, at + 1).join('/')}/`),
    ),
  ),
];

/** As packers do: folders have entries of their own. */
function zipOf(all: readonly Entry[]): Buffer {
  const files = all.map(({ name, content, isProgram }) => ({ name, content, mode: isProgram ? 0o100755 : 0o100644 }));
  return makeZip([...folders(all).map((name) => ({ name })), ...files]);
}

function tarOf(all: readonly Entry[]): Buffer {
  const files = all.map(({ name, content, isProgram }) => ({ name, content, mode: isProgram ? 0o755 : 0o644 }));
  return makeTarGz([...folders(all).map((name) => ({ name })), ...files]);
}

/** What a file system can hold: no name is both a file and a folder. */
function storable(all: readonly Entry[]): readonly Entry[] {
  const files = new Map([SKILL, ...all].map((entry) => [entry.name, entry]));
  const within = folders([...files.values()]);
  return [...files.values()].filter(({ name }) => !within.includes(`${name}/`));
}

function treeOf(held: readonly Entry[]): Tree {
  return Object.fromEntries(
    held.map(({ name, content, isProgram }) => [name, isProgram ? { program: content } : content]),
  );
}

const seen = (end: Installed | PackRefusal): unknown =>
  isRefusal(end)
    ? end.code
    : {
        skills: end.plan.skills.map(({ skill: { notes }, lock: { name, digest, files } }) => ({
          name,
          digest,
          files,
          notes,
        })),
        leftOut: end.plan.leftOut.toSorted(),
      };

verifies('PACK-5', 'no accepted tree differs from what was inspected, whatever an archive holds', async () => {
  const world = packWorld();
  const around = (): unknown =>
    Object.keys(harvest(path.dirname(world.project))).filter((name) => !/\/(?:\.agents\/|pack\.)/.test(name));
  const before = around();
  const outcomes = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(entries(fc.oneof({ weight: 9, arbitrary: GOOD }, BAD)), fc.boolean(), async (all, isZip) => {
      rmSync(world.root, { recursive: true, force: true });
      const name = isZip ? 'pack.zip' : 'pack.tar.gz';
      const held = [SKILL, ...all];
      writeFileSync(path.join(world.project, name), isZip ? zipOf(held) : tarOf(held));
      const shown: InstallPlan[] = [];
      const end = await world.install(`./${name}`, {
        confirm: async (plan) => {
          shown.push(plan);
          return true;
        },
      });
      const outcome = isRefusal(end) ? end.code : end.type;
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      expect(around()).toEqual(before);
      const found = Object.fromEntries(
        Object.entries(harvest(world.root)).filter(([file]) => file.startsWith('sample/') && !file.endsWith('/')),
      );
      if (isRefusal(end)) {
        expect(found).toEqual({});
        return;
      }
      const kept = held.filter((entry) => findOmission(entry.name, 'file') === undefined);
      const expected = kept.map((entry): readonly [string, string] => [
        entry.name.normalize('NFC'),
        `${entry.isProgram ? 'x ' : ''}${Buffer.from(entry.content).toString('base64')}`,
      ]);
      expect(found).toEqual(Object.fromEntries(expected));
      const [planned] = shown[0]?.skills ?? [];
      expect(await readTreeDigest(path.join(world.root, 'sample'))).toMatchObject({ digest: planned?.skill.digest });
      expect(await verifyRoot(world.root)).toMatchObject({ isIntact: true });
    }),
    { numRuns: runs(120, 30) },
  );
  // Both ends were seen, so that the law was not kept by refusing everything.
  expect([outcomes.get('installed') ?? 0, outcomes.size]).toEqual([
    expect.toSatisfy((count: number) => count > 5),
    expect.toSatisfy((count: number) => count > 2),
  ]);
});

/** What comes of one tree as a folder, as a zip and as a tar.gz. */
async function seenThrice({ project, root, install }: PackWorld, held: readonly Entry[]): Promise<readonly unknown[]> {
  const source = path.join(project, 'source');
  for (const place of [source, root]) rmSync(place, { recursive: true, force: true });
  plant(source, treeOf(held));
  writeFileSync(path.join(project, 'pack.zip'), zipOf(held));
  writeFileSync(path.join(project, 'pack.tar.gz'), tarOf(held));
  return [
    await install('./source', { dryRun: true }),
    await install('./pack.zip', { dryRun: true }),
    await install('./pack.tar.gz', { dryRun: true }),
  ].map(seen);
}

describe('a folder, a zip and a tar.gz of it are one tree', () => {
  test('the same digest, the same left out, the same refusal', async () => {
    const world = packWorld();
    await fc.assert(
      fc.asyncProperty(entries(GOOD), async (all) => {
        const [folder, zip, tar] = await seenThrice(world, storable(all));
        expect(zip).toEqual(folder);
        expect(tar).toEqual(folder);
      }),
      { numRuns: runs(80, 20), examples: ONE_NAME.map((all) => [all]) },
    );
  });

  test('also where the system that it lies on takes names apart', async () => {
    const name = 'résumé'.normalize('NFC');
    const apart = name.normalize('NFD');
    const held = [
      { ...SKILL, name: `${apart}/SKILL.md`, content: SKILL_TEXT.replace('sample', name) },
      { ...SKILL, name: `${apart}s/node_modules/x`, content: '' },
      { ...SKILL, name: `${apart}s/skill.md`, content: '' },
    ];
    const expected = {
      skills: [{ name, digest: expect.any(String), files: { 'SKILL.md': expect.anything() }, notes: [] }],
      leftOut: [`${name}s/node_modules/: not searched`, `${name}s/skill.md: it must be called SKILL.md`],
    };
    expect(await seenThrice(packWorld(), held)).toEqual([expected, expected, expected]);
    const bare = [{ ...SKILL, name: `${apart}/SKILL.md`, content: 'no frontmatter' }];
    expect(await seenThrice(packWorld(), bare)).toEqual(['pack/format', 'pack/format', 'pack/format']);
  });
});

verifies('PACK-5', 'whatever is packed is installed as its manifest says', async () => {
  const world = packWorld();
  const [dir, out] = [path.join(world.project, 'source/sample'), path.join(world.project, 'pack.zip')];
  await fc.assert(
    fc.asyncProperty(entries(GOOD), async (all) => {
      const held = storable(all);
      for (const place of [dir, world.root]) rmSync(place, { recursive: true, force: true });
      plant(path.dirname(dir), treeOf(held));
      const built = await buildPack({ skills: [{ dir, name: 'sample' }], out, force: true, allowSecrets: true });
      if (isRefusal(built)) {
        // Ignore files that are folders, or that ignore everything.
        expect(['archive/collision', 'source/failed', 'pack/no-skill']).toContain(built.code);
        return;
      }
      const [{ digest, files } = { digest: '', files: {} }] = built.manifest.skills;
      expect(seen(await world.install('./pack.zip'))).toEqual({
        skills: [{ name: 'sample', digest, files, notes: [] }],
        leftOut: [],
      });
    }),
    { numRuns: runs(80, 20) },
  );
});
