import path from 'node:path';

import { docsPage, quoted, SkillError } from '#core';
import { isProviderKey } from './provider-keys.ts';
import type { SecretSource } from './secret-sources.ts';
import { programEnvironment } from '#sandbox';

/** Variables per skill, by `name` or `source/name`. Only the user may write it, because its commands are run. */
export type SecretsConfig = Readonly<Record<string, Readonly<Record<string, SecretSource>>>>;

/** Throws `SkillError` `config/invalid` if a secret is given to more than one skill, or must not be given to any. */
export function checkSecretsConfig(config: SecretsConfig): void {
  for (const [key, variables] of Object.entries(config)) {
    const problem = keyProblem(key);
    if (problem !== undefined) throw invalid([key], problem);
    for (const [variable, source] of Object.entries(variables)) {
      const wrong = entryProblem(variable, source);
      if (wrong !== undefined) throw invalid([key, variable], wrong);
    }
  }
}

/** An entry for `source/name` replaces the entry for `name`. */
export function sourcesFor(
  config: SecretsConfig,
  { name, source }: { readonly name: string; readonly source: string },
): ReadonlyMap<string, SecretSource> {
  // The skill `builtin/pdf` of another source must not match the entry of `pdf`.
  const keys = name.includes('/') ? [`${source}/${name}`] : [`${source}/${name}`, name];
  const key = keys.find((key) => Object.hasOwn(config, key));
  return new Map(key === undefined ? [] : Object.entries(config[key] ?? {}));
}

/** Applies the checks that all variables of programs go through. */
export function environmentProblem(variable: string, value = ''): string | undefined {
  const environment = programEnvironment({
    root: '/',
    runFolder: 'runs',
    home: 'home',
    declared: Object.fromEntries([[variable, value]]),
  });
  return environment.type === 'refused' ? environment.failure.message : undefined;
}

function keyProblem(key: string): string | undefined {
  if (/[*?[\]{}]/.test(key)) return 'a secret must be given to one skill, not to a pattern';
  return key.split('/').includes('') ? 'must be a name or source/name' : undefined;
}

function entryProblem(variable: string, source: SecretSource): string | undefined {
  const { env, file, command } = source;
  const sources = [env, file, command].filter((part) => part !== undefined);
  if (sources.length !== 1 || Object.keys(source).length !== 1) return 'must have exactly one of env, file and command';
  for (const name of [variable, env ?? ''])
    if (isProviderKey(name)) return `${quoted(name)} is a key of a model provider, which no skill can get`;
  if (file !== undefined && !file.startsWith('~/') && !path.isAbsolute(file))
    return 'the file must be absolute or start with ~/';
  if (command !== undefined && (command[0] ?? '') === '') return 'the command must name a program';
  if ([file ?? '', env ?? '', ...(command ?? [])].some((word) => word.includes('\0')))
    return 'contains a NUL character';
  if (env === '') return 'the variable must have a name';
  return environmentProblem(variable);
}

function invalid(place: readonly string[], problem: string): SkillError<'config/invalid'> {
  const name = ['secrets', ...place].map((part) => quoted(part)).join(' > ');
  return new SkillError({
    code: 'config/invalid',
    message: `${name}: ${problem}`,
    hint: `give each skill its own variables, each from one env, file or command; see ${docsPage('secrets')}`,
    data: { path: ['secrets', ...place].join('.') },
  });
}
