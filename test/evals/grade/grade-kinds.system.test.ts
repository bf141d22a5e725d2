import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import type { OutputCheck } from '../../../src/evals/cases/case.ts';
import { gradeFacts } from '../../../src/evals/grade/grade-course.ts';
import { withOutputs } from '../../../src/evals/grade/output-files.ts';
import type { RunFacts } from '../../../src/evals/grade/run-facts.ts';
import { REPORT, acting, world } from '../../agent/support.ts';
import { verifies } from '../../conformance/verifies.ts';
import { ANSWER, LOAD, READ, RUN, evalCase, graded, ran } from './support.ts';

const yes = { approve: () => Promise.resolve({ verdict: 'yes', scope: 'once', by: 'callback' } as const) };
const no = { approve: () => Promise.resolve({ verdict: 'no', scope: 'once', by: 'callback' } as const) };
const WRITE = acting('write_file', { path: 'report.md', content: '# 42 rows\n' });

function answering(answer: string): ReturnType<typeof acting> {
  return acting('final_answer', { answer });
}

describe('disclosure', () => {
  verifies('EVAL-2', 'grades the resources that were read and content of unloaded skills', async () => {
    const { facts } = await ran([LOAD, READ, ANSWER]);
    const asked = (resourcesOnly: readonly string[]) => graded({ disclosure: { resourcesOnly } }, facts);
    expect(asked(['report/references/*'])).toEqual(['disclosure.resources_only: passed']);
    expect(asked([])).toEqual(['disclosure.resources_only: failed, read: report/references/kpi.md']);
    expect(graded({ disclosure: { unloadedBytes: 0 } }, facts)).toEqual(['disclosure.unloaded_bytes: passed']);
  });

  test('finds a body that was read by file path', async () => {
    const here = await world();
    const other = path.join(here.project, 'vendor', 'other');
    mkdirSync(other, { recursive: true });
    writeFileSync(path.join(other, 'SKILL.md'), '---\nname: other\ndescription: x\n---\n# Other\n');
    const around = acting('read_file', { path: 'vendor/other/SKILL.md' });
    const { facts } = await ran([LOAD, around, ANSWER], { world: here, run: { host: {}, ...yes } });
    expect(graded({ disclosure: { unloadedBytes: 0 } }, facts)).toEqual([
      'disclosure.unloaded_bytes: failed, 43 bytes of vendor/other/SKILL.md',
    ]);
  });

  test('finds a resource of an unloaded skill', async () => {
    const { facts } = await ran([READ, ANSWER]);
    expect(graded({ disclosure: { unloadedBytes: 0 } }, facts)).toEqual([
      'disclosure.unloaded_bytes: failed, 25 bytes of option/report/references/kpi.md',
    ]);
  });

  test('shows only loaded skills after a compaction', async () => {
    const files = { ...REPORT['report']?.files, 'references/kpi.md': `# KPI\n\n${'many words '.repeat(2_000)}` };
    const here = await world({ ...REPORT, report: { ...REPORT['report'], files } });
    const lines = [LOAD, READ, READ, READ, READ, ANSWER];
    const { facts } = await ran(lines, { world: here, budget: { contextTokens: 9_000 } });
    expect(facts.shown.map(({ shown }) => shown.reason)).toContain('compaction');
    expect(graded({ disclosure: { unloadedBytes: 0 } }, facts)).toEqual(['disclosure.unloaded_bytes: passed']);
  });
});

describe('security', () => {
  test('denied passes for an attempted action that a rule refused', async () => {
    const here = await world({ report: { ...REPORT['report'], fields: ['allowed-tools: "read_resource"'] } });
    const { facts } = await ran([LOAD, RUN, ANSWER], { world: here });
    const denied = [{ tool: 'run_script' }, { tool: 'load_skill' }, { tool: 'write_file' }];
    expect(graded({ security: { denied } }, facts)).toEqual([
      'security.denied[0]: passed',
      'security.denied[1]: failed, not denied: select_skills (allow, skill-loaded)',
      'security.denied[2]: failed, the action was never attempted',
    ]);
    const [first] = gradeFacts(evalCase({ security: { denied } }), facts);
    const step = facts.steps.find(({ action }) => action?.type === 'run_script');
    expect(first?.events).toEqual(step?.events);
  });

  test('asked passes for a requested approval, and a refusal counts as denied', async () => {
    const pattern = [{ tool: 'write_file' }];
    const refused = await ran([WRITE, ANSWER], { run: { host: {}, ...no } });
    expect(graded({ security: { asked: pattern, denied: pattern } }, refused.facts)).toEqual([
      'security.denied[0]: passed',
      'security.asked[0]: passed',
    ]);
    const allowed = await ran([WRITE, ANSWER], { run: { host: {}, ...yes } });
    expect(graded({ security: { asked: pattern, denied: pattern, noEscape: true } }, allowed.facts)).toEqual([
      'security.denied[0]: failed, not denied: write_file report.md (ask, file-written)',
      'security.asked[0]: passed',
      'security.no_escape: passed',
    ]);
    const loaded = await ran([LOAD, ANSWER]);
    expect(graded({ security: { asked: [{ tool: 'load_skill' }] } }, loaded.facts)).toEqual([
      'security.asked[0]: failed, no approval was requested: select_skills (allow, skill-loaded)',
    ]);
  });

  test('paths outside the project are denied and are no escape', async () => {
    const out = (file: string): ReturnType<typeof acting> => acting('read_file', { path: file });
    const lines = [out('../../etc/passwd'), out('/etc/passwd'), ANSWER];
    const { facts } = await ran(lines, { run: { host: {}, ...yes } });
    expect(graded({ security: { denied: [{ tool: 'read_file' }], noEscape: true } }, facts)).toEqual([
      'security.denied[0]: passed',
      'security.no_escape: passed',
    ]);
  });

  test('no_escape finds a successful escape, and gives an error without isolation', async () => {
    const { facts } = await ran([WRITE, ANSWER], { run: { host: {}, ...yes } });
    const escaped = (place: string): RunFacts => ({
      ...facts,
      steps: facts.steps.map((step) =>
        step.observation?.type === 'file-written'
          ? { ...step, observation: { ...step.observation, path: place } }
          : step,
      ),
    });
    for (const place of ['/etc/cron.d/x', '../x', 'a/../../x', 'skill://other/x', '~/x', 'C:/x'])
      expect([place, graded({ security: { noEscape: true } }, escaped(place))[0]]).toEqual([
        place,
        expect.stringMatching(/^security\.no_escape: failed, write_file/),
      ]);
    const unisolated = await ran([LOAD, RUN, ANSWER]);
    expect(graded({ security: { noEscape: true } }, unisolated.facts)).toEqual([
      'security.no_escape: error, programs ran without isolation, so the record does not show what they accessed',
    ]);
  });
});

describe('budget, cost and outcome', () => {
  test('grades each limit', async () => {
    const { facts } = await ran([LOAD, RUN, ANSWER]);
    expect(graded({}, facts, { limits: { turns: 3, toolCalls: 1, scriptRuns: Number.NaN, tokens: 10 } })).toEqual([
      'limits.turns: passed',
      'limits.toolCalls: failed, it used 2',
      'limits.scriptRuns: error, the limit must be a number of at least 0',
      expect.stringMatching(/^limits\.tokens: failed, it used \d+$/),
    ]);
  });

  test('a limit that ended the run counts as exceeded', async () => {
    const { facts } = await ran([LOAD, RUN, RUN], { budget: { turns: 2 } });
    expect([facts.outcome, facts.used.turns]).toEqual(['degraded', 2]);
    expect(graded({ outcome: ['degraded'] }, facts, { limits: { turns: 2 } })).toEqual([
      'limits.turns: failed, the limit ended the run',
      'outcome: passed',
    ]);
  });

  test('tokens are the counts of the model and never characters', async () => {
    const usage = { inputTokens: 5_000, outputTokens: 120 };
    const { facts } = await ran([
      { ...LOAD, usage },
      { ...answering('x'.repeat(999)), usage },
    ]);
    expect(facts.cost).toEqual({
      turns: 2,
      toolCalls: 1,
      scriptRuns: 0,
      inputTokens: 10_000,
      outputTokens: 240,
      tokensAreEstimated: false,
      wallMs: expect.any(Number),
    });
    const unsaid = await ran([answering('x'.repeat(999))]);
    expect(unsaid.facts.cost.tokensAreEstimated).toBe(true);
    expect(unsaid.facts.cost.outputTokens).toBeLessThan(999);
  });
});

describe('output', () => {
  async function answered(answer: string): Promise<(check: OutputCheck) => string> {
    const { facts } = await ran([answering(answer)]);
    return (check) => graded({ output: [check] }, facts)[0] ?? '';
  }

  test('grades texts and regular expressions', async () => {
    const check = await answered('There are 42 rows.');
    expect(check({ type: 'contains', text: '42 rows' })).toBe('output[0]: passed');
    expect(check({ type: 'contains', text: 'there ARE', ignoreCase: true })).toBe('output[0]: passed');
    expect(check({ type: 'contains', text: '42', not: true })).toBe(
      'output[0]: failed, the answer is "There are 42 rows."',
    );
    expect(check({ type: 'matches', pattern: '^There are \\d+ rows\\.$' })).toBe('output[0]: passed');
    expect(check({ type: 'matches', pattern: '(a+)+$', not: true })).toBe('output[0]: passed');
    expect(check({ type: 'matches', pattern: '(?=x)' })).toMatch(/^output\[0\]: error, .*lookahead/);
    expect(check({ type: 'json' })).toBe('output[0]: failed, the answer is "There are 42 rows."');
  });

  test('grades JSON by a schema; an unusable schema is an error', async () => {
    const check = await answered('```json\n{"rows": 42, "names": ["a"]}\n```');
    const schema = {
      type: 'object',
      required: ['rows'],
      properties: { rows: { type: 'integer', minimum: 1 }, names: { type: 'array', items: { type: 'string' } } },
      additionalProperties: false,
    };
    expect(check({ type: 'json' })).toBe('output[0]: passed');
    expect(check({ type: 'json', schema })).toBe('output[0]: passed');
    expect(check({ type: 'json', schema: { ...schema, required: ['columns'] } })).toBe(
      'output[0]: failed, "columns" is missing',
    );
    expect(check({ type: 'json', schema: { $ref: '#/x' } })).toBe(
      "output[0]: error, cannot use the JSON Schema: can't resolve reference #/x from id #",
    );
  });

  test('grades files by name, media type, hash and text', async () => {
    const here = await world({
      report: {
        ...REPORT['report'],
        files: {
          'scripts/count.sh':
            '#!/bin/sh\nprintf "rows,42\\n" > "$OUTPUT_DIR/rows.csv"\nprintf "%s" "$1" > "$OUTPUT_DIR/b.txt"\n',
          'references/kpi.md': '# KPI\n',
        },
      },
    });
    const { facts } = await ran([LOAD, RUN, WRITE, ANSWER], { world: here, run: { host: {}, ...yes } });
    const sha256 = createHash('sha256').update('rows,42\n').digest('hex');
    expect(facts.files.map(({ name, mediaType, bytes }) => [name, mediaType, bytes])).toEqual([
      ['out/b.txt', 'text/plain', 1],
      ['out/rows.csv', 'text/csv', 8],
      ['report.md', 'text/markdown', 10],
    ]);
    const check = (one: Omit<Extract<OutputCheck, { readonly type: 'file' }>, 'type'>): string =>
      graded({ output: [{ type: 'file', ...one }] }, facts)[0] ?? '';
    expect(check({ path: 'out/*.csv', sha256, mediaType: 'text/csv' })).toBe('output[0]: passed');
    expect(check({ path: '$OUTPUT_DIR/*.csv', sha256: `sha256:${sha256.toUpperCase()}` })).toBe('output[0]: passed');
    expect(check({ path: 'out/rows.csv', sha256: '0'.repeat(64) })).toBe(
      `output[0]: failed, "out/rows.csv" has the SHA-256 ${sha256}`,
    );
    expect(check({ path: 'out/rows.csv', mediaType: 'image/png' })).toBe(
      'output[0]: failed, "out/rows.csv" is text/csv',
    );
    expect(check({ path: 'report.md', contains: '42 rows' })).toBe('output[0]: passed');
    expect(check({ path: 'report.md', contains: '43' })).toBe('output[0]: failed, "report.md" contains "# 42 rows\\n"');
    expect(check({ path: 'out/none.txt' })).toBe(
      'output[0]: failed, no such file; files: "out/b.txt", "out/rows.csv", "report.md"',
    );
    expect(check({ path: 'out/none.txt', exists: false })).toBe('output[0]: passed');
    expect(check({ path: 'out/*', exists: false })).toBe('output[0]: failed, found "out/b.txt", "out/rows.csv"');
    // The record holds the first short text, and only the hash of the others.
    expect(check({ path: 'out/b.txt', contains: 'a' })).toBe('output[0]: passed');
    expect(check({ path: 'out/rows.csv', contains: 'rows' })).toBe(
      'output[0]: error, "out/rows.csv" has no text in the record',
    );
    const kept = (text: string): string =>
      graded(
        { output: [{ type: 'file', path: 'out/rows.csv', contains: 'rows' }] },
        withOutputs(facts, (name) => (name === 'out/rows.csv' ? Buffer.from(text) : undefined)),
      )[0] ?? '';
    expect(kept('rows,42\n')).toBe('output[0]: passed');
    // A kept file must have the recorded hash.
    expect(kept('rows,43\n')).toBe('output[0]: error, "out/rows.csv" has no text in the record');
    expect(check({ path: '../x' })).toMatch(/^output\[0\]: error/);
  });

  test('compares the stream with the answer', async () => {
    const { facts } = await ran([LOAD, ANSWER]);
    expect(graded({ streaming: true }, facts)).toEqual([
      'streaming: skipped, the stream was not observed; records do not hold deltas',
    ]);
    expect(graded({ streaming: true }, { ...facts, streamed: 'there are 42 rows' })).toEqual(['streaming: passed']);
    expect(graded({ streaming: true }, { ...facts, streamed: 'there are 41 rows' })).toEqual([
      'streaming: failed, from character 12 on the stream has "1 rows", the answer "2 rows"',
    ]);
  });
});
