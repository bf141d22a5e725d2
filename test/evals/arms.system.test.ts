/** Two arms differ in nothing but the skill: not in order, age, paths, the model that answered, or what an earlier attempt left. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { evaluate } from '../../src/evals/evaluate.ts';
import { storedRuns } from '../../src/evals/project/stored.ts';
import type { EvalReport } from '../../src/evals/report/result.ts';
import { findVerdict, verdictOf } from '../../src/evals/report/verdict.ts';
import { scratch } from '../skills/registry/support.ts';
import {
  answering,
  comparison,
  differenceVerdict as verdict,
  hasSkill,
  load,
  thinking,
  topicCases,
  topicOf,
  TOPICS,
  writeSkills,
} from './eval-world.ts';

/** Answers right or wrong by the number of the run; records the arm of each run. */
function counting(isRight: (run: number, isWith: boolean) => boolean) {
  const runs: { readonly topic: string; readonly isWith: boolean }[] = [];
  const model = answering((asked, turn, { system }) => {
    const isWith = hasSkill(system);
    if (turn === 0) runs.push({ topic: topicOf(asked), isWith });
    const run = runs.findLastIndex((one) => one.topic === topicOf(asked) && one.isWith === isWith);
    return turn === 0 && isWith ? load('tables') : { text: isRight(run, isWith) ? 'right' : 'wrong' };
  });
  return { model, runs };
}

describe('the arms of an attempt run one after the other', () => {
  test.each([1, 2])('each as often first as the other, with %i repetitions', async (repeat) => {
    const { model, runs } = counting(() => true);
    await evaluate(comparison({ model, repeat, concurrency: 1 }));
    const pairs = Array.from({ length: runs.length / 2 }, (_, pair) => runs.slice(2 * pair, 2 * pair + 2));
    expect(pairs.every(([a, b]) => a?.topic === b?.topic && a?.isWith !== b?.isWith)).toBe(true);
    expect(pairs.filter(([first]) => first?.isWith === true).length).toBe((TOPICS.length * repeat) / 2);
    // Also within the first halves, so that a change in the middle does not meet one arm.
    expect(pairs.slice(0, 4).filter(([first]) => first?.isWith === true).length).toBe(2);
  });

  test('also in each round of an evaluation that stops when it is decided', async () => {
    const { model, runs } = counting((run) => run % 2 === 0);
    await evaluate(comparison({ model, repeat: 2, concurrency: 1, stopWhenDecided: { detect: 0.2 } }));
    const first = runs.slice(0, TOPICS.length * 2).filter((_, place) => place % 2 === 0);
    expect(first.filter(({ isWith }) => isWith).length).toBe(TOPICS.length / 2);
  });

  test('cases in quarantine do not upset the balance of the others', async () => {
    const { model, runs } = counting(() => true);
    const quarantine = { until: '2026-12-01', passed: 2, of: 5 };
    const cases = topicCases().map((one, place) => (place % 2 === 1 ? { ...one, quarantine } : one));
    await evaluate(comparison({ model, cases, concurrency: 1 }));
    const counted = new Set(TOPICS.filter((_, place) => place % 2 === 0));
    const first = runs.filter((_, place) => place % 2 === 0).filter(({ topic }) => counted.has(topic));
    expect([first.length, first.filter(({ isWith }) => isWith).length]).toEqual([6, 3]);
  });

  test('one worker runs both, and the order is recorded', async () => {
    const running = new Map<string, number>();
    let most = 0;
    const model = thinking(async (asked) => {
      const topic = topicOf(asked);
      running.set(topic, (running.get(topic) ?? 0) + 1);
      most = Math.max(most, running.get(topic) ?? 0);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running.set(topic, (running.get(topic) ?? 0) - 1);
      return { text: 'right' };
    });
    const { results } = await evaluate(comparison({ model, concurrency: 24 }));
    expect(most).toBe(1);
    for (const topic of TOPICS) {
      const own = results.filter((result) => result.case === topic);
      expect(new Set(own.map(({ turn }) => turn?.order))).toEqual(new Set([1, 2]));
      expect(new Set(own.map(({ turn }) => turn?.id)).size).toBe(1);
    }
  });

  test('a server that only answers the first of two requests, or stops answering, makes no skill better', async () => {
    const odd = counting((run) => run % 2 === 0);
    const report = await evaluate(comparison({ model: odd.model, concurrency: 1 }));
    expect([verdict(report), findVerdict(report).warnings]).toEqual([
      'no clear difference',
      [
        'the order matters: of 12 turns the first run passed 12 times, the second 0 times; the server changes, or remembers',
      ],
    ]);
    const late = counting((run) => run < 11);
    expect(verdict(await evaluate(comparison({ model: late.model, concurrency: 1 })))).toBe('no clear difference');
  });
});

describe('stored results of a live model', () => {
  test('are used for both arms of a turn or for none', async () => {
    const cache = path.join(scratch(), 'cache');
    const skills = writeSkills(path.join(scratch(), 'skills'), ['tables']);
    const isCached = ({ results }: EvalReport) => [
      ...new Set(results.map((one) => `${one.arm} ${String(one.isCached)}`)),
    ];
    const monday = counting(() => false);
    expect(isCached(await evaluate(comparison({ model: monday.model, cache, skills })))).toEqual([
      'with false',
      'without false',
    ]);
    expect(isCached(await evaluate(comparison({ model: monday.model, cache, skills })))).toEqual([
      'with true',
      'without true',
    ]);
    // The server got better, and the skill changed without an effect.
    const file = path.join(skills[0] ?? '', 'SKILL.md');
    const before = readFileSync(file, 'utf8');
    writeFileSync(file, `${before}\nOne more line.\n`);
    const tuesday = counting(() => true);
    const changed = await evaluate(comparison({ model: tuesday.model, cache, skills }));
    expect([verdict(changed), isCached(changed)]).toEqual(['no clear difference', ['with false', 'without false']]);
    // The cache now has the old skill of Monday and the baseline of Tuesday.
    writeFileSync(file, before);
    const back = await evaluate(comparison({ model: tuesday.model, cache, skills }));
    expect([verdict(back), isCached(back)]).toEqual(['no clear difference', ['with false', 'without false']]);
  });

  test('a kill between two arms makes both run again', async () => {
    const directory = path.join(scratch(), 'evals');
    const options = comparison({ directory, concurrency: 1 });
    const before = counting(() => false);
    await evaluate({ ...options, model: before.model });
    const file = path.join(directory, 'results.jsonl');
    const lines = readFileSync(file, 'utf8').trim().split('\n');
    // As left by a kill after seven of 24 runs, in the middle of a line.
    writeFileSync(file, `${lines.slice(0, 7).join('\n')}\n${(lines[7] ?? '').slice(0, 100)}`);
    const after = counting(() => true);
    const report = await evaluate({ ...options, model: after.model, resume: true });
    expect([verdict(report), after.runs.length]).toEqual(['no clear difference', 18]);
    // Grading the folder again counts each attempt once, in its last run.
    const runs = storedRuns(directory, options.cases).map(({ folder }) => path.basename(folder));
    expect(runs.toSorted()).toEqual(report.results.map(({ run = '' }) => path.basename(run)).toSorted());
    const byCase = TOPICS.map(
      (topic) => new Set(report.results.filter((one) => one.case === topic).map((one) => one.turn?.id)).size,
    );
    expect(byCase).toEqual(TOPICS.map(() => 1));
  });
});

describe('both arms', () => {
  test('show the same paths, and a path of the model reaches the files of its own arm', async () => {
    const skills = writeSkills(path.join(scratch(), 'skills'), ['tables', 'notes']);
    const seen = new Map<boolean, string[]>();
    const dirs = new Set<string>();
    const model = thinking((_asked, turn, { system, messages }) => {
      const isWith = hasSkill(system);
      const texts = messages.flatMap(({ role, content }) => (role === 'tool' ? [content] : []));
      seen.set(isWith, [...(seen.get(isWith) ?? []), ...texts]);
      for (const [, dir = ''] of texts.join('\n').matchAll(/dir="([^"]*)"/g)) dirs.add(dir);
      if (turn === 0) return load('notes');
      return turn === 1 ? { calls: [['list_resources', { skill: 'notes' }]] } : { text: [...dirs].join(' ') };
    });
    const { results } = await evaluate(comparison({ model, skills, cases: topicCases().slice(0, 2) }));
    expect([...dirs]).toEqual(['/evaluation/skills/notes']);
    expect(seen.get(true)).toEqual(seen.get(false));
    // The record has the real paths.
    expect(results.every(({ answer }) => !answer.includes('/evaluation/') && answer.endsWith('/notes'))).toBe(true);
  });

  test('of one version are identical: nothing to compare', async () => {
    const { model } = counting(() => true);
    const report = await evaluate(
      comparison({ model, cases: topicCases({ skills: { target: 'absent', folders: [] } }) }),
    );
    expect(verdict(report)).toBe('identical, nothing to compare: the skills of both arms are the same');
  });
});

describe('the model that answered', () => {
  test('is unknown for an attempt that ran out of time', async () => {
    const { model } = counting(() => true);
    const open = () => {
      const own = model.open();
      return {
        ...own,
        async call(...[request, options]: Parameters<typeof own.call>) {
          if (!hasSkill(request.system))
            await new Promise((_, reject) => options.signal.addEventListener('abort', () => reject(new Error('late'))));
          return { ...(await own.call(request, options)), servedBy: { model: 'small' } };
        },
      };
    };
    const report = await evaluate(comparison({ model: { ...model, open }, timeoutMs: 1500, concurrency: 12 }));
    expect([verdict(report), report.comparisons[0]?.endedEarly]).toEqual([
      'no clear difference',
      { of: 0, against: 12, by: ['the time limit'] },
    ]);
  });

  /** A server that names what answered, by the number of the run and the arm. */
  const serving = (
    name: (run: number, isWith: boolean) => { readonly model?: string; readonly fingerprint?: string },
  ) => {
    const { model, runs } = counting((_run, isWith) => isWith);
    return {
      ...model,
      open() {
        const own = model.open();
        return {
          ...own,
          async call(...[request, options]: Parameters<typeof own.call>) {
            const answer = await own.call(request, options);
            return { ...answer, servedBy: name(runs.length - 1, hasSkill(request.system)) };
          },
        };
      },
    };
  };

  test('must be the same in both arms', async () => {
    const model = serving((_run, isWith) => ({ model: isWith ? 'large' : 'small' }));
    const report = await evaluate(comparison({ model }));
    expect(verdict(report)).toBe('different models answered in 12 of 12 attempts: large against small');
    expect(report.results[0]?.model.served).toEqual({ models: ['large'], fingerprints: [] });
    expect(verdictOf(report).type).toBe('invalid');
  });

  test('must be the same also if only a few attempts differ', async () => {
    const model = serving((run, isWith) => ({ model: isWith && run > 20 ? 'large' : 'small' }));
    expect(verdict(await evaluate(comparison({ model, concurrency: 1 })))).toMatch(
      /^different models answered in [1-9] of 12/,
    );
  });

  test('must have a fingerprint in common', async () => {
    const model = serving((_run, isWith) => ({ model: 'small', fingerprint: isWith ? 'fp_2' : 'fp_1' }));
    expect(verdict(await evaluate(comparison({ model })))).toBe('the system fingerprints differ: fp_2 against fp_1');
  });

  test('is named if it changes for both', async () => {
    const model = serving((run) => ({ model: 'small', fingerprint: run < 11 ? 'fp_1' : 'fp_2' }));
    const report = await evaluate(comparison({ model, concurrency: 1 }));
    expect([verdict(report), findVerdict(report).warnings]).toEqual([
      'better',
      ['the system fingerprint of the server changed during the evaluation: fp_1, fp_2'],
    ]);
  });
});

describe('limits of a case', () => {
  test.each([
    ['max_tool_calls', { toolCalls: 3 }],
    ['max_turns', { turns: 3 }],
    ['max_tokens', { tokens: 20_000 }],
  ])('decide nothing alone if only one arm reaches %s', async (name, limits) => {
    const searching = (isSlow: (isWith: boolean) => boolean) =>
      answering((_asked, turn, { system }) => {
        const isWith = hasSkill(system);
        if (turn === 0 && isWith) return load('tables');
        if (!isSlow(isWith)) return { text: 'right' };
        return { calls: [['search_skills', { query: `word ${String(turn)} ${'and so on '.repeat(800)}` }]] };
      });
    const cases = topicCases({ limits });
    const baseline = await evaluate(comparison({ cases, model: searching((isWith) => !isWith) }));
    expect([verdict(baseline), baseline.comparisons[0]?.endedEarly, findVerdict(baseline).warnings]).toEqual([
      'no clear difference',
      { of: 0, against: 12, by: [name] },
      [
        `"better" only because attempts did not end by themselves: with 0, without 12 of 12 attempts were ended by ${name}`,
      ],
    ]);
    const own = await evaluate(comparison({ cases, model: searching((isWith) => isWith) }));
    expect([verdict(own), own.comparisons[0]?.endedEarlyVerdict, verdictOf(own).type]).toEqual([
      'no clear difference',
      'worse',
      'failed',
    ]);
    // Intention to treat: they are failures, and the others decide.
    const both = await evaluate(comparison({ cases, model: searching(() => true) }));
    expect([verdict(both), both.comparisons[0]?.passed, findVerdict(both).warnings]).toEqual([
      'no clear difference',
      { of: 0, against: 0 },
      [],
    ]);
  });
});

describe('time limits', () => {
  const slow = (isSlow: (isWith: boolean, topic: string) => boolean) =>
    answering((asked, turn, { system }) => {
      const isWith = hasSkill(system);
      if (turn === 0 && isWith) return load('tables');
      return isSlow(isWith, topicOf(asked)) ? new Promise<never>(() => undefined) : { text: 'right' };
    });

  test('of the baseline make no skill better', async () => {
    const report = await evaluate(comparison({ model: slow((isWith) => !isWith), timeoutMs: 1500, concurrency: 12 }));
    const [compared] = report.comparisons;
    expect([verdict(report), compared?.endedEarly, compared?.difference.mean]).toEqual([
      'no clear difference',
      { of: 0, against: 12, by: ['the time limit'] },
      1,
    ]);
    expect(findVerdict(report).warnings).toEqual([
      '"better" only because attempts did not end by themselves: with 0, without 12 of 12 attempts were ended by the time limit',
    ]);
  });

  test('of the skill make it no worse, but fail its cases', async () => {
    const report = await evaluate(comparison({ model: slow((isWith) => isWith), timeoutMs: 4000, concurrency: 12 }));
    expect([verdict(report), report.comparisons[0]?.endedEarlyVerdict, verdictOf(report).type]).toEqual([
      'no clear difference',
      'worse',
      'failed',
    ]);
  });

  test('change no verdict that holds without them', async () => {
    const model = answering((asked, turn, { system }) => {
      const isWith = hasSkill(system);
      if (turn === 0 && isWith) return load('tables');
      if (!isWith && topicOf(asked) === 'apples') return new Promise<never>(() => undefined);
      return { text: isWith ? 'right' : 'wrong' };
    });
    const report = await evaluate(comparison({ model, timeoutMs: 3000, concurrency: 12 }));
    expect([verdict(report), findVerdict(report).warnings]).toEqual(['better', []]);
  });
});
