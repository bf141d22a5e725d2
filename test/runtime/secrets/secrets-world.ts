import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll } from 'vitest';

import { openSecrets, type Secrets, type SkillWithSecrets } from '../../../src/runtime/secrets/secrets.ts';
import type { SecretsConfig } from '../../../src/runtime/secrets/secrets-config.ts';
import type { SecretSource } from '../../../src/runtime/secrets/secret-sources.ts';

export const TOKEN = 'tok-5f3a9c1e77';
export const OTHER = 'other-0d2b4c6a88';
export const PROVIDER = 'sk-ant-0123456789abcdefghij';

type Variables = Readonly<Record<string, string>>;

/** A home folder for one suite, and secrets in it. */
export interface SecretsWorld {
  readonly home: string;
  readonly open: (config: SecretsConfig, env?: Variables) => Secrets;
  /** `API_TOKEN` of `csv-report`, and nothing else. */
  readonly fromOne: (source: SecretSource, env?: Variables) => Secrets;
  readonly given: (source: SecretSource, env?: Variables) => Promise<unknown>;
  readonly secretFile: (name: string, content: string | Buffer, mode?: number) => string;
}

export function secretsWorld(): SecretsWorld {
  const home = mkdtempSync(path.join(tmpdir(), 'skillwright-secrets-'));
  afterAll(() => rmSync(home, { recursive: true, force: true }));
  const open = (config: SecretsConfig, env: Variables = {}): Secrets =>
    openSecrets(config, { env: { PATH: '/usr/local/bin:/usr/bin:/bin', ...env }, home, cwd: home });
  const fromOne = (source: SecretSource, env?: Variables): Secrets =>
    open({ 'csv-report': { API_TOKEN: source } }, env);
  return {
    home,
    open,
    fromOne,
    given: async (source, env) => outcome(await fromOne(source, env).forSkill(skill())),
    secretFile: (name, content, mode = 0o600) => {
      const file = path.join(home, name);
      writeFileSync(file, content);
      chmodSync(file, mode);
      return file;
    },
  };
}

export function skill(
  requires: readonly string[] = ['env:API_TOKEN'],
  more: Partial<SkillWithSecrets> = {},
): SkillWithSecrets {
  return { name: 'csv-report', source: 'user', controls: { requires }, ...more };
}

/** What the skill is given, or why not. */
export function outcome(found: Awaited<ReturnType<Secrets['forSkill']>>): unknown {
  return 'failure' in found ? found.failure.message : found.env;
}
