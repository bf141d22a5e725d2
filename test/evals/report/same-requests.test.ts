import { describe, expect, test } from 'vitest';

import { groupSameRequests, ratePasses } from '../../../src/evals/report/same-requests.ts';
import { caseResult } from '../case-results.ts';

/** The number of different cases; all have the same surroundings and, unless told, the same expectations. */
function countDifferent(inputs: readonly string[], expectations: readonly string[] = []): number {
  const cases = inputs.map((input, place) => ({
    case: String(place),
    input,
    surroundings: '',
    expectations: expectations[place] ?? '',
  }));
  return groupSameRequests(cases).length;
}

describe('requests that ask the same count once', () => {
  test.each([
    [
      'file names',
      ['Summarise a.csv in one line', 'Summarise b.csv in one line', 'Summarise data/2024_q1.csv in one line'],
    ],
    ['numbers', ['Add 7 percent to every price', 'Add 19 percent to every price']],
    [
      'courtesy',
      [
        'Count the rows',
        'Please count the rows.',
        'Could you count rows for me, thanks!',
        'Hi, can you please count the rows?',
      ],
    ],
    ['punctuation and case', ['Count the rows: now', 'COUNT the rows -- now!!']],
    ['lookalike letters', ['Count the rows', 'C\u043eunt the r\u043ews', 'Ｃount the ro\u200bws', 'Coünt the rows']],
    [
      'Chinese courtesy',
      ['总结销售表', '请总结销售表。', '请帮我总结一下销售表，谢谢', '能不能总结销售表？', '麻烦您总结销售表吧'],
    ],
    ['Chinese file names', ['请统计 a.csv 的行数', '统计 订单.csv 的行数']],
    ['the order of parts', ['In English, summarise the long report', 'Summarise the long report in English']],
  ])('%s', (_, inputs) => {
    expect(countDifferent(inputs)).toBe(1);
  });

  test.each([
    ['a remark', ['pepper', 'violin'].map((word) => `Give the zorb code of "hamster". (ticket ${word})`)],
    ['a name', ['Anna', 'Bob', 'Carla'].map((name) => `${name} asks: give the zorb code of "hamster".`)],
    ['a synonym', ['Give', 'Tell me', 'What is', 'Show'].map((verb) => `${verb} the zorb code of "hamster"`)],
  ])('%s, where one text is the answer to all', (_, inputs) => {
    const groups = (expectations: (place: number) => string, hasFixedAnswer = true): number =>
      groupSameRequests(
        inputs.map((input, place) => ({
          case: String(place),
          input,
          surroundings: '',
          expectations: expectations(place),
          hasFixedAnswer,
        })),
      ).length;
    expect([groups(() => 'retsmah'), groups(String), groups(() => '', false)]).toEqual([
      1,
      inputs.length,
      inputs.length,
    ]);
  });

  test('also in a suite that is too large to compare every pair', () => {
    const inputs = Array.from({ length: 5000 }, (_, place) => `Please count the rows of table-${String(place)}.csv`);
    expect(countDifferent(inputs)).toBe(1);
  });
});

describe('different requests stay apart', () => {
  test.each([
    ['other words', ['Translate the letter to French', 'Translate the letter to German']],
    ['another kind of file', ['Summarise a.csv', 'Summarise a.pdf']],
    ['the other direction', ['Convert csv to pdf', 'Convert pdf to csv']],
    [
      'a negation',
      [
        'Delete all rows that have an empty price in the last column of the table',
        'Do not delete all rows that have an empty price in the last column of the table',
      ],
    ],
    ['words before a file name', ['统计订单.csv的行数', '删除订单.csv的行数']],
    ['Chinese words', ['总结销售表', '总结库存表']],
    ['the other direction in Chinese', ['把 csv 转换成 pdf', '把 pdf 转换成 csv']],
    [
      'a Chinese negation',
      ['请把这些重复的客户名字都从表格的第一列里删除', '请不把这些重复的客户名字都从表格的第一列里删除'],
    ],
    ['nothing but courtesy', ['please', 'hello']],
  ])('%s', (_, inputs) => {
    expect(countDifferent(inputs)).toBe(inputs.length);
  });

  test('files and numbers that lead to different answers', () => {
    expect(countDifferent(['Count the rows of a.csv', 'Count the rows of b.csv'], ['3', '5'])).toBe(2);
    expect(countDifferent(['What is 2 plus 2?', 'What is 3 plus 3?'], ['4', '6'])).toBe(2);
  });
});

describe('the interval of a pass rate', () => {
  const attempts = (id: string, count: number) =>
    Array.from({ length: count }, (_, place) => caseResult(id, { attempt: place + 1 }));

  test('is as wide for one case with ten attempts as for one with one', () => {
    const { low, high } = ratePasses(attempts('one', 1));
    expect(ratePasses(attempts('one', 10))).toEqual({ count: 10, of: 10, low, high });
    expect(low).toBeCloseTo(0.2065, 3);
  });

  test('counts near-identical cases once, and ten different cases ten times', () => {
    const same = attempts('one', 10).map((result, place) => ({ ...result, case: `c${String(place)}`, attempt: 1 }));
    expect(ratePasses(same)).toEqual(ratePasses(attempts('one', 10)));
    const others = 'abcdefghij'.split('').map((letter) => caseResult(letter.repeat(4)));
    expect(ratePasses(others).low).toBeCloseTo(0.7225, 3);
  });

  test('is that of fewer cases if one has most of the attempts', () => {
    const { low } = ratePasses([...attempts('one', 9), ...attempts('two', 1)]);
    expect(low).toBeGreaterThan(ratePasses(attempts('one', 1)).low);
    expect(low).toBeLessThan(ratePasses([...attempts('one', 5), ...attempts('two', 5)]).low);
  });
});

test('a request of one long word is read in one pass', () => {
  const long = 'x'.repeat(500_000);
  expect(countDifferent([long, `${long} y`, `${long}.csv`])).toBe(3);
});
