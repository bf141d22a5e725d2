import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';

import { verifies } from '../conformance/verifies.ts';
import { BROKEN_SKILLS, makeBrokenSkills } from '../corpus/broken-skills.ts';
import { skillText, spawnCli, temporaryFolder, writeFiles } from './run-cli.ts';

interface Listed {
  readonly skills: readonly { readonly name: string; readonly dir: string }[];
  readonly diagnostics: readonly {
    readonly code: string;
    readonly path: string;
    readonly line: number;
    readonly column: number;
    readonly hint: string;
    readonly message: string;
  }[];
  readonly report: { readonly leftOut: readonly { readonly path: string }[]; readonly found: number };
}

const folder = temporaryFolder();
const GOOD = 20;
const kinds = Object.entries(BROKEN_SKILLS);
let listed: Listed;
let text: string;

beforeAll(async () => {
  makeBrokenSkills(path.join(folder, 'skills'));
  for (let place = 0; place < GOOD; place += 1)
    writeFiles(folder, {
      [`skills/good-${String(place)}/SKILL.md`]: skillText(
        `good-${String(place)}`,
        `Does the good work number ${String(place)}.`,
      ),
    });
  const words = ['list', '--root', 'skills', '--only-root', '--no-cache'];
  const [json, plain] = await Promise.all([spawnCli(folder, [...words, '--json']), spawnCli(folder, words)]);
  listed = JSON.parse(json.out) as Listed;
  text = plain.out;
});

const folderOf = (file: string): string => path.relative(path.join(folder, 'skills'), file).split(path.sep)[0] ?? '';

describe(`${String(kinds.length)} broken and ${String(GOOD)} good skills in one folder`, () => {
  verifies(['REG-5', 'REG-7', 'FMT-5'], 'every one is named exactly once: listed or left out', () => {
    const named = [
      ...listed.skills.map(({ dir }) => folderOf(dir)),
      ...listed.report.leftOut.map(({ path: file }) => folderOf(file)),
    ];
    const all = [
      ...kinds.map(([name]) => name),
      ...Array.from({ length: GOOD }, (_, place) => `good-${String(place)}`),
    ];
    expect(named.toSorted()).toEqual(all.toSorted());
    expect(listed.report.found).toBe(all.length);
  });

  test('every good one is listed without a word', () => {
    expect(listed.diagnostics.filter(({ path: file }) => folderOf(file).startsWith('good-'))).toEqual([]);
    expect(listed.skills.filter(({ name }) => name.startsWith('good-'))).toHaveLength(GOOD);
  });

  test.each(kinds)('%s gives one clear diagnostic', (name, { code, isListed }) => {
    const own = listed.diagnostics.filter(({ path: file }) => folderOf(file) === name);
    expect(own.map((diagnostic) => diagnostic.code)).toEqual([code]);
    expect(listed.skills.some(({ dir }) => folderOf(dir) === name)).toBe(isListed);
    expect(
      own.every(({ line, column, hint, message }) => line >= 1 && column >= 1 && hint !== '' && message !== ''),
    ).toBe(true);
  });

  verifies('FMT-7', 'nothing is printed raw: no control, direction or tag character in text or JSON', () => {
    const raw = /[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069\u{E0000}-\u{E007F}]/u;
    expect(raw.exec(text)).toBeNull();
    expect(listed.diagnostics.filter(({ message }) => raw.test(message))).toEqual([]);
    expect(listed.skills.filter((skill) => raw.test(JSON.stringify(skill)))).toEqual([]);
  });

  test('the text names every folder once', () => {
    const lines = text.split('\n');
    for (const [name, { isListed }] of kinds) {
      if (!isListed)
        expect(
          lines.filter((line) => line.includes(`/skills/${name}/`)),
          name,
        ).toHaveLength(1);
    }
  });
});
