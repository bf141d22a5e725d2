/** A skill is not better by attempts that did not load it, by a server that failed in one arm, or by recordings of different days. */
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import type { EvalCase } from '../../src/evals/cases/case.ts';
import { evaluate } from '../../src/evals/evaluate.ts';
import { findVerdict } from '../../src/evals/report/verdict.ts';
import { verifies } from '../conformance/verifies.ts';
import type { Line } from '../agent/support.ts';
import { scratch } from '../skills/registry/support.ts';
import {
  answering,
  comparison,
  differenceVerdict as verdict,
  hasSkill,
  load,
  topicCases,
  topicOf,
  TOPICS,
} from './eval-world.ts';

/** A model whose attempts at a case load the skill by their number, and are right as told. */
function loading(
  loads: (attempt: number, topic: string) => boolean,
  isRight: (isLoaded: boolean, isWith: boolean) => boolean,
) {
  const attempts = new Map<string, number>();
  return answering((asked, turn, { system, messages }) => {
    const topic = topicOf(asked);
    const isWith = hasSkill(system);
    if (!isWith) return { text: isRight(false, false) ? 'right' : 'wrong' };
    if (turn === 0) {
      const attempt = (attempts.get(topic) ?? 0) + 1;
      attempts.set(topic, attempt);
      if (loads(attempt, topic)) return load('tables');
    }
    return {
      text: isRight(
        messages.some(({ role }) => role === 'tool'),
        true,
      )
        ? 'right'
        : 'wrong',
    };
  });
}

describe('an attempt that did not load the skill', () => {
  test.each([1, 5, 9])('gives it no credit, if %i of 10 attempts at each case load it', async (loaded) => {
    const model = loading(
      (attempt) => attempt <= loaded,
      (_isLoaded, isWith) => isWith,
    );
    const report = await evaluate(comparison({ model, repeat: 10 }));
    expect([verdict(report), report.comparisons[0]?.used]).toEqual([
      'no clear difference',
      { count: 12 * loaded, of: 120 },
    ]);
  });

  test('takes no credit from those that did', async () => {
    const some = loading(
      (attempt) => attempt !== 2,
      (isLoaded) => isLoaded,
    );
    expect(verdict(await evaluate(comparison({ model: some, repeat: 5 })))).toBe('better');
    const once = loading(
      (_attempt, topic) => TOPICS.indexOf(topic) > 2,
      (isLoaded) => isLoaded,
    );
    expect(verdict(await evaluate(comparison({ model: once })))).toBe('better');
  });

  test('does not make it worse, where no attempt at the case loaded it', async () => {
    const never = loading(
      (_attempt, topic) => topic === 'apples',
      (isLoaded, isWith) => isLoaded || !isWith,
    );
    const report = await evaluate(comparison({ model: never, repeat: 2 }));
    expect([verdict(report), report.comparisons[0]?.worse]).toEqual(['no clear difference', 0]);
    // Other attempts at the case did: the skill may have led away from loading it.
    const half = loading(
      (attempt) => attempt === 1,
      (_isLoaded, isWith) => !isWith,
    );
    expect(verdict(await evaluate(comparison({ model: half, repeat: 2 })))).toBe('worse');
  });
});

describe('answers that a server ended in one arm', () => {
  const endings = (finish: 'filtered' | 'other', isEnded: (isWith: boolean) => boolean) =>
    answering((_asked, turn, { system }) => {
      const isWith = hasSkill(system);
      if (isWith && turn === 0) return load('tables');
      const line: Line = { text: isWith ? 'right' : 'wrong' };
      return isEnded(isWith) ? { text: 'I', finish } : line;
    });

  test.each(['filtered', 'other'] as const)('decide nothing alone: %s', async (finish) => {
    const without = await evaluate(comparison({ model: endings(finish, (isWith) => !isWith) }));
    const withIt = await evaluate(comparison({ model: endings(finish, (isWith) => isWith) }));
    const isMissing = finish === 'other';
    expect([verdict(without), verdict(withIt)]).toEqual(
      isMissing
        ? ['without', 'with'].map(
            (arm) =>
              `no outcome was judged (12 cases: every attempt of the arm ${arm} is missing, such as: the server ended the answer for another reason than its end, such as an error)`,
          )
        : ['no clear difference', 'no clear difference'],
    );
  });
});

describe('one text in answer to all requests', () => {
  const busy = (text: (run: number) => string, isBusy: (isWith: boolean, topic: string) => boolean) => {
    let run = 0;
    return answering((asked, turn, { system }) => {
      const isWith = hasSkill(system);
      run += 1;
      if (isWith && turn === 0) return load('tables');
      return isBusy(isWith, topicOf(asked)) ? { text: text(run) } : { text: isWith ? 'right' : 'wrong' };
    });
  };
  const plain = (model: ReturnType<typeof busy>) => ({
    ...model,
    // The topic at the end would make it an answer to the request.
    open: () => {
      const opened = model.open();
      return {
        ...opened,
        call: async (...args: Parameters<typeof opened.call>) => {
          const answer = await opened.call(...args);
          const isOwn = /^(?:right|wrong) /u.test(answer.text);
          const text = isOwn ? answer.text : answer.text.replace(new RegExp(` (?:${TOPICS.join('|')})$`, 'u'), '');
          return { ...answer, text };
        },
      };
    },
  });

  test.each([
    (run: number) => `We are overloaded, request req_${String(run)}, try again`,
    (run: number) => `HTTP 529: server busy (id ${String(run * 7919)}-ab). Please retry in ${String(run)} s`,
    (run: number) => `服务器繁忙，请求号 ${String(run)}，请稍后再试`,
    () => 'Service temporarily unavailable.',
  ])('around numbers is no answer %#', async (text) => {
    const all = await evaluate(comparison({ model: plain(busy(text, (isWith) => !isWith)) }));
    expect(verdict(all)).toBe('no outcome was judged (12 cases: every attempt of the arm without is missing)');
    const some = await evaluate(
      comparison({ model: plain(busy(text, (isWith, topic) => isWith && TOPICS.indexOf(topic) < 7)) }),
    );
    expect([verdict(some), some.comparisons[0]?.missing, findVerdict(some).warnings]).toEqual([
      'no clear difference',
      { of: 7, against: 0 },
      [expect.stringContaining('with: 7 answers repeat 1 text for unlike requests')],
    ]);
  });

  verifies('EVAL-14', 'that answers more than a third of a baseline leaves no verdict on the rest of it', async () => {
    const broken = (count: number) =>
      evaluate(
        comparison({
          model: plain(
            busy(
              (run) => `We are overloaded, request req_${String(run)}, try again`,
              (isWith, topic) => !isWith && TOPICS.indexOf(topic) < count,
            ),
          ),
        }),
      );
    const [half, third] = [await broken(6), await broken(4)];
    expect([half, third].map(verdict)).toEqual([
      'one text for unlike requests answered 6 of 12 attempts of the arm without, more than a third: the server that gives it may not read the other requests either',
      'better',
    ]);
    expect(third.comparisons[0]?.missing).toEqual({ of: 0, against: 4 });
    for (const one of [half, third])
      expect(findVerdict(one).warnings).toEqual([
        expect.stringMatching(/^without: \d answers repeat 1 text for unlike/u),
      ]);
  });

  test('in a few wordings is no answer, and short ones are named', async () => {
    const texts = [
      'Service temporarily unavailable.',
      'Upstream timeout, please retry.',
      'Internal error, we were notified.',
    ];
    const wrong = await evaluate(
      comparison({
        model: plain(
          busy(
            (run) => texts[run % 3] ?? '',
            (isWith) => !isWith,
          ),
        ),
      }),
    );
    expect(verdict(wrong)).toMatch(/every attempt of the arm without is missing|no clear difference/u);
    const short = ['Bad gateway.', 'Quota exceeded.', 'Login required.'];
    const named = await evaluate(
      comparison({
        model: plain(
          busy(
            (run) => short[run % 3] ?? '',
            (isWith) => !isWith,
          ),
        ),
      }),
    );
    expect([verdict(named), findVerdict(named).warnings]).toEqual([
      'better',
      [expect.stringMatching(/^without: \d+ of 12 failed answers repeat \d short texts for unlike requests: /u)],
    ]);
  });

  test.each([
    (run: number) => `The answer is ${String(run)}.`,
    (run: number) => `I describe it with ${String(run)}`,
    () => 'I do not have that information.',
  ])('that may be a wrong answer counts as one %#', async (text) => {
    const report = await evaluate(comparison({ model: plain(busy(text, (isWith) => !isWith)) }));
    expect(verdict(report)).toBe('better');
  });
});

describe('recorded answers', () => {
  const tapes = () => {
    const folder = scratch();
    const cases = topicCases().map((one): EvalCase => ({
      ...one,
      answers: { type: 'cassette', file: path.join(folder, `${one.id}.jsonl`) },
    }));
    const files = (arm: string) => TOPICS.map((topic) => path.join(folder, `${topic}${arm}.jsonl`));
    return { cases, files };
  };
  const helpful = answering((_asked, turn, { system }) =>
    hasSkill(system) ? (turn === 0 ? load('tables') : { text: 'right' }) : { text: 'wrong' },
  );

  test('of two recordings do not decide, nor of attempts that did not run together', async () => {
    const { cases, files } = tapes();
    const options = comparison({ cases, repeat: 2 });
    let run = 0;
    const again = async (more = {}) =>
      verdict(await evaluate({ ...options, directory: `${options.directory}-${String((run += 1))}`, ...more }));
    expect(await again({ model: helpful, updateCassettes: true })).toBe('better');
    expect(await again()).toBe('better');
    const kept = files('').map((file) => readFileSync(file));
    // The second recording of both arms, and the first one of one arm.
    expect(await again({ model: helpful, updateCassettes: true })).toBe('better');
    for (const [place, file] of files('').entries()) writeFileSync(file, kept[place] ?? '');
    const apart =
      'the recorded answers of 12 cases, such as "apples", are not known to come from one recording of both arms: record both arms again (skillwright eval PATH --model NAME --update-cassettes, with the same --baseline)';
    expect(await again()).toBe(apart);
    // The other attempt of the same recording.
    for (const [place, file] of files('.2').entries()) copyFileSync(file, files('')[place] ?? '');
    expect(await again()).toBe(apart);
    // A recording of an earlier version.
    for (const file of [...files(''), ...files('.2'), ...files('.without'), ...files('.without.2')])
      writeFileSync(
        file,
        readFileSync(file, 'utf8')
          .replace(/,"turn":\{[^}]*\}/, '')
          .replaceAll(/"digest":"\w+",?/g, ''),
      );
    expect(await again()).toBe(apart);
  });

  test('do not decide if one was edited', async () => {
    const { cases, files } = tapes();
    const options = comparison({ cases });
    await evaluate({ ...options, model: helpful, updateCassettes: true });
    const [own = ''] = files('.without');
    const text = readFileSync(own, 'utf8');
    const other = readFileSync(files('.without')[1] ?? '', 'utf8');
    const turn = /"turn":\{[^}]*\}/;
    for (const edited of [
      text.replace('"text":"wrong ', '"text":"rung '),
      text.replace(turn, turn.exec(other)?.[0] ?? ''),
    ]) {
      writeFileSync(own, edited);
      const report = await evaluate({ ...options, directory: `${options.directory}-${String(edited.length)}` });
      expect(verdict(report)).toMatch(/^the recorded answers of 1 case, such as "apples", were edited: /);
    }
  });
});
