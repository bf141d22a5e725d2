/** Every function that the package exports, and the methods of what it returns, with wrong arguments: no raw error from inside. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, test } from 'vitest';

import { isSkillError } from '../src/core/errors.ts';
import { PROJECT } from './files-below.ts';

const manifest: { readonly exports: Readonly<Record<string, { readonly default?: string }>> } = JSON.parse(
  readFileSync(path.join(PROJECT, 'package.json'), 'utf8'),
);
const entries = Object.entries(manifest.exports).flatMap(([door, { default: file }]) =>
  file?.endsWith('.js') === true ? [[door, pathToFileURL(path.join(PROJECT, file)).href] as const] : [],
);
const folder = mkdtempSync(path.join(os.tmpdir(), 'skillwright-arguments-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** No function is usable with one of these as its first argument, and an option of another type. */
const WRONG: readonly unknown[] = [
  null,
  5,
  true,
  Symbol('s'),
  () => 1,
  [5],
  { nonsense: 1 },
  { cwd: 5 },
  { env: null },
];
const NUL = `${folder}/a\0b`;

/** The text of an error that is not a SkillError; nothing otherwise. */
async function rawError(run: () => unknown): Promise<string | undefined> {
  try {
    await run();
    return undefined;
  } catch (error) {
    return isSkillError(error) ? undefined : String(error);
  }
}

async function rawErrors(name: string, run: (...values: readonly unknown[]) => unknown): Promise<readonly string[]> {
  const calls = [[], ...WRONG.map((value) => [value]), ...WRONG.map((value) => ['x', value]), [NUL, {}], [{}, null]];
  const found: string[] = [];
  for (const values of calls) {
    const error = await rawError(() => run(...values));
    if (error !== undefined) found.push(`${name}(${values.map(String).join(', ')}): ${error}`);
  }
  return found;
}

/** They start something that goes on, with arguments that are right. */
const NOT_CALLED = new Set(['close', 'end', 'watch', 'openRules']);

async function methodErrors(name: string, value: object): Promise<readonly string[]> {
  const found: string[] = [];
  for (const [method, run] of Object.entries(value))
    if (typeof run === 'function' && !NOT_CALLED.has(method))
      found.push(...(await rawErrors(`${name}.${method}`, (...values) => Reflect.apply(run, value, values))));
  return found;
}

test.each(entries)('%s: wrong arguments give a SkillError', { timeout: 120_000 }, async (door, file) => {
  const exported: Readonly<Record<string, unknown>> = await import(file);
  const found: string[] = [];
  for (const [name, run] of Object.entries(exported)) {
    if (typeof run !== 'function' || /^class\b/.test(String(run)) || NOT_CALLED.has(name)) continue;
    found.push(...(await rawErrors(`${door} ${name}`, (...values) => Reflect.apply(run, undefined, values))));
  }
  expect(found).toEqual([]);
});

test('methods of a runtime, a session, its tools and a registry: wrong arguments give a SkillError', async () => {
  const options = { cwd: folder, home: folder, env: {} };
  const library = await import(entries.find(([door]) => door === '.')?.[1] ?? '');
  const { openSkillTools } = await import(entries.find(([door]) => door === './tools')?.[1] ?? '');
  const runtime = await library.createRuntime(options);
  const tools = await openSkillTools({ runtime: options });
  const found = [
    ...(await methodErrors('runtime', runtime)),
    ...(await methodErrors('registry', runtime.registry)),
    ...(await methodErrors('tools', tools)),
    ...(await methodErrors('session', tools.session)),
  ];
  await tools.session.close();
  expect(found).toEqual([]);
  await expect(runtime.startSession({ polcy: {} })).rejects.toMatchObject({
    code: 'input/invalid',
    message: 'startSession: options.polcy is not an option',
  });
});

test('a turn of a scripted model with an unknown member is refused, at any depth', async () => {
  const { openScripted } = await import(pathToFileURL(path.join(PROJECT, 'dist/lib/testing.js')).href);
  expect(() => openScripted([{ type: 'final_answer', answer: 'x' }])).toThrow('turns[0].type is not an option');
  expect(() => openScripted([{ expect: { contain: ['x'] } }])).toThrow('turns[0].expect.contain is not an option');
  const call = { name: 'load_skill', input: { name: 'x' }, id: '1' };
  const whole = { text: 'x', toolCalls: [call], expect: { matches: /x/u, contains: ['x'] }, error: new Error('x') };
  expect(openScripted([whole])).toMatchObject({ id: 'scripted' });
});

test('a misspelled option of openSkills names the one that was meant', async () => {
  const { openSkills } = await import(entries.find(([door]) => door === '.')?.[1] ?? '');
  const hintOf = async (options: object): Promise<string> =>
    openSkills({ from: folder, ...options }).then(String, (error: { readonly hint: string }) => error.hint);
  expect(await hintOf({ vocabluary: 'trpc' })).toContain('did you mean vocabulary?');
  expect(await hintOf({ execute: { aprove: () => true } })).toContain('did you mean approve?');
  expect(await hintOf({ policy: { denny: ['x'] } })).toContain('did you mean deny?');
  expect(await hintOf({ hints: { 'polcy/denied': 'x' } })).toContain('did you mean policy/denied');
  expect(await hintOf({ catalog: { buget: 5 } })).toContain('did you mean budget?');
  expect(await hintOf({ config: { skil_visibility: {} } })).toContain('did you mean skill_visibility?');
});
