/** The next request to a model: fixed sections, a stable start, never larger than its room (AGT-6). */
import { actionSchema } from './action-protocol.ts';
import type { Budget } from '../core/budget.ts';
import type { Model, ModelRequest, ModelTool } from '../core/model.ts';
import { sha256 } from '../platform/hash.ts';
import type { MeasureText } from '../runtime/measured-texts.ts';
import type { Session } from '../runtime/session.ts';
import { shortenConversation } from './context.ts';
import type { Shortened } from './context.ts';
import type { Conversation } from './conversation.ts';
import type { KeptOutputs } from './outputs.ts';
import { passageOf, user } from './measured-messages.ts';
import { rulesText } from './system-prompt.ts';
import type { ProtocolName } from './system-prompt.ts';

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
  system(instructions: string, protocol: ProtocolName): Fixed<string>;
  shape(tools: readonly ModelTool[], protocol: ProtocolName): Fixed<Pick<ModelRequest, 'tools' | 'answerSchema'>>;
}

interface Fixed<Part> {
  readonly part: Part;
  readonly tokens: number;
  readonly digest: string;
}

export function openMeasure(measureText: MeasureText): Measure {
  const fixed = <Part>(part: Part, text: string): Fixed<Part> => {
    const { tokens, digest } = measureText(text);
    return { part, tokens, digest };
  };
  const systems = new Map<string, Fixed<string>>();
  const shapes = new Map<readonly ModelTool[], ReturnType<Measure['shape']>>();
  return {
    system: (instructions, protocol) =>
      remembered(systems, instructions, () => {
        const text = `${rulesText(protocol)}\n\n${instructions}`;
        return fixed(text, text);
      }),
    shape: (tools, protocol) =>
      remembered(shapes, tools, () => {
        const part = protocol === 'tools' ? { tools } : { tools: [], answerSchema: actionSchema(tools) };
        return fixed(part, JSON.stringify(part));
      }),
  };
}

/** A system text that holds loaded skills changes with them: the old ones are forgotten. */
const REMEMBERED = 2;

function remembered<Key, Value>(known: Map<Key, Value>, key: Key, make: () => Value): Value {
  const before = known.get(key);
  if (before !== undefined) return before;
  if (known.size >= REMEMBERED) known.clear();
  const value = make();
  known.set(key, value);
  return value;
}

export interface PreparedRequest {
  readonly request: ModelRequest;
  /** Equal requests have equal ones. */
  readonly digest: string;
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
  const { session, protocol, model, limits, tools, outputs, measure } = parts;
  const system = measure.system(session.startRequest(), protocol);
  const shape = measure.shape(tools, protocol);
  const state = passageOf(parts.state === '' ? [] : [user(parts.state)]);
  const answerTokens = answerRoom(model);
  const ceiling = Math.min(limits.contextTokens, (model.contextWindow ?? Number.POSITIVE_INFINITY) - answerTokens);
  const fixedTokens = system.tokens + shape.tokens;
  const before = conversation.whole.tokens + state.tokens;
  const shortened = shortenConversation(conversation, before, {
    tokens: Math.max(0, ceiling - fixedTokens),
    stateTokens: state.tokens,
    outputs,
    carrySkills: (tokens) => carriedSkills(session, tokens),
  });
  const next = shortened?.conversation ?? conversation;
  const { messages, digests } = next.whole;
  return {
    request: {
      system: system.part,
      // What changes with every request comes last: all before it can be cached.
      messages: [...messages, ...state.messages],
      ...shape.part,
      ...(model.contextWindow === undefined ? {} : { maxOutputTokens: answerTokens }),
    },
    digest: requestDigest([system.digest, shape.digest, digests, state.digest, answerTokens]),
    tokens: fixedTokens + (shortened?.after ?? before),
    ceiling,
    conversation: next,
    shortened,
  };
}

/** Of a request, from the digests of its parts: all that was said so far need not be read again in every turn. */
function requestDigest(parts: readonly (string | number)[]): string {
  return `sha256:${sha256(parts.join('\n'))}`;
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
