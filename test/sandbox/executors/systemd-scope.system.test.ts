/** systemd does not run on most machines that test this: stand-ins record their arguments and make real control groups. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import { findControlGroups } from '../../../src/sandbox/executors/cgroup.ts';
import { findScopes, type ScopePrograms } from '../../../src/sandbox/executors/systemd-scope.ts';
import { SANDBOXES, collected, openWorkspace } from '../sandbox.ts';
import { needs, skipUnless } from '../../needs.ts';

const place = findControlGroups();

function standIns(run: string, control = ''): ScopePrograms & { readonly folder: string } {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'skillwright-scope-'));
  chmodSync(folder, 0o777);
  mkdirSync(path.join(folder, 'systemd'));
  writeFileSync(path.join(folder, 'systemd/private'), '');
  const write = (name: string, text: string): string => {
    const file = path.join(folder, name);
    writeFileSync(file, `#!/bin/sh\necho "$XDG_RUNTIME_DIR $*" >> ${folder}/${name}.calls\n${text}\n`);
    chmodSync(file, 0o755);
    return file;
  };
  return { folder, run: write('run', run), control: write('control', control), runtimeFolder: folder };
}

test('a service manager counts only if a trial scope has its limit', () => {
  const working = standIns('echo 67108864');
  expect(findScopes(working)).toEqual({ version: 'scope', programs: working });
  expect(readFileSync(path.join(working.folder, 'run.calls'), 'utf8')).toMatch(
    new RegExp(
      String.raw`^${working.folder} --user --scope --quiet --unit skillwright-\d+-[\w-]+\.scope -p MemoryMax=67108864 -p MemorySwapMax=0 -- /usr/bin/env -u XDG_RUNTIME_DIR /bin/sh -c `,
    ),
  );
  expect(findScopes(standIns('echo max'))).toBeUndefined();
  expect(findScopes(standIns('echo "Failed to connect to bus" >&2; exit 1'))).toBeUndefined();
  expect(findScopes({ ...working, runtimeFolder: '/nonexistent' })).toBeUndefined();
});

/** Makes the group that the arguments ask for, enters it, and becomes the command. */
const ENTER = (groups: string): string => `
while [ "$1" != -- ]; do
  case $1 in --unit) unit=$2;; MemoryMax=*) bytes=\${1#MemoryMax=};; esac
  shift
done
shift
mkdir ${groups}/$unit && echo $bytes > ${groups}/$unit/memory.limit_in_bytes && echo $$ > ${groups}/$unit/tasks && exec "$@"`;
const RESULT = (groups: string): string => `
for last; do :; done
[ "$2" != show ] || { grep -q 'oom_kill 0' ${groups}/$last/memory.oom_control && echo success || echo oom-kill; }`;

describe(
  'a program in a scope',
  skipUnless(place?.version === 1, 'control groups of version 1 that this user may create'),
  () => {
    test.each(SANDBOXES)(
      'under %s is held by its memory limit, and the result is reset',
      needs('python3'),
      async (_, make) => {
        if (place === undefined) return;
        const groups = path.join(place.folder, `skillwright-test-${String(process.pid)}`);
        mkdirSync(groups);
        chmodSync(groups, 0o777);
        onTestFinished(() => {
          for (const name of readdirSync(groups).filter((each) => each.endsWith('.scope')))
            rmdirSync(path.join(groups, name));
          rmdirSync(groups);
        });
        const programs = standIns(ENTER(groups), RESULT(groups));
        const { workspace, close } = await openWorkspace(make({ controlGroups: { version: 'scope', programs } }));
        try {
          expect(workspace.capabilities.limits.memoryBytes).toBe('cgroup');
          const fine = await collected(workspace, ['sh', '-c', 'echo "[$XDG_RUNTIME_DIR]"']);
          expect([fine.stdout, fine.end.reason, fine.end.warnings]).toEqual(['[]\n', 'exited', []]);
          const hog = ['python3', '-c', 'x = bytearray(300_000_000)'];
          const killed = await collected(workspace, hog, { limits: { memoryBytes: 64 * 1024 * 1024 } });
          expect(killed.end.reason).toBe('memory');
          const calls = readFileSync(path.join(programs.folder, 'control.calls'), 'utf8').trim().split('\n');
          expect(calls.at(-1)).toMatch(/ --user reset-failed skillwright-[\w-]+\.scope$/);
          expect(existsSync(path.join(programs.folder, 'run.calls'))).toBe(true);
        } finally {
          await close();
        }
      },
    );
  },
);
