/**
 * A program of its own: runs the attack table through the executor that is named first, as the user it is started as, and prints the outcomes. The test starts
 * it as root and as an ordinary user, with the secret in its environment and in an open descriptor. `hold` runs one program until
 * somebody ends this process.
 */
import { execFileSync } from 'node:child_process';
import { writeSync } from 'node:fs';
import path from 'node:path';

import { attackedExecutor } from './attacked-executor.ts';
import { runAttacks } from './run-attacks.ts';
import { collected, openWorkspace } from './sandbox.ts';

const secret = process.env['ATTACK_SECRET'] ?? '';
const executor = attackedExecutor(process.argv[2] ?? '');

if (process.argv[3] === 'hold') {
  const { workspace, root } = await openWorkspace(executor);
  execFileSync('mkfifo', ['-m', '666', path.join(root, 'out/alive')]);
  writeSync(1, `${root}\n`);
  // A process that left its parents, group, session and environment, and holds the pipe.
  const alive = `${workspace.root}/out/alive`;
  const held = `setsid env -i sh -c 'exec > ${alive}; echo held; exec sleep 500' > /dev/null 2>&1 < /dev/null`;
  await collected(workspace, ['sh', '-c', `(${held} &); sleep 500`]);
} else {
  writeSync(1, JSON.stringify(await runAttacks(executor, secret)));
}
