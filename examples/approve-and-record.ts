/** Rules, a person's answers and a record: a run on a project of its own, with a callback in the place of a person. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import { createRuntime, openApprovals, readRun, verifyRun, type ApprovalRequest, type RunEvent } from 'skillwright';

/** Notes may be written, once and for the rest of the run; nothing else that needs approval gets one. */
async function ask({ detail }: ApprovalRequest): Promise<object> {
  const isNote = detail.kind === 'write' && detail.path.startsWith('notes/');
  return isNote ? { verdict: 'yes', scope: 'run' } : { verdict: 'no' };
}

function sentence(event: RunEvent): string | undefined {
  if (event.type === 'decision') return `${event.decision.effect}: ${event.decision.reason}`;
  if (event.type !== 'approval-answer') return undefined;
  return `  answered: ${typeof event.answer === 'string' ? event.answer : event.answer.verdict}`;
}

const project = await mkdtemp(path.join(os.tmpdir(), 'approve-and-record-'));
try {
  await writeFile(path.join(project, 'orders.csv'), 'id,sum\n1,20\n');
  const runtime = await createRuntime({ cwd: project, home: undefined, cache: false });
  const { approve } = openApprovals({ home: undefined, asker: { by: 'callback', ask } });
  const run = await runtime.startRun({
    request: 'sum up the orders',
    host: { network: false },
    policy: { deny: ['delete_file'] },
    approve,
  });
  await run.session.perform({ type: 'read_file', path: 'orders.csv' });
  await run.session.perform({ type: 'write_file', path: 'notes/sum.md', content: '20\n' });
  await run.session.perform({ type: 'write_file', path: 'orders.csv', content: '' });
  await run.session.perform({ type: 'delete_file', path: 'orders.csv' });
  await run.end('done');

  const { lines } = readRun(run.path ?? '');
  for (const { event } of lines) {
    const line = sentence(event);
    if (line !== undefined) console.log(line);
  }
  console.log(`the record is ${verifyRun(run.path ?? '').status}`);
} finally {
  await rm(project, { recursive: true, force: true });
}
