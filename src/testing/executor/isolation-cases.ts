import assert from 'node:assert/strict';
import path from 'node:path';
import { lstatSync, readdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

import { isPresent } from '../../platform/fs/paths.ts';
import { attemptScript, fileName } from '../../sandbox/probe/escape-attempts.ts';
import type { EscapeAttempt } from '../../sandbox/probe/escape-attempts.ts';
import { endOf } from './bench.ts';
import type { Bench } from './bench.ts';
import { CaseSkipped } from './case.ts';
import type { CaseDefinition } from './definition.ts';
import { openHostDecoys } from '../../sandbox/probe/host-decoys.ts';
import type { DecoyListener, HostDecoys } from '../../sandbox/probe/host-decoys.ts';

/** A packet may be on its way when the program that sent it is over. */
const ARRIVAL_MS = 100;

interface Aftermath {
  readonly host: HostDecoys;
  readonly bench: Bench;
  readonly runFolder: string;
  /** What the program wrote to a file of its run folder. */
  readonly read: (file: string) => string;
}

/** The program tries; the host says what came of it. `damage` gives what it should not have been able to do. */
function attemptCase(
  name: string,
  attempt: EscapeAttempt,
  damage: (aftermath: Aftermath) => readonly string[],
): CaseDefinition {
  return {
    name,
    requirement: 'EXEC-7',
    isIsolation: true,
    async run(bench) {
      const host = await openHostDecoys({ folder: bench.folder, identity: bench.executor.identity });
      try {
        const script = `OUT=$RUN_DIR; export OUT\n${attemptScript(attempt, host.targets)}`;
        const { runFolder } = await bench.shell(script);
        await delay(ARRIVAL_MS);
        const read = (file: string): string => bench.read(`${runFolder}/${file}`)?.toString('latin1') ?? '';
        assert.deepEqual(damage({ host, bench, runFolder, read }), []);
        if (bench.read(`${runFolder}/${fileName(attempt)}.tried`) === undefined)
          throw new CaseSkipped('nothing there to try it with');
      } finally {
        await host.close();
      }
    },
  };
}

function listenerCase(name: string, attempt: EscapeAttempt, listener: DecoyListener): CaseDefinition {
  return attemptCase(name, attempt, ({ host }) => (host.wasReached(listener) ? [`${listener} was reached`] : []));
}

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
  attemptCase('a program makes no namespace of its own', 'nested namespaces', ({ bench, runFolder }) =>
    bench.read(`${runFolder}/nested`) === undefined ? [] : ['a namespace was made'],
  ),
  attemptCase('a program is not root and has no capability', 'runs as root', ({ read }) => [
    ...(read('uid').trim() === '0' ? ['root'] : []),
    ...(/[1-9a-f]/.test(read('capabilities')) ? [read('capabilities').trim()] : []),
  ]),
  attemptCase('a program leaves no file that runs as its owner', 'leaves a setuid file', ({ bench, runFolder }) => {
    const file = bench.onHost(`${runFolder}/setuid`);
    return isPresent(file) && (lstatSync(file).mode & 0o6000) !== 0 ? ['the bits were set'] : [];
  }),
  {
    name: 'a program sees no process of the host',
    requirement: 'EXEC-7',
    isIsolation: true,
    async run(bench) {
      const host = await openHostDecoys({ folder: bench.folder, identity: bench.executor.identity });
      try {
        const { stdout } = await bench.must(
          `[ -r /proc/self/stat ] || echo no-proc; [ -e /proc/${String(host.targets.decoyPid)}/stat ] && cat /proc/${String(host.targets.decoyPid)}/cmdline; echo; for p in /proc/[0-9]*; do echo "\${p##*/}"; done`,
        );
        const [victim, ...pids] = stdout.toString('latin1').trimEnd().split('\n');
        assert.equal(victim, '');
        assert.equal(pids.includes(String(process.pid)), false);
      } finally {
        await host.close();
      }
    },
  },
  {
    name: 'without permission for a host no route leads anywhere',
    requirement: 'EXEC-7',
    isIsolation: true,
    async run(bench) {
      const { stdout } = await bench.must(
        '[ ! -r /proc/net/route ] || tail -n +2 /proc/net/route; [ ! -r /proc/net/if_inet6 ] || grep -v " lo$" /proc/net/if_inet6; true',
      );
      assert.equal(stdout.toString('utf8'), '');
    },
  },
  {
    name: 'a program that needs a host to which there is no way is denied and not started',
    requirement: 'EXEC-7',
    isIsolation: true,
    async run(bench) {
      if (bench.attached.capabilities.hasNetworkGrants) throw new CaseSkipped('there is a way to hosts');
      const prepared = bench.prepare(['sh', '-c', ': > "$RUN_DIR/ran"'], { network: ['example.org'] });
      const { end } = await bench.runPrepared(prepared);
      assert.deepEqual([endOf(end), bench.read(`${prepared.runFolder}/ran`)], [{ reason: 'denied' }, undefined]);
    },
  },
  {
    name: 'nothing of one program is in the next but what is in the workspace',
    requirement: 'EXEC-7',
    isIsolation: true,
    async run(bench) {
      await bench.must('echo x > /tmp/left-behind; echo x > /dev/shm/left-behind; true');
      await bench.must('[ ! -e /tmp/left-behind ] && [ ! -e /dev/shm/left-behind ]');
    },
  },
];
