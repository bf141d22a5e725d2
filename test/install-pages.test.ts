import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { PACK_PROBLEMS } from '../src/packs/problems.ts';
import { SCAN_RULES } from '../src/packs/scan/rules.ts';
import { attackTable } from './corpus/archives.ts';
import { PROJECT } from './files-below.ts';

/** Holds a page equal to what the code says; `npm run docs` writes it. */
function expectPage(file: string, text: string): void {
  const place = path.join(PROJECT, file);
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(place, text);
  expect(existsSync(place) ? readFileSync(place, 'utf8') : '', `${file} is out of step: npm run docs`).toBe(text);
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');

test('docs/install-attacks.md lists every archive that is tried', () => {
  const rows = attackTable().map(({ attack, name, result }) => `| ${String(attack)} | ${cell(name)} | \`${result}\` |`);
  expectPage(
    'docs/install-attacks.md',
    `# Archives that are tried\n\nEach is made by the tests and given to the reader of archives: refused with this code, nothing written, nothing outside touched; or accepted, because nothing in it can do harm. Numbers are those of our list of attacks. Made by \`npm run docs\`.\n\n| attack | archive | result |\n|--:|---|---|\n${rows.join('\n')}\n`,
  );
});

test('docs/install-problems.md lists every refusal and every rule of the scan', () => {
  const problems = Object.entries(PACK_PROBLEMS).map(([code, hint]) => `| \`${code}\` | ${cell(hint)} |`);
  const rules = Object.entries(SCAN_RULES).map(
    ([id, { severity, title, advice }]) => `| \`${id}\` | ${severity} | ${cell(title)} | ${cell(advice)} |`,
  );
  expectPage(
    'docs/install-problems.md',
    `# Refusals, and rules of the scan\n\nCodes keep their meaning. Made by \`npm run docs\`.\n\n## Refusals\n\n| code | what to do |\n|---|---|\n${problems.join('\n')}\n\n## Rules of the scan\n\n| rule | severity | finds | what to do |\n|---|---|---|---|\n${rules.join('\n')}\n`,
  );
});
