import { describe, expect, test } from 'vitest';

import type { ActionPattern } from '../../../src/evals/cases/case.ts';
import { gradeFacts } from '../../../src/evals/grade/grade-course.ts';
import { caseVerdict } from '../../../src/evals/grade/grade-run.ts';
import { brokenReason } from '../../../src/evals/grade/run-facts.ts';
import { verifies } from '../../conformance/verifies.ts';
import { acting, played, world } from '../../agent/support.ts';
import { ANSWER, LOAD, READ, RUN, evalCase, graded, ran } from './support.ts';

describe('skills', () => {
  verifies('EVAL-2', 'trigger is graded by the loaded skills', async () => {
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
      'trigger: error, the case names no target skill: add skills.target',
    ]);
  });

  test('grades all_of, any_of, none_of and only', async () => {
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

  test('a skill that loads after other tool calls counts as triggered', async () => {
    const search = acting('search_skills', { query: 'rows' });
    const list = acting('list_dir', { path: '.' });
    const { facts } = await ran([search, list, RUN, LOAD, RUN, ANSWER], { run: { host: {} } });
    expect(graded({ trigger: true }, facts)).toEqual(['trigger: passed']);
  });

  test('a skill required by the program does not count as triggered', async () => {
    const { facts } = await ran([ANSWER], { required: ['report'] });
    expect(facts.loads).toEqual([
      { seq: expect.any(Number), skill: 'report', id: 'option/report', askedBy: 'program', isRequired: true },
    ]);
    expect(graded({ trigger: false, skills: { allOf: ['report'] } }, facts)).toEqual([
      'trigger: passed',
      'skills.all_of: passed',
    ]);
  });

  test('a skill invoked by its slash command counts as triggered', async () => {
    const { facts } = await ran([ANSWER], { request: '/report now' });
    expect(graded({ trigger: true }, facts)).toEqual(['trigger: passed']);
  });

  test('a skill that runs as a subagent counts as triggered', async () => {
    const here = await world({
      report: { description: 'Counts rows.', body: '# Report\n', fields: ['run-mode: subagent'] },
    });
    const { facts } = await ran([LOAD, acting('final_answer', { answer: 'child' }), ANSWER], { world: here });
    expect(facts.loads.map(({ skill, askedBy }) => [skill, askedBy])).toEqual([['report', 'subagent']]);
    expect(graded({ trigger: true }, facts)).toEqual(['trigger: passed']);
  });
});

describe('broken runs', () => {
  test('have no verdict after a model failure', async () => {
    const { facts } = await ran([new Error('the connection was reset')]);
    const one = evalCase({
      trigger: false,
      skills: { noneOf: ['report'] },
      output: [{ type: 'contains', text: 'x', not: true }],
    });
    const reason = 'the run failed: the model played gave no answer: the connection was reset';
    expect(gradeFacts(one, facts).map(({ id, status, found }) => [id, status, found])).toEqual([
      ['trigger', 'error', reason],
      ['skills.none_of', 'error', reason],
      ['output[0]', 'error', reason],
    ]);
    expect(caseVerdict(one, gradeFacts(one, facts), brokenReason(one, facts))).toEqual({ status: 'error', reason });
  });

  test('have no verdict if the model gives only invalid answers', async () => {
    const { facts } = await ran([{ text: 'no JSON' }, { text: 'none again' }]);
    expect(graded({ trigger: false }, facts)[0]).toMatch(
      /^trigger: error, the run failed: the model gave two invalid answers in a row/,
    );
  });

  test('have no verdict after a cancellation, and fail after a timeout', async () => {
    const stop = new AbortController();
    const stopping = played([
      () => {
        stop.abort();
        return LOAD;
      },
    ]);
    const cancelled = await ran([], { played: stopping, signal: stop.signal });
    expect(graded({ trigger: false }, cancelled.facts)).toEqual([
      'trigger: error, the run was cancelled: the run was interrupted',
    ]);
    const slow = played([() => new Promise(() => undefined)]);
    const late = await ran([], { played: slow, budget: { wallMs: 40 } });
    const ended = 'ended.wallMs: failed, the run exceeded its time limit of 40 ms';
    expect(graded({ trigger: false }, late.facts)).toEqual(['trigger: passed', ended]);
    expect(graded({ trigger: false }, late.facts, { limits: { wallMs: 40 } })).toEqual([
      'trigger: passed',
      'limits.wallMs: failed, the limit ended the run',
      ended,
    ]);
    expect(graded({ outcome: ['degraded'] }, late.facts)).toEqual(['outcome: passed']);
  });

  test('are graded if the case expects that outcome', async () => {
    const { facts } = await ran([new Error('the connection was reset')]);
    expect(graded({ outcome: ['failed'] }, facts)).toEqual(['outcome: passed']);
    expect(graded({ outcome: ['done'] }, facts)).toEqual([
      'outcome: error, the run failed: the model played gave no answer: the connection was reset',
    ]);
  });

  test('are graded if the script of the skill failed repeatedly', async () => {
    const wrong = acting('run_script', { skill: { name: 'report' }, relative_path: 'scripts/none.sh', args: [] });
    const { facts } = await ran([LOAD, wrong, wrong, wrong]);
    expect([facts.outcome, facts.broken]).toEqual(['failed', '']);
    expect(graded({ trigger: true, outcome: ['done'] }, facts)).toEqual([
      'trigger: passed',
      expect.stringMatching(/^outcome: failed, it ended failed: run_script failed three times/),
      expect.stringMatching(/^ended\.failure: failed, run_script failed three times/),
    ]);
  });
});

describe('actions', () => {
  const select = { tool: 'select_skills' };
  const load = { tool: 'load_skill' };
  const script = { tool: 'run_script' };
  // oxlint-disable-next-line unicorn/no-thenable -- Case files use this key; the object is never awaited.
  const pair = (first: ActionPattern, then: ActionPattern) => ({ first, then });

  test('count only if they succeeded, unless the pattern accepts any outcome', async () => {
    const missing = acting('run_script', { skill: { name: 'report' }, relative_path: 'scripts/none.sh', args: [] });
    const { facts } = await ran([LOAD, missing, ANSWER]);
    expect(graded({ actions: { unordered: [script] } }, facts)).toEqual([
      expect.stringMatching(/^actions\.unordered: failed, no run_script/),
    ]);
    expect(graded({ actions: { ordered: [load, { ...script, anyOutcome: true }] } }, facts)).toEqual([
      'actions.ordered: passed',
    ]);
  });

  test('match in order, by tool name or action type', async () => {
    const { facts } = await ran([LOAD, READ, RUN, ANSWER]);
    expect(graded({ actions: { ordered: [select, script] } }, facts)).toEqual(['actions.ordered: passed']);
    expect(graded({ actions: { ordered: [load, { tool: 'read_resource' }, { tool: 'run_*' }] } }, facts)).toEqual([
      'actions.ordered: passed',
    ]);
    expect(graded({ actions: { ordered: [script, load] } }, facts)).toEqual([
      'actions.ordered: failed, no load_skill after run_script; actions: select_skills, load_resource, run_script, final_answer',
    ]);
  });

  test('count once, although a call and its action have the same name', async () => {
    const { facts } = await ran([LOAD, RUN, ANSWER]);
    expect(graded({ actions: { ordered: [script, script] } }, facts)[0]).toMatch(/^actions\.ordered: failed/);
    expect(graded({ actions: { unordered: [script, script] } }, facts)[0]).toMatch(/^actions\.unordered: failed/);
    const twice = await ran([LOAD, RUN, RUN, ANSWER]);
    expect(graded({ actions: { ordered: [script, script], unordered: [script, script] } }, twice.facts)).toEqual([
      'actions.ordered: passed',
      'actions.unordered: passed',
    ]);
  });

  test('match in any order, with a separate step for each pattern', async () => {
    const { facts } = await ran([LOAD, READ, RUN, ANSWER]);
    expect(graded({ actions: { unordered: [{ tool: '*' }, script, load] } }, facts)).toEqual([
      'actions.unordered: passed',
    ]);
    // The first pattern must not take the only step that the second one matches.
    expect(graded({ actions: { unordered: [{ tool: 'run_*' }, { tool: 'run_script' }] } }, facts)[0]).toMatch(
      /^actions\.unordered: failed, no run_/,
    );
  });

  test('match before and forbid', async () => {
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
      'actions.before[2]: failed, no write_file; actions: select_skills, run_script, final_answer',
      'actions.before[3]: passed',
      'actions.forbid[0]: passed',
      'actions.forbid[1]: failed, requested: run_script',
      'forbid_tools[0]: failed, requested: select_skills',
    ]);
  });

  test('match arguments partially, exactly and by regular expression', async () => {
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
      expect.stringMatching(/^actions\.ordered: error, run_script with .*backreferences/),
    ]);
  });

  test('native calls of one answer are separate steps, including calls that became no action', async () => {
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
