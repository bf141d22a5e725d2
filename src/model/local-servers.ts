import { isObject, printable, problemError, toProblem } from '#core';
import { ANSWER_LIMITS, guardedFetch } from './guarded-fetch.ts';
import { hideSecrets, isModelProblem, modelProblem } from './problem.ts';

export const LOCAL_PROVIDERS = ['ollama', 'lmstudio', 'llamacpp'] as const;
export type LocalProvider = (typeof LOCAL_PROVIDERS)[number];

export function isLocalProvider(name: string): name is LocalProvider {
  return LOCAL_PROVIDERS.some((local) => local === name);
}

export interface ServedModel {
  readonly name: string;
  /** The context size that the server runs the model with, which may be much smaller than the model supports. */
  readonly contextWindow?: number;
}

export type ServerProbe =
  | { readonly type: 'found'; readonly address: string; readonly models: readonly ServedModel[] }
  | { readonly type: 'missing'; readonly address: string; readonly reason: string };

export interface LookOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

const USUAL_ADDRESSES: Readonly<Record<LocalProvider, string>> = {
  ollama: 'http://127.0.0.1:11434',
  lmstudio: 'http://127.0.0.1:1234',
  llamacpp: 'http://127.0.0.1:8080',
};

export function usualAddress(provider: LocalProvider, env: Readonly<Record<string, string | undefined>>): string {
  const configured = provider === 'ollama' ? readOllamaHost(env['OLLAMA_HOST'] ?? '') : undefined;
  return configured ?? USUAL_ADDRESSES[provider];
}

const OLLAMA_HOST = /^(?:(https?):\/\/)?([\w.-]*|\[[\da-f:.]+\])(?::(\d{1,5}))?\/?$/i;

/** `OLLAMA_HOST` is also the listen address of the server, for example `0.0.0.0:11434`, which clients cannot use. */
function readOllamaHost(text: string): string | undefined {
  const [, scheme = 'http', host = '', port] = OLLAMA_HOST.exec(text.trim()) ?? [];
  if (text.trim() === '' || (host === '' && port === undefined)) return undefined;
  const asked = host === '' || host === '0.0.0.0' || host === '[::]' ? '127.0.0.1' : host;
  const usual = text.includes('://') ? '' : ':11434';
  return `${scheme.toLowerCase()}://${asked}${port === undefined ? usual : `:${port}`}`;
}

/**
 * Asks a server for its models with a provider-specific request, so that another program on the same port is not mistaken for it.
 * Throws only if the signal is aborted.
 */
export async function probeServer(
  provider: LocalProvider,
  address: string,
  options: LookOptions,
): Promise<ServerProbe> {
  try {
    const models = await MODELS_OF[provider](address, options);
    if (models === undefined)
      return { type: 'missing', address, reason: `the program at ${address} is not ${provider}` };
    return { type: 'found', address, models };
  } catch (error) {
    options.signal.throwIfAborted();
    return { type: 'missing', address, reason: toProblem(error, isModelProblem).message };
  }
}

/** Returns the models that an OpenAI-compatible server lists. Raises a `ModelProblem`. */
export async function servedModels(baseUrl: string, options: LookOptions): Promise<readonly ServedModel[]> {
  const rows = readRows(await readJson(`${baseUrl}/models`, options), 'data') ?? [];
  return rows.flatMap((row) => named(row['id']));
}

type ReadModels = (address: string, options: LookOptions) => Promise<readonly ServedModel[] | undefined>;

/** Each function returns undefined if the answer is not from that server. */
const MODELS_OF: Readonly<Record<LocalProvider, ReadModels>> = {
  ollama: async (address, options) => {
    const rows = readRows(await readJson(`${address}/api/tags`, options), 'models');
    return rows?.filter(canChat).flatMap((row) => named(row['name']));
  },
  lmstudio: async (address, options) => {
    const rows = readRows(await readJson(`${address}/api/v0/models`, options), 'data');
    const talking = rows?.filter(({ type }) => type === 'llm' || type === 'vlm');
    const isLoaded = (row: Row): boolean => row['state'] === 'loaded';
    return talking
      ?.toSorted((a, b) => Number(isLoaded(b)) - Number(isLoaded(a)))
      .flatMap((row) => named(row['id'], isLoaded(row) ? row['loaded_context_length'] : undefined));
  },
  llamacpp: async (address, options) => {
    const rows = readRows(await readJson(`${address}/v1/models`, options), 'data');
    if (rows?.some(({ owned_by: owner }) => owner === 'llamacpp') !== true) return undefined;
    const props = await readJson(`${address}/props`, options).catch(() => undefined);
    const settings = isObject(props) ? props['default_generation_settings'] : undefined;
    const window = isObject(settings) ? settings['n_ctx'] : undefined;
    return rows.flatMap((row) => named(row['id'], window));
  },
};

type Row = Readonly<Record<string, unknown>>;

/** Further models of a server are ignored. */
const MAX_MODELS = 1_000;
const MAX_NAME = 300;

function readRows(value: unknown, key: string): readonly Row[] | undefined {
  const rows = isObject(value) ? value[key] : undefined;
  return Array.isArray(rows) ? rows.slice(0, MAX_MODELS).filter(isObject) : undefined;
}

/** Names are printed and sent back, so they must be plain text. */
function named(name: unknown, window?: unknown): readonly ServedModel[] {
  if (typeof name !== 'string' || name === '' || name.length > MAX_NAME || printable(name) !== name) return [];
  const isWindow = typeof window === 'number' && Number.isSafeInteger(window) && window > 0;
  return [isWindow ? { name, contextWindow: window } : { name }];
}

/** Ollama lists embedding models as well. */
function canChat({ name, details }: Row): boolean {
  const family = isObject(details) ? details['family'] : undefined;
  return !/embed/i.test(String(name)) && !(typeof family === 'string' && /bert/i.test(family));
}

const LOOK_MS = 600;
const MAX_LIST_BYTES = 1024 * 1024;

async function readJson(url: string, { signal, timeoutMs = LOOK_MS, headers = {} }: LookOptions): Promise<unknown> {
  signal.throwIfAborted();
  const guard = guardedFetch({
    limits: {
      ...ANSWER_LIMITS,
      firstByteMs: timeoutMs,
      silenceMs: timeoutMs,
      attemptMs: timeoutMs * 2,
      maxAnswerBytes: MAX_LIST_BYTES,
    },
    hide: hideSecrets(Object.values(headers)),
    now: () => Date.now(),
  });
  try {
    const response = await guard.fetch(url, { headers: { accept: 'application/json', ...headers }, signal });
    return JSON.parse(await response.text());
  } catch (error) {
    signal.throwIfAborted();
    const problem = guard.problem();
    if (problem === undefined && !(error instanceof SyntaxError)) throw error;
    throw problemError(problem ?? modelProblem(`${new URL(url).origin} did not return JSON`));
  } finally {
    guard.end();
  }
}
