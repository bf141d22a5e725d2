/** What isolates programs inside a container or pod, as workers of a fleet run: with the defaults of Docker, and with what its documents name. */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, lstatSync, mkdirSync, readlinkSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';

import { PROJECT } from '../files-below.ts';
import { skipUnless, needs } from '../needs.ts';
import { temporaryFolder } from '../cli/run-cli.ts';
import { sharedDockerEngine } from './docker-engine.ts';

const started = await sharedDockerEngine();
if (typeof started === 'string') console.log(`skipped: programs inside containers, because ${started}`);
const engine = typeof started === 'string' ? undefined : started;

const COMMAND = path.join(PROJECT, 'dist/command/skillwright.js');
const IMAGE = 'skillwright-inside:test';
/** The programs of this machine, and an ordinary user, as with `runAsNonRoot`. */
const CONTAINER = `run --rm --network none --user 1000:1000 --tmpfs /tmp --tmpfs /home/user:uid=1000,mode=700
  --env HOME=/home/user --workdir /home/user --volume /usr:/usr:ro --volume ${PROJECT}:${PROJECT}:ro`.split(/\s+/);
/** What the restricted profile of Kubernetes demands, and a read-only root. */
const RESTRICTED = '--cap-drop ALL --security-opt no-new-privileges --read-only'.split(' ');
const UNCONFINED = '--security-opt seccomp=unconfined'.split(' ');
const UNMASKED = '--security-opt systempaths=unconfined'.split(' ');

function docker(words: readonly string[], input?: Buffer): string {
  return execFileSync('docker', ['--host', `unix://${engine?.socket ?? ''}`, ...words], {
    input,
    stdio: 'pipe',
    timeout: 120_000,
  }).toString();
}

/** The executors of which `doctor` says `ok`, and what it says of namespaces. */
function examine(options: readonly string[]): { readonly usable: readonly string[]; readonly namespaces: string } {
  const out = docker([...CONTAINER, ...options, IMAGE, process.execPath, COMMAND, 'doctor', '--json']);
  const { findings } = JSON.parse(out) as { findings: { name: string; status: string; detail: string }[] };
  const executors = findings.filter(({ name }) => name.startsWith('executor '));
  return {
    usable: executors.flatMap(({ name, status }) => (status === 'ok' ? [name.replace('executor ', '')] : [])),
    namespaces: executors.find(({ name }) => name === 'executor namespaces')?.detail ?? '',
  };
}

const canRun = engine !== undefined && process.execPath.startsWith('/usr/');

describe('inside a container', { ...skipUnless(canRun, 'dockerd'), timeout: 120_000 }, () => {
  beforeAll(() => {
    const folder = temporaryFolder();
    for (const name of ['dev', 'proc', 'sys', 'tmp', 'etc', 'run', 'home/user', 'usr'])
      mkdirSync(path.join(folder, name), { recursive: true });
    // Mounts of a container take the mode of what they cover.
    chmodSync(path.join(folder, 'tmp'), 0o1777);
    for (const name of ['bin', 'sbin', 'lib', 'lib64'])
      if (existsSync(`/${name}`) && lstatSync(`/${name}`).isSymbolicLink())
        symlinkSync(readlinkSync(`/${name}`), path.join(folder, name));
    docker(['import', '-', IMAGE], execFileSync('tar', ['-C', folder, '-c', '.']));
  }, 120_000);

  test(
    'with all defaults, and as restricted as a pod can be, landlock isolates, and says that the rest is not to be had',
    needs('landlock'),
    () => {
      for (const options of [[], RESTRICTED]) {
        const { usable, namespaces } = examine(options);
        expect(usable).toEqual(['landlock', 'local']);
        expect(namespaces).toMatch(
          /^a seccomp filter forbids user namespaces, .* start the container with --security-opt/,
        );
      }
      const files = '/usr/lib/os-release /usr/lib/os-release';
      const line = `${process.execPath} ${COMMAND} exec text-diff --executor landlock scripts/diff.mjs ${files} 2>&1`;
      const out = docker([...CONTAINER, ...RESTRICTED, IMAGE, 'sh', '-c', line]);
      expect(out).toContain('no differences');
    },
  );

  test('the two options that doctor names are both needed, and enough, for namespaces', needs('namespaces'), () => {
    const half = examine(UNCONFINED);
    const named = /start the container with (--security-opt \S+) (--security-opt \S+) \(in a pod: /;
    expect(named.exec(half.namespaces)?.slice(1)).toEqual([UNCONFINED.join(' '), UNMASKED.join(' ')]);
    expect(half.usable).not.toContain('namespaces');
    expect(examine([...UNCONFINED, ...UNMASKED]).usable).toContain('namespaces');
  });
});
