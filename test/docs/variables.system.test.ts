import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect } from 'vitest';

import { toVariableName } from '../../src/runtime/config/config-environment.ts';
import { SETTINGS } from '../../src/core/config/config-settings.ts';
import { runCli, skillText, temporaryFolder, writeFiles } from '../cli/run-cli.ts';
import { verifies } from '../conformance/verifies.ts';
import { PROJECT, filesBelow } from '../files-below.ts';

const PAGES = ['README.md', ...filesBelow('docs', /\.md$/)].map((page) =>
  readFileSync(path.join(PROJECT, page), 'utf8'),
);

/** Values by the end of a name; every other variable gets a word. */
const VALUES: readonly (readonly [ends: RegExp, value: (folder: string) => string])[] = [
  [/_(?:DIR|CACHE_HOME|CONFIG_HOME)$|^(?:SKILLS_ROOT|DOCUMENT_ROOT)$/, (folder) => folder],
  [/_DATABASE_URL$/, () => 'postgresql://127.0.0.1:1/none'],
  [/_(?:URL|PROXY)$|^DOCKER_HOST$/, () => 'http://127.0.0.1:1'],
  [/_(?:CERT|FILE|BUNDLE|CERTS|CAFILE|userconfig|globalconfig)$/, (folder) => path.join(folder, 'empty')],
  [/_TOKEN$|_KEY$/, () => '0123456789abcdef0123456789abcdef'],
];

/** Variables of other programs that pages only warn about, and names that are not variables. */
const NOT_SET = /^(?:LD_PRELOAD|NODE_OPTIONS|NODE_EXTRA_CA_CERTS|FORCE_COLOR)$/;

function documented(): readonly string[] {
  const names = PAGES.flatMap((page) => [...page.matchAll(/`\$?([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:=[^`]*)?`/g)]);
  const settings = new Set(SETTINGS.map(toVariableName));
  return [...new Set(names.map(([, name = '']) => name))].filter((name) => !settings.has(name) && !NOT_SET.test(name));
}

describe('variables of the pages', () => {
  verifies(['TRUE-2', 'CFG-1'], 'all set at once change nothing about a list and a script', async () => {
    const cwd = temporaryFolder();
    mkdirSync(path.join(cwd, 'folder'));
    writeFileSync(path.join(cwd, 'folder/empty'), '');
    writeFiles(cwd, {
      'home/.agents/skills/greet/SKILL.md': skillText('greet', 'Greets.'),
      'home/.agents/skills/greet/scripts/greet.mjs': 'console.log("hello")\n',
    });
    const folder = path.join(cwd, 'folder');
    const valueFor = (name: string): string => VALUES.find(([ends]) => ends.test(name))?.[1](folder) ?? 'word';
    const names = documented();
    expect(names).toEqual(expect.arrayContaining(['SKILLWRIGHT_MCP_TOKEN', 'SKILLWRIGHT_PROMPT', 'SKILLS_ROOT']));
    const env = Object.fromEntries(names.map((name) => [name, valueFor(name)]));
    const list = await runCli(cwd, ['list', '--json'], env);
    expect(list).toMatchObject({ status: 0, err: '' });
    expect(list.out).toContain('"greet"');
    const exec = await runCli(cwd, ['exec', 'greet', 'greet.mjs', '--executor', 'local', '--yes'], env);
    expect(exec).toMatchObject({ status: 0, out: 'hello\n' });
  });
});
