import { describe, expect, test } from 'vitest';

import type { ActionPattern } from '../../../src/evals/cases/case.ts';
import { brokenReason, caseVerdict, gradeFacts } from '../../../src/evals/grade/grade-run.ts';
import { verifies } from '../../conformance/verifies.ts';
import { acting, played, world } from '../../agent/support.ts';
import { ANSWER, LOAD, READ, RUN, evalCase, graded, ran } from './support.ts';

describe('skills', () => {
  verifies('EVAL-2', 'a trigger is judged by what was loaded', async () => {
    const { facts } = await ran([LOAD, ANSWER]);
    expect(gradeFacts(evalCase({ trigger: true }), facts)).toEqual([
      {
        id: 'trigger',
        kind: 'trigger',
        status: 'passed',
        asked: 'report fires',
        found: '',
        events: [expect.any(Number)],
      },
    ]);
    expect(graded({ trigger: false }, facts)).toEqual(['trigger: failed, it fired; loaded: report']);
    expect(graded({ trigger: true }, facts, { skills: { target: 'other', folders: [] } })).toEqual([
      'trigger: failed, it did not fire; loaded: report',
    ]);
    expect(graded({ trigger: true }, facts, { skills: { folders: [] } })).toEqual([
      'trigger: error, the case names no skill that could fire',
    ]);
  });

  test('all, any, none and only', async () => {
    const { facts } = await ran([LOAD, ANSWER]);
    expect(
      graded(
        { skills: { allOf: ['report', 'other'], anyOf: ['other', 'report'], noneOf: ['other'], only: [] } },
        facts,
      ),
    ).toEqual([
      'skills.all_of: failed, not loaded: other; loaded: report',
      'skills.any_of: passed',
      'skills.none_of: passed',
      'skills.only: failed, loaded: report',
    ]);
  });

  test('the first tool call decides nothing: a skill that is loaded late has fired', async () => {
    const search = acting('search_skills', { query: 'rows' });
    const list = acting('list_dir', { path: '.' });
    const { facts } = await ran([search, list, RUN, LOAD, RUN, ANSWER], { run: { host: {} } });
    expect(graded({ trigger: true }, facts)).toEqual(['trigger: passed']);
  });

  test('what a program requires was not triggered by the query', async () => {
    const { facts } = await ran([ANSWER], { required: ['report'] });
    expect(facts.loads).toEqual([
      { seq: expect.any(Number), skill: 'report', id: 'option/report', askedBy: 'program', isRequired: true },
    ]);
    expect(graded({ trigger: false, skills: { allOf: ['report'] } }, facts)).toEqual([
      'trigger: passed',
      'skills.all_of: passed',
    ]);
  });

  test('what a person calls by its name is loaded', async () => {
    const { facts } = await ran([ANSWER], { request: '/report now' });
    expect(graded({ trigger: true }, facts)).toEqual(['trigger: passed']);
  });

  test('a skill that runs in a context of its own has fired', async () => {
    const here = await world({
      report: { description: 'Counts rows.', body: '# Report\n', fields: ['run-mode: subagent'] },
    });
    const { facts } = await ran([LOAD, acting('final_answer', { answer: 'child' }), ANSWER], { world: here });
    expect(facts.loads.map(({ skill, askedBy }) => [skill, askedBy])).toEqual([['report', 'subagent']]);
    expect(graded({ trigger: true }, facts)).toEqual(['trigger: passed']);
  });
});

describe('runs that broke', () => {
  test('are no verdict: a model that fails keeps no skill quiet', async () => {
    const { facts } = await ran([new Error('the connection was reset')]);
    const one = evalCase({
      trigger: false,
      skills: { noneOf: ['report'] },
      output: [{ type: 'contains', text: 'x', not: true }],
    });
    const reason = 'the run broke: the model played gave no answer: the connection was reset';
    expect(gradeFacts(one, facts).map(({ id, status, found }) => [id, status, found])).toEqual([
      ['trigger', 'error', reason],
      ['skills.none_of', 'error', reason],
      ['output[0]', 'error', reason],
    ]);
    expect(caseVerdict(one, gradeFacts(one, facts), brokenReason(one, facts))).toEqual({ status: 'error', reason });
  });

  test('nor are those whose model only answers nonsense', async () => {
    const { facts } = await ran([{ text: 'no JSON' }, { text: 'none again' }]);
    expect(graded({ trigger: false }, facts)[0]).toMatch(
      /^trigger: error, the run broke: the model gave no usable answer twice/,
    );
  });

  test('nor are those that were cancelled, or whose time was up', async () => {
    const stop = new AbortController();
    const stopping = played([
      () => {
        stop.abort();
        return LOAD;
      },
    ]);
    const cancelled = await ran([], { played: stopping, signal: stop.signal });
    expect(graded({ trigger: false }, cancelled.facts)).toEqual([
      'trigger: error, the run was cancelled: the run was cancelled',
    ]);
    const slow = played([() => new Promise(() => undefined)]);
    const late = await ran([], { played: slow, budget: { wallMs: 40 } });
    expect(graded({ trigger: false }, late.facts)[0]).toMatch(/^trigger: error, the time of the run was up: /);
    // Unless the case itself sets the time: then it is a limit that was not kept.
    expect(graded({ trigger: false }, late.facts, { limits: { wallMs: 40 } })).toEqual([
      'trigger: passed',
      'limits.wallMs: failed, the limit ended the run',
    ]);
  });

  test('unless the case asks for such an end', async () => {
    const { facts } = await ran([new Error('the connection was reset')]);
    expect(graded({ outcome: ['failed'] }, facts)).toEqual(['outcome: passed']);
    expect(graded({ outcome: ['done'] }, facts)).toEqual([
      'outcome: error, the run broke: the model played gave no answer: the connection was reset',
    ]);
  });

  test('but a skill whose script fails again and again is graded', async () => {
    const wrong = acting('run_script', { skill: { name: 'report' }, relative_path: 'scripts/none.sh', args: [] });
    const { facts } = await ran([LOAD, wrong, wrong, wrong]);
    expect([facts.outcome, facts.broken]).toEqual(['failed', '']);
    expect(graded({ trigger: true, outcome: ['done'] }, facts)).toEqual([
      'trigger: passed',
      expect.stringMatching(/^outcome: failed, it ended failed: run_script failed three times/),
    ]);
  });
});

describe('what was done', () => {
  const select = { tool: 'select_skills' };
  const load = { tool: 'load_skill' };
  const script = { tool: 'run_script' };
  // oxlint-disable-next-line unicorn/no-thenable -- That is how cases name it; nobody awaits one.
  const pair = (first: ActionPattern, then: ActionPattern) => ({ first, then });

  test('in order, by the names of tools and of actions', async () => {
    const { facts } = await ran([LOAD, READ, RUN, ANSWER]);
    expect(graded({ actions: { ordered: [select, script] } }, facts)).toEqual(['actions.ordered: passed']);
    expect(graded({ actions: { ordered: [load, { tool: 'read_resource' }, { tool: 'run_*' }] } }, facts)).toEqual([
      'actions.ordered: passed',
    ]);
    expect(graded({ actions: { ordered: [script, load] } }, facts)).toEqual([
      'actions.ordered: failed, there is no load_skill behind run_script; done: select_skills, load_resource, run_script, final_answer',
    ]);
  });

  test('once is not twice, though a call and its action have the same name', async () => {
    const { facts } = await ran([LOAD, RUN, ANSWER]);
    expect(graded({ actions: { ordered: [script, script] } }, facts)[0]).toMatch(/^actions\.ordered: failed/);
    expect(graded({ actions: { unordered: [script, script] } }, facts)[0]).toMatch(/^actions\.unordered: failed/);
    const twice = await ran([LOAD, RUN, RUN, ANSWER]);
    expect(graded({ actions: { ordered: [script, script], unordered: [script, script] } }, twice.facts)).toEqual([
      'actions.ordered: passed',
      'actions.unordered: passed',
    ]);
  });

  test('in any order, each pattern with a step of its own', async () => {
    const { facts } = await ran([LOAD, READ, RUN, ANSWER]);
    expect(graded({ actions: { unordered: [{ tool: '*' }, script, load] } }, facts)).toEqual([
      'actions.unordered: passed',
    ]);
    // The first pattern could take what only the second one can use.
    expect(graded({ actions: { unordered: [{ tool: 'run_*' }, { tool: 'run_script' }] } }, facts)[0]).toMatch(
      /^actions\.unordered: failed, there is no run_/,
    );
  });

  test('before, and not at all', async () => {
    const { facts } = await ran([LOAD, RUN, ANSWER]);
    const before = [
      pair(load, script),
      pair(script, load),
      pair({ tool: 'write_file' }, script),
      pair(load, { tool: 'write_file' }),
    ];
    expect(
      graded({ actions: { before, forbid: [{ tool: 'write_file' }, script] } }, facts, { forbidTools: ['select_*'] }),
    ).toEqual([
      'actions.before[0]: passed',
      'actions.before[1]: failed, load_skill came first',
      'actions.before[2]: failed, there is no write_file; done: select_skills, run_script, final_answer',
      'actions.before[3]: passed',
      'actions.forbid[0]: passed',
      'actions.forbid[1]: failed, asked for: run_script',
      'forbid_tools[0]: failed, asked for: select_skills',
    ]);
  });

  test('with these arguments: in part, exactly, by an expression', async () => {
    const { facts } = await ran([LOAD, RUN, ANSWER]);
    const holds = (fields: Readonly<Record<string, unknown>>, exact?: true): string =>
      graded(
        { actions: { ordered: [{ tool: 'run_script', arguments: fields, ...(exact && { exact }) }] } },
        facts,
      )[0]?.slice(17, 23) ?? '';
    expect(holds({ skill: 'report' })).toBe('passed');
    expect(holds({ relative_path: 'scripts/count.sh' })).toBe('passed');
    expect(holds({ script: '/count\\.sh$/', args: ['/^[ab]$/'] })).toBe('passed');
    expect(holds({ args: ['a', 'b'] })).toBe('failed');
    expect(holds({ skill: { name: 'report' } })).toBe('passed');
    expect(holds({ skill: { name: 'report', source: 'x' } })).toBe('failed');
    expect(holds({ args: ['a'] }, true)).toBe('failed');
    expect(holds({ skill: { name: 'report' }, relative_path: '/./', args: ['a'] }, true)).toBe('passed');
    expect(holds({ constructor: '/./' })).toBe('failed');
    expect(graded({ actions: { ordered: [{ tool: 'run_script', arguments: { args: '/(a)\\1/' } }] } }, facts)).toEqual([
      expect.stringMatching(/^actions\.ordered: error, run_script with .*back references/),
    ]);
  });

  test('native calls of one answer are told apart, also those that became no action', async () => {
    const here = await world();
    const calls = (...names: readonly (readonly [string, unknown])[]) => ({ calls: names });
    const { facts } = await ran(
      [
        calls(['load_skill', { skill: 'report' }], ['no_such_tool', {}], ['update_plan', { goal: 'x', steps: [] }]),
        { text: 'done' },
      ],
      { world: here, protocol: 'tools' },
    );
    expect(facts.steps.map(({ tool, action }) => [tool?.name, action?.type])).toEqual([
      ['no_such_tool', undefined],
      ['update_plan', undefined],
      ['load_skill', 'load_skill'],
      [undefined, 'final_answer'],
    ]);
  });
});
