import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { extractPhrases, initCases } from '../../../src/evals/cases/init-cases.ts';
import { readCases } from '../../../src/evals/cases/read-cases.ts';
import { PROJECT } from '../../files-below.ts';
import { folderOf, inOrder } from './support.ts';

function written(skillDir: string, text: string): string {
  const file = path.join(skillDir, 'evals/cases.yaml');
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

const SKILL = `---
name: report
description: >-
  Makes reports. Use it when the user asks for a report, wants a summary or says "count my rows".
  Not for charts or editing tables.
---

# Report

\`\`\`quickstart
scripts/report.mjs {file:csv} --title {quoted?}
\`\`\`
`;

const FILL_IN = 'write the text of the case, or remove the key';

describe('generated cases', () => {
  test('come from the description, neighbouring skills and the quickstart', () => {
    const root = folderOf({
      'report/SKILL.md': SKILL,
      'report/scripts/report.mjs': '',
      'report/assets/a.csv': 'a\n',
      'other/SKILL.md': '---\nname: other\ndescription: Sings. Use when asked to sing.\n---\n\nx\n',
    });
    const dir = path.join(root, 'report');
    const { cases, problems } = readCases([written(dir, initCases(dir))]);
    expect(problems).toEqual([]);
    const load = { toolCalls: [{ name: 'load_skill', input: { skill: 'report' } }] };
    expect(cases.map(({ id, input, expect: asked }) => [id, input, asked.trigger])).toEqual([
      ['report-fires-1', 'count my rows', true],
      ['report-fires-2', 'a report', true],
      ['report-fires-3', 'a summary', true],
      ['report-stays-quiet-1', 'charts', false],
      ['report-stays-quiet-2', 'editing tables', false],
      ['report-stays-quiet-3', 'sing', false],
      ['report-stays-quiet-4', 'Thank you, that is all for today.', false],
      ['report-runs-1', 'Follow the quickstart of report with "these words".', undefined],
    ]);
    expect(cases[0]?.answers).toEqual({
      type: 'script',
      turns: [load, { text: 'The skill is loaded.' }],
      isHarnessCheck: true,
    });
    expect(cases[5]?.skills).toEqual({ target: 'report', folders: [dir, path.join(root, 'other')] });
    expect(cases.at(-1)).toMatchObject({
      files: [path.join(dir, 'assets/a.csv')],
      approve: 'yes',
      expect: {
        skills: { allOf: ['report'] },
        actions: { before: [inOrder({ tool: 'load_skill' }, { tool: 'run_script' })] },
        disclosure: { unloadedBytes: 0 },
        security: { noEscape: true },
      },
      answers: {
        turns: [
          load,
          {
            toolCalls: [
              {
                name: 'run_script',
                input: { skill: 'report', script: 'report.mjs', args: ['inputs/a.csv', '--title', 'these words'] },
              },
            ],
          },
          { text: 'report.mjs has run.' },
        ],
      },
    });
  });

  test.each(['csv-report', 'skill-author', 'text-diff'])('of %s are read without problems', (name) => {
    const root = folderOf({});
    cpSync(path.join(PROJECT, 'skills'), root, { recursive: true });
    const dir = path.join(root, name);
    const text = initCases(dir);
    const { cases, problems } = readCases([written(dir, text)]);
    expect(problems).toEqual([]);
    expect(cases.filter(({ expect: asked }) => asked.trigger === true).length).toBeGreaterThan(2);
    expect(cases.filter(({ expect: asked }) => asked.trigger === false).length).toBeGreaterThan(2);
    expect(cases.filter(({ tags }) => tags.includes('script')).length).toBeGreaterThan(0);
  });

  test('have a template for outcomes, which is an error as long as it is not filled in', () => {
    const root = folderOf({ 'report/SKILL.md': SKILL });
    const dir = path.join(root, 'report');
    const filled = initCases(dir).replaceAll(/^  # (?=- id|  )/gm, '  ');
    const { cases, problems } = readCases([written(dir, filled)]);
    expect(cases.some(({ id }) => id === 'report-outcome-1')).toBe(false);
    expect(problems.map(({ severity, message, hint }) => [severity, message, hint])).toEqual([
      ['error', 'placeholder text: "REPLACE ME: a text of a right answer"', FILL_IN],
      ['error', 'placeholder text: "REPLACE ME: a request as a user writes it"', FILL_IN],
    ]);
  });

  test('quote an untrusted description', () => {
    const hostile = 'Use when the user says "x: [y]", "- id: z", "#c", "a\u0085b" or "\u2028".';
    const root = folderOf({ 'odd/SKILL.md': `---\nname: odd\ndescription: ${JSON.stringify(hostile)}\n---\n\nx\n` });
    const dir = path.join(root, 'odd');
    const { cases, problems } = readCases([written(dir, initCases(dir))]);
    expect(problems).toEqual([]);
    expect(cases.map(({ input }) => input)).toEqual(expect.arrayContaining(['x: [y]', '- id: z', '#c']));
  });

  test('need a skill folder', () => {
    expect(() => initCases(folderOf({}))).toThrow(/has no readable SKILL.md/);
  });
});

describe('example requests in a description', () => {
  test.each([
    ['Makes reports.', { expected: ['Makes reports'], unwanted: [] }],
    [
      'Reads PDF. Use when the user wants to merge files, split files, or rotate pages.',
      { expected: ['merge files', 'split files', 'rotate pages'], unwanted: [] },
    ],
    ['Reads PDF. Also for requests such as 合并文件, 拆分文件.', { expected: ['合并文件', '拆分文件'], unwanted: [] }],
    ['Do not use it for Word files. Triggers on “merge it”.', { expected: ['merge it'], unwanted: ['Word files'] }],
    ['', { expected: [], unwanted: [] }],
  ])('%j', (description, phrases) => {
    expect(extractPhrases(description)).toEqual(phrases);
  });
});
