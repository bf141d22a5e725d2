import { symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { readCases } from '../../../src/evals/cases/read-cases.ts';
import { listNotRead } from '../../../src/evals/project/inputs.ts';
import { verifies } from '../../conformance/verifies.ts';
import { scratch } from '../../skills/registry/support.ts';
import { skillText, writeFiles } from '../../cli/run-cli.ts';

const own = (id: string, more: object = {}) =>
  JSON.stringify({ cases: [{ id, input: `do ${id}`, expect: { outcome: 'done' }, ...more }] });

function passedOver(files: Readonly<Record<string, string>>, prepare: (root: string) => void = () => undefined) {
  const root = scratch();
  writeFiles(root, { 'a/SKILL.md': skillText('a', 'Does a.'), ...files });
  prepare(root);
  const read = readCases([path.join(root, 'a')]);
  const shown = read.passedOver.map(({ file, reason }) => [path.relative(root, file), reason]);
  return {
    ids: read.cases.map(({ id }) => id),
    problems: read.problems,
    shown,
    all: listNotRead(read.passedOver),
    root,
  };
}

verifies('EVAL-14', 'each file of a suite that is not read is named, whatever its ending and place', () => {
  const yaml = 'cases:\n  - id: hard\n    input: do it\n    expect: { output: { contains: "7" } }\n';
  const { ids, problems, shown } = passedOver(
    {
      'a/evals/cases.yaml': own('easy'),
      'a/evals/hard.txt': yaml,
      'a/evals/hard.yaml.bak': yaml,
      'a/evals/hard': own('hard'),
      'a/evals/queries.md': '[{"query": "x", "should_trigger": true}]',
      'a/evals/files/cases.yaml': yaml,
      'a/evals/.old/cases.yaml': yaml,
      'a/cases.txt': yaml,
      'a/tests/test_cases.py': 'print(1)\n',
      'a/evals/picture.png': '\u0000PNG',
    },
    (root) => symlinkSync('../evals/cases.yaml', path.join(root, 'a/evals/linked.yaml')),
  );
  const held = (why: string): string => `it holds cases, but ${why}: rename or move it`;
  const ends = (ending: string): string => held(`its name ends with "${ending}"`);
  expect([ids, problems]).toEqual([['easy'], []]);
  expect(Object.fromEntries(shown)).toEqual({
    'a/cases.txt': ends('.txt'),
    'a/evals/hard': held('its name has no ending'),
    'a/evals/hard.txt': ends('.txt'),
    'a/evals/hard.yaml.bak': ends('.bak'),
    'a/evals/queries.md': ends('.md'),
    'a/evals/files/cases.yaml': held('its folder holds files of cases'),
    'a/evals/.old/cases.yaml': held('its folder holds files of cases'),
    'a/evals/linked.yaml': 'it is a symbolic link, and case files are regular files',
    'a/evals/picture.png': 'names of case files do not end with ".png"',
  });
});

test('what cases name, what is beside a checker, skills of a suite and a README are no unread files', () => {
  const files = {
    'a/evals/cases.yaml': own('one', {
      files: ['orders.txt'],
      expect: { output: { checkers: [{ script: 'checks/rows.py' }] } },
    }),
    'a/evals/orders.txt': '1\n',
    'a/evals/checks/rows.py': 'print(1)\n',
    'a/evals/checks/lib/util.py': 'print(2)\n',
    'a/evals/README.md': '# About\n',
    'a/evals/.gitignore': 'x\n',
    'a/evals/skills/b/SKILL.md': skillText('b', 'Does b.'),
    'a/evals/skills/b/scripts/go.sh': 'echo\n',
    'a/evals/files/data.txt': 'x\n',
    'a/references/cases.md': '# Cases of law\n',
  };
  expect(passedOver(files)).toMatchObject({ ids: ['one'], problems: [], shown: [] });
});

test('many unread files of a folder are one warning', () => {
  const images = Object.fromEntries(
    Array.from({ length: 25 }, (_, place) => [`a/evals/${String(place + 10)}.png`, 'x']),
  );
  const { all, root } = passedOver({ 'a/evals/cases.yaml': own('one'), ...images });
  expect(all).toMatchObject([
    {
      file: path.join(root, 'a/evals'),
      message: expect.stringMatching(/^not read: 10\.png, .*29\.png and 5 more: names of case files do not end with/),
    },
  ]);
});
