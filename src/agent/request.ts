/** Builds the next request to a model: fixed sections, a stable prefix, never larger than the limit (AGT-6). */
import { actionSchema, actionTable } from './action-protocol.ts';
import type { Budget } from '../core/budget.ts';
import type { Model, ModelRequest, ModelTool } from '../core/model.ts';
import { sha256 } from '../platform/hash.ts';
import type { MeasureText } from '../runtime/measured-texts.ts';
import type { Session } from '../runtime/session.ts';
import { shortenConversation } from './context.ts';
import type { Shortened } from './context.ts';
import type { Conversation } from './conversation.ts';
import type { KeptOutputs } from './outputs.ts';
import { measureMessages, user } from './measured-messages.ts';
import { rulesText } from './system-prompt.ts';
import type { ProtocolName } from './system-prompt.ts';

export interface RequestParts {
  readonly session: Session;
  readonly protocol: ProtocolName;
  readonly model: Pick<Model, 'answerSchemas' | 'contextWindow'>;
  readonly limits: Budget;
  /** Asked again after the conversation was shortened. */
  readonly tools: () => readonly ModelTool[];
  readonly state: string;
  readonly outputs: KeptOutputs;
  readonly measure: Measure;
}

/** The parts that are the same in every request, measured once per system text and per list of tools. */
export interface Measure {
  system(instructions: string, protocol: ProtocolName, actions: string): Fixed<string>;
  shape(
    tools: readonly ModelTool[],
    form: AnswerForm,
  ): Fixed<Pick<ModelRequest, 'tools' | 'answerSchema'>> & {
    /** The description of the actions for the system text; empty if the model sees their schema. */
    readonly actions: string;
  };
}

interface AnswerForm {
  readonly protocol: ProtocolName;
  readonly answerSchemas: Model['answerSchemas'];
}

interface Fixed<Part> {
  readonly part: Part;
  readonly tokens: number;
  readonly digest: string;
}

/** `project` are the instructions of the project, if there are any. */
export function openMeasure(measureText: MeasureText, project: string | undefined): Measure {
  const fixed = <Part>(part: Part, text: string): Fixed<Part> => {
    const { tokens, digest } = measureText(text);
    return { part, tokens, digest };
  };
  const systems = new Map<string, Fixed<string>>();
  const shapes = new Map<readonly ModelTool[], ReturnType<Measure['shape']>>();
  return {
    system: (instructions, protocol, actions) =>
      remembered(systems, `${actions}\n${instructions}`, () => {
        const rules = rulesText(protocol, actions);
        const text = [rules, ...(project === undefined ? [] : [project]), instructions].join('\n\n');
        return fixed(text, text);
      }),
    shape: (tools, { protocol, answerSchemas }) =>
      remembered(shapes, tools, () => {
        if (protocol === 'tools') return { ...fixed({ tools }, JSON.stringify({ tools })), actions: '' };
        const part = { tools: [], answerSchema: actionSchema(tools) };
        // A schema that is not sent costs no tokens, but it is a part of what the answer depends on.
        const { tokens, ...rest } = fixed(part, JSON.stringify(part));
        return {
          ...rest,
          tokens: answerSchemas === undefined ? 0 : tokens,
          actions: answerSchemas === 'shown' ? '' : actionTable(tools),
        };
      }),
  };
}

/** The system text changes with the loaded skills; only the latest texts are cached. */
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
  /** Equal requests have equal digests. */
  readonly digest: string;
  /** The estimated size, including the parts that are not messages. */
  readonly tokens: number;
  /** The largest allowed request. */
  readonly ceiling: number;
  readonly conversation: Conversation;
  readonly shortened: Shortened | undefined;
}

/** The most tokens that are reserved for the answer. */
const ANSWER_TOKENS = 8_192;

export function prepareRequest(conversation: Conversation, parts: RequestParts): PreparedRequest {
  const { session, protocol, model, limits, tools, outputs, measure } = parts;
  const { answerSchemas } = model;
  const before = measure.shape(tools(), { protocol, answerSchemas });
  const system = measure.system(session.startRequest(), protocol, before.actions);
  const state = measureMessages(parts.state === '' ? [] : [user(parts.state)]);
  const answerTokens = answerRoom(model);
  const ceiling = Math.min(limits.contextTokens, (model.contextWindow ?? Number.POSITIVE_INFINITY) - answerTokens);
  const spoken = conversation.whole.tokens + state.tokens;
  const shortened = shortenConversation(conversation, spoken, {
    tokens: Math.max(0, ceiling - system.tokens - before.tokens),
    stateTokens: state.tokens,
    outputs,
    carrySkills: (tokens) => carriedSkills(session, tokens),
  });
  const shape = shortened === undefined ? before : measure.shape(tools(), { protocol, answerSchemas });
  const next = shortened?.conversation ?? conversation;
  const { messages, digests } = next.whole;
  return {
    request: {
      system: system.part,
      // The part that changes with every request comes last, so that providers can cache the prefix.
      messages: [...messages, ...state.messages],
      ...shape.part,
      ...(model.contextWindow === undefined ? {} : { maxOutputTokens: answerTokens }),
    },
    digest: requestDigest([system.digest, shape.digest, digests, state.digest, answerTokens]),
    tokens: system.tokens + shape.tokens + (shortened?.after ?? spoken),
    ceiling,
    conversation: next,
    shortened,
  };
}

/** Combines the digests of the parts, so that a turn does not hash the whole conversation again. */
function requestDigest(parts: readonly (string | number)[]): string {
  return `sha256:${sha256(parts.join('\n'))}`;
}

function answerRoom({ contextWindow }: Pick<Model, 'contextWindow'>): number {
  return contextWindow === undefined ? 0 : Math.min(ANSWER_TOKENS, Math.floor(contextWindow / 4));
}

/** Renders the loaded skills by the rules of the session, without the catalog, which is part of the system text. */
function carriedSkills(session: Session, tokens: number): string {
  if (session.state.loaded.length === 0) return '';
  const { text, catalog } = session.compact({ ceiling: session.catalog.tokens + tokens });
  return text.startsWith(catalog.text) ? text.slice(catalog.text.length).trimStart() : text;
}
