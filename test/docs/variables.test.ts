/** Every environment variable and every setting that a page, the help or the code names. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { readEnvironment, toVariableName } from '../../src/runtime/config/config-environment.ts';
import { SETTINGS, withValue } from '../../src/core/config/config-settings.ts';
import { verifies } from '../conformance/verifies.ts';
import { settingArbitrary } from '../core/config/config-arbitrary.ts';
import { PROJECT, filesBelow } from '../files-below.ts';
import { cli } from '../cli/run-cli.ts';
import { scratch } from '../skills/registry/support.ts';

const read = (file: string): string => readFileSync(path.join(PROJECT, file), 'utf8');
const PAGES = ['README.md', 'SECURITY.md', 'CONTRIBUTING.md', ...filesBelow('docs', /\.md$/)].map(read).join('\n');
const SOURCE = filesBelow('src', /\.tsx?$/)
  .map(read)
  .join('\n');

const OWN_PREFIX = /\bSKILLWRIGHT_[A-Z_]*[A-Z]\b/g;
const OWN = [...new Set([...PAGES.matchAll(OWN_PREFIX), ...SOURCE.matchAll(OWN_PREFIX)].map(([name]) => name))].sort();

/** Names that the code reads from the environment, as it writes them. */
const READ = new Set(
  [
    /\benv\['(\w+)'\]/g,
    /\b(?:keyNames?|baseUrlName|modelName|keys|variable): \[?'(\w+)'/g,
    /\{ ([A-Z][A-Z_]+): \w+ = '' \} = env\b/g,
  ].flatMap((pattern) => [...SOURCE.matchAll(pattern)].map(([, name = '']) => name)),
);

/** What every program reads, and what no user sets for skillwright. */
const COMMON = new Set(['PATH', 'HOME', 'USERPROFILE', 'TMPDIR']);

describe('variables', () => {
  test('every variable with our prefix is a setting or known to the reader of the environment', () => {
    expect(OWN.length).toBeGreaterThan(10);
    const settings = new Set(SETTINGS.map(toVariableName));
    const env = Object.fromEntries(OWN.filter((name) => !settings.has(name)).map((name) => [name, 'value']));
    expect(readEnvironment(env)).toEqual({ layers: [], problems: [] });
  });

  test('every variable that the code reads is on a page', () => {
    expect(READ.size).toBeGreaterThan(20);
    expect([...READ].filter((name) => !COMMON.has(name) && !new RegExp(`\\b${name}\\b`).test(PAGES))).toEqual([]);
  });
});

describe('settings', () => {
  verifies('TRUE-2', 'each of them, alone in a file, is read without a remark', async () => {
    for (const setting of SETTINGS) {
      const cwd = scratch();
      const [value] = fc.sample(settingArbitrary(setting), { numRuns: 1, seed: 33 });
      mkdirSync(path.join(cwd, 'home/.agent'), { recursive: true });
      writeFileSync(path.join(cwd, 'home/.agent/config.json'), JSON.stringify(withValue({}, setting.path, value)));
      const env = { HOME: path.join(cwd, 'home') };
      const result = await cli(cwd, ['config', 'explain', '--json'], { env });
      expect({ setting: setting.key, value, ...result }).toMatchObject({ status: 0, err: '' });
    }
  });
});
