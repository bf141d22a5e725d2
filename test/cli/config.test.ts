import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { verifies } from '../conformance/verifies.ts';
import { cli, skillText, spawnCli, temporaryFolder, writeFiles } from './run-cli.ts';

const folder = temporaryFolder();
writeFiles(folder, {
  'conf/.agent/config.json': '{\n  "catalog": {"budget_tokens": 900},\n  "security": {"max_skill_body_lines": 9000}\n}',
  'conf/home/.agent/config.json':
    '{"catalog": {"format": "lines"}, "telemetry": {"headers": {"authorization": "canary-key"}}}',
  'misspelled/.agent/config.json': '{\n  "skil_roots": [],\n  "catalog": {"budget_tokens": 900}\n}',
});
const conf = path.join(folder, 'conf');
const json = (text: string): unknown => JSON.parse(text);

describe('config', () => {
  verifies('CFG-1', 'prints what is in force, names unknown keys with a guess, and publishes its schema', async () => {
    const { status, out } = await spawnCli(conf, ['config', '--json']);
    expect({ status, value: json(out) }).toMatchObject({
      status: 0,
      value: {
        config: {
          catalog: { budget_tokens: 900, format: 'lines' },
          telemetry: { headers: { authorization: '[hidden]' } },
        },
        policies: [],
        isBroken: false,
        diagnostics: [{ code: 'config/wider', severity: 'warning', line: 3, column: 16 }],
      },
    });
    const misspelled = await cli(path.join(folder, 'misspelled'), ['config', '--json']);
    expect({ status: misspelled.status, value: json(misspelled.out) }).toMatchObject({
      status: 1,
      value: {
        config: {},
        isBroken: true,
        diagnostics: [
          { code: 'config/unknown-key', severity: 'error', line: 2, column: 3, hint: 'did you mean skill_roots?' },
        ],
      },
    });
    const schema = await cli(folder, ['config', '--schema']);
    expect(json(schema.out)).toEqual(
      json(readFileSync(new URL('../../schemas/config.schema.json', import.meta.url), 'utf8')),
    );
  });

  test('a file that cannot be used says where, and the skills are listed all the same', async () => {
    writeFiles(folder, {
      'torn/.agent/config.json': '{\n  "scan": {"max_depth": "six"}\n}',
      'torn/.agent/skills/a/SKILL.md': skillText('a', 'Does a.'),
    });
    const { out } = await cli(path.join(folder, 'torn'), ['list', '--json', '--no-cache']);
    expect(json(out)).toMatchObject({
      skills: expect.arrayContaining([expect.objectContaining({ name: 'a' })]) as unknown[],
      diagnostics: [
        {
          code: 'config/invalid',
          line: 2,
          column: 12,
          message: '"scan.max_depth" must be a whole number from 1 to 32',
        },
      ],
    });
    writeFiles(folder, { 'torn/.agent/config.json': '{ "scan": ' });
    const text = await cli(path.join(folder, 'torn'), ['config']);
    expect(text.status).toBe(1);
    expect(text.err).toContain('it is not JSON');
    expect(text.err).toContain('only reading is allowed');
  });

  test('wrong variables are named with what was meant', async () => {
    const env = { SKILLWRIGHT_CATALOG_FORMAT: 'xlm', SKILLWRIGHT_SESION_MAX_LOADED: '3' };
    const { status, err } = await spawnCli(conf, ['config'], env);
    expect(status).toBe(1);
    expect(err).toContain('SKILLWRIGHT_CATALOG_FORMAT:1:1 error "catalog.format" must be one of xml');
    expect(err).toContain('did you mean SKILLWRIGHT_SESSION_MAX_LOADED?');
  });
});

describe('config explain', () => {
  verifies('CFG-1', 'says where each value comes from and what it overrides', async () => {
    const words = ['config', 'explain', 'catalog', '--json', '--set', 'catalog.format=list'];
    const { status, out } = await spawnCli(conf, words, { SKILLWRIGHT_CATALOG_BUDGET_TOKENS: '700' });
    const user = path.join(conf, 'home/.agent/config.json');
    expect({ status, value: json(out) }).toMatchObject({
      status: 0,
      value: {
        settings: [
          {
            key: 'catalog.budget_tokens',
            value: 700,
            layer: 'environment',
            where: 'SKILLWRIGHT_CATALOG_BUDGET_TOKENS',
            overridden: [
              { layer: 'project', where: path.join(conf, '.agent/config.json'), value: 900 },
              { layer: 'built-in', where: '', value: 4000 },
            ],
          },
          {
            key: 'catalog.format',
            value: 'list',
            layer: 'option',
            where: '--set',
            overridden: [
              { layer: 'user', where: user, value: 'lines' },
              { layer: 'built-in', where: '', value: 'xml' },
            ],
          },
        ],
      },
    });
  });

  test('is a table for people, and shows no key', async () => {
    const { status, out } = await spawnCli(conf, ['config', 'explain']);
    expect(status).toBe(0);
    expect(out).not.toContain('canary-key');
    expect(out).toMatch(/^catalog\.format +"lines" +user .*config\.json +overrides "xml" \(built-in\)$/m);
    expect(out).toMatch(/^security\.max_skill_body_lines +500 +built-in +overrides 9000 \(project .*\)$/m);
    expect(out).toMatch(/^telemetry\.headers\.authorization +"\[hidden\]" /m);
  });

  test('says that allow rules of a project grant nothing', async () => {
    writeFiles(folder, { 'asks/.agent/config.json': '{"policy": {"allow": ["run_command"]}}' });
    const { out, err } = await cli(path.join(folder, 'asks'), ['config', 'explain', 'policy.allow']);
    expect(out).toContain('["run_command"]');
    expect(err).toBe('allow rules of a project grant nothing: they are exceptions to its own policy.default\n');
  });

  test('shows where agents of a vocabulary place what they load, unless a layer sets it', async () => {
    const words = ['config', 'explain', 'session.placement', '--json'];
    const placement = async (...more: readonly string[]): Promise<unknown> => {
      const { settings } = json((await cli(folder, [...words, ...more])).out) as {
        readonly settings: readonly { readonly value: unknown; readonly layer: string }[];
      };
      return settings.map(({ value, layer }) => [value, layer]);
    };
    const trpc = ['--set', 'vocabulary=trpc'];
    expect([
      await placement(),
      await placement(...trpc),
      await placement(...trpc, '--set', 'session.placement=tool-results'),
    ]).toEqual([[['tool-results', 'built-in']], [['system', 'vocabulary']], [['tool-results', 'option']]]);
  });

  test('knows keys without a value, and guesses those that are none', async () => {
    expect(await cli(folder, ['config', 'explain', 'model.provider'])).toMatchObject({
      status: 0,
      out: '',
      err: 'not set, and there is no default\n',
    });
    expect(await cli(folder, ['config', 'explain', 'catalog.fromat'])).toMatchObject({
      status: 2,
      err: expect.stringContaining('did you mean catalog.format?') as string,
    });
    expect(await cli(folder, ['config', 'explian'])).toMatchObject({ status: 2 });
  });
});

describe('--set', () => {
  test('stands above files and variables, for every command', async () => {
    const words = ['catalog', '--json', '--set', 'catalog.format=lines', '--set=catalog.budget_tokens=60'];
    const { status, out } = await spawnCli(conf, words, { SKILLWRIGHT_CATALOG_BUDGET_TOKENS: '700' });
    expect(status).toBe(0);
    const { text, tokens } = json(out) as { readonly text: string; readonly tokens: number };
    expect(text.startsWith('Available Skills:')).toBe(true);
    expect(tokens).toBeLessThanOrEqual(60);
  });

  test.each([
    ['list', 'catalog.fromat=xml', '"catalog.fromat" is not a setting', 'did you mean catalog.format?'],
    ['config', 'catalog.budget_tokens=many', 'must be a whole number from 50 to 1000000', 'Maximum estimated tokens'],
    ['completion', 'cache.enabled=perhaps', '"cache.enabled" must be true or false', 'Cache the index'],
    ['check', 'catalog.format', 'is not KEY=VALUE', 'catalog.budget_tokens=2000'],
  ])('%s --set %s is wrong usage', async (command, option, message, hint) => {
    const { status, err } = await cli(folder, [command, '--set', option]);
    expect(status).toBe(2);
    expect(err).toContain(message);
    expect(err).toContain(hint);
  });
});
