import assert from 'node:assert/strict';
import path from 'node:path';
import { lstatSync, readdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

import { isPresent } from '#platform';
import { attemptScript, fileName, type EscapeAttempt } from '../probe/escape-attempts.ts';
import { openHostDecoys, type DecoyListener, type HostDecoys } from '../probe/host-decoys.ts';
import { pickStableEnd, type Fixture } from './fixture.ts';
import { skipCase } from './case.ts';
import { conform, type CaseDefinition } from './definition.ts';

/** A packet may still be in flight when its program has ended. */
const ARRIVAL_MS = 100;

interface Aftermath {
  readonly host: HostDecoys;
  readonly fixture: Fixture;
  readonly runFolder: string;
  /** Reads a file of the program's run folder. */
  readonly read: (file: string) => string;
}

/** Runs an escape attempt. `damage` lists its effects on the host. */
function attemptCase(
  name: string,
  attempt: EscapeAttempt,
  damage: (aftermath: Aftermath) => readonly string[],
): CaseDefinition {
  return {
    name,
    requirement: 'EXEC-7',
    isIsolation: true,
    async run(fixture) {
      const host = await openHostDecoys({ folder: fixture.folder, identity: fixture.executor.identity });
      try {
        const script = `OUT=$RUN_DIR; export OUT\n${attemptScript(attempt, host.targets)}`;
        const { runFolder } = await fixture.shell(script);
        await delay(ARRIVAL_MS);
        const read = (file: string): string => fixture.read(`${runFolder}/${file}`)?.toString('latin1') ?? '';
        assert.deepEqual(damage({ host, fixture, runFolder, read }), []);
        if (fixture.read(`${runFolder}/${fileName(attempt)}.tried`) === undefined)
          skipCase('no tool for the attempt is installed');
      } finally {
        await host.close();
      }
    },
  };
}

function listenerCase(name: string, attempt: EscapeAttempt, listener: DecoyListener): CaseDefinition {
  return attemptCase(name, attempt, ({ host }) => (host.wasReached(listener) ? [`${listener} was reached`] : []));
}

const ISOLATED = { isIsolation: true };

export const ISOLATION_CASES: readonly CaseDefinition[] = [
  attemptCase('a program writes nothing outside its workspace', 'writes outside', ({ host }) => [
    ...readdirSync(host.targets.outside).filter(
      (name) => !host.targets.decoys.includes(path.join(host.targets.outside, name)),
    ),
    ...['/usr/skillwright-escape', '/etc/skillwright-escape'].filter(isPresent),
  ]),
  attemptCase(
    'a program reads no secret beside the workspace or in the home folder',
    'reads secrets',
    ({ host, read }) => host.targets.decoys.filter((_, at) => read(`secret.${String(at)}`).includes(host.secret)),
  ),
  listenerCase('a program reaches no port of the host by TCP', 'tcp to this machine', 'tcp'),
  listenerCase('a program reaches no port of the host by UDP', 'udp to this machine', 'udp'),
  listenerCase('a program reaches no socket of the host by its path', 'unix socket by path', 'socket'),
  listenerCase('a program reaches no socket of the host by its abstract name', 'abstract unix socket', 'abstract'),
  attemptCase(
    'a program reads the environment of no process of the host',
    'environment of other processes',
    ({ host, read }) => (read('environ').includes(host.secret) ? ['the environment was read'] : []),
  ),
  attemptCase('a program ends no process of the host', 'kills other processes', ({ host }) =>
    host.isProcessAlive() ? [] : ['the process was killed'],
  ),
  attemptCase('a program makes no namespace of its own', 'nested namespaces', ({ fixture, runFolder }) =>
    fixture.read(`${runFolder}/nested`) === undefined ? [] : ['a namespace was made'],
  ),
  attemptCase('a program is not root and has no capability', 'runs as root', ({ read }) => [
    ...(read('uid').trim() === '0' ? ['root'] : []),
    ...(/[1-9a-f]/.test(read('capabilities')) ? [read('capabilities').trim()] : []),
  ]),
  attemptCase('a program leaves no file that runs as its owner', 'leaves a setuid file', ({ fixture, runFolder }) => {
    const file = fixture.onHost(`${runFolder}/setuid`);
    return isPresent(file) && (lstatSync(file).mode & 0o6000) !== 0 ? ['the bits were set'] : [];
  }),
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
    { isIsolation: true },
    async (fixture) => {
      if (fixture.attached.capabilities.hasNetworkGrants) skipCase('the executor grants network access');
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
