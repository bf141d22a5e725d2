import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { installCommand, loadOptional } from '../../src/platform/optional-package.ts';

const notFound = (code: string, message: string): Error => Object.assign(new Error(message), { code });

test.each([
  ['ERR_MODULE_NOT_FOUND', `Cannot find package '@modelcontextprotocol/client' imported from /a/b.js`],
  ['MODULE_NOT_FOUND', `Cannot find module '@modelcontextprotocol/client'\nRequire stack:\n- /a/b.js`],
  ['ERR_MODULE_NOT_FOUND', `Cannot find package '@modelcontextprotocol/client/internal' imported from /a/b.js`],
])('a package that is not installed is named with the command that installs it: %s', async (code, message) => {
  const missing = loadOptional('@modelcontextprotocol/client', () => Promise.reject(notFound(code, message)));
  await expect(missing).rejects.toMatchObject({
    code: 'package/missing',
    message: 'the package @modelcontextprotocol/client is not installed; it is needed for connections to MCP servers',
    hint: 'install it beside skillwright: npm install @modelcontextprotocol/client@2',
    data: { package: '@modelcontextprotocol/client', install: 'npm install @modelcontextprotocol/client@2' },
  });
});

test.each([
  notFound(
    'ERR_MODULE_NOT_FOUND',
    `Cannot find package 'zod' imported from /a/node_modules/@modelcontextprotocol/client/index.js`,
  ),
  notFound(
    'MODULE_NOT_FOUND',
    `Cannot find module 'zod'\nRequire stack:\n- /a/'@modelcontextprotocol/client'/index.js`,
  ),
  notFound('ERR_OTHER', `Cannot find package '@modelcontextprotocol/client'`),
  new SyntaxError('Unexpected token'),
])('another problem of an installed package is thrown as it is: %s', async (problem) => {
  await expect(loadOptional('@modelcontextprotocol/client', () => Promise.reject(problem))).rejects.toBe(problem);
});

test('the command fits the way skillwright was installed', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'optional-package-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const below = (...names: readonly string[]): string =>
    path.join(folder, ...names, 'node_modules', 'skillwright', 'dist', 'platform');
  mkdirSync(path.join(folder, 'project'));
  writeFileSync(path.join(folder, 'project', 'package.json'), '{}');
  expect(
    [path.join(folder, 'clone', 'src', 'platform'), below('project'), below('lib'), below('.npm', '_npx', '1a')].map(
      (from) => installCommand('pg@8', from),
    ),
  ).toEqual([
    'npm install pg@8',
    'npm install pg@8',
    'npm install -g pg@8',
    'npx -p skillwright -p pg@8 skillwright ...',
  ]);
});
