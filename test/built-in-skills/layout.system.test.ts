import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { run, SKILLS, withFolder } from './support.ts';

const NAMES = ['csv-report', 'skill-author', 'text-diff'];

const Frontmatter = z.strictObject({
  name: z.string().regex(/^[a-z0-9]+(-[a-z0-9]+)*$/),
  description: z
    .string()
    .min(100)
    .max(1024)
    .regex(/^[^<>]*$/),
  license: z.literal('MIT'),
  compatibility: z.string().min(1).max(500),
  metadata: z.strictObject({ version: z.literal('0.1.0'), author: z.literal('skillwright') }),
});
const Evals = z.strictObject({
  skill_name: z.string(),
  evals: z
    .array(
      z.strictObject({
        id: z.int(),
        prompt: z.string().min(10),
        expected_output: z.string().min(10),
        files: z.array(z.string()),
        expectations: z.array(z.string().min(5)).min(2),
      }),
    )
    .min(4),
});
const Triggers = z.array(z.strictObject({ query: z.string().min(5), should_trigger: z.boolean() }));

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

const readJson = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));

function skillText(name: string): { front: unknown; body: string } {
  const match = /^---\n(.*?)\n---\n(.*)$/s.exec(readFileSync(join(SKILLS, name, 'SKILL.md'), 'utf8'));
  return { front: parse(match?.[1] ?? ''), body: match?.[2] ?? '' };
}

function quickstart(name: string): string {
  const section = /^## Quickstart\n(.*?)^## /ms.exec(skillText(name).body)?.[1] ?? '';
  const blocks = [...section.matchAll(/^```sh\n(.*?)^```/gms)].map((match) => (match[1] ?? '').trim());
  expect(blocks).toHaveLength(1);
  return blocks[0] ?? '';
}

test('exactly these skills are shipped, and no other file is called SKILL.md', () => {
  expect(readdirSync(SKILLS).toSorted()).toEqual(NAMES);
  const found = filesIn(SKILLS).filter((path) => path.endsWith('SKILL.md'));
  expect(found.toSorted()).toEqual(NAMES.map((name) => join(SKILLS, name, 'SKILL.md')));
});

describe.each(NAMES)('%s', (name) => {
  const folder = join(SKILLS, name);

  test('frontmatter follows the specification', () => {
    const { front, body } = skillText(name);
    expect(Frontmatter.parse(front).name).toBe(name);
    expect(body.split('\n').length).toBeLessThan(500);
  });

  test('evals have the community shape and their files exist', () => {
    const { skill_name, evals } = Evals.parse(readJson(join(folder, 'evals/evals.json')));
    expect(skill_name).toBe(name);
    expect(new Set(evals.map((one) => one.id)).size).toBe(evals.length);
    for (const file of evals.flatMap((one) => one.files)) expect(statSync(join(folder, file)).isFile()).toBe(true);
  });

  test('trigger evals have both answers in English and Chinese, without repeats', () => {
    const triggers = Triggers.parse(readJson(join(folder, 'evals/trigger-eval.json')));
    const positive = triggers.filter((one) => one.should_trigger);
    const negative = triggers.filter((one) => !one.should_trigger);
    expect(positive.length).toBeGreaterThanOrEqual(8);
    expect(negative.length).toBeGreaterThanOrEqual(6);
    for (const list of [positive, negative]) {
      expect(list.some((one) => /\p{Script=Han}/u.test(one.query))).toBe(true);
      expect(list.some((one) => /^[\x20-\x7e]+$/.test(one.query))).toBe(true);
    }
    expect(new Set(triggers.map((one) => one.query)).size).toBe(triggers.length);
  });

  test('scripts can be run, print help and refuse unknown options', async () => {
    for (const entry of readdirSync(join(folder, 'scripts'), { withFileTypes: true }).filter((one) => one.isFile())) {
      const path = join(folder, 'scripts', entry.name);
      expect(readFileSync(path, 'utf8')).toMatch(/^#!\/usr\/bin\/env (node|python3)\n/);
      // Windows keeps no exec bit.
      expect(process.platform === 'win32' || (statSync(path).mode & 0o111) === 0o111).toBe(true);
      if (!path.endsWith('.mjs')) continue;
      const help = await run(process.execPath, [path, '--help']);
      expect([help.code, help.stderr]).toEqual([0, '']);
      expect(help.text).toMatch(/^usage: /);
      const wrong = await run(process.execPath, [path, '--no-such-option']);
      expect([wrong.code, wrong.text]).toEqual([2, '']);
      expect(wrong.stderr).toContain('--no-such-option');
    }
  });

  test('the Quickstart command runs as it stands', async () => {
    const command = quickstart(name);
    expect(command).toMatch(/^node scripts\/[a-z]+\.mjs [^\n|&;<>$`]+$/);
    const [, ...args] = command.split(' ');
    const { code, text } = await run(process.execPath, args, { cwd: folder });
    expect(code).toBe(0);
    expect(text.length).toBeGreaterThan(100);
  });

  test('the outline script finds no problem', async () => {
    const { text } = await run(process.execPath, [join(SKILLS, 'skill-author/scripts/outline.mjs'), folder]);
    const outline = z.object({ skill: z.string(), problems: z.array(z.string()) }).parse(JSON.parse(text));
    expect(outline).toMatchObject({ skill: name, problems: [] });
  });

  test('files are short and name no machine or registry', () => {
    for (const path of filesIn(folder)) {
      const text = readFileSync(path, 'utf8');
      const faults = {
        long: text.split('\n').length >= 400,
        place: /\/home\/|\/Users\/|\/root\/|\/work\/|https?:\/\//.test(text),
        binary: text.includes('\0'),
      };
      expect([path, faults]).toEqual([path, { long: false, place: false, binary: false }]);
    }
  });
});

test('nothing but the given folder is written, and no cache is left behind', async () => {
  await withFolder(async (folder) => {
    const before = filesIn(SKILLS);
    const input = join(SKILLS, 'csv-report/assets/example.csv');
    await run(process.execPath, [join(SKILLS, 'csv-report/scripts/report.mjs'), input, '--out', folder], {
      cwd: folder,
    });
    expect(readdirSync(folder).toSorted()).toEqual(['report.json', 'report.md']);
    expect(filesIn(SKILLS)).toEqual(before);
  });
});
