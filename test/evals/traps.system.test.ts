/** A useless skill must not look useful: each trap once ended as "better" with a p-value. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { defined } from '../../src/core/index.ts';
import type { EvalCase } from '../../src/evals/cases/case.ts';
import { evaluate } from '../../src/evals/evaluate.ts';
import { findVerdict, verdictTitle } from '../../src/evals/report/verdict.ts';
import { answerOf } from '../agent/support.ts';
import { verifies } from '../conformance/verifies.ts';
import { scratch } from '../skills/registry/support.ts';
import {
  answering,
  comparison,
  differenceVerdict as verdict,
  hasSkill,
  load,
  makeCase,
  thinking,
  topicOf,
  TOPICS,
} from './eval-world.ts';

const TASKS =
  'Count,Describe two rare,Who invented,List colours of,Why do people fear,Compare old and new,When were there most,Draw a map with,Summarise laws about,Translate poems on,Price,How heavy are'.split(
    ',',
  );

const wants = (id: string, input: string, text = 'right'): EvalCase =>
  makeCase(id, { input, expect: { output: [{ type: 'contains', text }] } });

const different = (): readonly EvalCase[] =>
  TOPICS.map((topic, place) => wants(topic, `${TASKS[place] ?? ''} ${topic}`));

describe('an evaluation is not fooled by', () => {
  verifies('EVAL-14', 'tools that one arm lacks, or by a skill that is never loaded', async () => {
    const model = thinking((_asked, _turn, { tools }) => ({
      text: tools.some(({ name }) => name === 'search_skills') ? 'right' : 'wrong',
    }));
    const report = await evaluate(comparison({ model, cases: different() }));
    expect([verdict(report), report.comparisons[0]?.better, report.comparisons[0]?.differing]).toEqual([
      'not used: no effect can be claimed',
      0,
      ['skill tables'],
    ]);
  });

  test('a description that is enough without the skill', async () => {
    const model = thinking((asked, turn, { system }) => {
      // Loaded in one case only, and right wherever the list of skills has it.
      if (turn === 0 && hasSkill(system) && asked.includes('apples')) return load('tables');
      return { text: hasSkill(system) ? 'right' : 'wrong' };
    });
    const report = await evaluate(comparison({ model, cases: different() }));
    expect(verdict(report)).toBe('no clear difference');
  });

  verifies('EVAL-14', 'cases that run out of time because of the skill', async () => {
    const slow = TOPICS.slice(0, 6);
    const model = thinking((asked, turn, { system }) => {
      const isSlow = slow.some((topic) => asked.includes(topic));
      if (!hasSkill(system)) return { text: isSlow ? 'right' : 'wrong' };
      if (turn === 0) return load('tables');
      return isSlow ? new Promise<never>(() => undefined) : { text: 'right' };
    });
    const report = await evaluate(comparison({ model, cases: different(), timeoutMs: 4000, concurrency: 12 }));
    expect(verdict(report)).toBe('no clear difference');
    expect(report.arms[0]?.passRate).toMatchObject({ count: 6, of: 12 });
    const [compared] = report.comparisons;
    expect([compared?.better, compared?.worse, compared?.missing]).toEqual([6, 6, { of: 0, against: 0 }]);
    const late = report.results.find(({ case: id, arm }) => id === 'apples' && arm === 'with');
    expect([late?.status, late?.loaded, late?.checks.map(({ id, status }) => `${id} ${status}`)]).toEqual([
      'failed',
      ['tables'],
      ['ended.wallMs failed', 'output[0] failed'],
    ]);
  });

  test('answers of one arm that are cut off at their length limit', async () => {
    const model = answering((_asked, turn, { system }) => {
      if (!hasSkill(system)) return { text: 'The answer is', finish: 'length' };
      return turn === 0 ? load('tables') : { text: 'right' };
    });
    const report = await evaluate(comparison({ model, cases: different() }));
    expect([verdict(report), report.comparisons[0]?.endedEarly, findVerdict(report).warnings]).toEqual([
      'no clear difference',
      { of: 0, against: 12, by: ['the limit of output tokens'] },
      [
        '"better" only because attempts did not end by themselves: with 0, without 12 of 12 attempts were ended by the limit of output tokens',
      ],
    ]);
    const cut = report.results.find(({ arm }) => arm === 'without');
    expect(cut?.checks.map(({ id, status, found }) => [id, status, found])[0]).toEqual([
      'ended.length',
      'failed',
      'the answer was cut off at its length limit',
    ]);
  });

  test('attempts that the network broke', async () => {
    const lost = TOPICS.slice(0, 6);
    const model = thinking((asked, turn, { system }) => {
      if (!hasSkill(system)) return { text: 'wrong' };
      if (turn === 0) return load('tables');
      if (lost.some((topic) => asked.includes(topic))) throw new Error('connection reset');
      return { text: 'right' };
    });
    const six = await evaluate(comparison({ model, cases: different().slice(0, 10) }));
    expect([verdict(six), six.comparisons[0]?.missing]).toEqual(['no clear difference', { of: 6, against: 0 }]);
    // Six of twelve are enough: the missing six cannot have been worse than without the skill.
    const all = await evaluate(comparison({ model, cases: different() }));
    expect(verdict(all)).toBe('better');
  });

  test('attempts that were asked again after an error, while those that went well were kept', async () => {
    let session = 0;
    const model = (breaks: (place: number) => boolean) =>
      thinking((asked, turn, { system }) => {
        if (!hasSkill(system)) return { text: `wrong ${topicOf(asked)}` };
        if (turn === 0) return load('tables');
        if (session === 1 && breaks(TOPICS.indexOf(topicOf(asked)))) throw new Error('context too long');
        return { text: `right ${topicOf(asked)}` };
      });
    const evaluated = async (breaks: (place: number) => boolean, cache: string | undefined, isFirst: boolean) => {
      session = isFirst ? 1 : 2;
      const report = await evaluate({
        ...comparison({ model: model(breaks), cases: different() }),
        ...defined({ cache }),
      });
      return [verdict(report), findVerdict(report).warnings.filter((text) => text.includes('earlier session'))];
    };
    const [flaky, down] = [path.join(scratch(), 'cache'), path.join(scratch(), 'cache')];
    const most = (place: number): boolean => place < 7;
    await evaluated(most, flaky, true);
    const survivors = [
      'no clear difference',
      [
        'with: 7 attempts ended in an error in an earlier session and decide no comparison: --no-eval-cache asks all again',
      ],
    ];
    expect(await evaluated(most, flaky, false)).toEqual(survivors);
    // The stored results remember it as well.
    expect(await evaluated(most, flaky, false)).toEqual(survivors);
    expect(await evaluated(most, undefined, false)).toEqual(['better', []]);
    // Of a session in which everything broke, nothing was kept.
    const all = (): boolean => true;
    await evaluate(
      comparison({
        model: thinking(() => {
          throw new Error('wrong key');
        }),
        cases: different(),
        cache: down,
      }),
    );
    expect(await evaluated(all, down, false)).toEqual(['better', []]);
  });

  test('a baseline that broke', async () => {
    const lost = TOPICS.slice(0, 4);
    const model = answering((asked, turn, { system }) => {
      if (hasSkill(system)) return turn === 0 ? load('tables') : { text: 'right' };
      if (lost.some((topic) => asked.includes(topic))) throw new Error('connection reset');
      return { text: 'wrong' };
    });
    const report = await evaluate(comparison({ model, cases: different() }));
    expect([verdict(report), findVerdict(report).warnings]).toEqual([
      'better',
      [
        'the baseline broke: with 0, without 4 of 12 attempts are missing, such as "apples": the model failed: connection reset',
      ],
    ]);
  });

  test('a server that gives one answer to everything, in either arm', async () => {
    const canned = (isCanned: (isWith: boolean) => boolean) =>
      thinking((asked, turn, { system }) => {
        const isWith = hasSkill(system);
        if (turn === 0 && isWith) return load('tables');
        const answer = isWith ? 'right' : 'Rate limit exceeded, try again later.';
        return { text: isCanned(isWith) ? answer : `${answer} ${asked}` };
      });
    const warnings = async (isCanned: (isWith: boolean) => boolean, cases = different()) =>
      findVerdict(await evaluate(comparison({ model: canned(isCanned), cases }))).warnings;
    expect(await warnings((isWith) => !isWith)).toEqual([
      'without: 12 answers repeat 1 text for unlike requests, as of a server that does not read them; they are missing: "Rate limit exceeded, try again later."',
    ]);
    // Also with the request in it.
    const around = expect.stringMatching(/^without: 12 of 12 failed answers are one text around other words: /);
    expect(await warnings((isWith) => isWith)).toEqual([around, 'with: one answer to all 12 cases: "right"']);
    expect(await warnings(() => false)).toEqual([around]);
    expect(await warnings(() => true, different().slice(0, 2))).toEqual([]);
  });

  test('a quarantine of the cases that it makes worse', async () => {
    const worse = TOPICS.slice(9);
    const isWorse = (asked: string): boolean => worse.some((topic) => asked.includes(topic));
    const model = answering((asked, turn, { system }) => {
      const isWith = hasSkill(system);
      if (turn === 0 && isWith) return load('tables');
      return { text: isWith === isWorse(asked) ? 'wrong' : 'right' };
    });
    const quarantine = { until: '2026-12-01', passed: 2, of: 5 };
    const cases = different().map((one) => (isWorse(one.input) ? { ...one, quarantine } : one));
    const report = await evaluate(comparison({ model, cases }));
    expect([verdict(report), findVerdict(report).warnings]).toEqual([
      'better',
      ['"better" only without 3 cases in quarantine; with all cases it is "no clear difference"'],
    ]);
  });

  test('one case that is written eight times', async () => {
    const model = thinking((_asked, turn, { system }) =>
      hasSkill(system) ? (turn === 0 ? load('tables') : { text: 'right' }) : { text: 'wrong' },
    );
    const same = TOPICS.slice(0, 8).map((topic, place) => wants(topic, `Count the lines, please (${String(place)}).`));
    const report = await evaluate(comparison({ model, cases: same }));
    expect([verdict(report), report.comparisons[0]?.cases, report.comparisons[0]?.merged.length]).toEqual([
      'no clear difference',
      1,
      1,
    ]);
  });

  test('one case with other names in it', async () => {
    const model = thinking((_asked, turn, { system }) =>
      hasSkill(system) ? (turn === 0 ? load('tables') : { text: 'right' }) : { text: 'wrong' },
    );
    const same = TOPICS.map((topic) => wants(topic, `Give the code of the hamster (ticket ${topic}).`));
    const report = await evaluate(comparison({ model, cases: same }));
    expect([verdict(report), report.comparisons[0]?.cases]).toEqual(['no clear difference', 1]);
  });

  test('one case that is repeated ten times', async () => {
    const model = thinking((_asked, turn, { system }) =>
      hasSkill(system) ? (turn === 0 ? load('tables') : { text: 'right' }) : { text: 'wrong' },
    );
    const report = await evaluate(comparison({ model, cases: [wants('one', 'Count the lines')], repeat: 10 }));
    expect([verdict(report), report.comparisons[0]?.cases, report.comparisons[0]?.pairs]).toEqual([
      'no clear difference',
      1,
      10,
    ]);
  });

  test('a request that loads the skill by its name', async () => {
    const model = thinking(() => ({ text: 'right' }));
    const named = TOPICS.map((topic) => wants(topic, `/tables write about ${topic}`));
    const report = await evaluate(comparison({ model, cases: named }));
    expect(verdict(report)).toMatch(/^the arms differ in more than the skill: .*request/);
  });

  verifies('EVAL-14', 'rubric lines that no judge read', async () => {
    const model = thinking((_asked, turn, { system }) => {
      if (!hasSkill(system)) return { text: 'no' };
      return turn === 0 ? load('tables') : { text: 'I do not know it, but this is right' };
    });
    const rubric = [{ id: 'code', text: 'The code in the answer is right.' }];
    const open = different().map((one) => ({ ...one, expect: { ...one.expect, rubric } }));
    const none = await evaluate(comparison({ model, cases: open }));
    expect(verdictTitle(none)).toMatch(/^INVALID/);
    expect([findVerdict(none).effect, findVerdict(none).reasons]).toEqual([
      undefined,
      expect.arrayContaining([expect.stringContaining('pass --judge')]),
    ]);
    const some = await evaluate(comparison({ model, cases: [...different().slice(0, 8), ...open.slice(8)] }));
    expect(some.arms[0]?.totals).toEqual({ passed: 8, failed: 0, error: 0, skipped: 4 });
    expect([some.comparisons[0]?.missing, some.comparisons[0]?.passed]).toEqual([
      { of: 4, against: 0 },
      { of: 8, against: 0 },
    ]);
    expect([verdictTitle(some), findVerdict(some).reasons]).toEqual([
      'INCOMPLETE: 8 passed, 4 skipped',
      ['4 of 12 results have checks that did not run: no judge model is configured (pass --judge)'],
    ]);
  });

  test('assertions of another tool that nothing here grades', async () => {
    const model = thinking((_asked, turn, { system }) => {
      if (!hasSkill(system)) return { text: 'wrong' };
      return turn === 0 ? load('tables') : { text: 'right' };
    });
    const ungraded = ['the assertion "javascript" is not read: programs of other tools do not run'];
    const cases = different().map((one) => ({ ...one, expect: { ...one.expect, ungraded } }));
    const report = await evaluate(comparison({ model, cases }));
    expect(report.arms.map(({ totals }) => totals)).toEqual([
      { passed: 0, failed: 0, error: 0, skipped: 12 },
      { passed: 0, failed: 12, error: 0, skipped: 0 },
    ]);
    expect([verdictTitle(report), findVerdict(report).effect]).toEqual([
      'INVALID: no outcome was judged; there is no score',
      undefined,
    ]);
    expect(findVerdict(report).reasons).toContain(
      `12 of 12 results were skipped; 12 of 12 results have checks that did not run: ${ungraded[0] ?? ''}`,
    );
  });

  test('an evaluation that was stopped when it looked good', async () => {
    const stop = new AbortController();
    let runs = 0;
    const model = thinking((_asked, turn, { system }) => {
      if (turn === 0) runs += 1;
      if (runs > 16) stop.abort();
      return hasSkill(system) ? (turn === 0 ? load('tables') : { text: 'right' }) : { text: 'wrong' };
    });
    const report = await evaluate(comparison({ model, cases: different(), signal: stop.signal, concurrency: 1 }));
    expect(verdict(report)).toBe('stopped before all planned attempts ran (--resume goes on)');
  });

  test('a cached result of another server with the same model', async () => {
    const root = scratch();
    const serve = (settings: string, text: string) => ({
      way: 'live' as const,
      id: 'served/small',
      open: () => ({ id: 'served/small', settings, call: () => Promise.resolve(answerOf({ text }, 0)) }),
    });
    const ask = async (settings: string, text: string): Promise<string> => {
      const { baseline: _none, ...options } = comparison({
        cases: [wants('one', 'Count')],
        cache: path.join(root, 'cache'),
      });
      const [result] = (await evaluate({ ...options, model: serve(settings, text) })).results;
      return `${result?.status ?? ''} ${String(result?.isCached)}`;
    };
    expect([
      await ask('http://a.example/v1', 'right'),
      await ask('http://a.example/v1', 'wrong'),
      await ask('http://b.example/v1', 'wrong'),
    ]).toEqual(['passed false', 'passed true', 'failed false']);
  });

  test('nothing: recorded answers of one model say the same when they are replayed', async () => {
    const model = answering((_asked, turn, { system }) => {
      if (!hasSkill(system)) return { text: 'wrong' };
      return turn === 0 ? load('tables') : { text: 'right' };
    });
    const tapes = scratch();
    const recorded = different().map((one): EvalCase => {
      const file = path.join(tapes, `${one.id}.jsonl`);
      return { ...one, answers: { type: 'cassette', file } };
    });
    const options = comparison({ cases: recorded });
    const made = await evaluate({ ...options, model, updateCassettes: true });
    const played = await evaluate({ ...options, directory: `${options.directory}-2` });
    expect([verdict(made), verdict(played)]).toEqual(['better', 'better']);
    expect([played.comparisons[0]?.differing, findVerdict(played).warnings]).toEqual([['skill tables'], []]);
    // A wrong answer of the skill is made right by hand, or that of the baseline wrong.
    const [first = expect.fail()] = recorded;
    const own = path.join(tapes, `${first.id}.without.jsonl`);
    const kept = readFileSync(own, 'utf8');
    for (const text of [kept.replace('"text":"wrong ', '"text":"rung '), kept.replaceAll(/"digest":"\w+",?/g, '')]) {
      writeFileSync(own, text);
      const edited = await evaluate({ ...options, directory: `${options.directory}-${String(text.length)}` });
      // Without any digest it is a recording of an earlier version.
      expect(findVerdict(edited).warnings).toEqual(
        text.includes('rung') ? [`recorded answers of 1 case were edited: ${first.id}; record them again`] : [],
      );
    }
    writeFileSync(own, kept);
    // Another model recorded one arm.
    for (const { id } of recorded) {
      const file = path.join(tapes, `${id}.without.jsonl`);
      writeFileSync(file, readFileSync(file, 'utf8').replace('"model":"thinking"', '"model":"other"'));
    }
    const mixed = await evaluate({ ...options, directory: `${options.directory}-3` });
    expect(verdict(mixed)).toBe('the arms differ in more than the skill: model');
  });

  test('nothing: a skill that helps is better', async () => {
    const model = thinking((_asked, turn, { system }) =>
      hasSkill(system) ? (turn === 0 ? load('tables') : { text: 'right' }) : { text: 'wrong' },
    );
    const report = await evaluate(comparison({ model, cases: different() }));
    const [compared] = report.comparisons;
    expect([verdict(report), compared?.cases, compared?.used, compared?.differing]).toEqual([
      'better',
      12,
      { count: 12, of: 12 },
      ['skill tables'],
    ]);
  });
});
