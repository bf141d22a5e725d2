import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { EVAL_CASE_JSON_SCHEMA, EVAL_CASE_SCHEMA, EVAL_SUITE_SCHEMA } from '../../../src/evals/cases/case-schema.ts';
import { checkJson, isObject } from '../../../src/core/json/json-schema.ts';
import { PROJECT } from '../../files-below.ts';

describe('the case schema', () => {
  test('equals the published schema', () => {
    const file = path.join(PROJECT, 'schemas/eval-case.schema.json');
    const text = `${JSON.stringify(EVAL_CASE_JSON_SCHEMA, undefined, 2)}\n`;
    if (process.env['UPDATE_DOCS'] === '1') writeFileSync(file, text);
    expect(
      existsSync(file) ? readFileSync(file, 'utf8') : '',
      'schemas/eval-case.schema.json is outdated: run npm run docs',
    ).toBe(text);
  });

  test('has valid references and descriptions', () => {
    const references: string[] = [];
    const bare: string[] = [];
    const walk = (value: unknown, at: string): void => {
      if (Array.isArray(value)) for (const [place, item] of value.entries()) walk(item, `${at}/${String(place)}`);
      if (!isObject(value)) return;
      if (typeof value['$ref'] === 'string') references.push(value['$ref']);
      if (typeof value['type'] === 'string' && typeof value['description'] !== 'string') bare.push(at);
      for (const [key, item] of Object.entries(value)) walk(item, `${at}/${key}`);
    };
    walk(EVAL_CASE_JSON_SCHEMA, '#');
    expect([...new Set(references)]).toEqual(['#/$defs/case']);
    expect(bare).toEqual([]);
  });

  test.each([
    [{ input: 'x' }, []],
    [{}, ['input']],
    [{ input: 'x', expect: { trigger: 'yes' } }, ['expect.trigger']],
    [{ input: 'x', approve: 'maybe' }, ['approve']],
    [
      { input: 'x', constraints: { max_turns: 0, timeout_s: 86_401 } },
      ['constraints.max_turns', 'constraints.timeout_s'],
    ],
    [{ input: 'x', expect: { disclosure: { unloaded_bytes: 1 } } }, ['expect.disclosure.unloaded_bytes']],
    [{ input: 'x', colour: 1 }, ['colour']],
  ])('%j', (value, wrong) => {
    expect(checkJson(value, EVAL_CASE_SCHEMA).map((problem) => problem.path.join('.'))).toEqual(wrong);
  });

  test('requires cases in a suite', () => {
    expect(checkJson({ $schema: 'x', defaults: { repeat: 2 }, cases: [{ input: 'x' }] }, EVAL_SUITE_SCHEMA)).toEqual(
      [],
    );
    expect(checkJson({ defaults: {} }, EVAL_SUITE_SCHEMA)).toHaveLength(1);
  });
});
