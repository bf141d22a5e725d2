import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { actionSchema, readDecision } from '../../src/agent/action-protocol.ts';
import { readAnswer } from '../../src/agent/json-object.ts';
import { isSkillError } from '../../src/core/errors.ts';
import { checkJson } from '../../src/core/json/json-schema.ts';
import { PLAN_UPDATE_SCHEMA } from '../../src/agent/plan-update.ts';
import { TOOLS } from './decision-tools.ts';
import { runs } from '../property-runs.ts';

const SELECT_HINT = 'answer with {"action": {"type": "select_skills", "payload": {skills: string[], reason?: string}}}';
const SHAPE_HINT = 'answer with {"action": {"type": "...", "payload": {...}}}';
const NAMES_HINT = 'the actions are select_skills, list_skills, final_answer';
const select = { type: 'select_skills', payload: { skills: ['csv'] } };
const answered = { type: 'final_answer', payload: { answer: 'Done.' } };

const PLAN = { goal: 'g', steps: [{ id: 's1', title: 't', status: 'pending' }], assumptions: [], constraints: {} };

describe('a decision', () => {
  test('is the call, the plan and what the model says about it', () => {
    expect(readDecision({ action: select, plan_update: PLAN, diagnostics: ['a\u001b[31m\nb', ' '] }, TOOLS)).toEqual({
      type: 'decision',
      call: { name: 'select_skills', input: { skills: ['csv'] } },
      planUpdate: { mode: 'replace', plan: PLAN },
      diagnostics: ['a b'],
      notes: [],
    });
  });

  test('needs no plan, no diagnostics, and no payload where the tool has no parameter that must be there', () => {
    const bare = { type: 'decision', diagnostics: [], notes: [] };
    expect(readDecision({ action: answered, plan_update: null, diagnostics: null }, TOOLS)).toEqual({
      ...bare,
      call: { name: 'final_answer', input: { answer: 'Done.' } },
    });
    for (const action of [{ type: 'list_skills' }, { type: 'list_skills', payload: null }])
      expect(readDecision({ action }, TOOLS)).toEqual({ ...bare, call: { name: 'list_skills', input: {} } });
  });

  test.each([
    ['flat', { type: 'select_skills', skills: ['csv'], reason: 'a table' }],
    ['flat with a payload', { type: 'select_skills', payload: { skills: ['csv'], reason: 'a table' } }],
    ['flat inside action', { action: { type: 'select_skills', skills: ['csv'], reason: 'a table' } }],
  ])('may be %s, with the plan beside it', (_, action) => {
    for (const key of ['plan', 'plan_update'])
      expect(readDecision({ ...action, [key]: PLAN, diagnostics: 'sure' }, TOOLS)).toEqual({
        type: 'decision',
        call: { name: 'select_skills', input: { skills: ['csv'], reason: 'a table' } },
        planUpdate: { mode: 'replace', plan: PLAN },
        diagnostics: ['sure'],
        notes: [],
      });
  });

  test.each([
    ['bare', PLAN],
    ['as plan', { plan: PLAN }],
    ['as plan_update', { plan_update: PLAN }],
  ])('may be a plan alone, %s', (_, value) => {
    const planUpdate = { mode: 'replace', plan: PLAN };
    expect(readDecision(value, TOOLS)).toEqual({ type: 'decision', planUpdate, diagnostics: [], notes: [] });
  });

  test('stands where only its plan is wrong, or where it has more than was asked for', () => {
    const value = { thought: 'hm', action: { ...select, why: 1 }, plan_update: { mode: 'undo' } };
    expect(readDecision(value, TOOLS)).toEqual({
      type: 'decision',
      call: { name: 'select_skills', input: { skills: ['csv'] } },
      diagnostics: [],
      planProblems: ['plan_update.mode must be replace or patch, not "undo"'],
      notes: ['not used of the answer: "thought"', 'not used of action: "why"'],
    });
  });

  test.each([
    ['a text', 'unsure', ['unsure']],
    ['an object', { confidence: 0.5, missing: ['x'] }, ['confidence: 0.5', 'missing: a list of 1']],
    ['objects in a list', [{ level: 'warning' }, 5, null], ['level: warning', '5', 'null']],
    ['far too many', Array.from({ length: 100 }, () => 'x'), Array.from({ length: 20 }, () => 'x')],
    ['a long one', 'y'.repeat(1000), [`${'y'.repeat(500)}…`]],
  ])('takes diagnostics as %s', (_, diagnostics, expected) => {
    expect(readDecision({ action: select, diagnostics }, TOOLS)).toMatchObject({ diagnostics: expected });
  });
});

describe('an answer that decides nothing', () => {
  test.each<readonly [string, unknown, string, string, readonly string[]]>([
    ['a list', [select], 'the answer must be an object, not a list of 1', SHAPE_HINT, []],
    ['no action', { actoin: select }, 'action is missing: found the key "actoin" instead', SHAPE_HINT, ['action']],
    ['nothing', {}, 'action is missing', SHAPE_HINT, []],
    [
      'several actions',
      { action: [select, answered] },
      'action must be one object, not a list of 2: one action at a time',
      SHAPE_HINT,
      [],
    ],
    [
      'a name for an action',
      { action: 'select_skills' },
      'action must be an object, not "select_skills"',
      SHAPE_HINT,
      [],
    ],
    ['null', { action: null }, 'action must be an object, not null', SHAPE_HINT, []],
    ['no type', { action: { payload: {} } }, 'action.type must be the name of an action, not missing', NAMES_HINT, []],
    [
      'a type of another type',
      { action: { type: 7 } },
      'action.type must be the name of an action, not 7',
      NAMES_HINT,
      [],
    ],
    [
      'an unknown action',
      { action: { type: 'select_skill', payload: {} } },
      'unknown action "select_skill"',
      NAMES_HINT,
      ['select_skills'],
    ],
    [
      'an action of objects',
      { action: { type: 'toString', payload: {} } },
      'unknown action "toString"',
      NAMES_HINT,
      [],
    ],
    [
      'no payload',
      { action: { type: 'select_skills' } },
      'action.payload of select_skills is missing: required: skills',
      SELECT_HINT,
      [],
    ],
    [
      'a list as payload',
      { action: { type: 'select_skills', payload: ['csv'] } },
      'action.payload must be an object, not a list of 1',
      SELECT_HINT,
      [],
    ],
    [
      'a text as payload',
      { action: { type: 'final_answer', payload: 'Done.' } },
      'action.payload must be an object, not "Done."',
      'answer with {"action": {"type": "final_answer", "payload": {answer: string}}}',
      [],
    ],
  ])('%s', (_, value, message, hint, nearest) => {
    expect(readDecision(value, TOOLS)).toEqual({
      type: 'refused',
      problem: { code: 'input/invalid', message, hint, nearest },
    });
  });

  test.each([undefined, null, {}, { answer: '' }, { answer: ' ' }, { answer: null }, { answer: {} }])(
    'a final answer of %j',
    (payload) => {
      expect(readDecision({ action: { type: 'final_answer', payload } }, TOOLS)).toEqual({
        type: 'refused',
        problem: {
          code: 'input/invalid',
          message: 'the final answer is empty: action.payload.answer must contain the text for the user',
          hint: 'write {"action": {"type": "final_answer", "payload": {"answer": "..."}}}',
          nearest: [],
        },
      });
    },
  );

  test('two keys called action are refused before one of them is chosen', () => {
    const text = `{"action": ${JSON.stringify(select)}, "action": ${JSON.stringify(answered)}}`;
    expect(readAnswer(text)).toMatchObject({ type: 'unreadable', problem: { kind: 'invalid' } });
  });
});

describe('whatever an answer is', () => {
  test('reading it throws nothing', () => {
    const keys = fc.constantFrom(
      'action',
      'type',
      'payload',
      'plan',
      'goal',
      'steps',
      'diagnostics',
      'answer',
      '__proto__',
    );
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom('select_skills', 'final_answer', '', 0, null, undefined),
        fc.dictionary(keys, tie('tree')),
        fc.array(tie('tree')),
        fc.anything(),
      ),
    }));
    fc.assert(
      fc.property(tree, (value) => {
        expect(['decision', 'refused']).toContain(readDecision(value, TOOLS).type);
        expect(['decision', 'refused']).toContain(readDecision({ action: value, diagnostics: value }, TOOLS).type);
      }),
      { numRuns: runs(1000) },
    );
  });

  test('ten megabytes are read, as a name, as an answer and as a list', () => {
    const huge = 'x'.repeat(10_000_000);
    const readings = [
      { action: { type: huge, payload: {} } },
      { action: { type: 'final_answer', payload: { answer: huge } } },
      { action: Array.from({ length: 100_000 }, () => select) },
    ].map((value) => {
      const answer = readAnswer(JSON.stringify(value));
      return readDecision(answer.type === 'object' ? answer.value : undefined, TOOLS);
    });
    expect(readings).toMatchObject([
      { type: 'refused', problem: { message: `unknown action "${'x'.repeat(59)}…"`, nearest: [] } },
      { type: 'decision', call: { name: 'final_answer', input: { answer: huge } } },
      {
        type: 'refused',
        problem: { message: 'action must be one object, not a list of 100000: one action at a time' },
      },
    ]);
  });
});

describe('the schema of decisions', () => {
  const schema = actionSchema(TOOLS);

  test('has the three keys and an action for each tool, with the schema of its input', () => {
    const [first] = TOOLS;
    expect([Object.keys(schema.properties), schema.required]).toEqual([
      ['action', 'plan_update', 'diagnostics'],
      ['action'],
    ]);
    expect(schema.properties['plan_update']).toBe(PLAN_UPDATE_SCHEMA);
    expect(actionSchema(TOOLS.slice(0, 1)).properties['action']).toEqual({
      type: 'object',
      description: 'Select skills.',
      properties: {
        type: { type: 'string', description: 'The action.', enum: ['select_skills'] },
        payload: first?.inputSchema,
      },
      required: ['type', 'payload'],
      additionalProperties: false,
    });
  });

  test('what it takes is a decision', () => {
    const decisions = [
      { action: select },
      { action: { type: 'list_skills', payload: {} }, diagnostics: ['x'] },
      { action: answered, plan_update: { mode: 'patch', steps: [{ id: 's1', status: 'completed' }] } },
    ];
    expect(decisions.flatMap((value) => checkJson(value, schema))).toEqual([]);
    expect(decisions.map((value) => readDecision(value, TOOLS).type)).toEqual(['decision', 'decision', 'decision']);
    expect(checkJson({ action: { type: 'other', payload: {} } }, schema)).not.toEqual([]);
  });

  test('cannot be made of no tools', () => {
    expect(() => actionSchema([])).toThrow(expect.toSatisfy(isSkillError));
  });
});
