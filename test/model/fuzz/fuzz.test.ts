import { describe, expect, test } from 'vitest';

import { isSkillError } from '../../../src/core/errors.ts';
import { checkJson, type JsonSchema } from '../../../src/core/json/json-schema.ts';
import type { ModelAnswer, ModelDelta, ModelRequest, ModelTool } from '../../../src/core/model.ts';
import { FUZZ_KINDS, type FuzzKind } from '../../../src/model/fuzz/fuzz-answers.ts';
import { fuzzModel, type FuzzModel } from '../../../src/model/fuzz/fuzz.ts';
import { openSkillTools } from '../../../src/packs/open-runtime.ts';
import { SKILLS } from '../../built-in-skills/support.ts';
import { modelTools } from '../rule-request.ts';

const signal = new AbortController().signal;
const SCHEMA: JsonSchema = {
  type: 'object',
  description: '',
  properties: {
    skill: { type: 'string', description: '', enum: ['csv-report', 'text-diff'] },
    script: { type: 'string', description: '' },
    args: { type: 'array', description: '', maxItems: 4, items: { type: 'string', description: '' } },
    timeout: { type: 'integer', description: '', minimum: 1, maximum: 86_400 },
    inline: { type: 'boolean', description: '' },
    where: {
      description: '',
      anyOf: [
        { type: 'string', description: '' },
        { type: 'object', description: '', additionalProperties: true },
      ],
    },
  },
  required: ['skill', 'script'],
  additionalProperties: false,
};
const TOOLS: readonly ModelTool[] = [
  {
    name: 'run_script',
    description: 'Runs.',
    inputSchema: SCHEMA,
  },
];
const NATIVE: ModelRequest = { system: '', messages: [{ role: 'user', content: 'go' }], tools: TOOLS };
const ACTIONS: ModelRequest = { ...NATIVE, tools: [] };

async function answers(model: FuzzModel, request: ModelRequest, count: number): Promise<readonly ModelAnswer[]> {
  const all: ModelAnswer[] = [];
  for (let call = 0; call < count; call += 1) all.push(await model.call(request, { signal }));
  return all;
}

const one = async (kind: FuzzKind, request: ModelRequest, seed = 1): Promise<ModelAnswer> =>
  fuzzModel(seed, { kinds: [kind], tools: TOOLS, hugeCharacters: 50_000 }).call(request, { signal });

describe('a fuzz model', () => {
  test('gives the same answers for the same seed, and others for another', async () => {
    for (const request of [NATIVE, ACTIONS]) {
      const first = await answers(fuzzModel(7), request, 100);
      expect(await answers(fuzzModel(7), request, 100)).toEqual(first);
      expect(await answers(fuzzModel(8), request, 100)).not.toEqual(first);
    }
  });

  test('plays every kind, and says which it was', async () => {
    const model = fuzzModel(1, { failsOneIn: 20 });
    for (let call = 0; call < 600; call += 1) await model.call(NATIVE, { signal }).catch(() => undefined);
    expect(model.played).toHaveLength(600);
    expect(new Set(model.played)).toEqual(new Set([...FUZZ_KINDS, 'failure']));
  });

  test('valid calls are valid by their schemas; wrong ones are not', async () => {
    const problems = async (kind: FuzzKind, seed: number): Promise<number> => {
      const [call] = (await one(kind, NATIVE, seed)).toolCalls;
      return checkJson(JSON.parse(call?.input ?? ''), SCHEMA).length;
    };
    for (let seed = 0; seed < 60; seed += 1) {
      expect(await problems('valid', seed)).toBe(0);
      expect(await problems('extra-fields', seed)).toBeGreaterThan(0);
    }
    const wrong = await Promise.all(Array.from({ length: 50 }, (_, seed) => problems('wrong-types', seed)));
    expect(wrong.filter((count) => count > 0).length).toBeGreaterThan(30);
  });

  test('writes actions as JSON where the request has no tools', async () => {
    expect(JSON.parse((await one('valid', ACTIONS)).text)).toMatchObject({ action: { type: 'run_script' } });
    expect(JSON.parse((await one('plan-patch-missing', ACTIONS)).text)).toMatchObject({
      plan_update: { mode: 'patch' },
    });
    expect(JSON.parse((await one('empty-final', ACTIONS)).text)).toMatchObject({ action: { type: 'final_answer' } });
    expect((await one('huge-answer', ACTIONS)).text.length).toBeGreaterThan(50_000);
    expect((await one('cut-json', ACTIONS)).finish).toBe('length');
    for (const kind of ['prose', 'json-in-noise', 'two-objects', 'almost-json', 'empty'] as const) {
      const { text } = await one(kind, ACTIONS);
      expect(() => JSON.parse(text) as unknown).toThrow(SyntaxError);
    }
  });

  test('repeats its last answer exactly for the kind repeated-call', async () => {
    const model = fuzzModel(3, { kinds: ['valid', 'repeated-call'], tools: TOOLS });
    const all = (await answers(model, ACTIONS, 40)).map(({ text }) => text);
    const repeats = model.played.flatMap((kind, place) => (kind === 'repeated-call' && place > 0 ? [place] : []));
    expect(repeats.length).toBeGreaterThan(5);
    for (const place of repeats) expect(all[place]).toBe(all[place - 1]);
  });

  test('deltas add up to every answer', async () => {
    const model = fuzzModel(11);
    for (let call = 0; call < 60; call += 1) {
      const deltas: ModelDelta[] = [];
      const answer = await model.call(NATIVE, { signal, onDelta: (delta) => deltas.push(delta) });
      const told = deltas.map(({ text }) => text).join('');
      expect(told === answer.text + answer.toolCalls.map(({ input }) => input).join('')).toBe(true);
    }
  });

  test('fails only where asked, in ways that may be tried again and in others', async () => {
    const model = fuzzModel(5, { failsOneIn: 2 });
    const failures: unknown[] = [];
    for (let call = 0; call < 60; call += 1)
      await model.call(NATIVE, { signal }).catch((error: unknown) => failures.push(isSkillError(error) && error.data));
    expect(failures).toContainEqual({ model: 'fuzz/5', status: 503, isRetryable: true });
    expect(failures).toContainEqual({ model: 'fuzz/5', status: 400, isRetryable: false });
    const stopped = AbortSignal.abort(new Error('enough'));
    await expect(fuzzModel(5).call(NATIVE, { signal: stopped })).rejects.toThrow('enough');
  });
});

describe('the tools of a session', () => {
  test.each(['skillwright', 'skills-agent', 'trpc', 'openseed', 'manusx'] as const)(
    'answer all of it in words, with the vocabulary %s',
    async (vocabulary) => {
      const runtime = {
        cwd: SKILLS,
        home: undefined,
        env: {},
        roots: [SKILLS],
        onlyRoots: true,
        cache: false,
      } as const;
      const skills = await openSkillTools({ runtime, vocabulary });
      const tools = modelTools(skills);
      const names = new Set(tools.map(({ name }) => name));
      const model = fuzzModel(42, { hugeCharacters: 20_000 });
      for (let turn = 0; turn < 60; turn += 1) {
        const { toolCalls } = await model.call({ ...NATIVE, tools }, { signal });
        for (const { name, input } of toolCalls) {
          const { text, isError } = await skills.call(name, input);
          expect([typeof text, names.has(name) || isError]).toEqual(['string', true]);
        }
      }
      await skills.session.close();
    },
  );
});
