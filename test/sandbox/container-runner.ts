/**
 * A separate process, so that a test can kill it or start it as another user: attaches a workspace to the engine at the given socket.
 * `run` prints the output of programs, `hold` runs one until this process is killed, `probe` prints the report of the probe.
 */
import { writeSync } from 'node:fs';

import { containerExecutor } from '../../src/sandbox/executors/container/executor.ts';
import { probeExecutor } from '../../src/sandbox/probe/probe.ts';
import { makeWorkspace, run, shape } from './container-support.ts';

const [mode = '', socket = '', rootFileSystem = ''] = process.argv.slice(2);
const executor = containerExecutor({ socket, rootFileSystem });
if (mode === 'probe') {
  writeSync(1, JSON.stringify(await probeExecutor(executor)));
  process.exit();
}
const made = makeWorkspace();
const workspace = await executor.attach(made.place);
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
