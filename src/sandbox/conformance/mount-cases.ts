import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';

import { CaseSkipped } from './case.ts';
import { type CaseDefinition, conform, type Fixture, ISOLATED } from './fixture.ts';
import type { HostMount } from '../program-types.ts';

/** A folder of the user that every user may change: what is refused is refused by the executor. */
function makeFolder({ folder: base }: Fixture): string {
  const folder = mkdtempSync(path.join(base, 'folder-'));
  for (const name of ['', '.git', 'src']) {
    mkdirSync(path.join(folder, name), { recursive: true });
    chmodSync(path.join(folder, name), 0o777);
  }
  for (const name of ['.env', '.git/config', 'src/main.py']) {
    writeFileSync(path.join(folder, name), `text of ${name}\n`);
    chmodSync(path.join(folder, name), 0o666);
  }
  return folder;
}

/** Runs a script in the folder and returns its output. */
async function runIn(fixture: Fixture, folder: string, mounts: readonly HostMount[], script: string): Promise<string> {
  const { spec, runFolder } = fixture.prepare(['sh', '-c', script], {});
  const program = { spec: { ...spec, cwd: folder, mounts }, runFolder };
  const { end, stdout } = await fixture.runPrepared(program);
  if (end.reason === 'denied') throw new CaseSkipped(end.warnings.join('; '));
  return stdout.toString('utf8');
}

const TRY_ALL = 'for f in src/main.py src/new .git/config .git/new; do (echo x >> $f) 2> /dev/null; done';

/** Connects to a socket in the current folder with every tool that is installed. */
const CONNECT = `perl -e 'socket(S, 1, 1, 0) && connect(S, pack("S a*", 1, "service.sock"))' 2> /dev/null
python3 -c 'import socket; socket.socket(1).connect("service.sock")' 2> /dev/null
node -e 'require("net").connect("service.sock").on("error", () => 0)' 2> /dev/null
cat service.sock 2> /dev/null; echo tried`;

export const MOUNT_CASES: readonly CaseDefinition[] = [
  conform('ENV-2', 'a host folder is seen at its path and stays as it is', ISOLATED, async (fixture) => {
    const folder = makeFolder(fixture);
    const outside = path.join(fixture.folder, 'beside');
    writeFileSync(outside, 'secret');
    symlinkSync(outside, path.join(folder, 'src/link'));
    const mounts = [{ source: folder, target: folder, access: 'read' }] as const;
    const script = `pwd; cat src/main.py; ${TRY_ALL}; cat src/link ../beside 2> /dev/null; mv src moved 2> /dev/null; true`;
    assert.equal(await runIn(fixture, folder, mounts, script), `${folder}\ntext of src/main.py\n`);
    assert.equal(readFileSync(path.join(folder, 'src/main.py'), 'utf8'), 'text of src/main.py\n');
    assert.deepEqual(readdirSync(folder).sort(), ['.env', '.git', 'src']);
    assert.deepEqual(readdirSync(path.join(folder, 'src')).sort(), ['link', 'main.py']);
  }),
  conform(
    'ENV-2',
    'a writable host folder is changed, but not its read-only and hidden entries',
    ISOLATED,
    async (fixture) => {
      const folder = makeFolder(fixture);
      const empty = path.join(fixture.folder, 'empty');
      writeFileSync(empty, '');
      const inside = (name: string): string => path.join(folder, name);
      const mounts: readonly HostMount[] = [
        { source: folder, target: folder, access: 'write' },
        { source: inside('.git'), target: inside('.git'), access: 'read' },
        { source: empty, target: inside('.env'), access: 'read' },
      ];
      const script = `cat .git/config .env 2> /dev/null; ${TRY_ALL}; (echo x >> .env; rm -rf .git .env; mv .git src/git; mv .env src/env) 2> /dev/null; true`;
      assert.equal(await runIn(fixture, folder, mounts, script), 'text of .git/config\n');
      const files = ['src/main.py', 'src/new', '.git/config', '.env'].map((name) => readFileSync(inside(name), 'utf8'));
      assert.deepEqual(files, ['text of src/main.py\nx\n', 'x\n', 'text of .git/config\n', 'text of .env\n']);
      assert.deepEqual(readdirSync(inside('.git')), ['config']);
    },
  ),
  conform('ENV-2', 'a covered socket of a host folder is not connected to', ISOLATED, async (fixture) => {
    const folder = makeFolder(fixture);
    const place = path.join(folder, 'service.sock');
    let connections = 0;
    const server = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(place, resolve));
    try {
      chmodSync(place, 0o777);
      const empty = path.join(fixture.folder, 'no-socket');
      writeFileSync(empty, '');
      const mounts = [
        { source: folder, target: folder, access: 'read' },
        { source: empty, target: place, access: 'read' },
      ] as const;
      assert.equal(await runIn(fixture, folder, mounts, CONNECT), 'tried\n');
      assert.equal(connections, 0);
    } finally {
      server.close();
    }
  }),
];
