import { createRedactor, redactionProblem } from '#journal';
import {
  failure,
  quoted,
  type ActionProblem,
  type SkillEntry,
  type ToolServers,
  type Surroundings,
  type Redactor,
} from '#core';
import { declaredSecrets } from '#policy';
import { isProviderKey } from './provider-keys.ts';
import { fetchSecret, sourceName, type FetchedSecret, type SecretSource } from './secret-sources.ts';
import { checkSecretsConfig, environmentProblem, sourcesFor, type SecretsConfig } from './secrets-config.ts';

export type SkillWithSecrets = Pick<SkillEntry, 'name' | 'source'> & {
  readonly controls: Pick<SkillEntry['controls'], 'requires'>;
};

interface SkillSecrets {
  /** Environment variables for its processes only; never in arguments or records. */
  readonly env: Readonly<Record<string, string>>;
  /** Redacts the output of its processes. Knows the secrets of all skills, because they share a workspace. */
  readonly redactor: Redactor;
  /** Warnings: declared but not configured, or configured but not declared. */
  readonly problems: readonly string[];
}

export interface Secrets {
  /** The configured values of the variables that a skill declares. Throws the reason of the signal. */
  readonly forSkill: (
    skill: SkillWithSecrets,
    signal?: AbortSignal,
  ) => Promise<SkillSecrets | { readonly failure: ActionProblem }>;
  /** Fetches values for an MCP server, which the user's configuration names with their sources. */
  readonly values: Parameters<ToolServers['open']>[0]['secrets'];
  /** Names of the variables that a skill would get. */
  readonly namesFor: (skill: SkillWithSecrets) => readonly string[];
  /**
   * Redacts records, prompts and everything else: all fetched values, configured variables and withheld keys. It learns new values; an open
   * stream keeps the values known when it was opened.
   */
  readonly redactor: Redactor;
}

/**
 * The secrets of a session, fetched on first use and kept only in memory. Throws `SkillError` `config/invalid` if the configuration gives a
 * secret to more than one skill, or one that no skill may have.
 */
export function openSecrets(config: SecretsConfig, surroundings: Surroundings): Secrets {
  checkSecretsConfig(config);
  const keys = namedValues(Object.keys(surroundings.env).filter(isProviderKey), surroundings);
  const known = knownSecrets([...keys, ...configuredValues(config, surroundings)]);
  const fetchOnce = onceEach(async (source, signal) => await fetchSecret(source, surroundings, signal));
  const keyRedactor = createRedactor(keys.filter(isRedactable));

  async function valueFor(variable: string, source: SecretSource, signal?: AbortSignal): Promise<SecretResult> {
    const fetched = await fetchOnce(source, signal);
    if (fetched.type === 'cancelled') {
      signal?.throwIfAborted();
      return { variable, problem: 'it was cancelled' };
    }
    if (fetched.type === 'missing') return { variable, problem: fetched.reason, hint: fetched.hint };
    const { value } = fetched;
    const isKey = keyRedactor.text(value) !== value;
    const problem = isKey
      ? 'it contains a key of a model provider, which no skill can get'
      : valueProblem(variable, value);
    if (problem !== undefined) return { variable, problem };
    known.add({ name: variable, value });
    return { variable, value };
  }

  return {
    redactor: known.redactor,
    async values(owner, sources, signal) {
      const results = await Promise.all(
        Object.entries(sources).map(([variable, source]) => valueFor(variable, source, signal)),
      );
      const missing = results.filter((found) => found.problem !== undefined);
      if (missing.length > 0)
        return { failure: missingFailure({ name: owner }, missing, new Map(Object.entries(sources))) };
      return { values: Object.fromEntries(results.map(({ variable, value }) => [variable, value ?? ''])) };
    },
    namesFor(skill) {
      const sources = sourcesFor(config, skill);
      return declaredSecrets(skill.controls.requires).filter((variable) => sources.has(variable));
    },
    async forSkill(skill, signal) {
      signal?.throwIfAborted();
      const declared = declaredSecrets(skill.controls.requires);
      const forbidden = declared.filter(isProviderKey);
      if (forbidden.length > 0) return { failure: forbiddenFailure(skill, forbidden) };
      const sources = sourcesFor(config, skill);
      const requested = declared.flatMap((variable) => {
        const source = sources.get(variable);
        return source === undefined ? [] : [{ variable, source }];
      });
      const results = await Promise.all(requested.map(({ variable, source }) => valueFor(variable, source, signal)));
      const missing = results.filter((found) => found.problem !== undefined);
      if (missing.length > 0) return { failure: missingFailure(skill, missing, sources) };
      return {
        env: Object.fromEntries(results.map(({ variable, value }) => [variable, value ?? ''])),
        redactor: known.redactor,
        problems: findProblems(skill, declared, [...sources.keys()]),
      };
    },
  };
}

type NamedSecret = Parameters<typeof createRedactor>[0][number];

interface SecretResult {
  readonly variable: string;
  readonly value?: string;
  readonly problem?: string;
  readonly hint?: string;
}

function valueProblem(variable: string, value: string): string | undefined {
  if (value.includes('\0')) return 'its value contains a NUL character, which is not allowed in an environment';
  const problem = redactionProblem(value);
  if (problem !== undefined) return `its value ${problem} and could not be redacted`;
  return environmentProblem(variable, value);
}

function forbiddenFailure({ name }: SkillWithSecrets, variables: readonly string[]): ActionProblem {
  const keys = variables.map((variable) => quoted(variable)).join(', ');
  return failure('secret/missing', `${quoted(name)} requires ${keys}: no skill can get a key of a model provider`, {
    hint: 'tell the user: a skill that needs its own key must declare it under another name',
  });
}

function missingFailure(
  { name }: Pick<SkillWithSecrets, 'name'>,
  missing: readonly SecretResult[],
  sources: ReadonlyMap<string, SecretSource>,
): ActionProblem {
  const reasons = missing.map(({ variable, problem = '' }) => {
    const source = sources.get(variable) ?? {};
    return `${quoted(variable)} from ${sourceName(source)}: ${problem}`;
  });
  const hint = missing.find((found) => found.hint !== undefined)?.hint;
  return failure('secret/missing', `${quoted(name)} needs ${reasons.join('; ')}`, { hint });
}

function findProblems(
  { name, source }: SkillWithSecrets,
  declared: readonly string[],
  configured: readonly string[],
): readonly string[] {
  return [
    ...declared
      .filter((variable) => !configured.includes(variable))
      .map((variable) => `${quoted(name)} declares ${quoted(variable)}, but no secret is configured for it`),
    ...configured
      .filter((variable) => !declared.includes(variable))
      .map(
        (variable) => `${quoted(variable)} is configured for ${quoted(`${source}/${name}`)}, which does not declare it`,
      ),
  ];
}

function namedValues(names: readonly string[], { env }: Surroundings): readonly NamedSecret[] {
  return names.flatMap((name) => {
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    return value === undefined || value === '' ? [] : [{ name, value }];
  });
}

/** Values of environment variables that are configured as secrets; redacted even if never given to a skill. */
function configuredValues(config: SecretsConfig, surroundings: Surroundings): readonly NamedSecret[] {
  return Object.values(config)
    .flatMap((variables) => Object.entries(variables))
    .flatMap(([name, { env }]) =>
      env === undefined ? [] : namedValues([env], surroundings).map(({ value }) => ({ name, value })),
    );
}

function isRedactable({ name, value }: NamedSecret): boolean {
  return /^\w{1,100}$/.test(name) && redactionProblem(value) === undefined;
}

/** A redactor that can learn new values. */
function knownSecrets(first: readonly NamedSecret[]): { readonly redactor: Redactor; add(secret: NamedSecret): void } {
  let secrets = unrepeated(first.filter(isRedactable));
  let current = createRedactor(secrets);
  return {
    add: (secret) => {
      if (secrets.some(({ value }) => value === secret.value)) return;
      secrets = [...secrets, secret];
      current = createRedactor(secrets);
    },
    redactor: {
      bytes: (data) => current.bytes(data),
      text: (text) => current.text(text),
      stream: () => current.stream(),
      get isEmpty() {
        return current.isEmpty;
      },
    },
  };
}

function unrepeated(secrets: readonly NamedSecret[]): readonly NamedSecret[] {
  return [...new Map(secrets.toReversed().map((secret) => [secret.value, secret])).values()].toReversed();
}

type Fetch = (source: SecretSource, signal?: AbortSignal) => Promise<FetchedSecret>;

/** Fetches each value once and shares concurrent fetches. Missing and cancelled ones are tried again. */
function onceEach(fetch: Fetch): Fetch {
  const values = new Map<string, FetchedSecret>();
  const running = new Map<string, Promise<FetchedSecret>>();
  const ask: Fetch = async (source, signal) => {
    const key = JSON.stringify([source.env, source.file, source.command]);
    const known = values.get(key);
    if (known !== undefined) return known;
    const others = running.get(key);
    if (others !== undefined) {
      const found = await orAborted(others, signal);
      return found.type === 'cancelled' && signal?.aborted !== true ? await ask(source, signal) : found;
    }
    const fetching = fetch(source, signal).finally(() => running.delete(key));
    running.set(key, fetching);
    const found = await fetching;
    if (found.type === 'value') values.set(key, found);
    return found;
  };
  return ask;
}

async function orAborted(fetching: Promise<FetchedSecret>, signal?: AbortSignal): Promise<FetchedSecret> {
  if (signal === undefined) return await fetching;
  const waiting = new AbortController();
  const leaving = new Promise<FetchedSecret>((resolve) => {
    if (signal.aborted) resolve({ type: 'cancelled' });
    signal.addEventListener('abort', () => resolve({ type: 'cancelled' }), { signal: waiting.signal });
  });
  return await Promise.race([fetching, leaving]).finally(() => waiting.abort());
}
