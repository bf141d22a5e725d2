/** Programs that bundlers made of the library, away from its package, and its pure part in a world without Node. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { build, type Plugin } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { OPTIONAL_PACKAGES } from '../src/platform/optional-package.ts';
import { PROJECT } from './files-below.ts';

const folder = mkdtempSync(path.join(os.tmpdir(), 'skillwright-bundles-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The program of a user who has none of the optional packages. */
const withoutOptional: Plugin = {
  name: 'without-optional',
  setup(bundler) {
    const filter = new RegExp(`^(?:${Object.keys(OPTIONAL_PACKAGES).join('|')})(?:/|$)`);
    bundler.onResolve({ filter }, ({ path: name }) => ({ errors: [{ text: `${name} is not installed` }] }));
  },
};

describe('a program that esbuild bundles as CommonJS', () => {
  const run = (...words: string[]): string =>
    execFileSync(process.execPath, ['app/dist/main.cjs', ...words], {
      cwd: folder,
      env: { PATH: process.env['PATH'] ?? '', HOME: folder },
      encoding: 'utf8',
      timeout: 60_000,
    });

  beforeAll(async () => {
    // A folder that is at the place of our own, seen from the bundle.
    mkdirSync(path.join(folder, 'app/skills/decoy'), { recursive: true });
    writeFileSync(path.join(folder, 'app/package.json'), '{"name":"app"}');
    writeFileSync(path.join(folder, 'app/skills/decoy/SKILL.md'), '---\nname: decoy\ndescription: Not ours.\n---\n');
    const source = `
      import { createRuntime, memorySkills, openSkills } from 'skillwright';
      import { openSkillServer } from 'skillwright/mcp';
      async function main() {
        if (process.argv[2] === 'built-in') {
          const { index } = await createRuntime({ cache: false });
          return index.skills.map(({ name }) => name).join();
        }
        const library = await openSkills({ from: memorySkills([{ name: 'mem', description: 'x', body: 'canary' }]) });
        const chat = await library.conversation();
        const { text } = await chat.call('load_skill', { skill: 'mem' });
        const runtime = await createRuntime({ builtin: false, cache: false });
        const code = await openSkillServer({ runtime, version: '1', onWarning() {} }).catch((error) => error.code);
        await library.close();
        return [text.includes('canary'), code];
      }
      main().then(console.log, (error) => console.log(error.code, error.hint));`;
    await build({
      stdin: { contents: source, resolveDir: PROJECT },
      alias: {
        'skillwright/mcp': path.join(PROJECT, 'dist/lib/mcp.js'),
        skillwright: path.join(PROJECT, 'dist/lib/index.js'),
      },
      plugins: [withoutOptional],
      outfile: path.join(folder, 'app/dist/main.cjs'),
      bundle: true,
      platform: 'node',
      format: 'cjs',
      logLevel: 'error',
    });
  });

  test('reads skills, answers calls, and says which optional package is missing', () => {
    expect(run()).toBe("[ true, 'package/missing' ]\n");
  });

  test('names the setting where files of the package are missing, and finds them where it is installed', () => {
    expect(run('built-in')).toContain(
      "io/failed keep the package skillwright out of the bundle: `external: ['skillwright']` of esbuild",
    );
    mkdirSync(path.join(folder, 'node_modules'));
    symlinkSync(PROJECT, path.join(folder, 'node_modules/skillwright'));
    expect(run('built-in')).toBe('csv-report,skill-author,text-diff\n');
  });
});

test('skillwright/core reads a skill and plans a catalog where nothing of Node exists', async () => {
  const source = `
    import { memorySkills, parseSkillMd, planCatalog } from 'skillwright/core';
    const [{ name, skillMd }] = memorySkills([{ name: 'tone', description: 'How we write.', body: 'Short.' }]).list();
    const source = { text: skillMd, path: 'SKILL.md', directory: name, fileName: 'SKILL.md', validUtf8: true };
    const { head, body } = parseSkillMd(source, { mode: 'strict' });
    const item = { name: head.name, description: head.description, source: 'memory', state: 'auto', priority: 1 };
    result = { body, catalog: planCatalog([item], { budget: 500, format: 'markdown', searchTool: undefined }).text };`;
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: PROJECT },
    alias: { 'skillwright/core': path.join(PROJECT, 'dist/lib/core.js') },
    bundle: true,
    write: false,
    platform: 'browser',
    format: 'iife',
    logLevel: 'error',
  });
  const world: { result?: unknown } = { result: undefined };
  runInContext(outputFiles[0]?.text ?? '', createContext(world));
  expect(world.result).toEqual({ body: '\nShort.\n', catalog: expect.stringContaining('How we write.') });
});
