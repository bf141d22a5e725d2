import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { identifyModel } from '../../../src/evals/run/case-model.ts';
import { jobKey, type KeyParts } from '../../../src/evals/run/suite-jobs.ts';
import type { EvalCase } from '../../../src/evals/cases/case.ts';
import { openModel } from '../../../src/model/auto.ts';
import { runs } from '../../property-runs.ts';

/** Every field has a value, so that each can change. */
const CASE: Required<EvalCase> = {
  id: 'a',
  name: 'a',
  place: { file: 'cases.yaml', line: 1, column: 1 },
  input: 'Count the lines',
  files: ['/data/a.csv'],
  skills: { target: 'tables', folders: ['/skills/tables'] },
  expect: {
    trigger: true,
    skills: { allOf: ['tables'], noneOf: ['letters'] },
    outcome: ['done'],
    output: [{ type: 'checker', script: '/checks/a.py', arguments: ['--strict'] }],
    rubric: [{ id: 'polite', text: 'The answer is polite.', examples: [{ answer: 'Dear', holds: true }] }],
  },
  limits: { turns: 4, wallMs: 1000 },
  forbidTools: ['run_command'],
  answers: { type: 'cassette', file: 'a.jsonl' },
  protocol: 'tools',
  config: { policy: { deny: ['Bash'] } },
  approve: 'no',
  repeat: 3,
  timeoutMs: 5000,
  tags: ['fast'],
  quarantine: { until: '2026-12-31', passed: 1, of: 2 },
  isDraft: true,
};

const PARTS: KeyParts = {
  skills: [{ name: 'tables', digest: 'abc', source: 'project' }],
  model: identifyModel({ id: 'served/small', settings: 'digest', contextWindow: 8000, answerSchemas: 'shown' }),
  files: ['digest-of-a', 'digest-of-checker'],
  executor: 'bubblewrap',
  timeoutMs: 5000,
  stopAfter: { turns: 4 },
  settings: { judge: 'judge' },
};

const WHOLE = { job: { evalCase: CASE, arm: 'with' as const, attempt: 1 }, parts: PARTS };

/** Where a case is written, and where its files are, changes no answer. */
const IRRELEVANT = /^job\.evalCase\.(?:name$|isDraft$|quarantine\.|place\.|tags\.|skills\.folders\.)/;

type Path = readonly (string | number)[];

function leaves(value: unknown, path: Path = []): readonly Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  return Object.entries(value).flatMap(([key, inner]) => leaves(inner, [...path, key]));
}

function changed(value: unknown, [key, ...rest]: Path, to: (old: unknown) => unknown): unknown {
  if (key === undefined) return to(value);
  const copy: unknown = structuredClone(value);
  if (typeof copy !== 'object' || copy === null) return copy;
  return Object.assign(copy, { [key]: changed(Reflect.get(copy, key), rest, to) });
}

const keyOf = ({ job, parts }: typeof WHOLE): string => jobKey(job, parts);

describe('the key of a cached result', () => {
  test('changes with everything that can change an answer, and with nothing else', () => {
    for (const path of leaves(WHOLE)) {
      const other = changed(WHOLE, path, (old) =>
        typeof old === 'number' ? old + 1 : typeof old === 'boolean' ? !old : `${String(old)}x`,
      ) as typeof WHOLE;
      const name = path.join('.');
      expect([name, keyOf(other) === keyOf(WHOLE)]).toEqual([name, IRRELEVANT.test(name)]);
    }
    const moved = { ...WHOLE, job: { ...WHOLE.job, evalCase: { ...CASE, files: ['/elsewhere/a.csv'] } } };
    expect(keyOf(moved)).toBe(keyOf(WHOLE));
  });

  test('changes with any other value of any field', () => {
    const paths = leaves(WHOLE).filter((path) => !IRRELEVANT.test(path.join('.')));
    fc.assert(
      fc.property(fc.constantFrom(...paths), fc.jsonValue(), (path, value) => {
        let isSame = false;
        const other = changed(WHOLE, path, (old) => {
          isSame = JSON.stringify(old) === JSON.stringify(value);
          return path.includes('files') && path.includes('evalCase')
            ? `${JSON.stringify(value).replaceAll('/', '')}.x`
            : value;
        }) as typeof WHOLE;
        if (!isSame) expect([path.join('.'), keyOf(other) === keyOf(WHOLE)]).toEqual([path.join('.'), false]);
      }),
      { numRuns: runs(2000) },
    );
  });
});

describe('the identity of a model', () => {
  test('covers its address, key, headers and parameters, and shows none of them', async () => {
    const settings = {
      provider: 'openai-compatible',
      model: 'small',
      baseUrl: 'http://a.example/v1',
      apiKey: 'key-one',
      headers: { 'x-route': 'eu' },
      params: { temperature: 0, seed: 1 },
      contextWindow: 8000,
    } as const;
    const identify = async (more: object) => identifyModel(await openModel({ ...settings, ...more }));
    const all = await Promise.all(
      [
        {},
        { model: 'large' },
        { baseUrl: 'http://b.example/v1' },
        { baseUrl: 'http://a.example:81/v1' },
        { apiKey: 'key-two' },
        { headers: { 'x-route': 'us' } },
        { params: { temperature: 1, seed: 1 } },
        { params: { temperature: 0, seed: 2 } },
        { params: { temperature: 0, seed: 1, structured_outputs: true } },
        { contextWindow: 9000 },
        { provider: 'ollama' },
      ].map(identify),
    );
    expect(new Set(all).size).toBe(all.length);
    expect(await identify({})).toBe(all[0]);
    expect(all.join('\n')).not.toMatch(/key-one|a\.example|x-route/);
  });
});
