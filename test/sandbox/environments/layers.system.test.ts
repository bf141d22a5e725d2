import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { isProblem } from '../../../src/core/problem.ts';
import { openLayers, type BuiltTree, type Layers, type StoredLayer } from '../../../src/sandbox/environments/layers.ts';
import { scratch } from '../../skills/registry/support.ts';

const KEY = 'ab'.repeat(32);
const BUILT: BuiltTree = {
  ecosystem: 'python',
  lockDigest: `sha256:${'0'.repeat(64)}`,
  packages: [{ name: 'x', version: '1', hash: 'sha256:0' }],
  requested: ['x'],
  skills: ['reader'],
  index: 'test',
};

const layersIn = (folder: string): Layers => openLayers(folder, undefined);

async function buildLayer(layers: Layers, fill: (tree: string) => Promise<BuiltTree>): Promise<StoredLayer> {
  const built = await layers.build(KEY, fill);
  if (isProblem(built)) throw new Error(built.message);
  return built;
}

function filling(text: string): (tree: string) => Promise<BuiltTree> {
  return (tree) => {
    mkdirSync(path.join(tree, 'bin'));
    writeFileSync(path.join(tree, 'bin/tool'), text, { mode: 0o755 });
    return Promise.resolve(BUILT);
  };
}

test('two builds at once fill a layer once, and both get it', async () => {
  const folder = path.join(scratch(), 'layers');
  let fills = 0;
  const fill = async (tree: string): Promise<BuiltTree> => {
    fills += 1;
    await new Promise((resolve) => {
      setTimeout(resolve, 100);
    });
    return filling('one')(tree);
  };
  const [one, two] = await Promise.all([layersIn(folder).build(KEY, fill), layersIn(folder).build(KEY, fill)]);
  expect(fills).toBe(1);
  expect(two).toEqual(one);
  expect(readdirSync(folder)).toEqual([KEY]);
  expect(await layersIn(folder).find(KEY)).toEqual(one);
});

test('a killed build leaves no layer, and the next build removes what it left', async () => {
  const folder = path.join(scratch(), 'layers');
  const module = new URL('../../../dist/sandbox/environments/layers.js', import.meta.url).href;
  const program = `
    import { openLayers } from ${JSON.stringify(module)};
    import { writeFileSync } from 'node:fs';
    await openLayers(${JSON.stringify(folder)}, undefined).build(${JSON.stringify(KEY)}, async (tree) => {
      writeFileSync(tree + '/half', 'half');
      console.log('filling');
      await new Promise((resolve) => setTimeout(resolve, 60_000));
    });`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(readdirSync(folder).some((name) => name.startsWith('.build-'))).toBe(true);
  const layers = layersIn(folder);
  expect(await layers.find(KEY)).toBeUndefined();
  const layer = await buildLayer(layers, filling('whole'));
  expect(readFileSync(path.join(layer.tree, 'bin/tool'), 'utf8')).toBe('whole');
  expect(existsSync(path.join(layer.tree, 'half'))).toBe(false);
  expect(readdirSync(folder)).toEqual([KEY]);
});

test('a changed layer is not used; one that was only touched is', async () => {
  const layers = layersIn(path.join(scratch(), 'layers'));
  const { tree } = await buildLayer(layers, filling('good'));
  const tool = path.join(tree, 'bin/tool');
  utimesSync(tool, new Date(0), new Date(0));
  expect(await layers.find(KEY)).toMatchObject({ key: KEY });
  chmodSync(tool, 0o755);
  writeFileSync(tool, 'evil');
  expect(await layers.find(KEY)).toBeUndefined();
  expect(await layers.list()).toEqual([]);
  const again = await buildLayer(layers, filling('good'));
  chmodSync(path.join(again.tree, 'bin'), 0o755);
  writeFileSync(path.join(again.tree, 'bin/more'), '');
  expect(await layers.find(KEY)).toBeUndefined();
});

test('a failed build keeps the error and leaves nothing', async () => {
  const folder = path.join(scratch(), 'layers');
  await expect(layersIn(folder).build(KEY, () => Promise.reject(new Error('no network')))).rejects.toThrow(
    'no network',
  );
  expect(readdirSync(folder)).toEqual([]);
});

test('list and prune', async () => {
  const folder = path.join(scratch(), 'layers');
  const layers = layersIn(folder);
  const other = 'cd'.repeat(32);
  await layers.build(KEY, filling('one'));
  await layers.build(other, (tree) => filling('two')(tree).then((built) => ({ ...built, skills: ['other'] })));
  expect((await layers.list()).map(({ key, skills, requested, files }) => ({ key, skills, requested, files }))).toEqual(
    [
      { key: KEY, skills: ['reader'], requested: ['x'], files: 1 },
      { key: other, skills: ['other'], requested: ['x'], files: 1 },
    ],
  );
  expect(await layers.prune({ unusedSince: Date.now() - 60_000 })).toEqual([]);
  expect(await layers.prune({ unusedSince: Date.now() + 60_000, skill: 'other' })).toEqual([other]);
  expect(await layers.prune({ unusedSince: Date.now() + 60_000 })).toEqual([KEY]);
  expect(readdirSync(folder)).toEqual([]);
});

test('a layer that was deleted in part is built again, and pruned whatever its age', async () => {
  const folder = path.join(scratch(), 'layers');
  const layers = layersIn(folder);
  const built = await buildLayer(layers, filling('one'));
  rmSync(path.join(folder, KEY, 'layer.json'));
  expect(await layers.find(KEY)).toBeUndefined();
  const again = await buildLayer(layers, filling('two'));
  expect([again.tree, readFileSync(path.join(again.tree, 'bin/tool'), 'utf8')]).toEqual([built.tree, 'two']);
  rmSync(path.join(folder, KEY, 'layer.json'));
  expect(await layers.prune({ unusedSince: 0 })).toEqual([KEY]);
  expect(existsSync(path.join(folder, KEY))).toBe(false);
});
