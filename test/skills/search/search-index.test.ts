import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { buildSearchIndex, type SearchDocument } from '../../../src/skills/search/search-index.ts';
import { STOP_WORDS } from '../../../src/skills/search/stop-words.ts';
import { CATALOG, namesFound } from './fixture.ts';

const index = buildSearchIndex(CATALOG);
const best = (query: string): string | undefined => namesFound(index, query)[0];

const WORDS = fc
  .array(
    fc.constantFrom(
      'deploy',
      'pdf',
      'form',
      'email',
      '合同',
      '数据库',
      'kubernetes',
      'slides',
      'Do not use for',
      '.',
      ',',
    ),
    { minLength: 1, maxLength: 12 },
  )
  .map((list) => list.join(' '));
const CATALOGS = fc.uniqueArray(fc.record({ name: WORDS, description: WORDS }), {
  selector: ({ name, description }) => `${name}|${description}`,
  minLength: 2,
  maxLength: 12,
});

describe('what is found', () => {
  test('a skill is found by words of its description, in other forms than it uses', () => {
    expect(best('my query is slow, which index should I be adding to the database?')).toBe('database-tuning');
    expect(best('rolling out a service with a helm chart')).toBe('kubernetes-deploy');
  });

  test('a word of the name counts more than one of the description', () => {
    const two = [
      { name: 'reports', description: 'Notes about charts and other things to draw.' },
      { name: 'charts', description: 'Notes about reports and other things to draw.' },
    ];
    expect(namesFound(buildSearchIndex(two), 'charts', 5, two)).toEqual(['charts', 'reports']);
  });

  test('a trigger phrase said in full decides between neighbours', () => {
    expect(best('please fill a form for me in this pdf')).toBe('pdf-forms');
  });

  test('a skill that sends the matter elsewhere comes after the one it sends to', () => {
    expect(namesFound(index, 'cold outreach', 2)).toEqual(['cold-email', 'email-sequence']);
    expect(namesFound(index, 'forms in a pdf', 2)).toEqual(['pdf-forms', 'pdf-merge']);
  });

  test('the type of a file is found in its name', () => {
    expect(best('summarise q3_report.pptx')).toBe('slides-maker');
  });

  test('short forms stand for the names they shorten', () => {
    expect(best('k8s')).toBe('kubernetes-deploy');
    expect(best('make a ppt')).toBe('slides-maker');
  });

  test('Go in a sentence is the language', () => {
    expect(best('write fuzzing tests for my Go service')).toBe('golang-testing');
  });

  test('accents, full-width letters and case make no difference', () => {
    expect(best('ＰＤＦ ｍｅｒｇｅ')).toBe('pdf-merge');
    expect(best('KUBERNÉTES')).toBe('kubernetes-deploy');
  });
});

describe('unfinished and misspelt words', () => {
  test.each(['kuberntes', 'kubernetse', 'kubbernetes', 'kubernates', 'deploy to kubrenetes'])(
    '%s is taken for kubernetes',
    (query) => {
      expect(best(query)).toBe('kubernetes-deploy');
    },
  );

  test('the last word may be unfinished', () => {
    expect(best('kube')).toBe('kubernetes-deploy');
    expect(best('check my invo')).toBe('invoice-reader');
  });

  test('a word that is right is not corrected', () => {
    const two = [
      { name: 'forms', description: 'Fill in paper.' },
      { name: 'forums', description: 'Moderate discussions.' },
    ];
    expect(namesFound(buildSearchIndex(two), 'forms on paper', 5, two)).toEqual(['forms']);
  });
});

describe('other languages', () => {
  test('Chinese is found by words inside a run of characters', () => {
    expect(best('帮我写一篇小红书笔记')).toBe('xhs-notes');
    expect(best('看看这份合同有什么风险')).toBe('contract-review');
  });

  test('a Chinese query finds an English skill, and the other way round', () => {
    expect(best('做一个幻灯片')).toBe('slides-maker');
    expect(best('数据库查询很慢')).toBe('database-tuning');
    expect(best('review the clauses of this contract')).toBe('contract-review');
  });

  test('Japanese and Korean are found', () => {
    expect(best('会議の議事録を要約して')).toBe('meeting-minutes-ja');
    expect(best('データベースのインデックス')).toBe('database-tuning');
    expect(best('문서 번역')).toBe('translate-ko');
  });

  test('one Chinese character finds the words that begin with it', () => {
    expect(namesFound(index, '审')).toEqual(['contract-review']);
  });
});

describe('the list of hits', () => {
  test('there are five unless another number is asked for', () => {
    const many = Array.from({ length: 20 }, (_, position) => ({
      name: `notes-${String(position)}`,
      description: 'Take notes.',
    }));
    const notes = buildSearchIndex(many);
    expect(notes.search('notes')).toHaveLength(5);
    expect(notes.search('notes', 12)).toHaveLength(12);
    expect(notes.search('notes', 500)).toHaveLength(20);
    for (const limit of [0, -1, Number.NaN]) expect(notes.search('notes', limit)).toEqual([]);
  });

  test('scores fall', () => {
    const scores = index.search('pdf form email', 10).map(({ score }) => score);
    expect(scores).toEqual(scores.toSorted((left, right) => right - left));
    expect(scores.every((score) => score > 0)).toBe(true);
  });

  test('equal scores go by name, then by position', () => {
    const equal = ['b', 'a', 'c', 'a'].map((name) => ({ name: `x-${name}`, description: 'Same words.' }));
    expect(
      buildSearchIndex(equal)
        .search('same words')
        .map(({ position }) => position),
    ).toEqual([1, 3, 0, 2]);
  });

  test('an empty index finds nothing', () => {
    const empty = buildSearchIndex([]);
    expect([empty.size, empty.deep, empty.search('anything')]).toEqual([0, false, []]);
  });

  test('the best hits are the same however many are asked for', () => {
    fc.assert(
      fc.property(CATALOGS, WORDS, fc.integer({ min: 1, max: 8 }), (documents, query, limit) => {
        const found = buildSearchIndex(documents);
        // With as many as there are, no document is left out before its clauses are read.
        expect(found.search(query, limit)).toEqual(found.search(query, documents.length).slice(0, limit));
      }),
      { numRuns: 200 },
    );
  });

  test('the order in which documents came changes nothing but positions', () => {
    const shuffled = CATALOGS.chain((documents) =>
      fc.tuple(
        fc.constant(documents),
        fc.shuffledSubarray(documents, { minLength: documents.length, maxLength: documents.length }),
      ),
    );
    fc.assert(
      fc.property(shuffled, WORDS, ([documents, other], query) => {
        const found = (list: readonly SearchDocument[]): unknown =>
          buildSearchIndex(list)
            .search(query, 20)
            .map(({ position, score }) => [list[position]?.name, score]);
        expect(found(other)).toEqual(found(documents));
      }),
      { numRuns: 40 },
    );
  });
});

describe('deep mode', () => {
  const shallow: readonly SearchDocument[] = [
    { name: 'report-writer', description: 'Write reports.' },
    { name: 'letter-writer', description: 'Write letters.' },
  ];
  const deep = shallow.map((document, position) => ({
    ...document,
    body: position === 1 ? 'Ask for the salutation and the postage.' : 'Ask for the figures.',
  }));

  test('bodies are searched only when they are given', () => {
    expect(buildSearchIndex(shallow).search('postage')).toEqual([]);
    expect(namesFound(buildSearchIndex(deep), 'postage', 5, deep)).toEqual(['letter-writer']);
    expect([buildSearchIndex(shallow).deep, buildSearchIndex(deep).deep]).toEqual([false, true]);
  });

  test('a word of the description counts more than one of the body', () => {
    const two = [
      { name: 'one', description: 'Something else.', body: 'About invoices.' },
      { name: 'two', description: 'About invoices.', body: 'Something else.' },
    ];
    expect(namesFound(buildSearchIndex(two), 'invoices', 5, two)).toEqual(['two', 'one']);
  });
});

test('a word that a query repeats counts more, unless it is repeated without end', () => {
  const two = [
    { name: 'one', description: 'About invoices.' },
    { name: 'two', description: 'About letters.' },
  ];
  const index = buildSearchIndex(two);
  const first = (query: string): string | undefined => namesFound(index, query, 1, two)[0];
  expect([first('invoices, letters'), first('invoices, letters, more letters')]).toEqual(['one', 'two']);
  expect(first(`invoices ${'letters '.repeat(13)}`)).toBe('one');
});

test('a word of a code block is found, and counts once however often the code has it', () => {
  const code = (count: number): string => `\`\`\`sh\n${'rsync a b\n'.repeat(count)}\`\`\`\n`;
  const scores = [code(1), code(9), 'rsync a b, rsync c d'].map((body) => {
    const [hit] = buildSearchIndex([{ name: 'x', description: 'Copies.', body: `Steps\n\n${body}` }]).search('rsync');
    return hit?.score ?? 0;
  });
  expect(scores[0]).toBeGreaterThan(0);
  expect(scores[1]).toBe(scores[0]);
  expect(scores[2]).toBeGreaterThan(scores[0] ?? 0);
});

const BILINGUAL: readonly SearchDocument[] = [
  ...CATALOG,
  { name: 'z', description: '合同审查' },
  { name: 'contract-check', description: 'review contract' },
  { name: 'w', description: '处理文件' },
  { name: 'r', description: 'reads a file' },
  { name: 'zh', description: '中文名称技能' },
  { name: 'other-name', description: 'Says what others are called.' },
];

describe('the words themselves', () => {
  const both = buildSearchIndex(BILINGUAL);
  const all = (query: string): readonly string[] => namesFound(both, query, 50, BILINGUAL);

  test('a single word finds the skills that have it and those that have its translation', () => {
    expect(all('contract')).toEqual(['contract-check', 'contract-review', 'z']);
    expect(all('合同').toSorted()).toEqual(['contract-check', 'contract-review', 'z']);
    expect(all('文件')[0]).toBe('w');
    expect(all('file')).toEqual(expect.arrayContaining(['r', 'pdf-merge']));
    expect(all('other-name')[0]).toBe('other-name');
  });

  test('every word of a name or description finds its skill, alone and at the end of a query', () => {
    for (const { name, description } of BILINGUAL)
      for (const word of `${name} ${description}`.match(/[A-Za-z]{3,}/g) ?? []) {
        if (!STOP_WORDS.has(word.toLowerCase()))
          expect([word, all(word)]).toEqual([word, expect.arrayContaining([name])]);
        if (!STOP_WORDS.has(word.toLowerCase()))
          expect([word, all(`invoice ${word}`)]).toEqual([word, expect.arrayContaining([name])]);
      }
  });
});
