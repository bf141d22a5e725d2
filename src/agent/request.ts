/** Builds the next request to a model: fixed sections, a stable prefix, never larger than the limit (AGT-6). */
import { actionSchema, actionTable } from './action-protocol.ts';
import { sha256 } from '#platform';
import { rulesText, type ProtocolName } from './system-prompt.ts';
import {
  buildConversation,
  measureMessages,
  shortExchange,
  shortMessage,
  user,
  withExchanges,
  type Conversation,
  type Exchange,
} from './conversation.ts';
import type { Budget, Model, ModelRequest, ModelTool } from '#core';
import type { Run, Session } from '#runtime';
import type { KeptOutputs } from './outputs.ts';

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
export function openMeasure(measureText: Run['measureText'], project: string | undefined): Measure {
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
  readonly tokens: number;
  readonly ceiling: number;
  readonly conversation: Conversation;
  readonly shortened: Shortened | undefined;
}

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
      maxOutputTokens: model.contextWindow === undefined ? undefined : answerTokens,
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

interface Room {
  readonly tokens: number;
  /** The part of it that the state (plan and budget) takes. */
  readonly stateTokens: number;
  readonly outputs: KeptOutputs;
  /** Renders the loaded skills within a token limit. Skills that do not fit count as unloaded afterwards. */
  readonly carrySkills: (tokens: number) => string;
}

interface Shortened {
  readonly conversation: Conversation;
  readonly before: number;
  readonly after: number;
  /** The steps that were applied, for the record. */
  readonly dropped: readonly string[];
}

/** A request that exceeds the first share of its limit is shortened below the second, so that not every turn has to shorten it. */
const FULL = 0.8;
const ROOMY = 0.5;
const SKILL_SHARE = 0.25;
/** The latest exchanges, which are shortened last. */
const RECENT = 2;
const OLD_OUTPUT = 600;
const SAID_LINE = 200;
const SMALL_REQUEST = 2_000;
const EARLIER_LINES = 60;

type Step = (conversation: Conversation, room: Room) => readonly [Conversation, string];

const STEPS: readonly Step[] = [
  (conversation, { outputs }) => {
    const old = conversation.exchanges.slice(0, -RECENT).map((exchange) => shortened(exchange, OLD_OUTPUT, outputs));
    return [withExchanges(conversation, [...old, ...conversation.exchanges.slice(-RECENT)]), 'old outputs'];
  },
  (conversation, room) => [withoutOld(conversation, RECENT, room, SKILL_SHARE), 'old exchanges'],
  (conversation, { outputs }) => [cut(conversation, 4_000, outputs), 'long outputs'],
  (conversation, room) => [withoutOld(cut(conversation, 1_000, room.outputs), 1, room, SKILL_SHARE / 2), 'exchanges'],
  (conversation, { outputs }) => [
    withEarlier(cut(conversation, 300, outputs), conversation.earlier.slice(-EARLIER_LINES / 4)),
    'outputs',
  ],
  (conversation, room) => [
    withShortRequests(withoutOld(conversation, 1, room, 0), room.outputs),
    'the end of the request',
  ],
];

/**
 * Keeps a request within its token limit (AGT-6), in fixed steps: old outputs become references, then old exchanges become summary
 * lines, then the rest is truncated. Nothing is lost: outputs can be recalled by reference, skills can be loaded again.
 *
 * Returns the shortened conversation, or undefined if it fits. `before` is the current token count. The result may still be too long.
 */
export function shortenConversation(conversation: Conversation, before: number, room: Room): Shortened | undefined {
  if (before <= room.tokens * FULL) return undefined;
  return applySteps(conversation, before, { room, steps: STEPS, enough: room.tokens * ROOMY });
}

/** Shortens a conversation before it is full, by its older exchanges only. */
export function compactConversation(
  conversation: Conversation,
  { session, outputs, ceiling }: Pick<RequestParts, 'session' | 'outputs'> & { readonly ceiling: number },
): Shortened | undefined {
  const carrySkills = (tokens: number): string => carriedSkills(session, tokens);
  const room = { tokens: ceiling, stateTokens: 0, outputs, carrySkills };
  return applySteps(conversation, conversation.whole.tokens, { room, steps: STEPS.slice(0, 2), enough: 0 });
}

function applySteps(
  conversation: Conversation,
  before: number,
  { room, steps, enough }: { readonly room: Room; readonly steps: readonly Step[]; readonly enough: number },
): Shortened | undefined {
  let shorter = conversation;
  let after = before;
  const dropped: string[] = [];
  for (const step of steps) {
    const [next, what] = step(shorter, room);
    const tokens = next.whole.tokens + room.stateTokens;
    if (tokens < after) {
      dropped.push(what);
      shorter = next;
      after = tokens;
    }
    if (after <= enough) break;
  }
  return dropped.length === 0 ? undefined : { conversation: shorter, before, after, dropped };
}

function cut(conversation: Conversation, limit: number, outputs: KeptOutputs): Conversation {
  return withExchanges(
    conversation,
    conversation.exchanges.map((exchange) => shortened(exchange, limit, outputs)),
  );
}

function shortened(exchange: Exchange, limit: number, outputs: KeptOutputs): Exchange {
  return shortExchange(exchange, { answer: limit, result: limit, message: Number.POSITIVE_INFINITY }, outputs);
}

/** Messages of the user are truncated last. */
function withShortRequests(conversation: Conversation, outputs: KeptOutputs): Conversation {
  const limits = { answer: SMALL_REQUEST, result: SMALL_REQUEST, message: SMALL_REQUEST };
  return buildConversation(
    { ...conversation, request: shortMessage(conversation.request, SMALL_REQUEST, outputs, 'request') },
    conversation.exchanges.map((exchange) => shortExchange(exchange, limits, outputs)),
  );
}

function withEarlier(conversation: Conversation, earlier: readonly string[]): Conversation {
  return buildConversation({ ...conversation, earlier }, conversation.exchanges);
}

/**
 * Replaces all but the last exchanges by summary lines and carries over the skills that they loaded. If the user spoke in a dropped
 * exchange, the last such message becomes the request, because it is the one being worked on.
 */
function withoutOld(conversation: Conversation, recent: number, room: Room, share: number): Conversation {
  const { exchanges, earlier } = conversation;
  const old = exchanges.slice(0, -recent);
  if (old.length === 0 && share > 0) return conversation;
  let { request, images } = conversation;
  const lines: string[] = [];
  for (const exchange of old) {
    lines.push(...resultLines(exchange, room));
    if (exchange.message === undefined) continue;
    lines.push(
      `the person said: ${toMessageLine(request, room)}`,
      `you answered: ${toMessageLine(exchange.text, room)}`,
    );
    request = exchange.message;
    images = exchange.messageImages;
  }
  return buildConversation(
    {
      request,
      images,
      skills: room.carrySkills(Math.floor(room.tokens * share)),
      earlier: [...earlier, ...lines].slice(-EARLIER_LINES),
    },
    exchanges.slice(-recent),
  );
}

function resultLines({ turn, results }: Exchange, { outputs }: Room): readonly string[] {
  return results.map(({ line, text, reference }) => {
    const where = reference ?? (text.length > OLD_OUTPUT ? outputs.keep(text) : undefined);
    return `turn ${String(turn)}: ${line}${where === undefined ? '' : ` (${where})`}`;
  });
}

function toMessageLine(text: string, { outputs }: Room): string {
  return shortMessage(text, SAID_LINE, outputs).replaceAll(/\s+/g, ' ');
}
