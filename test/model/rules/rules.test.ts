import { readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';

import { CATALOG_FORMATS } from '../../../src/core/catalog-layout.ts';
import { planCatalog } from '../../../src/skills/catalog/catalog.ts';
import type { JsonSchema } from '../../../src/core/json/json-schema.ts';
import type { ModelDelta, ModelMessage, ModelRequest, ModelTool } from '../../../src/core/model.ts';
import {
  filesIn,
  readConversation,
  withoutFiles,
  RULE_MODEL_REMARK,
  openRules,
} from '../../../src/model/rules/rules.ts';
import { scoreSkills } from '../../../src/model/rules/rule-score.ts';
import { loadedIn, skillsInCatalog, skillsInResult, withoutSkillTexts } from '../../../src/model/rules/seen-skills.ts';
import { SKILLS } from '../../built-in-skills/support.ts';
import { ask } from '../rule-request.ts';

const NAMES = ['csv-report', 'skill-author', 'text-diff'] as const;
const read = (file: string): string => readFileSync(path.join(SKILLS, file), 'utf8');
const BUILT_IN = NAMES.map((name) => {
  const { description } = parse(/^---\n(.*?)\n---/s.exec(read(`${name}/SKILL.md`))?.[1] ?? '') as {
    description: string;
  };
  return { name, description };
});

describe('what a request shows of skills', () => {
  test.each(CATALOG_FORMATS)('the catalog as %s is read as it was written', (format) => {
    const items = [
      { name: 'odd-one', description: 'Turns <b> & "c" into | d: e. Use it for \'f\'.' },
      { name: 'plain', description: 'Does it.' },
    ];
    const entries = items.map((item) => ({ ...item, source: 'user', state: 'auto' as const, priority: 1 }));
    const { text } = planCatalog(entries, { budget: 4000, format, searchTool: undefined });
    const seen = skillsInCatalog(`Rules:\n- not: a skill\n\n${text}\n\n- after: neither`);
    expect(seen).toEqual(items);
  });

  test.each(CATALOG_FORMATS)('a catalog as %s and texts of skills are no words of a person', (format) => {
    const entry = { name: 'plain', description: 'Does it.', source: 'user', state: 'auto' as const, priority: 1 };
    const { text } = planCatalog([entry], { budget: 4000, format, searchTool: undefined });
    const loaded =
      '<skill_content name="a" dir="/x">\nA\n</skill_content>\n<skill_files skill="a">\n- b\n</skill_files>';
    expect(withoutSkillTexts(`before\n\n${text}\n\n${loaded}\nafter`)).toMatch(/^before\n+after$/);
    expect(withoutSkillTexts('a <skill_content name="never ends"')).toBe('a');
  });

  test('results of a search are lists of JSON; anything else shows none', () => {
    const list = [{ name: 'a', description: 'A.', source: 'user' }, { name: 'b' }, { name: 7 }, null, 'x'];
    const seen = [
      { name: 'a', description: 'A.' },
      { name: 'b', description: '' },
    ];
    expect(skillsInResult(JSON.stringify(list))).toEqual(seen);
    expect(skillsInResult(JSON.stringify({ ok: true, results: list }))).toEqual(seen);
    for (const text of ['', 'none', '{', '[', '{}', '[[]]']) expect(skillsInResult(text)).toEqual([]);
  });

  test('loaded skills stand apart, in the marks of each vocabulary', () => {
    expect(
      loadedIn('intro\n<skill_content name="a" source="user">\nA\n</skill_content>\n[Loaded] b\n\nB\n## Skill: c\n\nC'),
    ).toEqual([
      { name: 'a', text: ' source="user">\nA\n</skill_content>\n' },
      { name: 'b', text: '\n\nB\n' },
      { name: 'c', text: '\n\nC' },
    ]);
  });
});

describe('choosing', () => {
  test('the built-in skills are chosen for what they are for, and rarely for anything else', () => {
    const counts = { hit: 0, missed: 0, wrong: 0, left: 0 };
    for (const name of NAMES) {
      const cases = JSON.parse(read(`${name}/evals/trigger-eval.json`)) as { query: string; should_trigger: boolean }[];
      for (const { query, should_trigger: isMeant } of cases) {
        const [best] = scoreSkills({ request: query, files: [], skills: BUILT_IN });
        const isChosen = best?.isConvincing === true && best.name === name;
        counts[isMeant ? (isChosen ? 'hit' : 'missed') : isChosen ? 'wrong' : 'left'] += 1;
      }
    }
    expect(counts).toEqual({ hit: 23, missed: 5, wrong: 1, left: 20 });
  });

  test('a given file of the right kind counts, and what a skill says it is not for counts against it', () => {
    const score = (request: string, files: readonly string[] = []): number =>
      scoreSkills({ request, files, skills: BUILT_IN }).find(({ name }) => name === 'csv-report')?.score ?? 0;
    expect(score('look at this table', ['inputs/a.csv'])).toBeGreaterThan(score('look at this table'));
    expect(score('Draw charts of the csv')).toBeLessThan(score('Draw parrots of the csv'));
  });

  test('equal scores stay in the order of the search, and a name counts once', () => {
    const skills = ['zeta', 'alpha', 'zeta'].map((name) => ({ name, description: 'Folds paper boats.' }));
    expect(scoreSkills({ request: 'fold paper boats', files: [], skills }).map(({ name }) => name)).toEqual([
      'zeta',
      'alpha',
    ]);
    expect(scoreSkills({ request: '', files: [], skills })).toEqual([]);
  });

  test('Chinese beside Latin words is cut alike, whatever other letters a description has', () => {
    const request = '统计orders表的每一列，csv文件（缺失值）';
    const description = '分析 CSV 文件：统计每一列，缺失值；orders2024表。“报告”';
    const scoreOf = (text: string): unknown =>
      scoreSkills({ request, files: [], skills: [{ name: 'table', description: text }] });
    // A letter of another script has the text read by kinds of letters instead of by ranges.
    expect(scoreOf(description)).toEqual(scoreOf(`${description} ω`));
    expect(scoreOf(description)).toMatchObject([{ isConvincing: true }]);
  });
});

describe('the conversation', () => {
  const user = (content: string): ModelMessage => ({ role: 'user', content });
  const call = (id: string, name: string): ModelMessage => ({
    role: 'assistant',
    content: '',
    toolCalls: [{ id, name, input: '{"skill":"a"}' }],
  });
  const result = (callId: string, content: string): ModelMessage => ({
    role: 'tool',
    callId,
    toolName: 'x',
    content,
    isError: false,
  });

  test('is the last request and the calls since; remarks of the loop after a result are neither', () => {
    const messages = [
      user('first'),
      call('1', 'load_skill'),
      result('1', 'one'),
      { role: 'assistant', content: 'done', toolCalls: [] } as const,
      user('second'),
      call('2', 'run_script'),
      result('2', 'two'),
      user('two turns are left'),
    ];
    expect(readConversation(messages)).toEqual({
      request: 'second',
      earlier: [{ id: '1', name: 'load_skill', input: { skill: 'a' }, result: 'one', isError: false }],
      calls: [{ id: '2', name: 'run_script', input: { skill: 'a' }, result: 'two', isError: false }],
    });
  });

  test('in the action protocol, a user message after an action is what came of it', () => {
    const action = JSON.stringify({ action: { type: 'select_skills', payload: { skills: [] } } });
    const said = { role: 'assistant', content: action, toolCalls: [] } as const;
    expect(readConversation([user('go'), said, user('{"ok":false}')])).toEqual({
      request: 'go',
      earlier: [],
      calls: [{ id: '', name: 'select_skills', input: { skills: [] }, result: '{"ok":false}', isError: true }],
    });
    expect(readConversation([user('go'), said, user('Result of select_skills:\n{"ok":false}')]).calls[0]?.isError).toBe(
      true,
    );
    expect(readConversation([user('go'), said, user('Text:\n{ no json')]).calls[0]?.result).toBe('Text:\n{ no json');
  });

  test('files are those of the workspace, in lists, in quotes or in a sentence; nothing leads out of it', () => {
    const request = [
      'Compare workspace://work/inputs/a.csv, `workspace://work/inputs/b c.csv` and (workspace://out/d.md).',
      '- workspace://work/inputs/my file (1).csv (12 KB)',
      '* workspace://work/e.txt',
      '- workspace://../../etc/passwd',
      '- workspace:///etc/passwd',
      '- workspace://skills/x/SKILL.md',
      '- workspace://work/inputs/%2e%2e/x',
      'workspace://work/inputs/a.csv',
    ].join('\n');
    expect(filesIn(request).map(({ path: file }) => file)).toEqual([
      'inputs/a.csv',
      'inputs/b c.csv',
      'out/d.md',
      'inputs/my file (1).csv',
      'work/e.txt',
    ]);
    expect(withoutFiles('Look at\n- workspace://work/inputs/a.csv\nplease')).toBe('Look at\nplease');
  });
});

describe('an answer', () => {
  const TEXT: JsonSchema = { type: 'string', description: '' };
  const tool = (name: string, properties: Readonly<Record<string, JsonSchema>>): ModelTool => ({
    name,
    description: '',
    inputSchema: { type: 'object', description: '', properties, additionalProperties: false },
  });
  const LOAD = tool('load_skill', { skill: TEXT });
  const RUN = tool('run_script', { skill: TEXT, script: TEXT, args: { type: 'array', description: '', items: TEXT } });
  const SYSTEM =
    '<available_skills>\n<skill name="fold-boats" source="user">Folds paper boats.</skill>\n</available_skills>';
  const LOADED =
    '<skill_content name="fold-boats" source="user">\n```quickstart\nscripts/fold.mjs {request}\n```\n</skill_content>';
  const base: ModelRequest = {
    system: SYSTEM,
    messages: [{ role: 'user', content: 'fold paper boats' }],
    tools: [LOAD, RUN],
  };
  const RUN_CALL = '{"skill":"fold-boats","script":"scripts/fold.mjs","args":["fold paper boats"]}';

  test('without a tool for searching comes from the catalog alone', async () => {
    expect(await ask(base)).toEqual({
      text: '',
      toolCalls: [{ id: 'rule-1', name: 'load_skill', input: '{"skill":"fold-boats"}' }],
      finish: 'tool-calls',
      usage: {},
      retries: 0,
    });
  });

  test('follows a skill whose text went into the system message, or that a person named', async () => {
    const messages: readonly ModelMessage[] = [
      ...base.messages,
      { role: 'assistant', content: '', toolCalls: [{ id: '1', name: 'load_skill', input: '{"skill":"fold-boats"}' }] },
      { role: 'tool', callId: '1', toolName: 'load_skill', content: 'it is in the system message', isError: false },
    ];
    expect((await ask({ ...base, system: `${SYSTEM}\n${LOADED}`, messages })).toolCalls[0]?.input).toBe(RUN_CALL);
    const named = await ask({ ...base, system: '', messages: [{ role: 'user', content: `${LOADED}\n\ngo` }] });
    expect(named.toolCalls[0]?.name).toBe('run_script');
    expect(named.toolCalls[0]?.input).toBe(RUN_CALL.replace('fold paper boats', 'go'));
    const required = await ask({ ...base, system: LOADED, messages: [{ role: 'user', content: 'something else' }] });
    expect(required.toolCalls[0]?.input).toBe(RUN_CALL.replace('fold paper boats', 'something else'));
  });

  test('candidates that a loop puts below the request are candidates and not words of it', async () => {
    const shortlist = 'Available skills:\n- fold-boats: Folds paper boats.\n- bake-bread: Bakes bread from flour.';
    const asked = (content: string): ModelRequest => ({ ...base, system: '', messages: [{ role: 'user', content }] });
    expect((await ask(asked(`bake a bread from flour\n\n${shortlist}`))).toolCalls[0]?.input).toBe(
      '{"skill":"bake-bread"}',
    );
    expect((await ask(asked(`sing a song\n\n${shortlist}`))).text).toContain('No skill fits');
  });

  test('takes the actions from the schema of the answer where there are no tools', async () => {
    const option = ({ name, inputSchema }: ModelTool): JsonSchema => ({
      type: 'object',
      description: '',
      properties: { type: { type: 'string', description: '', enum: [name] }, payload: inputSchema },
      required: ['type', 'payload'],
      additionalProperties: false,
    });
    const answerSchema: JsonSchema = {
      type: 'object',
      description: '',
      properties: { action: { description: '', anyOf: [option(LOAD), option(RUN)] } },
      additionalProperties: false,
    };
    const { text } = await ask({ ...base, tools: [], answerSchema });
    expect(JSON.parse(text)).toMatchObject({ action: { type: 'load_skill', payload: { skill: 'fold-boats' } } });
  });

  test('tries another skill where one cannot be loaded, and then says why', async () => {
    const system = SYSTEM.replace(
      '</available',
      '<skill name="fold-planes" source="user">Folds paper planes.</skill>\n</available',
    );
    const failed = (id: string, skill: string): readonly ModelMessage[] => [
      { role: 'assistant', content: '', toolCalls: [{ id, name: 'load_skill', input: JSON.stringify({ skill }) }] },
      { role: 'tool', callId: id, toolName: 'load_skill', content: `${skill} is not trusted`, isError: true },
    ];
    const once = { ...base, system, messages: [...base.messages, ...failed('1', 'fold-boats')] };
    expect((await ask(once)).toolCalls[0]?.input).toBe('{"skill":"fold-planes"}');
    expect((await ask({ ...once, messages: [...once.messages, ...failed('2', 'fold-planes')] })).text).toBe(
      `${RULE_MODEL_REMARK}\n\nThe skill fold-planes fits but could not be loaded:\n\n\`\`\`\nfold-planes is not trusted\n\`\`\``,
    );
  });

  test('is deterministic, streams deltas, and stops when aborted', async () => {
    const deltas: ModelDelta[] = [];
    const signal = new AbortController().signal;
    const first = await openRules().call(base, { signal, onDelta: (delta) => deltas.push(delta) });
    expect(await ask(base)).toEqual(first);
    expect(deltas).toEqual([{ type: 'tool-input', id: 'rule-1', name: 'load_skill', text: '{"skill":"fold-boats"}' }]);
    await expect(openRules().call(base, { signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough');
  });

  test('comes for any request whatever, and never in the voice of a language model', async () => {
    const message = fc.oneof(
      fc.record({ role: fc.constant('user' as const), content: fc.string() }),
      fc.record({
        role: fc.constant('assistant' as const),
        content: fc.oneof(fc.string(), fc.json()),
        toolCalls: fc.array(
          fc.record({
            id: fc.constantFrom('1', '2'),
            name: fc.constantFrom('load_skill', 'run_script', 'x'),
            input: fc.oneof(fc.json(), fc.string()),
          }),
          { maxLength: 2 },
        ),
      }),
      fc.record({
        role: fc.constant('tool' as const),
        callId: fc.constantFrom('1', '2'),
        toolName: fc.string(),
        content: fc.oneof(fc.string(), fc.json()),
        isError: fc.boolean(),
      }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.string(),
        fc.array(message, { maxLength: 6 }),
        fc.boolean(),
        async (system, messages, isNative) => {
          const { text, toolCalls } = await ask({ system, messages, tools: isNative ? [LOAD, RUN] : [] });
          const written = isNative ? undefined : (JSON.parse(text) as { action: { payload: { answer?: string } } });
          const said = written === undefined ? text : (written.action.payload.answer ?? RULE_MODEL_REMARK);
          expect(toolCalls.length > 0 || said.startsWith(RULE_MODEL_REMARK)).toBe(true);
        },
      ),
    );
  });

  test('long and hostile texts are read in one pass', async () => {
    const hostile = [
      `- workspace://a${' '.repeat(200_000)}x`,
      '"workspace://'.repeat(50_000),
      '['.repeat(300_000),
      'a '.repeat(300_000),
    ];
    for (const content of hostile)
      expect((await ask({ ...base, messages: [{ role: 'user', content }] })).text).toContain('No skill fits');
  });
});
