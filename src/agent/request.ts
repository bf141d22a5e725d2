/** The next request to a model: fixed sections, a stable start, never larger than its room (AGT-6). */
import type { Budget } from '../core/budget.ts';
import type { Model, ModelRequest, ModelTool } from '../core/model.ts';
import { estimateTokens } from '../core/tokens.ts';
import type { Session } from '../runtime/session.ts';
import { shortenConversation } from './context.ts';
import type { Shortened } from './context.ts';
import { conversationTokens, messagesOf } from './conversation.ts';
import type { Conversation } from './conversation.ts';
import type { KeptOutputs } from './outputs.ts';
import { actionSchema } from './protocol.ts';
import { rulesText } from './words.ts';
import type { ProtocolName } from './words.ts';

export interface RequestParts {
  readonly session: Session;
  readonly protocol: ProtocolName;
  readonly model: Pick<Model, 'contextWindow'>;
  readonly limits: Budget;
  readonly tools: readonly ModelTool[];
  readonly state: string;
  readonly outputs: KeptOutputs;
  readonly measure: Measure;
}

/** What is the same in every request, and what it costs: worked out once for each text and each list of tools. */
export interface Measure {
  system(text: string): number;
  shape(tools: readonly ModelTool[], protocol: ProtocolName): Shape;
}

interface Shape {
  readonly parts: Pick<ModelRequest, 'tools' | 'answerSchema'>;
  readonly tokens: number;
}

export function openMeasure(): Measure {
  const systems = new Map<string, number>();
  const shapes = new Map<readonly ModelTool[], Shape>();
  return {
    system: (text) => remembered(systems, text, () => estimateTokens(text)),
    shape: (tools, protocol) =>
      remembered(shapes, tools, () => {
        const parts = protocol === 'tools' ? { tools } : { tools: [], answerSchema: actionSchema(tools) };
        return { parts, tokens: estimateTokens(JSON.stringify(parts)) };
      }),
  };
}

/** A system text that holds loaded skills changes with them: the old ones are forgotten. */
const REMEMBERED = 2;

function remembered<Key, Value>(known: Map<Key, Value>, key: Key, make: () => Value): Value {
  const value = known.get(key) ?? make();
  if (known.size >= REMEMBERED && !known.has(key)) known.clear();
  known.set(key, value);
  return value;
}

export interface PreparedRequest {
  readonly request: ModelRequest;
  /** Estimated, with all that is not a message. */
  readonly tokens: number;
  /** What a request may cost here. */
  readonly ceiling: number;
  readonly conversation: Conversation;
  readonly shortened: Shortened | undefined;
}

/** Kept free for the answer, at most. */
const ANSWER_TOKENS = 8_192;

export function prepareRequest(conversation: Conversation, parts: RequestParts): PreparedRequest {
  const { session, protocol, model, limits, tools, state, outputs, measure } = parts;
  const system = `${rulesText(protocol)}\n\n${session.startRequest()}`;
  const shape = measure.shape(tools, protocol);
  const answerTokens = answerRoom(model);
  const ceiling = Math.min(limits.contextTokens, (model.contextWindow ?? Number.POSITIVE_INFINITY) - answerTokens);
  const fixed = measure.system(system) + shape.tokens;
  const before = conversationTokens(conversation, state);
  const shortened = shortenConversation(conversation, before, {
    tokens: Math.max(0, ceiling - fixed),
    state,
    outputs,
    carrySkills: (tokens) => carriedSkills(session, tokens),
  });
  const next = shortened?.conversation ?? conversation;
  return {
    request: {
      system,
      messages: messagesOf(next, state),
      ...shape.parts,
      ...(model.contextWindow === undefined ? {} : { maxOutputTokens: answerTokens }),
    },
    tokens: fixed + (shortened?.after ?? before),
    ceiling,
    conversation: next,
    shortened,
  };
}

function answerRoom({ contextWindow }: Pick<Model, 'contextWindow'>): number {
  return contextWindow === undefined ? 0 : Math.min(ANSWER_TOKENS, Math.floor(contextWindow / 4));
}

/** The skills that are in use, by the rule of sessions. The catalog is in the system text already and is not said again. */
function carriedSkills(session: Session, tokens: number): string {
  if (session.state.loaded.length === 0) return '';
  const { text, catalog } = session.compact({ ceiling: session.catalog.tokens + tokens });
  return text.startsWith(catalog.text) ? text.slice(catalog.text.length).trimStart() : text;
}
