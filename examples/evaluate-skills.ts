/** Cases of skills, graded from what was recorded, with no key and no network: those with scripted answers, and who fires on the rules. */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import { createRuntime } from 'skillwright';
import { evaluate, evaluateTrigger, exitOf, readCases, skillFoldersIn } from 'skillwright/evals';
import { openRules } from 'skillwright/testing';

const [folder = 'skills'] = process.argv.slice(2);
const directory = await mkdtemp(path.join(os.tmpdir(), 'evaluate-skills-'));
try {
  const { executionPlaces } = await createRuntime({ cwd: directory, cache: false });
  // Errors of the files leave no verdict.
  const { cases, problems } = readCases([folder]);
  for (const { file, line, message } of problems) console.log(`${file}:${String(line)}: ${message}`);
  const { signal } = new AbortController();
  const basis = { problems, skills: skillFoldersIn(path.resolve(folder)), concurrency: 2, timeoutMs: 60_000, signal };
  const report = await evaluate({
    ...basis,
    cases: cases.filter(({ answers }) => answers?.type === 'script'),
    places: executionPlaces,
    directory: path.join(directory, 'cases'),
  });
  for (const { case: id, status, cost } of report.results)
    console.log(`${status} ${id}: ${String(cost.turns)} turns, ${String(cost.scriptRuns)} scripts`);
  const { trigger } = await evaluateTrigger({
    ...basis,
    cases,
    model: { way: 'rules', id: 'rules', open: openRules },
    directory: path.join(directory, 'trigger'),
  });
  for (const { skill, recall } of trigger?.scores ?? [])
    console.log(`${skill} fires for ${String(recall.count)} of ${String(recall.of)}`);
  process.exitCode = exitOf(report);
} finally {
  await rm(directory, { recursive: true, force: true });
}
