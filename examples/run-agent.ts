/** An agent on a table, with no key and no network: the rule model finds a skill, runs its script in a sandbox and shows the figures. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import { createRuntime, isSkillError, verifyRun } from 'skillwright';
import { openAgentModel, runAgent } from 'skillwright/agent';

const project = await mkdtemp(path.join(os.tmpdir(), 'run-agent-'));
try {
  await writeFile(path.join(project, 'orders.csv'), 'order,sum\n1,20\n2,\n3,35\n');
  const runtime = await createRuntime({ cwd: project, cache: false });
  const { signal } = new AbortController();
  // With a key and without the name: the vendor's model.
  const { model, reason } = await openAgentModel({ name: 'rules', env: process.env, signal });
  console.log(`model ${model.id}: ${reason}`);
  const result = await runAgent({
    runtime,
    model,
    request: 'What is in this CSV file? Are there missing values?',
    files: [path.join(project, 'orders.csv')],
    budget: { turns: 6 },
    signal,
    run: {
      execution: { artifacts: false },
      sinks: [({ event }) => void (event.type === 'action' && console.log(`- ${event.action.type}`))],
    },
  });
  console.log(result.answer);
  console.log(`${result.outcome}, the record is ${verifyRun(result.path ?? '').status}`);
} catch (error) {
  if (!isSkillError(error)) throw error;
  console.log(`${error.message}; ${error.hint}`);
} finally {
  await rm(project, { recursive: true, force: true });
}
