/**
 * A program of its own: runs the attack table through the executor that is named first, as the user it is started as, and prints the outcomes. The test starts
 * it as root and as an ordinary user, with the secret in its environment and in an open descriptor. `hold` runs one program until
 * somebody ends this process.
 */
import { writeSync } from 'node:fs';

import { bubblewrapExecutor } from '../../src/sandbox/executors/bubblewrap/executor.ts';
import { namespacesExecutor } from '../../src/sandbox/executors/namespaces/executor.ts';
import { runAttacks } from './run-attacks.ts';
import { collected, openWorkspace } from './sandbox.ts';

const secret = process.env['ATTACK_SECRET'] ?? '';
const executor = process.argv[2] === 'namespaces' ? namespacesExecutor() : bubblewrapExecutor();

if (process.argv[3] === 'hold') {
  const { workspace, root } = await openWorkspace(executor);
  writeSync(1, `${root}\n`);
  await collected(workspace, [
    'sh',
    '-c',
    `(setsid sh -c 'while :; do echo x >> ${workspace.root}/out/heartbeat; sleep 0.05; done' &); sleep 50`,
  ]);
} else {
  writeSync(1, JSON.stringify(await runAttacks(executor, secret)));
}
