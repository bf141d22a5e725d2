/** docs/mcp-skills.md lists the rules of the Skills extension with tests that exist. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { PROJECT } from '../files-below.ts';
import { SKILL_RULES } from '../mcp/skill-rules.ts';

const PAGE = path.join(PROJECT, 'docs/mcp-skills.md');

test('docs/mcp-skills.md lists each rule with tests that exist', () => {
  const unknown = SKILL_RULES.flatMap(({ tests }) =>
    tests.filter(([file, title]) => !readFileSync(path.join(PROJECT, 'test/mcp', file), 'utf8').includes(title)),
  );
  expect(unknown).toEqual([]);
  const rows = SKILL_RULES.map(({ side, level, rule, tests }) => {
    const files = [...new Set(tests.map(([file]) => `\`${file}\``))];
    return `| ${side} | ${level} | ${rule} | ${files.join(', ')} |`;
  });
  const table = ['| side | level | rule | tests in `test/mcp/` |', '|---|---|---|---|', ...rows].join('\n');
  const [intro = '', rest = ''] = readFileSync(PAGE, 'utf8').split(/(?<=made by `npm run docs`\. -->\n)/);
  const [, outro = ''] = rest.split(/(?=<!-- End of the generated part)/);
  const page = `${intro}\n${table}\n\n${outro}`;
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(PAGE, page);
  expect(readFileSync(PAGE, 'utf8')).toBe(page);
});
