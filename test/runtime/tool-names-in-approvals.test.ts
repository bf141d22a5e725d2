/** What a person is asked, what is recorded and what a program gets name the tool as the vocabulary does. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';

import type { ApprovalRequest } from '../../src/core/approval.ts';
import { createRuntime } from '../../src/packs/open-runtime.ts';

const folder = mkdtempSync(path.join(os.tmpdir(), 'skillwright-names-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
mkdirSync(path.join(folder, 'skills/demo'), { recursive: true });
writeFileSync(path.join(folder, 'skills/demo/SKILL.md'), '---\nname: demo\ndescription: Demo.\n---\nText.\n');

test.each([
  ['openseed', 'run_shell_command'],
  ['trpc', 'skill_run'],
  ['manusx', 'shell_exec'],
] as const)('%s: %s', async (vocabulary, tool) => {
  const runtime = await createRuntime({ cwd: folder, home: folder, env: {}, roots: [path.join(folder, 'skills')] });
  const asked: ApprovalRequest[] = [];
  const run = await runtime.startRun({
    request: 'list',
    vocabulary,
    execution: { executor: 'local', opens: false },
    approve: (request) => {
      asked.push(request);
      return { verdict: 'no', scope: 'once' };
    },
  });
  const observation = await run.session.perform({ type: 'run_command', skill: 'demo', command: 'ls' }, { tool });
  await run.end('done');

  expect(asked.map((request) => request.tool)).toEqual([tool]);
  expect(observation).toMatchObject({ code: 'approval/refused', message: `a person refused ${tool}` });
  const info = JSON.parse(readFileSync(path.join(run.path ?? '', 'run.json'), 'utf8'));
  expect(info.approvals).toMatchObject([{ tool }]);
  const texts =
    readFileSync(path.join(run.path ?? '', 'events.jsonl'), 'utf8').match(/"(?:message|reason)":"[^"]*/g) ?? [];
  expect(texts.filter((text) => text.includes('run_command'))).toEqual([]);
  expect(texts.some((text) => text.includes(tool))).toBe(true);
});
