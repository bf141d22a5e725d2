/** The facts of a run of another agent, collected while its transcript arrives. */
import { defined, isObject, type ModelAnswer } from '#core';

export type JsonObject = Readonly<Record<string, unknown>>;

export interface TranscriptCall {
  readonly name: string;
  readonly input: unknown;
  /** False until the transcript reports success. */
  readonly ok: boolean;
  readonly output: string;
  /** The skill that the call asked a tool for skills to load. */
  readonly skill?: string;
}

/** Tokens of one step; `input` includes those that the provider read from its cache and wrote there. */
export type StepUsage = Readonly<Partial<Record<'input' | 'output' | 'cached' | 'written', number | undefined>>>;

export type Transcript = ReturnType<typeof openTranscript>;

export function openTranscript() {
  const calls = new Map<string, TranscriptCall>();
  const turns = new Set<string>();
  const open = new Set<string>();
  const steps: StepUsage[] = [];
  const prices: (number | undefined)[] = [];
  const models = new Set<string>();
  let ended: TranscriptCall[] = [];
  const end = (id: string, { ok, output }: Pick<TranscriptCall, 'ok' | 'output'>): void => {
    const call = calls.get(id);
    if (call !== undefined && open.delete(id)) ended.push({ ...call, ok, output });
  };
  return {
    answer: '',
    /** The last model that it names. */
    get model(): string {
      return [...models].at(-1) ?? '';
    },
    set model(name: string) {
      if (name !== '') models.add(name);
    },
    get models(): readonly string[] {
      return [...models].toSorted();
    },
    /** Agents that do not know a price say 0. */
    get usd(): number | undefined {
      const sum = sumAmounts(prices);
      return sum === 0 ? undefined : sum;
    },
    /** Why the agent failed, in its own words. */
    error: undefined as string | undefined,
    /** Whether the event that ends every transcript of this agent was seen. */
    isComplete: false,
    /** The skills that the agent offered to the model or loaded, if the transcript names them. */
    offered: undefined as readonly string[] | undefined,
    get calls(): number {
      return calls.size;
    },
    /** Requests to the model, as far as the transcript shows them. */
    get turns(): number {
      return turns.size;
    },
    get usage(): ModelAnswer['usage'] | undefined {
      const sum = (name: keyof StepUsage): number | undefined => sumAmounts(steps.map((step) => step[name]));
      const [inputTokens, outputTokens] = [sum('input'), sum('output')];
      if (inputTokens === undefined || outputTokens === undefined) return undefined;
      const cacheWriteInputTokens = sum('written') === 0 ? undefined : sum('written');
      return defined({ inputTokens, outputTokens, cachedInputTokens: sum('cached'), cacheWriteInputTokens });
    },
    /** Counts each id once; without an id, every call counts. */
    turn: (id = `#${String(turns.size)}`) => void turns.add(id),
    start(id: string, call: Pick<TranscriptCall, 'name' | 'input' | 'skill'>): void {
      if (calls.has(id)) return;
      calls.set(id, { ...call, ok: false, output: '' });
      open.add(id);
    },
    end,
    /** The calls that ended since the last time. */
    takeEnded(): readonly TranscriptCall[] {
      const last = ended;
      ended = [];
      return last;
    },
    /** Ends the calls without a result as failed. */
    endOpen(): void {
      for (const id of open) end(id, { ok: false, output: '' });
    },
    /** Adds the tokens of a step. If one step does not report an amount, its sum is unknown. */
    addUsage: (step: StepUsage) => void steps.push(step),
    /** Adds the price of a step, in the same way. */
    addUsd: (amount: number | undefined) => void prices.push(amount),
  };
}

/** A field of untrusted JSON; each function has a default for a field of another type. */
export function textIn(value: unknown, name: string): string {
  const field = fieldIn(value, name);
  return typeof field === 'string' ? field : '';
}

/** An amount that cannot be negative; undefined if it is missing or impossible. */
export function amountIn(value: unknown, name: string): number | undefined {
  const field = fieldIn(value, name);
  return typeof field === 'number' && field >= 0 && field <= Number.MAX_SAFE_INTEGER ? field : undefined;
}

/** The sum of amounts; undefined without any, or if one of them is undefined. */
export function sumAmounts(amounts: readonly (number | undefined)[]): number | undefined {
  const known = amounts.filter((amount) => amount !== undefined);
  return known.length < Math.max(1, amounts.length) ? undefined : known.reduce((sum, one) => sum + one, 0);
}

export function objectIn(value: unknown, name: string): JsonObject {
  const field = fieldIn(value, name);
  return isObject(field) ? field : {};
}

export function listIn(value: unknown, name: string): readonly unknown[] {
  const field = fieldIn(value, name);
  return Array.isArray(field) ? field : [];
}

function fieldIn(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

export function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? content.map((part) => textIn(part, 'text')).join('\n') : '';
}
