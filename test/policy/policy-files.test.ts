import { symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { loadConfig } from '../../src/runtime/config/config.ts';
import { readPolicy, type PolicyRead } from '../../src/policy/policy-files.ts';
import { temporaryFolder, writeFiles } from '../cli/run-cli.ts';
import { verifies } from '../conformance/verifies.ts';

const folder = temporaryFolder();
let count = 0;

/** Reads `main.json` of a folder with these files. */
function read(
  files: Readonly<Record<string, object | string>>,
  include: readonly string[],
): PolicyRead & { base: string } {
  count += 1;
  const base = path.join(folder, String(count));
  writeFiles(
    base,
    Object.fromEntries(
      Object.entries(files).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
    ),
  );
  const where = path.join(base, 'main.json');
  return { ...readPolicy({ include, allow: ['Own'] }, { where, base, home: path.join(base, 'home') }), base };
}

const messages = ({ diagnostics, base }: PolicyRead & { base: string }): readonly string[] =>
  diagnostics.map(({ code, path: file, message }) =>
    `${path.basename(file)} ${code} ${message}`.replaceAll(`${base}/`, ''),
  );

describe('files of rules', () => {
  verifies('CFG-1', 'are included in order, relative to the file that names them, each rule with its file', () => {
    const found = read(
      {
        'team/a.json': { allow: ['A'], include: ['deeper/b.json'], default: { high: 'deny' } },
        'team/deeper/b.json': { deny: ['B'], default: { high: 'allow', low: 'ask' } },
        'home/c.json': { ask: ['C'] },
      },
      ['team/a.json', '~/c.json', 'team/deeper/../a.json'],
    );
    const { base } = found;
    expect(found).toEqual({
      base,
      diagnostics: [],
      isBroken: false,
      policy: {
        default: { high: 'deny', low: 'ask' },
        allow: [
          { rule: 'Own', where: path.join(base, 'main.json') },
          { rule: 'A', where: path.join(base, 'team/a.json') },
        ],
        ask: [{ rule: 'C', where: path.join(base, 'home/c.json') }],
        deny: [{ rule: 'B', where: path.join(base, 'team/deeper/b.json') }],
        allowedTools: undefined,
      },
    });
  });

  test('that include each other are named by their path, links or not', () => {
    const found = read({ 'a.json': { include: ['b.json'] }, 'b.json': { include: ['./a.json'], deny: ['B'] } }, [
      'a.json',
    ]);
    expect(messages(found)).toEqual([
      'b.json policy/include "./a.json" cannot be included: it includes itself: a.json -> b.json -> a.json',
    ]);
    expect([found.isBroken, found.policy.deny.map(({ rule }) => rule)]).toEqual([true, ['B']]);
    const linked = path.join(found.base, 'link.json');
    symlinkSync('a.json', linked);
    const again = readPolicy({ include: ['a.json'] }, { where: linked, base: found.base, home: undefined });
    expect(again.diagnostics.map(({ code }) => code)).toEqual(['policy/include']);
    expect(messages({ ...again, base: found.base })[0]).toContain('link.json -> a.json');
  });

  test('may go eight deep and no deeper', () => {
    const chain = (length: number): Readonly<Record<string, object>> =>
      Object.fromEntries(
        Array.from({ length }, (_, index) => [
          `${String(index + 1)}.json`,
          index + 1 === length ? { deny: ['Deepest'] } : { include: [`${String(index + 2)}.json`] },
        ]),
      );
    const eight = read(chain(8), ['1.json']);
    expect([messages(eight), eight.policy.deny.map(({ rule }) => rule)]).toEqual([[], ['Deepest']]);
    const nine = read(chain(9), ['1.json']);
    expect(messages(nine)).toEqual([
      '8.json policy/include "9.json" cannot be included: includes are nested deeper than 8 files',
    ]);
    expect([nine.isBroken, nine.policy.deny]).toEqual([true, []]);
  });

  test('are at most 64', () => {
    const names = Array.from({ length: 64 }, (_, index) => `${String(index)}.json`);
    const files = Object.fromEntries(names.map((name) => [name, {}]));
    expect(messages(read(files, names))).toEqual([]);
    const more = read({ ...files, '0.json': { include: ['more.json'] }, 'more.json': {} }, names);
    expect(messages(more)).toEqual([
      'main.json policy/include "63.json" cannot be included: more than 64 files are included',
    ]);
  });

  test.each<readonly [string, Readonly<Record<string, object | string>>, string, string]>([
    [
      'are not there',
      {},
      'gone.json',
      'main.json policy/include "gone.json" cannot be included: the file does not exist',
    ],
    [
      'are no JSON',
      { 'a.json': 'allow everything' },
      'a.json',
      'a.json config/invalid it is not JSON: Unexpected token',
    ],
    [
      'hold an unknown key',
      { 'a.json': { dney: ['X'] } },
      'a.json',
      'a.json config/unknown-key "dney" is not a known key',
    ],
    [
      'hold a whole configuration',
      { 'a.json': { policy: {} } },
      'a.json',
      'a.json config/unknown-key "policy" is not a known key',
    ],
    [
      'say what only a configuration may say',
      { 'a.json': { allowed_tools: 'grant' } },
      'a.json',
      'a.json config/unknown-key "allowed_tools" is not a known key',
    ],
    [
      'hold a rule that means nothing',
      { 'a.json': { deny: ['Bash('] } },
      'a.json',
      'a.json config/invalid "deny.0" must be a rule such as Read or Bash(git status:*)',
    ],
    ['are folders', { 'a/b': '' }, 'a', 'a config/invalid it cannot be read: not a regular file'],
    ['are devices', {}, '/dev/zero', 'zero config/invalid it cannot be read: not a regular file'],
    [
      'are too large',
      { 'a.json': `{"$schema": "${'x'.repeat(2_000_000)}"}` },
      'a.json',
      'a.json config/invalid it cannot be read: larger than 1048576 bytes',
    ],
  ])('that %s break the policy and lose nothing else of it', (_, files, name, message) => {
    const found = read(files, [name]);
    expect(messages(found)).toEqual([expect.stringContaining(message)]);
    expect([found.isBroken, found.policy.allow.map(({ rule }) => rule)]).toEqual([true, ['Own']]);
  });

  test('below a home folder that is not there are none', () => {
    const { diagnostics, isBroken } = readPolicy(
      { include: ['~/x.json'] },
      { where: '/w', base: '/', home: undefined },
    );
    expect([isBroken, diagnostics.map(({ message }) => message)]).toEqual([
      true,
      ['"~/x.json" cannot be included: there is no home folder'],
    ]);
  });

  verifies('CFG-1', 'that say the opposite of another one are named; the strictest counts', () => {
    const found = read({ 'a.json': { deny: ['Own', 'X'], allow: ['X'] } }, ['a.json']);
    expect(found.isBroken).toBe(false);
    expect(messages(found)).toEqual([
      'main.json policy/contradiction "Own" is in allow and in deny in "a.json": deny applies',
      'a.json policy/contradiction "X" is in allow and in deny: deny applies',
    ]);
  });

  test('break the configuration that includes them, of a file or of a variable', async () => {
    const cwd = path.join(folder, 'work');
    writeFiles(cwd, {
      '.agent/config.json': '{"policy": {"include": ["team.json"]}}',
      'rules.json': '{"deny": ["X"]}',
    });
    const broken = await loadConfig({ cwd, home: undefined, env: {} });
    expect([broken.isBroken, broken.diagnostics.map(({ code }) => code)]).toEqual([true, ['policy/include']]);
    writeFiles(cwd, { '.agent/team.json': '{"ask": ["Y"]}' });
    const env = { SKILLWRIGHT_POLICY_INCLUDE: '["rules.json"]' };
    const whole = await loadConfig({ cwd, home: undefined, env });
    expect(whole.isBroken).toBe(false);
    expect(whole.policies.map(({ layer, where, policy }) => [layer, where, policy.ask, policy.deny])).toEqual([
      ['project', path.join(cwd, '.agent/config.json'), [{ rule: 'Y', where: path.join(cwd, '.agent/team.json') }], []],
      ['environment', 'SKILLWRIGHT_POLICY_INCLUDE', [], [{ rule: 'X', where: path.join(cwd, 'rules.json') }]],
    ]);
  });
});
