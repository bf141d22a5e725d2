import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { BUSINESS_WORDS } from '../../../src/skills/search/bilingual-business.ts';
import { CATALOG_WORDS } from '../../../src/skills/search/bilingual-catalog.ts';
import { GENERAL_WORDS } from '../../../src/skills/search/bilingual-general.ts';
import { JAPANESE_WORDS } from '../../../src/skills/search/bilingual-japanese.ts';
import { OFFICE_WORDS } from '../../../src/skills/search/bilingual-office.ts';
import { SOFTWARE_WORDS } from '../../../src/skills/search/bilingual-software.ts';
import { splitClauses } from '../../../src/skills/search/clauses.ts';
import { openLexicon } from '../../../src/skills/search/lexicon.ts';
import { segmentRun } from '../../../src/skills/search/segment.ts';
import { stem, scanRuns, toTerm, splitWords } from '../../../src/skills/search/tokenize.ts';
import { SYNONYM_GROUPS } from '../../../src/skills/search/synonyms.ts';

describe('the lexicon', () => {
  const lists = [SOFTWARE_WORDS, OFFICE_WORDS, BUSINESS_WORDS, GENERAL_WORDS, CATALOG_WORDS, JAPANESE_WORDS];
  const phrases = [
    ...new Set([...lists, SYNONYM_GROUPS].flatMap((list) => list.split(/[\s=|]+/).filter((phrase) => phrase !== ''))),
  ];
  const keyOf = (phrase: string): string =>
    phrase.charCodeAt(0) > 0x2e_7f ? phrase : phrase.split(/[_-]/).map(toTerm).join(' ');

  test('says the same of a word whether it is asked first or after many others', () => {
    // Every tenth: each is looked for in all lists.
    const some = phrases.filter((_, place) => place % 10 === 0);
    const keys = [...some.map(keyOf), ...some.map((phrase) => phrase.slice(0, 2)), '', ' ', '=', '|', 'a b', '\n'];
    const asked = openLexicon();
    const afterOthers = keys.map((key) => asked.meanings(key));
    // One lexicon for a few keys each, so that every key is looked for in the texts.
    const alone: typeof afterOthers = [];
    for (let start = 0; start < keys.length; start += 20) {
      const few = openLexicon();
      alone.push(...keys.slice(start, start + 20).map((key) => few.meanings(key)));
    }
    expect(alone).toEqual(afterOthers);
    expect(afterOthers.filter((meanings) => meanings.length > 0).length).toBeGreaterThan(400);
  });
});

describe('stems', () => {
  test.each([
    ['deploy deploys deployed deploying', 'deploi'],
    ['query queries querying', 'queri'],
    ['optimize optimizes optimization optimizer', 'optim'],
    ['running runs run', 'run'],
    ['pricing prices priced', 'price'],
    ['caresses', 'caress'],
    ['relational', 'relat'],
    ['hopefulness', 'hope'],
    ['controlling', 'control'],
    ['agreed', 'agre'],
    ['happy', 'happi'],
    ['sky', 'sky'],
    ['go', 'go'],
    ['k8s', 'k8s'],
    ['café', 'café'],
  ])('%s', (words, expected) => {
    expect([...new Set(words.split(' ').map(stem))]).toEqual([expected]);
  });
});

describe('words', () => {
  test('a text is split into words, spaceless runs and ends of clauses', () => {
    expect(scanRuns('Use node.js, 数据库とデータ!').map(({ type, text }) => [type, text])).toEqual([
      ['word', 'Use'],
      ['word', 'node.js'],
      ['break', ','],
      ['spaceless', '数据库'],
      ['spaceless', 'と'],
      ['spaceless', 'データ'],
      ['break', '!'],
    ]);
  });

  test('what is ASCII is split the same beside letters that are not', () => {
    const character = fc.constantFrom(...'aZ09-_.\'&+#,;:!?()[]{}"|\n \\/\0~');
    fc.assert(
      fc.property(fc.array(character, { maxLength: 40 }), (characters) => {
        const text = characters.join('');
        expect([...scanRuns(text), { type: 'spaceless', text: '中' }]).toEqual(scanRuns(`${text} 中`));
      }),
    );
  });

  test.each([
    ['one-pager', ['one', 'pager']],
    ['data.xlsx', ['data', 'xlsx']],
    ['GitHub', ['github']],
    ['parseJsonFile', ['parsejsonfile', 'parse', 'json', 'file']],
    ['snake_case_name', ['snake', 'case', 'name']],
    ["don't", ['don', 't']],
    ['C++', ['c++']],
    ['x'.repeat(41), []],
  ])('%s', (run, words) => {
    expect(splitWords(run)).toEqual(words);
  });

  test('known words are kept whole; pairs over their edges are seams', () => {
    const segments = segmentRun('优化数据库吧', openLexicon());
    expect(segments.map(({ type, text }) => `${type} ${text}`)).toEqual([
      'known 优化',
      'seam 化数',
      'known 数据库',
      'seam 库吧',
    ]);
  });

  test('characters outside the basic plane are characters', () => {
    expect(segmentRun('𠮷野家', openLexicon()).flatMap(({ terms }) => terms)).toEqual(['𠮷野', '野家']);
  });
});

describe('the lexicon', () => {
  const lexicon = openLexicon();
  const meant = (key: string): readonly string[] => lexicon.meanings(key).map(({ terms }) => terms.join(' '));

  test('it translates both ways and knows phrases', () => {
    expect(meant('单元测试')).toContain('unit test');
    expect(meant('unit test')).toContain('单元 元测 测试');
    expect(meant('databas')).toContain('数据 据库');
    expect(meant('データベース')).toContain('databas');
    expect(meant('k8s')).toEqual(['kubernet']);
  });

  test('what it does not know has no meanings', () => {
    expect([meant(''), meant('zzz'), meant('constructor')]).toEqual([[], [], []]);
  });

  test('the longest known word is taken', () => {
    expect([lexicon.wordAt('数据库设计图', 0), lexicon.wordAt('数据库设计图', 3), lexicon.wordAt('', 0)]).toEqual([
      '数据库设计',
      '设计',
      '',
    ]);
  });
});

describe('what a description sends away', () => {
  test.each([
    ['Merges files. Do not use for forms.', 'Merges files.', 'Do not use for forms.'],
    ['Merges files, NOT for forms.', 'Merges files,', 'NOT for forms.'],
    ['Writes plans. For cold outreach, see cold-email.', 'Writes plans.', 'For cold outreach, see cold-email.'],
    ['画图。不适用于照片处理。', '画图。', '不适用于照片处理。'],
    ['Writes notes people do not forget.', 'Writes notes people do not forget.', ''],
  ])('%s', (description, use, avoid) => {
    const clauses = splitClauses(description);
    expect([clauses.use.trim(), clauses.avoid.trim()]).toEqual([use, avoid]);
  });
});
