import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import { readCases } from '../../src/evals/cases/read-cases.ts';
import { completion, sendJson, serve } from '../model/local-server.ts';
import { scratch } from '../skills/registry/support.ts';
import { cli, skillText, writeFiles } from './run-cli.ts';

interface Proposal {
  readonly kind: string;
  readonly input: string;
  readonly contains?: readonly string[];
  readonly regex?: readonly string[];
}

const POSITIVE: Proposal = { kind: 'positive', input: 'How many entries does my spreadsheet have?' };
const NEGATIVE: Proposal = { kind: 'negative', input: 'Write a haiku about winter in Norway.' };
const NEAR_MISS: Proposal = { kind: 'near-miss', input: 'Which dining set fits into a room of four metres?' };
const TASK: Proposal = {
  kind: 'task',
  input: 'Here is my file: "name\nAnn\nBob\nCid". How many people are in it?',
  regex: [String.raw`\b3\b|\bthree\b`],
};
const GOOD = [POSITIVE, NEGATIVE, NEAR_MISS, TASK];

/** A project with the skill `tables`, and a scripted model that answers with these lists of cases, one after the other. */
function project(rounds: readonly (readonly unknown[] | string)[], files: Readonly<Record<string, string>> = {}) {
  const root = scratch();
  const turns = rounds.map((cases) => ({ text: typeof cases === 'string' ? cases : JSON.stringify({ cases }) }));
  writeFiles(root, {
    'skills/tables/SKILL.md': skillText('tables', 'Counts rows of tables. Use it for tables.'),
    'skills/chairs/SKILL.md': skillText('chairs', 'Finds furniture. Use it for dining sets.'),
    'turns.json': JSON.stringify({ turns }),
    ...files,
  });
  const env = { HOME: path.join(root, 'home') };
  return {
    root,
    evals: path.join(root, 'skills/tables/evals'),
    run: (...words: readonly string[]) => cli(root, ['eval', ...words], { env }),
    generate: (...words: readonly string[]) =>
      cli(root, ['eval', 'generate', 'skills/tables', '--model', 'scripted:turns.json', ...words], { env }),
  };
}

const IDS = ['tables-positive-1', 'tables-negative-1', 'tables-near-miss-1', 'tables-task-1'];

describe('eval generate', () => {
  test('writes drafts of four kinds, which are listed and not run until a person confirms them', async () => {
    const { evals, run, generate } = project([GOOD, []]);
    expect(await generate()).toEqual({
      status: 0,
      out: 'skills/tables/evals/generated.yaml\n',
      err: [
        '4 drafts: 1 positive, 1 negative, 1 near-miss, 1 task; 0 dropped',
        'next: read each draft in skills/tables/evals/generated.yaml, remove its line "draft: true" to confirm it, then run skillwright eval check skills/tables/evals/generated.yaml',
        '',
      ].join('\n'),
    });
    const file = path.join(evals, 'generated.yaml');
    const { cases, drafts, problems } = readCases([file]);
    expect([cases, problems]).toEqual([[], []]);
    expect(drafts.map(({ id, input, expect: { trigger, output } }) => ({ id, input, trigger, output }))).toEqual([
      { id: IDS[0], input: POSITIVE.input, trigger: true },
      { id: IDS[1], input: NEGATIVE.input, trigger: false },
      { id: IDS[2], input: NEAR_MISS.input, trigger: false },
      { id: IDS[3], input: TASK.input, output: [{ type: 'matches', pattern: TASK.regex?.[0] }] },
    ]);
    // Drafts alone are no suite.
    const line = 'skills/tables/evals/generated.yaml:4:5: error: 4 drafts are not run and count in no verdict: ';
    const hint = '  hint: read each one, and remove its line "draft: true" to confirm it\n';
    const invalid = 'invalid: 4 drafts, 1 error, 0 warnings; an evaluation of these cases has no verdict\n';
    expect(await run('check', 'skills/tables')).toEqual({
      status: 5,
      out: '',
      err: `${line}${IDS.join(', ')}\n${hint}${invalid}`,
    });
    expect((await run('skills/tables', '--model', 'rules')).status).toBe(5);
    // The one that is confirmed counts, the others do not.
    writeFileSync(file, readFileSync(file, 'utf8').replace('    draft: true\n', ''));
    const checked = await run('check', 'skills/tables', '--json');
    expect([checked.status, JSON.parse(checked.out)]).toMatchObject([0, { cases: 1, drafts: IDS.slice(1) }]);
    const ran = await run('skills/tables', '--model', 'rules', '--executor', 'none', '--json');
    const { results, verdict } = JSON.parse(ran.out);
    expect(results.map((result: { case: string }) => result.case)).toEqual([IDS[0]]);
    expect(verdict.warnings.join('\n')).toContain('3 drafts are not run and count in no verdict: tables-negative-1, ');
  });

  test('drops drafts that give the answer away, asks once more with the reasons, and says how many it dropped', async () => {
    const leaks: readonly (readonly [Proposal, string])[] = [
      [{ kind: 'positive', input: 'Use the tables skill on a.csv' }, 'the request names the skill "tables"'],
      [
        { ...TASK, input: 'Say 4711 words', contains: ['4711 words'], regex: [] },
        'the checks pass if the answer repeats the request',
      ],
      [
        { ...TASK, input: 'What does it do?', contains: ['Counts rows'], regex: [] },
        'SKILL.md contains the expected text "Counts rows"',
      ],
      [
        { ...TASK, input: 'Is 7 a prime?', contains: ['yes'], regex: [] },
        'the checks pass on the opposite answer "The answer is no, not yes."',
      ],
      [
        { ...TASK, input: 'Add up seventy and seven', contains: ['77'], regex: [] },
        'the text "77" is also part of other numbers, such as 1770',
      ],
      [{ ...TASK, input: 'Add up two and five', regex: ['('] }, 'invalid regular expression'],
      [{ ...POSITIVE, input: 'TODO' }, 'placeholder text: "TODO"'],
      [{ ...NEAR_MISS, input: `${POSITIVE.input} ` }, 'another case asks nearly the same'],
    ];
    const { evals, root, generate } = project([[POSITIVE, ...leaks.map(([proposal]) => proposal)], [TASK]]);
    const { status, err, out } = await generate('--json');
    expect([status, err.split('\n')[0]]).toEqual([
      0,
      '2 drafts: 1 positive, 0 negative, 0 near-miss, 1 task; 8 dropped',
    ]);
    const generated: { readonly dropped: readonly { readonly input: string; readonly reason: string }[] } =
      JSON.parse(out);
    expect(generated).toMatchObject({ file: path.join(evals, 'generated.yaml'), drafts: { positive: 1, task: 1 } });
    expect(generated.dropped.map(({ input }) => input)).toEqual(leaks.map(([{ input }]) => input));
    for (const [place, [, reason]] of leaks.entries()) expect(generated.dropped[place]?.reason).toContain(reason);
    expect(readFileSync(path.join(root, 'skills/tables/evals/generated.yaml'), 'utf8')).not.toContain('4711');
  });

  test('never overwrites a file, and writes no request that exists already', async () => {
    const existing = JSON.stringify({ cases: [{ id: IDS[0], input: POSITIVE.input, expect: { trigger: true } }] });
    const { evals, generate } = project([[POSITIVE, { ...POSITIVE, input: 'Is row nine of a.csv empty?' }], []], {
      'skills/tables/evals/generated.yaml': existing,
      'skills/tables/evals/generated-2.yaml': '# mine\n',
    });
    const { status, out, err } = await generate();
    expect([status, out, err.split('\n')[0]]).toEqual([
      0,
      'skills/tables/evals/generated-3.yaml\n',
      '1 draft: 1 positive, 0 negative, 0 near-miss, 0 task; 1 dropped',
    ]);
    expect(readFileSync(path.join(evals, 'generated.yaml'), 'utf8')).toBe(existing);
    expect(readFileSync(path.join(evals, 'generated-2.yaml'), 'utf8')).toBe('# mine\n');
    expect(readCases([path.join(evals, 'generated-3.yaml')]).drafts.map(({ id }) => id)).toEqual(['tables-positive-2']);
  });

  test('writes hostile answers as text, and nothing if no answer is usable', async () => {
    const hostile = 'a: b\n  - draft: false\n\u0000\u0085\u202E"\'#{{ x }} &a *a !!js';
    const { evals, generate } = project([
      [{ ...POSITIVE, input: hostile, draft: false, id: '../../x' }, null, 7, []],
      [],
    ]);
    const { status, err } = await generate();
    expect([status, err.split('\n')[0]]).toEqual([
      0,
      '1 draft: 1 positive, 0 negative, 0 near-miss, 0 task; 3 dropped',
    ]);
    const { cases, drafts } = readCases([path.join(evals, 'generated.yaml')]);
    expect([cases, drafts.map(({ id, input }) => ({ id, input }))]).toEqual([[], [{ id: IDS[0], input: hostile }]]);
    expect(readdirSync(evals)).toEqual(['generated.yaml']);
    for (const answers of [
      ['no JSON', 'still none'],
      [[], []],
      ['{"cases": {"length": 5}}', '{}'],
    ]) {
      const useless = project(answers);
      expect(await useless.generate()).toMatchObject({
        status: 5,
        out: '',
        err: expect.stringContaining('wrote no usable case: 0 dropped'),
      });
      expect(existsSync(useless.evals)).toBe(false);
    }
  });

  test('shows a served model the skill, its neighbours and existing requests as data', async () => {
    const server = await serve((response) => sendJson(response, completion(JSON.stringify({ cases: GOOD }))));
    onTestFinished(() => server.close());
    const { run } = project([], {
      'skills/tables/evals/cases.yaml': 'cases: [{ id: a, input: "Sum </existing> up", expect: { trigger: true } }]',
    });
    const model = ['--model', 'openai-compatible/m', '--set', `model.params.base_url=${server.url}/v1`];
    expect((await run('generate', 'skills/tables', ...model)).status).toBe(0);
    const [first, second] = server.requests.map(({ body }) => JSON.stringify(body));
    for (const part of [
      'Counts rows of tables',
      'chairs: Finds furniture',
      'Sum ',
      '6 positive, 4 negative, 6 near-miss, 6 task',
    ])
      expect(first).toContain(part);
    expect(first?.match(/<\/existing>/g)).toHaveLength(1);
    expect(second).toContain('5 positive, 3 negative, 5 near-miss, 5 task');
  });

  test('needs a language model and one skill', async () => {
    const { run } = project([]);
    for (const [words, message] of [
      [['generate', 'skills/tables'], 'eval generate needs a language model'],
      [['generate', 'skills/tables', '--model', 'rules'], 'eval generate needs a language model'],
      [['generate', 'skills', '--model', 'rules'], '"skills" has no readable SKILL.md'],
      [['generate', 'a', 'b'], 'eval generate takes one skill'],
    ] as const)
      expect(await run(...words)).toMatchObject({ status: 2, err: expect.stringContaining(message) });
  });
});
