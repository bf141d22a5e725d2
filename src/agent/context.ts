/**
 * Keeps a request within its token limit (AGT-6), in fixed steps: old outputs become references, then old exchanges become summary
 * lines, then the rest is truncated. Nothing is lost: outputs can be recalled by reference, skills can be loaded again.
 */
import { conversationOf, shortExchange, shortMessage, withExchanges } from './conversation.ts';
import type { Conversation, Exchange } from './conversation.ts';
import type { KeptOutputs } from './outputs.ts';

export interface Room {
  /** The token limit for the messages, estimated. */
  readonly tokens: number;
  /** The part of it that the state (plan and budget) takes. */
  readonly stateTokens: number;
  readonly outputs: KeptOutputs;
  /** Renders the loaded skills within a token limit. Skills that do not fit count as unloaded afterwards. */
  readonly carrySkills: (tokens: number) => string;
}

export interface Shortened {
  readonly conversation: Conversation;
  readonly before: number;
  readonly after: number;
  /** The steps that were applied, for the record. */
  readonly dropped: readonly string[];
}

/** A request that exceeds the first share of its limit is shortened below the second, so that not every turn has to shorten it. */
const FULL = 0.8;
const ROOMY = 0.5;
/** The share of the limit for skills that are carried over. */
const SKILL_SHARE = 0.25;
/** The latest exchanges, which are shortened last. */
const RECENT = 2;
const OLD_OUTPUT = 600;
/** Characters of an old message in a summary line. */
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
 * Returns the shortened conversation, or undefined if it fits. `before` is the current token count. The result may still be too long.
 */
export function shortenConversation(conversation: Conversation, before: number, room: Room): Shortened | undefined {
  if (before <= room.tokens * FULL) return undefined;
  let shorter = conversation;
  let after = before;
  const dropped: string[] = [];
  for (const step of STEPS) {
    const [next, what] = step(shorter, room);
    const tokens = next.whole.tokens + room.stateTokens;
    if (tokens < after) {
      dropped.push(what);
      shorter = next;
      after = tokens;
    }
    if (after <= room.tokens * ROOMY) break;
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
  return conversationOf(
    { ...conversation, request: shortMessage(conversation.request, SMALL_REQUEST, outputs, 'request') },
    conversation.exchanges.map((exchange) => shortExchange(exchange, limits, outputs)),
  );
}

function withEarlier(conversation: Conversation, earlier: readonly string[]): Conversation {
  return conversationOf({ ...conversation, earlier }, conversation.exchanges);
}

/**
 * Replaces all but the last exchanges by summary lines and carries over the skills that they loaded. If the user spoke in a dropped
 * exchange, the last such message becomes the request, because it is the one being worked on.
 */
function withoutOld(conversation: Conversation, recent: number, room: Room, share: number): Conversation {
  const { exchanges, earlier } = conversation;
  const old = exchanges.slice(0, -recent);
  if (old.length === 0 && share > 0) return conversation;
  let { request } = conversation;
  const lines: string[] = [];
  for (const exchange of old) {
    lines.push(...resultLines(exchange, room));
    if (exchange.message === undefined) continue;
    lines.push(`the person said: ${saidLine(request, room)}`, `you answered: ${saidLine(exchange.text, room)}`);
    request = exchange.message;
  }
  return conversationOf(
    {
      request,
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

function saidLine(text: string, { outputs }: Room): string {
  return shortMessage(text, SAID_LINE, outputs).replaceAll(/\s+/g, ' ');
}
