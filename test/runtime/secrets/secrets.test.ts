import { chownSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import type { SecretsConfig } from '../../../src/runtime/secrets/secrets-config.ts';
import type { SecretSource } from '../../../src/runtime/secrets/secret-sources.ts';
import { OTHER, PROVIDER, TOKEN, outcome, secretsWorld, skill } from './secrets-world.ts';
import { needs } from '../../needs.ts';

const { home, open, fromOne, given, secretFile } = secretsWorld();

describe('a skill is given', () => {
  test('what it declares and the configuration gives, and nothing else', async () => {
    const secrets = open(
      { 'csv-report': { API_TOKEN: { env: 'MY_API_TOKEN' }, UNASKED: { env: 'MY_OTHER' } } },
      { MY_API_TOKEN: TOKEN, MY_OTHER: OTHER, UNCONFIGURED: 'from outside' },
    );
    const found = await secrets.forSkill(skill(['env:API_TOKEN', 'env:UNCONFIGURED', 'jq']));
    expect(found).toEqual({
      env: { API_TOKEN: TOKEN },
      redactor: secrets.redactor,
      problems: [
        '"csv-report" declares "UNCONFIGURED", but no secret is configured for it',
        '"UNASKED" is configured for "user/csv-report", which does not declare it',
      ],
    });
  });

  test('nothing where it declares nothing, or is another skill', async () => {
    const secrets = fromOne({ env: 'MY_API_TOKEN' }, { MY_API_TOKEN: TOKEN });
    for (const other of [skill([]), skill(['API_TOKEN']), skill(undefined, { name: 'other' })])
      expect(outcome(await secrets.forSkill(other))).toEqual({});
  });

  test('what stands under its source and name rather than under its name', async () => {
    const secrets = open(
      {
        'csv-report': { API_TOKEN: { env: 'A' }, MORE: { env: 'A' } },
        'builtin/csv-report': { API_TOKEN: { env: 'B' } },
      },
      { A: TOKEN, B: OTHER },
    );
    const asked = ['env:API_TOKEN', 'env:MORE'];
    expect(outcome(await secrets.forSkill(skill(asked)))).toEqual({ API_TOKEN: TOKEN, MORE: TOKEN });
    const builtin = await secrets.forSkill(skill(asked, { source: 'builtin' }));
    expect(outcome(builtin)).toEqual({ API_TOKEN: OTHER });
  });

  test('nothing by a name that is the key of another', async () => {
    const secrets = open({ 'builtin/pdf': { API_TOKEN: { env: 'A' } } }, { A: TOKEN });
    const liars = [
      { name: 'builtin/pdf', source: 'project' },
      { name: 'pdf', source: 'project' },
      { name: 'pdf', source: 'project/builtin' },
      { name: '/pdf', source: 'builtin' },
      { name: 'constructor', source: 'builtin' },
      { name: '__proto__', source: 'toString' },
    ];
    for (const liar of liars) expect(outcome(await secrets.forSkill(skill(undefined, liar)))).toEqual({});
  });

  test('names of prototypes as what they are', async () => {
    const config = JSON.parse(
      '{ "__proto__": { "__proto__": { "env": "A" }, "constructor": { "env": "B" } } }',
    ) as SecretsConfig;
    const secrets = open(config, { A: TOKEN, B: OTHER });
    const found = await secrets.forSkill(skill(['env:__proto__', 'env:constructor'], { name: '__proto__' }));
    const env = 'env' in found ? found.env : {};
    expect(Object.entries(env)).toEqual([
      ['__proto__', TOKEN],
      ['constructor', OTHER],
    ]);
    expect(await given({ env: 'constructor' })).toContain('it is not set');
  });

  test('several lines', async () => {
    const key = `-----BEGIN X-----\nabcdefgh12345\nijklmnop67890\n-----END X-----`;
    expect(await given({ file: secretFile('lines', `${key}\n`) })).toEqual({ API_TOKEN: key });
  });
});

describe('no skill is given a key to a model provider', () => {
  const env = { ANTHROPIC_API_KEY: PROVIDER, COPY: PROVIDER, ENCODED: Buffer.from(`x:${PROVIDER}`).toString('base64') };
  const refusal =
    '"csv-report" needs "API_TOKEN" from the variable "COPY": ' +
    'it contains a key of a model provider, which no skill can get';

  test('that it declares', async () => {
    const found = await open({}, env).forSkill(skill(['env:ANTHROPIC_API_KEY']));
    expect(found).toEqual({
      failure: {
        code: 'secret/missing',
        message: '"csv-report" requires "ANTHROPIC_API_KEY": no skill can get a key of a model provider',
        hint: 'tell the user: a skill that needs its own key must declare it under another name',
        nearest: [],
      },
    });
  });

  test('whatever the configuration says', () => {
    const message = /"(?:ANTHROPIC|OPENAI)_API_KEY" is a key of a model provider, which no skill can get/;
    expect(() => fromOne({ env: 'ANTHROPIC_API_KEY' }, env)).toThrow(message);
    expect(() => open({ x: { OPENAI_API_KEY: { env: 'MY_OWN' } } })).toThrow(message);
  });

  test('by another name, from a file, from a command, or encoded', async () => {
    expect(await given({ env: 'COPY' }, env)).toBe(refusal);
    expect(await given({ env: 'ENCODED' }, env)).toContain('it contains a key of a model provider');
    const file = secretFile('provider', `export KEY=${PROVIDER}\n`);
    expect(await given({ file }, env)).toContain('it contains a key of a model provider');
    expect(await given({ command: ['cat', file] }, env)).toContain('it contains a key of a model provider');
  });
});

describe('the configuration is refused that', () => {
  const of = (source: SecretSource): SecretsConfig => ({ x: { T: source } });
  test.each<[string, SecretsConfig, string]>([
    [
      'gives to every skill',
      { '*': { T: { env: 'A' } } },
      '"secrets" > "*": a secret must be given to one skill, not to a pattern',
    ],
    ['gives to a pattern', { 'builtin/*': {} }, 'not to a pattern'],
    ['names no skill', { '': {} }, 'must be a name or source/name'],
    ['names no source', { '/pdf': {} }, 'must be a name or source/name'],
    ['has no source', of({}), '"secrets" > "x" > "T": must have exactly one of env, file and command'],
    ['has two sources', of({ env: 'A', file: '/a' }), 'must have exactly one of env, file and command'],
    ['has a literal value', of({ value: TOKEN } as SecretSource), 'must have exactly one of env, file and command'],
    ['steers programs', { x: { LD_PRELOAD: { env: 'A' } } }, '"LD_PRELOAD" can change which code a program runs'],
    ['takes what is ours', { x: { PATH: { env: 'A' } } }, '"PATH" is set by the runtime'],
    ['names no variable', { x: { 'a b': { env: 'A' } } }, '"a b" is not a variable name'],
    ['has a relative file', of({ file: 'k' }), 'the file must be absolute or start with ~/'],
    ['has an empty command', of({ command: [] }), 'the command must name a program'],
    ['has a NUL', of({ command: ['a', 'b\0'] }), 'contains a NUL character'],
  ])('%s', (_, config, message) => {
    expect(() => open(config)).toThrow(message);
    expect(() => open(config)).not.toThrow(TOKEN);
  });
});

describe('a secret is missing', () => {
  const from = '"csv-report" needs "API_TOKEN" from the';

  test('where the variable is not there, empty, or cannot be kept out of texts', async () => {
    expect(await given({ env: 'MY_API_TOKEN' })).toBe(`${from} variable "MY_API_TOKEN": it is not set`);
    expect(await given({ env: 'E' }, { E: '' })).toBe(`${from} variable "E": it is empty`);
    const refused = async (value: string): Promise<unknown> => await given({ env: 'E' }, { E: value });
    const end = 'and could not be redacted';
    expect(await refused('true')).toBe(`${from} variable "E": its value has fewer than 6 bytes ${end}`);
    expect(await refused('password')).toBe(`${from} variable "E": its value is a common word ${end}`);
    expect(await refused('z'.repeat(99))).toBe(`${from} variable "E": its value repeats itself ${end}`);
    const huge = Array.from({ length: 200_000 }, (_, place) => String(place)).join('');
    expect(await refused(huge)).toBe(`${from} variable "E": its value has more than 32768 bytes ${end}`);
  });

  test('where the file is not for its owner alone', async () => {
    for (const mode of [0o644, 0o640, 0o602, 0o610])
      expect(await given({ file: secretFile('open', TOKEN, mode) })).toBe(
        `${from} file "${path.join(home, 'open')}": other users have access to it`,
      );
    const found = await fromOne({ file: secretFile('open', TOKEN, 0o644) }).forSkill(skill());
    expect('failure' in found ? found.failure.hint : '').toContain('chmod 600');
  });

  test('where the file is not there, a folder, a link, too large, no text, or empty', async () => {
    mkdirSync(path.join(home, 'folder'), { mode: 0o700 });
    symlinkSync(secretFile('plain', TOKEN), path.join(home, 'link'));
    secretFile('large', 'x'.repeat(64 * 1024 + 1));
    secretFile('latin', Buffer.from([0xe9, 0xe8, 0xe7, 0xe6, 0xe5, 0xe4]));
    secretFile('nul', 'abc\0defghij');
    secretFile('empty', '\n');
    const reason = async (name: string): Promise<string> =>
      String(await given({ file: `~/${name}` })).split('": ')[1] ?? '';
    expect(await reason('nowhere')).toBe('it does not exist');
    expect(await reason('folder')).toBe('it is not a regular file');
    expect(await reason('link')).toBe('it is a link');
    expect(await reason('large')).toBe('it is too large');
    expect(await reason('latin')).toBe('its output is not UTF-8 text');
    expect(await reason('nul')).toBe('its value contains a NUL character, which is not allowed in an environment');
    expect(await reason('empty')).toBe('it is empty');
    expect(await given({ file: '~/plain' })).toEqual({ API_TOKEN: TOKEN });
  });

  test('where the file belongs to another user', needs('root'), async () => {
    const file = secretFile('theirs', TOKEN);
    chownSync(file, 65_534, 65_534);
    expect(await given({ file })).toBe(`${from} file "${file}": it belongs to another user`);
  });

  test('where the command fails; what it said is not told', async () => {
    const run = async (script: string): Promise<unknown> => await given({ command: ['sh', '-c', script] });
    expect(await run(`echo ${TOKEN}; echo ${TOKEN} >&2; exit 3`)).toBe(`${from} command "sh": it exited with code 3`);
    expect(await run('kill -9 $$')).toBe(`${from} command "sh": it was ended by SIGKILL`);
    expect(await run('yes | head -c 100000')).toBe(`${from} command "sh": its output is larger than 65536 bytes`);
    expect(await run('true')).toBe(`${from} command "sh": it is empty`);
    expect(await given({ command: ['no-such-keeper', TOKEN] })).toBe(
      `${from} command "no-such-keeper": it cannot be started`,
    );
  });

  test('and all missing secrets are reported at once', async () => {
    const secrets = open({ 'csv-report': { A: { env: 'X' }, B: { file: '~/nowhere' } } });
    const found = await secrets.forSkill(skill(['env:A', 'env:B']));
    expect('failure' in found ? found.failure.message : '').toBe(
      '"csv-report" needs "A" from the variable "X": it is not set; ' +
        '"B" from the file "~/nowhere": it does not exist',
    );
  });
});

describe('a command', () => {
  test('gives its output without the last line end, and sees nothing but where it is', async () => {
    expect(await given({ command: ['printf', '%s\\r\\n', TOKEN] })).toEqual({ API_TOKEN: TOKEN });
    const found = await given({ command: ['env'] }, { SECRET_OF_OTHERS: OTHER });
    const seen = String((found as Record<string, string>)['API_TOKEN']).split('\n');
    expect(seen.map((line) => line.split('=')[0]).filter((name) => name?.startsWith('SKILLWRIGHT_') === false)).toEqual(
      ['PATH', 'HOME'],
    );
  });

  test('is no line for a shell', async () => {
    expect(await given({ command: ['echo', '$HOME; echo x'] })).toEqual({ API_TOKEN: '$HOME; echo x' });
  });

  test('is run once for all who ask, and again where it failed', async () => {
    const count = path.join(home, 'count');
    const secrets = fromOne({ command: ['sh', '-c', `echo . >> ${count}; test -f ${home}/ready && echo ${TOKEN}`] });
    expect(await secrets.forSkill(skill())).toMatchObject({ failure: { code: 'secret/missing' } });
    writeFileSync(path.join(home, 'ready'), '');
    const all = await Promise.all([secrets.forSkill(skill()), secrets.forSkill(skill()), secrets.forSkill(skill())]);
    expect(all.map((found) => 'env' in found && found.env)).toEqual(
      Array.from({ length: 3 }, () => ({ API_TOKEN: TOKEN })),
    );
    await secrets.forSkill(skill());
    expect(readFileSync(count, 'utf8')).toBe('.\n.\n');
  });

  test('is not waited for by one who leaves', async () => {
    const flag = path.join(home, 'slow');
    const secrets = fromOne({ command: ['sh', '-c', `while ! test -f ${flag}; do sleep 0.02; done; echo ${TOKEN}`] });
    const leaving = new AbortController();
    const first = secrets.forSkill(skill());
    const second = secrets.forSkill(skill(), leaving.signal);
    leaving.abort(new Error('gone'));
    await expect(second).rejects.toThrow('gone');
    await expect(secrets.forSkill(skill(), leaving.signal)).rejects.toThrow('gone');
    writeFileSync(flag, '');
    expect(outcome(await first)).toEqual({ API_TOKEN: TOKEN });
  });

  test('ends with the signal of the one who asked; another who waits gets the value', async () => {
    const flag = path.join(home, 'second');
    const script = `if test -f ${flag}; then echo ${TOKEN}; else touch ${flag}; sleep 60; fi`;
    const secrets = fromOne({ command: ['sh', '-c', script] });
    const leaving = new AbortController();
    const first = secrets.forSkill(skill(), leaving.signal);
    const second = secrets.forSkill(skill());
    while (!isThere(flag)) await new Promise((resolve) => void setTimeout(resolve, 5));
    leaving.abort(new Error('gone'));
    await expect(first).rejects.toThrow('gone');
    expect(outcome(await second)).toEqual({ API_TOKEN: TOKEN });
  });
});

function isThere(file: string): boolean {
  try {
    readFileSync(file);
    return true;
  } catch {
    return false;
  }
}
