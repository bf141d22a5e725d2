import assert from 'node:assert/strict';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { isPresent } from '#platform';
import { attemptScript, fileName, findDamage, type EscapeAttempt } from '../probe/escape-attempts.ts';
import { openHostDecoys } from '../probe/host-decoys.ts';
import { CaseSkipped } from './case.ts';
import { type CaseDefinition, conform, ISOLATED, pickStableEnd } from './fixture.ts';

/** A packet may still be in flight when its program has ended. */
const ARRIVAL_MS = 100;

/** Runs an escape attempt, which must leave nothing on the host. */
function attemptCase([attempt, name]: readonly [EscapeAttempt, string]): CaseDefinition {
  return conform('EXEC-7', name, ISOLATED, async (fixture) => {
    const decoys = await openHostDecoys({ folder: fixture.folder, identity: fixture.executor.identity });
    try {
      const script = `OUT=$RUN_DIR; export OUT\n${attemptScript(attempt, decoys.targets)}`;
      const { runFolder } = await fixture.shell(script);
      await delay(ARRIVAL_MS);
      const file = (left: string): string => fixture.onHost(`${runFolder}/${left}`);
      assert.deepEqual(findDamage(attempt, { decoys, file }), []);
      if (!isPresent(file(`${fileName(attempt)}.tried`))) throw new CaseSkipped('no tool for the attempt is installed');
    } finally {
      await decoys.close();
    }
  });
}

const ATTEMPTS = [
  ['writes outside', 'a program writes nothing outside its workspace'],
  ['reads secrets', 'a program reads no secret beside the workspace or in the home folder'],
  ['tcp to this machine', 'a program reaches no port of the host by TCP'],
  ['udp to this machine', 'a program reaches no port of the host by UDP'],
  ['unix socket by path', 'a program reaches no socket of the host by its path'],
  ['abstract unix socket', 'a program reaches no socket of the host by its abstract name'],
  ['environment of other processes', 'a program reads the environment of no process of the host'],
  ['kills other processes', 'a program ends no process of the host'],
  ['nested namespaces', 'a program makes no namespace of its own'],
  ['runs as root', 'a program is not root and has no capability'],
  ['leaves a setuid file', 'a program leaves no file that runs as its owner'],
] as const satisfies readonly (readonly [EscapeAttempt, string])[];

export const ISOLATION_CASES: readonly CaseDefinition[] = [
  ...ATTEMPTS.map(attemptCase),
  conform('EXEC-7', 'a program sees no process of the host', ISOLATED, async (fixture) => {
    const host = await openHostDecoys({ folder: fixture.folder, identity: fixture.executor.identity });
    try {
      const { stdout } = await fixture.mustSucceed(
        `[ -r /proc/self/stat ] || echo no-proc; [ -e /proc/${String(host.targets.decoyPid)}/stat ] && cat /proc/${String(host.targets.decoyPid)}/cmdline; echo; for p in /proc/[0-9]*; do echo "\${p##*/}"; done`,
      );
      const [commandLine, ...pids] = stdout.toString('latin1').trimEnd().split('\n');
      assert.equal(commandLine, '');
      assert.equal(pids.includes(String(process.pid)), false);
    } finally {
      await host.close();
    }
  }),
  conform('EXEC-7', 'without permission for a host no route leads anywhere', ISOLATED, async (fixture) => {
    const { stdout } = await fixture.mustSucceed(
      '[ ! -r /proc/net/route ] || tail -n +2 /proc/net/route; [ ! -r /proc/net/if_inet6 ] || grep -v " lo$" /proc/net/if_inet6; true',
    );
    assert.equal(stdout.toString('utf8'), '');
  }),
  conform(
    'EXEC-7',
    'a program that needs a host to which there is no way is denied and not started',
    ISOLATED,
    async (fixture) => {
      if (fixture.attached.capabilities.hasNetworkGrants) throw new CaseSkipped('the executor grants network access');
      const prepared = fixture.prepare(['sh', '-c', ': > "$RUN_DIR/ran"'], { network: ['example.org'] });
      const { end } = await fixture.runPrepared(prepared);
      assert.deepEqual(
        [pickStableEnd(end), fixture.read(`${prepared.runFolder}/ran`)],
        [{ reason: 'denied' }, undefined],
      );
    },
  ),
  conform('EXEC-7', 'nothing of one program is in the next but what is in the workspace', ISOLATED, async (fixture) => {
    const name = path.basename(fixture.folder);
    await fixture.mustSucceed(`echo x > /tmp/${name}; echo x > /dev/shm/${name}; true`);
    await fixture.mustSucceed(`[ ! -e /tmp/${name} ] && [ ! -e /dev/shm/${name} ]`);
  }),
];
