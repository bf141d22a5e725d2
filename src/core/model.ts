/** A language model behind one function. `model/` creates models; `agent/` calls them. */
import type { JsonSchema } from './json/json-schema.ts';

export interface Model {
  /** For example `anthropic/claude-sonnet-5-5`, `ollama/qwen3`, `rules` or `scripted`. */
  readonly id: string;
  /** Digest of everything besides the id that an answer depends on: address, parameters, headers and account. Absent if there is nothing. */
  readonly settings?: string;
  /** Maximum tokens of a request and its answer together; absent if unknown. */
  readonly contextWindow?: number;
  /**
   * Whether `answerSchema` of a request reaches the model: `shown` if the provider presents it to the model, `enforced` if the server
   * only constrains the answer by it. If absent, it is not sent, and the request describes the answer in its system text.
   */
  readonly answerSchemas?: 'shown' | 'enforced';
  /** Whether messages may contain images; absent if it is not known. */
  readonly takesImages?: boolean;
  /** Throws `SkillError` `model/unavailable` or `model/failed`, or the reason of the signal. */
  call(request: ModelRequest, options: ModelCallOptions): Promise<ModelAnswer>;
}

export interface ModelRequest {
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  /** Empty if the model answers with structured actions. */
  readonly tools: readonly ModelTool[];
  /** Requires the answer to be one JSON object of this shape, if the model supports it. */
  readonly answerSchema?: JsonSchema;
  readonly maxOutputTokens?: number;
}

export type ModelMessage =
  | {
      readonly role: 'user';
      readonly content: string;
      /** Shown after the content. */
      readonly images?: readonly ModelImage[];
    }
  | { readonly role: 'assistant'; readonly content: string; readonly toolCalls: readonly ModelToolCall[] }
  | {
      readonly role: 'tool';
      readonly callId: string;
      readonly toolName: string;
      readonly content: string;
      readonly isError: boolean;
      /** Shown besides the content by models that take images in results of tools. */
      readonly images?: readonly ModelImage[];
    };

export interface ModelImage {
  /** The file as the user named it; absent for results of tools. */
  readonly name?: string;
  readonly mediaType: string;
  /** Base64. */
  readonly data: string;
}

export interface ModelTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
}

export interface ModelToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON as the model wrote it; may be invalid. */
  readonly input: string;
}

/** Why a model stopped. */
export type Finish = 'stop' | 'tool-calls' | 'length' | 'filtered' | 'other';

export interface ModelAnswer {
  readonly text: string;
  readonly toolCalls: readonly ModelToolCall[];
  readonly finish: Finish;
  readonly usage: ModelUsage;
  /** Failed attempts before this answer. */
  readonly retries: number;
  /** As the server reports it: a server may answer with another model than the one that was asked. */
  readonly servedBy?: ServingModel;
}

interface ServingModel {
  readonly model?: string;
  readonly fingerprint?: string;
}

/** Absent if the provider does not report it. */
export interface ModelUsage {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  /** Of the input tokens, those that the provider read from its cache, and those that it wrote there at another price. */
  readonly cachedInputTokens?: number;
  readonly cacheWriteInputTokens?: number;
}

export interface ModelCallOptions {
  readonly signal: AbortSignal;
  /** Receives the answer as it is generated. The deltas add up to the answer; act only on the complete one. */
  readonly onDelta?: (delta: ModelDelta) => void;
}

export type ModelDelta =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool-input'; readonly id: string; readonly name: string; readonly text: string };
