import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { shortenConversation } from '../../src/agent/request.ts';
import { toExchangeResult, startConversation, withExchange, type Conversation } from '../../src/agent/conversation.ts';
import { keepOutputs } from '../../src/agent/outputs.ts';
import { verifyRun } from '../../src/journal/verify.ts';
import type { ModelRequest } from '../../src/core/model.ts';
import { estimateTokens } from '../../src/core/tokens.ts';
import { verifies } from '../conformance/verifies.ts';
import { acting, allText, eventsOf, ofType, played, world } from './support.ts';
import { runs } from '../property-runs.ts';

const WORDS = 'all work and no play makes a dull text ';
const BIG = {
  big: {
    body: `canary-big-body ${WORDS.repeat(40)}`,
    files: { 'references/long.md': `# Long\n\n${WORDS.repeat(280)}\n`, 'scripts/say.sh': '#!/bin/sh\necho rows\n' },
  },
};

/** The played model is sent no schema: the actions are in the system text. */
const tokensOf = ({ system, messages, tools }: ModelRequest): number =>
  estimateTokens(system) +
  estimateTokens(JSON.stringify({ tools })) +
  messages.reduce((sum, message) => sum + estimateTokens(JSON.stringify(message)), 0);

describe('a run of a hundred turns', () => {
  test.each(['tools', 'actions'] as const)('never sends more than the window of its model, by %s', async (protocol) => {
    const { agent } = await world(BIG);
    const turns = 100;
    const model = played(
      Array.from({ length: turns + 1 }, (_, place) => {
        if (place === turns)
          return protocol === 'tools' ? { text: 'done' } : acting('final_answer', { answer: 'done' });
        if (protocol === 'actions')
          return place % 50 === 0
            ? acting('select_skills', { skills: [{ name: 'big' }] })
            : acting(
                'load_resource',
                { skill: { name: 'big' }, relative_path: 'references/long.md', offset: place },
                { diagnostics: [WORDS.repeat(20)] },
              );
        const read = ['read_resource', { skill: 'big', path: 'references/long.md', offset: place }] as const;
        return place % 50 === 0
          ? { calls: [['load_skill', { skill: 'big' }]] }
          : { text: WORDS.repeat(30), calls: [read, read] };
      }),
      16_000,
    );
    const result = await agent({ model, protocol, budget: { turns: 1000, toolCalls: 1000, tokens: 100_000_000 } });
    expect(result).toMatchObject({ outcome: 'done', used: { turns: turns + 1 } });
    const largest = Math.max(...model.requests.map((request) => tokensOf(request) + (request.maxOutputTokens ?? 0)));
    expect(largest).toBeLessThanOrEqual(16_000);
    expect(new Set(model.requests.map(({ system }) => system)).size).toBe(1);
    const compactions = ofType(eventsOf(result), 'context-compact');
    expect(compactions.length).toBeGreaterThan(5);
    expect(compactions.length).toBeLessThan(turns);
    expect(compactions.every(({ before, after }) => after < before)).toBe(true);
    expect(verifyRun(result.path ?? '').status).toBe('intact');
  });

  verifies('AGT-6', 'what left the conversation can be had again by its reference', async () => {
    const { agent } = await world(BIG);
    const model = played(
      [
        { calls: [['load_skill', { skill: 'big' }]] },
        ...Array.from({ length: 8 }, (_, offset) => ({
          calls: [['read_resource', { skill: 'big', path: 'references/long.md', offset }]] as const,
        })),
        (request) => {
          const [reference] = /run:\/\/observations\/[0-9a-f]{64}/.exec(allText(request)) ?? [];
          return { calls: [['recall_output', { reference }]] };
        },
        { calls: [['recall_output', { reference: 'run://observations/none' }]] },
        { text: 'ok' },
      ],
      12_000,
    );
    const result = await agent({ model });
    expect(result.outcome).toBe('done');
    expect(allText(model.requests.at(-2) ?? expect.fail())).toMatch(
      /\[data [0-9a-f]{16} from recall_output\][^]*all work and no play/,
    );
    expect(allText(model.requests.at(-1) ?? expect.fail())).toContain('is no longer stored');
    // The skill is still there, whole or as a word about how to have it again.
    expect(allText(model.requests.at(-1) ?? expect.fail())).toMatch(/canary-big-body|load it again/);
  });
});

test.each(['tools', 'actions'] as const)(
  'a guide as long as a body may be reaches the model whole, by %s',
  async (protocol) => {
    const line = `${'x'.repeat(99)}\n`;
    const { agent } = await world({ long: { body: `${line.repeat(390)}the-last-line` } });
    const isNative = protocol === 'tools';
    const model = played([
      isNative
        ? { calls: [['load_skill', { skill: 'long' }]] }
        : acting('select_skills', { skills: [{ name: 'long' }] }),
      isNative ? { text: 'done' } : acting('final_answer', { answer: 'done' }),
    ]);
    await agent({ model, protocol });
    const [, second] = model.requests;
    if (second === undefined) throw new Error('one request');
    const shown = allText(second);
    expect(shown).toContain('the-last-line');
    expect(shown).not.toContain('[cut:');
  },
);

test('a request that is too long is cut last, and can be read as a whole', async () => {
  const { agent } = await world(BIG);
  const long = `count the rows ${WORDS.repeat(2_000)}the last words`;
  const model = played(
    [
      (request) => {
        const [, reference] = /the whole request is (run:\S+)\]/.exec(allText(request)) ?? [];
        return { calls: [['recall_output', { reference, from_character: long.length - 14 }]] };
      },
      { text: 'ok' },
    ],
    12_000,
  );
  expect(await agent({ model, request: long, required: ['big'] })).toMatchObject({ outcome: 'done' });
  expect(allText(model.requests[1] ?? expect.fail())).toContain('the last words');
  expect(Math.max(...model.requests.map(tokensOf))).toBeLessThan(12_000);
});

test('a part of an output begins and ends with whole characters', async () => {
  const { agent } = await world(BIG);
  // The first part has 8,000 units; its last one is half of the character.
  const long = `${'x'.repeat(7_999)}\u{1F600}${WORDS.repeat(3_500)}`;
  const model = played(
    [
      ...[0, 8_000].map((from) => (request: ModelRequest) => {
        const [, reference] = /the whole request is (run:\S+)\]/.exec(allText(request)) ?? [];
        return { calls: [['recall_output', { reference, from_character: from }]] as const };
      }),
      { text: 'ok' },
    ],
    24_000,
  );
  expect(await agent({ model, request: long, required: ['big'] })).toMatchObject({ outcome: 'done' });
  const seen = model.requests.map(allText).join('');
  expect(['[characters 0 to 7999 of', '[characters 7999 to 16000 of'].filter((note) => !seen.includes(note))).toEqual(
    [],
  );
  expect(seen).not.toMatch(/\p{Surrogate}/u);
});

describe('shortening', () => {
  const conversations = fc
    .array(
      fc.record({
        text: fc.string({ maxLength: 200 }),
        results: fc.array(
          fc.record({ text: fc.string({ maxLength: 4000 }), isError: fc.boolean(), isData: fc.boolean() }),
          { maxLength: 4 },
        ),
      }),
      { maxLength: 30 },
    )
    .map((turns) => {
      const outputs = keepOutputs();
      let conversation = startConversation({ request: 'the request' });
      for (const [turn, { text, results }] of turns.entries()) {
        const ids = results.map((_, place) => `${String(turn)}-${String(place)}`);
        conversation = withExchange(
          conversation,
          {
            turn,
            text,
            toolCalls: ids.map((id) => ({ id, name: 'read', input: '{}' })),
            results: results.map((result, place) =>
              toExchangeResult({ ...result, callId: ids[place] ?? '', tool: 'read', line: 'read' }),
            ),
          },
          outputs,
        );
      }
      return conversation;
    });

  test('makes nothing longer, keeps a result for each call, and fits as soon as there is room for the least', () => {
    fc.assert(
      fc.property(conversations, fc.integer({ min: 0, max: 20_000 }), (whole, tokens) => {
        const stateTokens = 10;
        const room = { tokens, stateTokens, outputs: keepOutputs(), carrySkills: () => '' };
        const tokensOf = (conversation: Conversation): number => conversation.whole.tokens + stateTokens;
        const shorter = shortenConversation(whole, tokensOf(whole), room);
        if (shorter === undefined) {
          const fits = tokensOf(whole) <= tokens * 0.8;
          expect(fits || whole.exchanges.length <= 2).toBe(true);
          return;
        }
        expect(shorter.after).toBeLessThan(shorter.before);
        expect(shorter.after).toBe(tokensOf(shorter.conversation));
        if (tokens > 4_000) expect(shorter.after).toBeLessThanOrEqual(tokens);
        const { messages } = shorter.conversation.whole;
        const calls = messages.flatMap((message) =>
          message.role === 'assistant' ? message.toolCalls.map(({ id }) => id) : [],
        );
        const results = messages.flatMap((message) => (message.role === 'tool' ? [message.callId] : []));
        expect(results).toEqual(calls);
      }),
      { numRuns: runs(400) },
    );
  });

  test('kept outputs are the same text again, the oldest go first', () => {
    const outputs = keepOutputs(10);
    const first = outputs.keep('12345');
    const second = outputs.keep('67890');
    expect([outputs.find(first), outputs.find(second)]).toEqual(['12345', '67890']);
    const third = outputs.keep('abc');
    expect([outputs.find(first), outputs.find(second), outputs.find(third)]).toEqual([undefined, '67890', 'abc']);
  });

  test('no text holds the mark that ends it', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const marked = toExchangeResult({
          callId: '1',
          tool: 'tool',
          text,
          isData: true,
          isError: false,
          line: '',
        }).shown;
        const end = marked.slice(marked.lastIndexOf('\n') + 1);
        expect(text.includes(end)).toBe(false);
        expect(marked.split(end)).toHaveLength(2);
      }),
    );
  });
});
