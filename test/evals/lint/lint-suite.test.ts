import { createHash } from 'node:crypto';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { readCases } from '../../../src/evals/cases/read-cases.ts';
import { lintSuite } from '../../../src/evals/lint/lint-suite.ts';
import { newSkillFiles } from '../../../src/skills/format/new-skill.ts';
import { folderOf } from '../cases/support.ts';
import { findingsOf, SKILL } from './findings.ts';

const GOOD = { contains: 'forty-two boats' };

describe('a suite that can be believed', () => {
  test('has no findings', () => {
    expect(findingsOf([{ output: GOOD }, { output: { regex: '\\b1[0-9] May\\b' } }])).toEqual([]);
  });

  test('may have scripted answers of any kind, because they test the files only', () => {
    const mock = { turns: [{ text: 'ok' }] };
    expect(findingsOf([{ input: 'Use the tax-report skill', output: { not_contains: 'x' }, mock }])).toEqual([]);
  });
});

describe('answers that are given away', () => {
  test('the expected text is in the request', () => {
    expect(findingsOf([{ input: 'Say that it is forty-two boats', output: GOOD }])).toEqual([
      'error passes-on-request',
    ]);
    expect(
      findingsOf([{ input: 'Is it forty-two boats?', output: { contains: ['forty-two boats', 'because of sails'] } }]),
    ).toEqual(['warning expected-in-request']);
  });

  test('the expected text is in SKILL.md', () => {
    expect(findingsOf([{ output: { contains: '37.25' } }])).toEqual(['warning expected-in-skill']);
    expect(findingsOf([{ output: { regex: 'END-OF-REPORT' } }])).toEqual(['warning expected-in-skill']);
    const schema = { type: 'object', properties: { rate: { const: 37.25 } } };
    expect(findingsOf([{ output: { json_schema: schema } }])).toEqual(['warning expected-in-skill']);
  });

  test('a short key is spelled backwards or in ROT13, as a word of its own', () => {
    const hidden = (text: string, key = '4821'): readonly string[] =>
      findingsOf([{ output: { regex: String.raw`\b${key}\b` } }], {}, `${SKILL}\nThe key is ${text}.\n`);
    for (const [text, key] of [['1284'], ['evil', 'live'], ['yvir', 'live'], ['4-8-2-1']])
      expect(hidden(text ?? '', key)).toEqual(['warning expected-hidden']);
    for (const [text, key] of [['51284'], ['devilish', 'live'], ['12 84'], ['1221', '1221x']])
      expect(hidden(text ?? '', key)).toEqual([]);
  });

  const WORD = 'forty-two boats';
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const rot13 = (text: string): string =>
    text.replaceAll(/[a-z]/g, (letter) => String.fromCodePoint(((letter.charCodeAt(0) - 84) % 26) + 97));
  test.each([
    ['as base64', base64(WORD)],
    ['as base64', base64(`The answer is ${WORD}.`).replaceAll(/(.{10})/g, '$1\n')],
    ['as base64', base64(`The answers are ${WORD}.`)],
    ['as hexadecimal digits', Buffer.from(WORD).toString('hex').toUpperCase()],
    ['as hexadecimal digits', [...Buffer.from(WORD)].map((byte) => String.raw`\x${byte.toString(16)}`).join('')],
    ['as hexadecimal digits', [...Buffer.from(WORD)].map((byte) => `0x${byte.toString(16)}, `).join('')],
    ['as character codes', [...Buffer.from(WORD)].join(', ')],
    ['in ROT13', rot13(WORD)],
    ['backwards', [...WORD].toReversed().join('')],
    ['letter by letter', [...WORD].join('\u200b')],
    ['letter by letter', [...WORD.replaceAll(' ', '')].join(' - ')],
    [
      'in other letters',
      [...WORD].map((one) => (one < 'a' ? one : String.fromCodePoint(one.charCodeAt(0) + 0xfee0))).join(''),
    ],
  ])('the expected text is hidden in the skill or an input file %s', (way, text) => {
    const found = (files: Readonly<Record<string, string>>, more: object = {}): readonly string[] => {
      const root = folderOf({
        'tax-report/SKILL.md': SKILL,
        'tax-report/evals/cases.json': {
          cases: [{ input: 'How high is the tax on a boat?', expect: { output: GOOD }, ...more }],
        },
        ...files,
      });
      const skill = path.join(root, 'tax-report');
      return lintSuite(readCases([skill]).cases, { kind: 'cases', skills: [skill] }).map(({ message }) => message);
    };
    expect(found({ 'tax-report/references/key.txt': `Notes.\n${text}\n` })).toEqual([
      `"references/key.txt" gives away the expected text "forty-two boats" ${way}`,
    ]);
    expect(found({ 'tax-report/evals/key.txt': text }, { files: ['key.txt'] })).toEqual([
      `"key.txt" gives away the expected text "forty-two boats" ${way}`,
    ]);
    // Runs do not see the folder of the cases.
    expect(found({ 'tax-report/evals/key.txt': text })).toEqual([]);
  });

  test('the expected text is in an input file, in the name of a file, or in the cases beside the skill', () => {
    const root = folderOf({
      'tax-report/SKILL.md': SKILL,
      'tax-report/assets/forty_two_boats.bin': 'a\0b',
      'tax-report/tests/notes.txt': 'It is 5 houses.\n',
      'tax-report/tests/cases.json': {
        cases: [
          { input: 'How high is the tax on a boat?', expect: { output: GOOD } },
          { input: 'Compare two flats in Rome.', files: ['notes.txt'], expect: { output: { contains: '5 houses' } } },
        ],
      },
    });
    const skill = path.join(root, 'tax-report');
    const findings = lintSuite(readCases([path.join(skill, 'tests/cases.json')]).cases, {
      kind: 'cases',
      skills: [skill],
    });
    expect(findings.map(({ rule, message, hint }) => [rule, message, hint.slice(0, 24)])).toEqual([
      [
        'expected-hidden',
        '"assets/forty_two_boats.bin" gives away the expected text "forty-two boats" in its name',
        'remove it: a run that fi',
      ],
      ['expected-in-skill', 'tests/notes.txt contains the expected text "5 houses"', 'the case shows that the '],
      [
        'expected-in-files',
        'the input file "notes.txt" contains the expected text "5 houses"',
        'expect a result that has',
      ],
    ]);
  });

  test('a file of the skill is the expected one', () => {
    const root = folderOf({
      'tax-report/SKILL.md': SKILL,
      'tax-report/assets/report.md': 'ready\n',
      'tax-report/evals/cases.json': {
        cases: [
          {
            input: 'Write the report on my boat',
            expect: {
              output: {
                files: [{ path: 'out/report.md', sha256: createHash('sha256').update('ready\n').digest('hex') }],
              },
            },
          },
        ],
      },
    });
    const skill = path.join(root, 'tax-report');
    expect(
      lintSuite(readCases([skill]).cases, { kind: 'cases', skills: [skill] }).map(({ message }) => message),
    ).toEqual(['assets/report.md contains the expected text "out/report.md"']);
  });

  test('one answer passes most cases', () => {
    const cases = (texts: readonly string[]) => texts.map((text) => ({ output: { contains: text } }));
    expect(findingsOf(cases(['in June', 'in June', 'in June', 'in June or July', 'two flats', 'no boat']))).toEqual([
      'warning one-answer',
    ]);
    expect(findingsOf(cases(['in June', 'in June', 'in June', 'in Mayday', 'two flats', 'four boats']))).toEqual([]);
  });

  test('the check asks for the name of the skill', () => {
    expect(findingsOf([{ output: { contains: 'tax-report' } }])).toEqual(['error expects-skill-name']);
    expect(findingsOf([{ output: { regex: '(?i)tax report' } }])).toEqual(['error expects-skill-name']);
  });

  test('the request names the skill', () => {
    const both = [
      { input: 'Use the tax-report skill for my boat', output: GOOD },
      { input: 'Ask /tax-report about the flat', output: { contains: 'two rooms' } },
    ];
    expect(findingsOf(both)).toEqual(['error skill-in-request', 'error skill-in-request']);
    expect(findingsOf([...both, { output: { contains: 'in June' } }])).toEqual([
      'warning skill-in-request',
      'warning skill-in-request',
    ]);
    expect(findingsOf([{ input: 'Write a tax report about my boat', output: GOOD }])).toEqual([]);
  });
});

describe('graders that pass on anything', () => {
  test.each([
    ['nothing at all', { not_contains: 'error' }, 'error passes-on-empty'],
    ['nothing, by an expression', { regex: '.*' }, 'error passes-on-empty'],
    ['no files', { files: [{ path: 'a.txt', exists: false }] }, 'error passes-on-empty'],
    ['any text', { regex: '[a-z]+' }, 'error passes-on-wrong'],
    ['any text of some length', { regex: '(?s).{300,}' }, 'error passes-on-wrong'],
    ['any line of some length', { regex: '.{1000}' }, 'error passes-on-wrong'],
    ['any number of words', { regex: String.raw`(\w+\s+){20,}` }, 'error passes-on-wrong'],
    ['any number of lines', { regex: String.raw`(.+\n){5,}` }, 'error passes-on-wrong'],
    ['any long text', { regex: '^[\\s\\S]{11}' }, 'error passes-on-wrong'],
    ['an opposite with a prefix', { contains: 'valid' }, 'error passes-on-opposite'],
    ['an opposite of a word', { contains: 'yes' }, 'error passes-on-opposite'],
    ['a number inside another', { contains: '42' }, 'warning number-without-edges'],
    ['any JSON', { format: 'json' }, 'warning format-only'],
    ['any Markdown', { format: 'markdown' }, 'warning format-only'],
    ['any file', { files: [{ path: 'out.md' }] }, 'warning format-only'],
    ['any object', { json_schema: { type: 'object', required: ['a'] } }, 'warning format-only'],
    ['a lower bound in a schema', { json_schema: { type: 'number', minimum: 0 } }, 'warning format-only'],
    ['a wide range in a schema', { json_schema: { type: 'number', minimum: 0, maximum: 100 } }, 'warning format-only'],
    [
      'an expression for any text in a schema',
      { json_schema: { type: 'string', pattern: '.*' } },
      'warning format-only',
    ],
    [
      'an expression for any number in a schema',
      { json_schema: { type: 'string', pattern: '^[0-9]+ rows$' } },
      'warning format-only',
    ],
    ['a choice in a schema', { json_schema: { enum: ['high', 'low'] } }, 'warning format-only'],
    [
      'a property named pattern in a schema',
      { json_schema: { type: 'object', properties: { pattern: { type: 'string' } } } },
      'warning format-only',
    ],
    ['any number of rows', { regex: '[0-9]+ rows' }, 'error passes-on-wrong'],
    ['any number in a group', { regex: String.raw`^The (?:total|sum)? ?is (\d+)\.$` }, 'error passes-on-wrong'],
    ['any amount', { regex: String.raw`\$[\d,.]+ in total` }, 'error passes-on-wrong'],
    ['any date', { regex: String.raw`due \d{4}-\d{2}-\d{2}` }, 'error passes-on-wrong'],
  ])('%s', (_, output, finding) => {
    expect(findingsOf([{ output }])).toEqual([finding]);
  });

  test.each([
    ['a text beside it', { not_contains: 'error', contains: 'forty-two boats' }],
    ['a word with edges', { regex: '^Valid\\b', not_regex: 'invalid' }],
    ['a number with edges', { regex: '\\b42\\b' }],
    ['a value in a schema', { json_schema: { type: 'object', properties: { rate: { const: 41 } } } }],
    ['a narrow range in a schema', { json_schema: { type: 'number', minimum: 37, maximum: 38 } }],
    ['an expression in a schema', { json_schema: { type: 'string', pattern: '^forty-two' } }],
    ['a number beside any number', { regex: String.raw`[0-9]+ rows`, contains: 'forty-two boats' }],
    ['a file with a text', { files: [{ path: 'out.md', contains: 'boats' }] }],
  ])('%s is enough', (_, output) => {
    expect(findingsOf([{ output }])).toEqual([]);
  });

  test('a rubric line beside a weak check keeps the case, with a warning', () => {
    expect(findingsOf([{ expect: { output: { not_contains: 'x' }, rubric: ['Explains the rate'] } }])).toEqual([
      'warning passes-on-empty',
    ]);
  });
});

describe('duplicates', () => {
  test('equal and nearly equal requests are named once each', () => {
    const base = 'Please compute the full property tax of my small wooden house near the old harbour for 2024';
    expect(
      findingsOf([
        { input: base, output: GOOD },
        { input: `${base.toUpperCase()}!`, output: GOOD },
        { input: base.replace('small ', ''), output: GOOD },
        { input: base.replace('house', 'boat').replace('2024', '1999'), output: { contains: 'another one' } },
      ]),
    ).toEqual(['warning duplicate', 'warning duplicate']);
  });

  test('requests that differ in a number or a name are different', () => {
    expect(
      findingsOf([
        { input: 'What is the rate for 2023?', output: GOOD },
        { input: 'What is the rate for 2024?', output: { contains: 'another one' } },
      ]),
    ).toEqual([]);
  });
});

test('the placeholders of a new skill are errors until they are replaced', () => {
  const files = newSkillFiles({ name: 'mine', parts: ['evals'] });
  const root = folderOf(Object.fromEntries(files.map((file) => [`mine/${file.path}`, file.text])));
  const { cases, problems } = readCases([path.join(root, 'mine')]);
  expect(cases).toEqual([]);
  expect(problems.map(({ severity, message }) => `${severity} ${message.split(':')[0] ?? ''}`)).toEqual(
    Array(problems.length).fill('error placeholder text'),
  );
  expect(problems.length).toBeGreaterThanOrEqual(4);
});

test('the placeholders of skills that were made before are errors too', () => {
  const root = folderOf({
    'mine/SKILL.md': SKILL,
    'mine/evals/trigger-eval.json': [
      { query: 'A request that mine is for', should_trigger: true },
      { query: 'A request that sounds like it and is not', should_trigger: false },
    ],
  });
  expect(readCases([path.join(root, 'mine')])).toMatchObject({ cases: [], problems: [{}, {}] });
});

describe('checks that show nothing', () => {
  test('an expression that any number meets, and outcome: done alone, are errors', () => {
    expect(findingsOf([{ output: { regex: '[0-9]{4}' } }])).toEqual(['error passes-on-wrong']);
    expect(findingsOf([{ output: { regex: '\\d+(\\.\\d+)? ?%' } }])).toEqual(['error passes-on-wrong']);
    expect(findingsOf([{ expect: { outcome: 'done' } }])).toEqual(['error passes-on-wrong']);
    expect(findingsOf([{ expect: { outcome: 'done', output: GOOD } }])).toEqual([]);
    expect(findingsOf([{ expect: { outcome: 'refused' } }])).toEqual([]);
  });

  test('an expression that the skill meets, also in its other files, is a warning with the file', () => {
    expect(findingsOf([{ output: { regex: '37\\.[0-9]+ percent' } }])).toEqual(['warning expected-in-skill']);
    const root = folderOf({
      'tax-report/SKILL.md': SKILL,
      'tax-report/references/key.md': 'The boat tax is forty-two boats and 91.55 crowns.',
      'tax-report/evals/cases.json': {
        cases: [
          { id: 'a', input: 'How high is the tax on a boat?', expect: { output: { contains: 'forty-two boats' } } },
          { id: 'b', input: 'Compare two flats in Rome.', expect: { output: { regex: '91[.][0-9]+ crowns' } } },
        ],
      },
    });
    const { cases } = readCases([path.join(root, 'tax-report')]);
    const found = lintSuite(cases, { kind: 'cases', skills: [path.join(root, 'tax-report')] });
    expect(found.map(({ rule, message }) => `${rule}: ${message}`)).toEqual([
      'expected-in-skill: references/key.md contains the expected text "forty-two boats"',
      'expected-in-skill: references/key.md contains the expected text "91[.][0-9]+ crowns"',
    ]);
  });

  test('a file that the run is given already is an error, unless it has to change', () => {
    const root = folderOf({
      'tax-report/SKILL.md': SKILL,
      'tax-report/evals/files/taxes.csv': 'year,tax\n2024,10\n',
      'tax-report/evals/cases.json': {
        cases: [
          ['a', 'How high is the tax on a boat?', 'year'],
          ['b', 'Compare two flats in Rome.', 'total'],
        ].map(([id, input, contains]) => ({
          id,
          input,
          files: ['files/taxes.csv'],
          expect: { output: { files: [{ path: '**/taxes.csv', contains }] } },
        })),
      },
    });
    const { cases, problems } = readCases([path.join(root, 'tax-report')]);
    expect(problems).toEqual([]);
    const found = lintSuite(cases, { kind: 'cases', skills: [path.join(root, 'tax-report')] });
    expect(found.map(({ severity, rule }) => `${severity} ${rule}`)).toEqual(['error expected-in-files']);
  });
});
