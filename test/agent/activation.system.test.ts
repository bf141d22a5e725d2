import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { skillsForPaths } from '../../src/agent/activation.ts';
import type { ModelRequest } from '../../src/core/model.ts';
import { verifies } from '../conformance/verifies.ts';
import { acting, allText, eventsOf, ofType, played, world } from './support.ts';
import type { AgentResult } from '../../src/agent/agent-options.ts';

const TABLES = {
  'csv-report': { description: 'Makes a report of a CSV table. Use it for CSV files.', body: 'canary-csv' },
  'pdf-form': { description: 'Fills in PDF forms. Use it for forms.', body: 'canary-pdf', fields: ['paths: "*.pdf"'] },
  secret: {
    description: 'Is for people. Use it never.',
    body: 'canary-secret $1',
    fields: ['disable-model-invocation: true', 'paths: "*.pdf"'],
  },
} as const;

const reasons = (result: AgentResult): readonly (readonly string[])[] =>
  ofType(eventsOf(result), 'activation').map(({ skill, reason }) => [skill.replace('option/', ''), reason]);
const first = (requests: readonly ModelRequest[]): string => allText(requests[0] ?? expect.fail());

describe('skills that come up before the first turn', () => {
  test('required: they are loaded before the model is asked', async () => {
    const { agent } = await world(TABLES);
    const model = played([{ text: 'ok' }]);
    const result = await agent({ model, required: ['csv-report'] });
    expect(reasons(result)).toEqual([['csv-report', 'required']]);
    expect(first(model.requests)).toContain('canary-csv');
    expect(result.used.toolCalls).toBe(0);
  });

  test('required: where one is not there, nothing is asked', async () => {
    const { agent } = await world(TABLES);
    const model = played([]);
    const result = await agent({ model, required: ['csv-report', 'csv-reports'] });
    expect([result.outcome, result.reason, reasons(result)]).toEqual([
      'failed',
      'there is no skill called "csv-reports"',
      [],
    ]);
  });

  test('paths: a given file brings up the skill that names it, and none that is kept for people', async () => {
    const { agent, project } = await world(TABLES);
    const file = path.join(project, 'form.pdf');
    writeFileSync(file, 'x');
    const model = played([{ text: 'ok' }]);
    const result = await agent({ model, files: [file] });
    expect(reasons(result)).toEqual([['pdf-form', 'path']]);
    expect(first(model.requests)).toContain('- workspace://work/inputs/form.pdf (given file)');
    expect(first(model.requests)).toContain('canary-pdf');
    expect(first(model.requests)).not.toContain('canary-secret');
  });

  test('paths: a folder in a pattern counts', async () => {
    const { runtime } = await world({ a: { fields: ['paths: ["src/**/*.ts"]'] } });
    const found = (file: string): number => skillsForPaths(runtime.index, [file]).length;
    expect([found('src/x/y.ts'), found('./src/y.ts'), found('test/y.ts'), found('y.ts')]).toEqual([1, 1, 0, 0]);
  });

  test('paths: a file that is read on the way puts its skill before the model, once', async () => {
    const { agent, project } = await world(TABLES);
    writeFileSync(path.join(project, 'form.pdf'), 'text');
    const read = acting('read_file', { path: 'form.pdf' });
    const model = played([
      read,
      read,
      acting('select_skills', { skills: [{ name: 'pdf-form' }] }),
      acting('final_answer', { answer: 'ok' }),
    ]);
    const result = await agent({ model, protocol: 'actions', run: { host: {} } });
    expect(reasons(result)).toEqual([
      ['pdf-form', 'path'],
      ['pdf-form', 'path'],
    ]);
    const last = allText(model.requests[2] ?? expect.fail());
    expect(
      last.split('The skill pdf-form is made for such files; load it with select_skills if it helps.'),
    ).toHaveLength(2);
  });

  test('shortlist: the best few stand at the end of the request, and a load of one of them says so', async () => {
    const { agent } = await world(TABLES);
    const model = played([{ calls: [['load_skill', { skill: 'csv-report' }]] }, { text: 'ok' }]);
    const result = await agent({ model, activation: 'shortlist', request: 'make a report of my CSV table' });
    expect(reasons(result)).toEqual([
      ['csv-report', 'shortlist'],
      ['csv-report', 'shortlist'],
    ]);
    expect(model.requests[0]?.messages[0]?.content).toMatch(
      /^make a report[^]*- csv-report: Makes a report of a CSV table/,
    );
  });

  test.each(['tools', 'actions'] as const)(
    'forced, by %s: each of the shortlist is accepted or rejected before anything else',
    async (protocol) => {
      const { agent } = await world(TABLES);
      const choice = { accepted: ['csv-report'], rejected: ['pdf-form'], reason: 'a table' };
      const say = (name: string, input: object) =>
        protocol === 'tools' ? { calls: [[name, input] as const] } : acting(name, input);
      const model = played([
        say('choose_skills', { accepted: ['csv-report'], rejected: [] }),
        say('choose_skills', choice),
        protocol === 'tools' ? { text: 'ok' } : acting('final_answer', { answer: 'ok' }),
      ]);
      const result = await agent({
        model,
        protocol,
        activation: 'forced',
        request: 'a report of a CSV table, and a PDF form',
      });
      expect(result).toMatchObject({ outcome: 'done', answer: 'ok', used: { turns: 3 } });
      expect(reasons(result)).toEqual([
        ['csv-report', 'forced'],
        ['pdf-form', 'forced'],
        ['csv-report', 'forced'],
      ]);
      expect(ofType(eventsOf(result), 'note').map(({ message }) => message)).toContain(
        'the model rejected the skill pdf-form',
      );
      expect(allText(model.requests[1] ?? expect.fail())).toContain(
        'each skill must be in exactly one of the two lists',
      );
      expect(allText(model.requests[2] ?? expect.fail())).toContain('canary-csv');
      if (protocol === 'tools') expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['choose_skills']);
    },
  );

  test('forced: a model that will not choose goes on without', async () => {
    const { agent } = await world(TABLES);
    const model = played([{ text: 'no' }, { text: 'no' }, { text: 'an answer' }]);
    expect(await agent({ model, activation: 'forced', request: 'CSV report' })).toMatchObject({
      outcome: 'done',
      answer: 'an answer',
    });
  });

  verifies('AGT-5', 'a person calls a skill by its name, also one that no model may choose', async () => {
    const { agent } = await world(TABLES);
    const model = played([{ text: 'ok' }]);
    const result = await agent({ model, request: '/secret now' });
    expect(reasons(result)).toEqual([['secret', 'person']]);
    expect(first(model.requests)).toContain('canary-secret now');
  });

  test('calling an unknown skill is an error', async () => {
    const { agent } = await world(TABLES);
    expect(await agent({ model: played([]), request: '/secrets now' })).toMatchObject({
      outcome: 'failed',
      reason: 'there is no skill called "secrets"',
    });
  });

  test('a file that is not there ends the run before the model is asked', async () => {
    const { agent, project } = await world(TABLES);
    const result = await agent({ model: played([]), files: [path.join(project, 'none.csv')] });
    expect(result).toMatchObject({ outcome: 'failed', reason: expect.stringMatching(/none.*does not exist/) });
  });
});
