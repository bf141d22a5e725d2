/**
 * A program of its own, so that a test can kill it or start it as somebody else: attaches a workspace to the engine at the socket it is
 * given. `run` prints what a program said; `hold` runs one until somebody ends this process.
 */
import { writeSync } from 'node:fs';

import { containerExecutor } from '../../src/sandbox/executors/container/executor.ts';
import { makeWorkspace, run, shape } from './container-support.ts';

const [mode = '', socket = '', rootFileSystem = ''] = process.argv.slice(2);
const made = makeWorkspace();
const workspace = await containerExecutor({ socket, rootFileSystem }).attach(made.place);
if (mode === 'hold') {
  writeSync(1, `${made.place.root}\n`);
  const beat = 'while :; do echo x >> /workspace/out/heartbeat; sleep 0.05; done';
  await run(workspace, ['sh', '-c', `(setsid sh -c '${beat}' &); sleep 50`]);
} else {
  const script = 'id -u; echo mine > /workspace/out/file; cat /workspace/skills/demo/SKILL.md > copy; touch /tmp/left';
  const outcomes = [];
  for (const argv of [
    ['sh', '-c', script],
    ['ls', '-A', '/tmp'],
  ]) {
    const { end, stdout, stderr } = await run(workspace, argv);
    outcomes.push({ end: shape(end), stdout, stderr });
  }
  writeSync(1, JSON.stringify(outcomes));
}
await workspace.detach();
made.remove();
