/** Regression tests for six harness faults that made another trigger evaluation report 0 % for every skill. */
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { readRun } from '../../../src/journal/journal-reader.ts';
import { exitOf } from '../../../src/evals/report/verdict.ts';
import type { CaseResult, EvalReport } from '../../../src/evals/report/result.ts';
import { evaluateTrigger, type TriggerOptions } from '../../../src/evals/trigger/run-trigger.ts';
import { ofType } from '../../agent/support.ts';
import { cli, writeFiles } from '../../cli/run-cli.ts';
import { scratch, writeSkill } from '../../skills/registry/support.ts';
import { firing, load, makeCase, thinking, verdictLine, writeSkills } from '../eval-world.ts';

const FIRES = makeCase('fires', { input: 'count the table', expect: { trigger: true } });
const QUIET = makeCase('quiet', { input: 'write a poem', expect: { trigger: false } });

function asked(model: TriggerOptions['model'], more: Partial<TriggerOptions> = {}): Promise<EvalReport> {
  const root = scratch();
  return evaluateTrigger({
    cases: [FIRES, QUIET],
    skills: writeSkills(path.join(root, 'skills'), ['tables', 'letters']),
    model,
    concurrency: 2,
    timeoutMs: 120_000,
    directory: path.join(root, 'evals'),
    signal: new AbortController().signal,
    ...more,
  });
}

const eventsOf = ({ run = '' }: Pick<CaseResult, 'run'>) => [...readRun(run).lines].map(({ event }) => event);

describe('root causes', () => {
  test('1. the model sees the real skill with its description and body', async () => {
    const seen: string[] = [];
    const model = thinking((asking, turn, request) => {
      seen.push(request.system, ...request.messages.map(({ content }) => content));
      return firing({ table: load('tables') })(asking, turn);
    });
    const { results, skills } = await asked(model);
    const text = seen.join('\n');
    expect([text.includes('Works on tables. Use it for tables.'), text.includes('# Body')]).toEqual([true, true]);
    expect(text).not.toMatch(/slash command|\.claude\/commands/);
    const [first] = results;
    const loaded = ofType(eventsOf(first ?? {}), 'session').flatMap(({ event }) =>
      event.type === 'skill-load' ? [event.skill.name] : [],
    );
    expect([loaded, skills.map(({ name }) => name)]).toEqual([
      ['tables'],
      ['brass-lantern-check', 'letters', 'quartz-moth-census', 'tables'],
    ]);
  });

  test('2. an installed copy of the skill is not visible', async () => {
    const root = scratch();
    for (const place of ['.agents/skills', '.claude/skills', 'home/.agents/skills'])
      writeSkill(path.join(root, place, 'tables'), { description: 'The installed copy. Use it never.' });
    writeFiles(root, {
      'new/tables/evals/trigger-eval.json': JSON.stringify([
        { query: 'tables', should_trigger: true },
        { query: 'Sing a song', should_trigger: false },
      ]),
    });
    writeSkill(path.join(root, 'new/tables'), { description: 'The candidate for tables. Use it for tables.' });
    mkdirSync(path.join(root, 'home'), { recursive: true });
    const words = ['eval', 'trigger', 'new/tables', '--model', 'rules', '--json', '--no-eval-cache'];
    const { out } = await cli(root, words, { env: { HOME: path.join(root, 'home') } });
    const report: EvalReport = JSON.parse(out);
    const [first] = report.results;
    const index: unknown = JSON.parse(readFileSync(path.join(first?.run ?? '', 'index.json'), 'utf8'));
    expect(JSON.stringify(index)).toContain('The candidate for tables');
    expect(JSON.stringify(index)).not.toContain('The installed copy');
    expect(report.results.slice(0, 1).map(verdictLine)).toEqual([`${first?.case ?? ''} with passed tables`]);
  });

  test('3. concurrent runs are isolated and give the same results as sequential runs', async () => {
    const model = thinking(firing({ table: load('tables') }));
    const many = Array.from({ length: 12 }, (_, place) => ({
      ...(place % 2 === 0 ? FIRES : QUIET),
      id: `case-${String(place)}`,
    }));
    const [alone, together] = await Promise.all(
      [1, 8].map((concurrency) => asked(model, { cases: many, concurrency, repeat: 2 })),
    );
    expect(together?.results.map(verdictLine)).toEqual(alone?.results.map(verdictLine));
    const starts = (together?.results ?? []).flatMap((result) => ofType(eventsOf(result), 'run-start'));
    expect(new Set(starts.map(({ indexHash }) => indexHash)).size).toBe(1);
    const texts = (together?.results ?? []).map(({ run = '' }) => readFileSync(path.join(run, 'index.json'), 'utf8'));
    const names = [...(texts[0] ?? '').matchAll(/"name":\s*"([^"]+)"/g)].map(([, name]) => name);
    expect([new Set(texts).size, names]).toEqual([
      1,
      ['brass-lantern-check', 'letters', 'quartz-moth-census', 'tables'],
    ]);
  });

  test('4. the whole record is read, not only the first tool call', async () => {
    const decide = firing({ table: { calls: [['search_skills', { query: 'rows' }]] } });
    const model = thinking((asking, turn) =>
      asking.includes('table') && turn === 1 ? load('tables') : decide(asking, turn),
    );
    const { results, trigger } = await asked(model);
    expect([results.map(verdictLine), trigger?.overall.recall.count]).toEqual([
      ['fires with passed tables', 'quiet with passed'],
      1,
    ]);
  });

  test('5. a run that times out fails, and is no correct negative', async () => {
    const decide = firing({ table: load('tables') });
    const model = thinking((asking, turn) =>
      asking.includes('poem') ? new Promise(() => undefined) : decide(asking, turn),
    );
    const report = await asked(model, { cases: [FIRES, { ...QUIET, timeoutMs: 1500 }] });
    expect(report.results.map(verdictLine)).toEqual(['fires with passed tables', 'quiet with failed']);
    expect([report.trigger?.overall.quiet.of, exitOf(report)]).toEqual([0, 1]);
  });

  test('6. a query that loads another skill counts for both skills', async () => {
    const model = thinking((asking, turn) => {
      if (asking.includes('table')) return [load('letters'), load('tables')][turn] ?? { text: 'done' };
      return firing({ poem: load('letters') })(asking, turn);
    });
    const { results, trigger } = await asked(model, {
      cases: [FIRES, { ...QUIET, expect: { skills: { only: [] } } }],
    });
    expect(results.map(({ loaded }) => loaded)).toEqual([['letters', 'tables'], ['letters']]);
    expect(trigger?.confusion).toEqual([
      { wanted: '-', took: 'letters', count: 1 },
      { wanted: 'tables', took: 'letters', count: 1 },
      { wanted: 'tables', took: 'tables', count: 1 },
    ]);
  });
});
