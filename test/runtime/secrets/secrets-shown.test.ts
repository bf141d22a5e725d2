import { describe, expect, test } from 'vitest';

import { DEFAULT_LIMITS } from '../../../src/core/execution.ts';
import type { Secrets, SkillWithSecrets } from '../../../src/runtime/secrets/secrets.ts';
import { OTHER, PROVIDER, TOKEN, secretsWorld, skill } from './secrets-world.ts';
import { runChild } from '../../../src/sandbox/process/child-process.ts';
import { programEnvironment } from '../../../src/sandbox/process/program-environment.ts';

const { home, open, fromOne, secretFile } = secretsWorld();

/** What a program of a skill writes, as it is shown. */
async function shownOutput(secrets: Secrets, owner: SkillWithSecrets, script: string): Promise<string> {
  const found = await secrets.forSkill(owner);
  if ('failure' in found) throw new Error(found.failure.message);
  const made = programEnvironment({ root: home, runFolder: 'runs', home: 'home', declared: found.env });
  if (made.type === 'refused') throw new Error(made.failure.message);
  const stream = found.redactor.stream();
  const shown: Uint8Array[] = [];
  const sink = { write: (chunk: Uint8Array) => shown.push(Uint8Array.from(stream.write(chunk))) > 0 };
  await runChild(
    { argv: ['sh', '-c', script], cwd: home, env: made.env },
    { stdin: new Uint8Array(), limits: DEFAULT_LIMITS, streams: { stdout: sink, stderr: sink } },
  );
  return Buffer.concat([...shown, stream.end()]).toString();
}

describe('a program', () => {
  const secrets = (): Secrets =>
    open(
      { 'csv-report': { API_TOKEN: { env: 'MINE' } }, other: { OTHER_TOKEN: { env: 'THEIRS' } } },
      { MINE: TOKEN, THEIRS: OTHER, ANTHROPIC_API_KEY: PROVIDER },
    );

  test('has the secret of its skill, and what it writes of it is not shown', async () => {
    const script = `printf '%s' "$API_TOKEN" | wc -c; echo "$API_TOKEN"; printf 'me:%s' "$API_TOKEN" | base64
      printf '%s' "$API_TOKEN" | od -An -tx1 | tr -d ' \\n'; echo; set -x; : "$API_TOKEN"`;
    const shown = await shownOutput(secrets(), skill(), script);
    const hidden = [TOKEN, Buffer.from(TOKEN).toString('hex'), Buffer.from(TOKEN).toString('base64').slice(0, 16)];
    expect(hidden.filter((text) => shown.includes(text))).toEqual([]);
    expect(shown.split('\n').slice(0, 2)).toEqual([String(TOKEN.length), '[secret API_TOKEN]']);
    expect(shown.match(/\[secret API_TOKEN\]/g)?.length).toBe(4);
  });

  test('has neither the secret of another skill nor a key to a model', async () => {
    const shown = await shownOutput(secrets(), skill(), 'env | cut -d= -f1 | sort');
    expect(shown.split('\n').filter((name) => /TOKEN|KEY|MINE|THEIRS/.test(name))).toEqual(['API_TOKEN']);
  });
});

describe('what leaves', () => {
  test('holds no configured variable and no key, also before they are given', () => {
    const secrets = fromOne(
      { env: 'MY_API_TOKEN' },
      { MY_API_TOKEN: TOKEN, OPENAI_API_KEY: PROVIDER, LANG: 'C.UTF-8' },
    );
    expect(secrets.redactor.text(`${TOKEN} ${PROVIDER} C.UTF-8`)).toBe(
      '[secret API_TOKEN] [secret OPENAI_API_KEY] C.UTF-8',
    );
    expect(open({}).redactor.isEmpty).toBe(true);
  });

  test('holds no value once it was fetched, in any spelling', async () => {
    const secrets = fromOne({ file: secretFile('late', OTHER) });
    const { redactor } = secrets;
    expect(redactor.isEmpty).toBe(true);
    await secrets.forSkill(skill());
    const texts = [OTHER, Buffer.from(`u:${OTHER}`).toString('base64'), encodeURIComponent(OTHER)];
    for (const text of texts) expect(redactor.text(text)).toContain('[secret API_TOKEN]');
    const stream = redactor.stream();
    const shown = [...OTHER].map((character) => Buffer.from(stream.write(Buffer.from(character))).toString());
    expect(shown.join('') + Buffer.from(stream.end()).toString()).toBe('[secret API_TOKEN]');
  });

  test('is not spoilt by short or common values of the surroundings', () => {
    const secrets = fromOne({ env: 'FLAG' }, { FLAG: 'true', OPENAI_API_KEY: 'none', GROQ_API_KEY: 'password' });
    expect(secrets.redactor.text('true none password')).toBe('true none password');
  });
});
