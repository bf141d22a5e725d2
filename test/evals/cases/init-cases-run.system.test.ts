import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { runAgent } from '../../../src/agent/agent.ts';
import type { EvalCase } from '../../../src/evals/cases/case.ts';
import { initCases } from '../../../src/evals/cases/init-cases.ts';
import { readCases } from '../../../src/evals/cases/read-cases.ts';
import { readScriptedTurns } from '../../../src/model/scripted/scripted-file.ts';
import { openScripted } from '../../../src/model/scripted/scripted.ts';
import { createRuntime } from '../../../src/runtime/runtime.ts';
import { eventsOf, ofType } from '../../agent/support.ts';
import { PROJECT } from '../../files-below.ts';
import { folderOf } from './support.ts';

/** Runs a case with its scripted answers. */
async function play(root: string, given: EvalCase) {
  if (given.answers?.type !== 'script') throw new Error('the case has no scripted answers');
  const script = path.join(root, 'turns.json');
  writeFileSync(script, JSON.stringify({ turns: given.answers.turns }));
  const model = openScripted(readScriptedTurns(script));
  const project = path.join(root, 'project', given.id);
  mkdirSync(project, { recursive: true });
  const runtime = await createRuntime({
    cwd: project,
    home: path.join(root, 'home'),
    env: {},
    roots: [path.join(root, 'skills')],
    onlyRoots: true,
    cache: false,
    config: {},
  });
  const result = await runAgent({
    runtime,
    model,
    request: given.input,
    files: given.files,
    run: { execution: { executor: 'local', artifacts: false } },
  });
  model.assertDone();
  return { result, events: eventsOf(result) };
}

describe('generated cases of the built-in skills pass on the scripted model', () => {
  test.each(['csv-report', 'text-diff', 'skill-author'])('%s', async (name) => {
    const root = folderOf({});
    cpSync(path.join(PROJECT, 'skills'), path.join(root, 'skills'), { recursive: true });
    mkdirSync(path.join(root, 'home'));
    const dir = path.join(root, 'skills', name);
    const file = path.join(dir, 'evals/cases.yaml');
    writeFileSync(file, initCases(dir));
    const { cases, problems } = readCases([file]);
    expect(problems).toEqual([]);
    for (const given of cases) {
      const { result, events } = await play(root, given);
      expect([given.id, result.outcome, result.reason]).toEqual([given.id, 'done', '']);
      const loaded = ofType(events, 'activation').map(({ skill }) => skill.replace(/^.*\//, '').replace(/@.*$/, ''));
      expect(loaded).toEqual(given.expect.trigger === false ? [] : [name]);
      const runs = ofType(events, 'observation').flatMap(({ observation }) =>
        observation.type === 'program-ran' ? [observation.result.exit_code] : [],
      );
      expect(runs).toEqual(given.tags.includes('script') ? [0] : []);
    }
  });
});
