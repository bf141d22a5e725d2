/** The facts of a run of another agent, collected while its transcript arrives. */
import { isObject, type ModelAnswer } from '#core';

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

export class Transcript {
  readonly #calls = new Map<string, TranscriptCall>();
  readonly #turns = new Set<string>();
  readonly #open = new Set<string>();
  #ended: TranscriptCall[] = [];
  readonly #usage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 };
  #hasUsage = false;
  answer = '';
  model = '';
  usd: number | undefined;
  /** Why the agent failed, in its own words. */
  error: string | undefined;
  /** Whether the event that ends every transcript of this agent was seen. */
  isComplete = false;
  /** The skills that the agent offered to the model, if the transcript names them. */
  offered: readonly string[] | undefined;

  get calls(): number {
    return this.#calls.size;
  }

  /** Requests to the model, as far as the transcript shows them. */
  get turns(): number {
    return this.#turns.size;
  }

  /** Counts each id once; without an id, every call counts. */
  turn(id = `#${String(this.#turns.size)}`): void {
    this.#turns.add(id);
  }

  get usage(): ModelAnswer['usage'] | undefined {
    return this.#hasUsage ? this.#usage : undefined;
  }

  start(id: string, call: Pick<TranscriptCall, 'name' | 'input' | 'skill'>): void {
    if (this.#calls.has(id)) return;
    this.#calls.set(id, { ...call, ok: false, output: '' });
    this.#open.add(id);
  }

  end(id: string, { ok, output }: Pick<TranscriptCall, 'ok' | 'output'>): void {
    const call = this.#calls.get(id);
    if (call === undefined || !this.#open.delete(id)) return;
    const ended = { ...call, ok, output };
    this.#calls.set(id, ended);
    this.#ended.push(ended);
  }

  takeEnded(): readonly TranscriptCall[] {
    const ended = this.#ended;
    this.#ended = [];
    return ended;
  }

  /** Ends the calls without a result as failed. */
  endOpen(): void {
    for (const id of this.#open) this.end(id, { ok: false, output: '' });
  }

  /** Adds to the usage. `input` includes cached tokens. */
  addUsage(input: number, output: number, cached = 0): void {
    this.#hasUsage = true;
    this.#usage.inputTokens += input;
    this.#usage.outputTokens += output;
    this.#usage.cachedInputTokens += cached;
  }
}

/** A field of untrusted JSON; each function has a default for a field of another type. */
export function textIn(value: unknown, name: string): string {
  const field = isObject(value) ? value[name] : undefined;
  return typeof field === 'string' ? field : '';
}

export function numberIn(value: unknown, name: string): number {
  const field = isObject(value) ? value[name] : undefined;
  return typeof field === 'number' && Number.isFinite(field) ? field : 0;
}

export function objectIn(value: unknown, name: string): JsonObject {
  const field = isObject(value) ? value[name] : undefined;
  return isObject(field) ? field : {};
}

export function listIn(value: unknown, name: string): readonly unknown[] {
  const field: unknown = isObject(value) ? value[name] : undefined;
  return Array.isArray(field) ? field : [];
}

export function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? content.map((part) => textIn(part, 'text')).join('\n') : '';
}
