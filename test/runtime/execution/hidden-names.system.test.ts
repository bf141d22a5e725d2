import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import type { RunResult } from '../../../src/core/outputs.ts';
import type { ExecutionOptions } from '../../../src/runtime/execution/parts.ts';
import { createRuntime } from '../../../src/runtime/runtime.ts';
import { bubblewrapExecutor } from '../../../src/sandbox/executors/bubblewrap/executor.ts';
import { namespacesExecutor } from '../../../src/sandbox/executors/namespaces/executor.ts';
import { landlockExecutor } from '../../../src/sandbox/executors/landlock/executor.ts';
import { hasBroker } from '../../../src/sandbox/executors/landlock/version.ts';
import { verifies } from '../../conformance/verifies.ts';
import { scratch, writeSkill } from '../../skills/registry/support.ts';
import { PYTHON, has } from '../../needs.ts';

const EXECUTORS: readonly (readonly [string, NonNullable<ExecutionOptions['executor']>])[] = [
  ...(has('bubblewrap') ? ([['bubblewrap', bubblewrapExecutor({ isKnown: true })]] as const) : []),
  ...(has('namespaces') ? ([['namespaces', namespacesExecutor({})]] as const) : []),
  ...(has('landlock') ? ([['landlock', landlockExecutor()]] as const) : []),
].filter(() => hasBroker() && has('python3'));

/** Functions for the programs of the tests: what can be read of each file, and what stops a call. */
const PRELUDE = `import errno, json, os, sys, threading, time
def read(name, flags=os.O_RDONLY):
    try:
        file = os.open(name, flags)
    except OSError as error:
        return errno.errorcode[error.errno]
    try:
        return os.read(file, 1000).decode().strip()
    except OSError as error:
        return errno.errorcode[error.errno]
    finally:
        os.close(file)
def attempt(call, *words):
    try:
        call(*words)
        return 'done'
    except OSError as error:
        return errno.errorcode[error.errno]
def show(value): print(json.dumps(value))
def wait():
    print('ready', flush=True)
    while not os.path.exists('go'): time.sleep(0.01)
`;

interface World {
  readonly project: string;
  readonly write: (name: string, text?: string) => string;
  /** Starts a Python program in the project. When it has printed `ready`, `change` is called and the file `go` appears. */
  readonly run: (code: string, change?: () => void) => Promise<RunResult>;
}

async function openWorld(
  executor: NonNullable<ExecutionOptions['executor']>,
  { access = 'read' }: { readonly access?: 'read' | 'write' } = {},
): Promise<World> {
  const folder = scratch();
  chmodSync(folder, 0o755);
  const project = path.join(folder, 'project');
  mkdirSync(project);
  if (access === 'write') chmodSync(project, 0o777);
  const skill = path.join(folder, 'skills/reader');
  writeSkill(skill, { body: '# Reader\n' });
  const write = (name: string, text = 'SECRET\n'): string => {
    const file = path.join(project, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  };
  write('README.md', 'readme\n');
  const runtime = await createRuntime({
    cwd: project,
    home: path.join(folder, 'home'),
    env: {},
    roots: [path.join(folder, 'skills')],
    onlyRoots: true,
    cache: false,
  });
  let change: (() => void) | undefined;
  let shown = '';
  const session = await runtime.startSession({
    execution: {
      executor,
      artifacts: false,
      startsInProject: true,
      mounts: [{ folder: project, access, isProject: true }],
      onOutput: (_, chunk) => {
        shown += Buffer.from(chunk).toString();
        if (change === undefined || !shown.includes('ready')) return;
        const now = change;
        change = undefined;
        now();
        write('go', '');
      },
    },
    approve: () => Promise.resolve({ verdict: 'yes', scope: 'once', by: 'callback' }),
  });
  onTestFinished(() => session.close());
  return {
    project,
    write,
    run: async (code, during) => {
      change = during;
      shown = '';
      const words = [PYTHON, '-c', PRELUDE + code].map((word) => `'${word.replaceAll("'", `'\\''`)}'`);
      const observation = await session.perform({ type: 'run_command', skill: 'reader', command: words.join(' ') });
      if (observation.type !== 'program-ran') throw new Error(JSON.stringify(observation));
      return observation.result;
    },
  };
}

async function output(running: Promise<RunResult>): Promise<unknown> {
  const { stdout, stderr } = await running;
  if (stderr !== '') throw new Error(stderr);
  return JSON.parse(stdout.replace('ready\n', ''));
}

describe.each(EXECUTORS)('a socket in a project under %s', (_, executor) => {
  test('is not connected to, in a folder that can be written either', async () => {
    for (const access of ['read', 'write'] as const) {
      const { project, run } = await openWorld(executor, { access });
      const place = path.join(project, 'deep/service.sock');
      mkdirSync(path.dirname(place));
      let connections = 0;
      const server = createServer((socket) => {
        connections += 1;
        socket.destroy();
      });
      await new Promise<void>((resolve) => server.listen(place, resolve));
      chmodSync(place, 0o777);
      const connect = `import socket
def connect(name, kind):
    with socket.socket(socket.AF_UNIX, kind) as made: made.connect(name)
`;
      const kinds = '(socket.SOCK_STREAM, socket.SOCK_SEQPACKET, socket.SOCK_DGRAM)';
      const names = JSON.stringify([
        'deep/service.sock',
        `/proc/self/root${place}`,
        '/proc/self/cwd/deep/service.sock',
      ]);
      const results = await output(
        run(`${connect}show([attempt(connect, name, kind) for name in ${names} for kind in ${kinds}])`),
      );
      server.close();
      // Of another type, it would have been found.
      expect([connections, (results as string[]).filter((each) => each === 'done' || each === 'EPROTOTYPE')]).toEqual([
        0,
        [],
      ]);
    }
  });
});

describe.each(EXECUTORS)('files with secret names in a project under %s', (_, executor) => {
  verifies(
    'EXEC-14',
    'stay hidden when an editor saves them by renaming, when they are created, linked or renamed, and in other case',
    async () => {
      const { project, write, run } = await openWorld(executor);
      write('.env');
      write('config/server.pem');
      write('a/b/c/d/e/f/deep.txt', 'deep\n');
      const names =
        `.env config/server.pem .env.production new.key a/b/c/d/e/f/.npmrc .ENV.LOCAL .aws/credentials new/folder/id_rsa copy.txt
        moved/.netrc .env~ .server.pem.swp link.txt account.json terraform.tfstate.backup .env.example README.md fresh.txt other.json`
          .trim()
          .split(/\s+/);
      const read = await output(
        run(`wait()\nshow([read(name) for name in ${JSON.stringify(names)}])`, () => {
          renameSync(write('.env.tmp-1'), path.join(project, '.env'));
          renameSync(write('config/draft'), path.join(project, 'config/server.pem'));
          for (const name of ['.env.production', 'new.key', 'a/b/c/d/e/f/.npmrc', '.ENV.LOCAL']) write(name);
          for (const name of ['.aws/credentials', 'new/folder/id_rsa', '.env~', '.server.pem.swp']) write(name);
          linkSync(path.join(project, '.env'), path.join(project, 'copy.txt'));
          mkdirSync(path.join(project, 'moved'));
          renameSync(write('plain'), path.join(project, 'moved/.netrc'));
          symlinkSync('.env', path.join(project, 'link.txt'));
          write('account.json', '{ "type": "service_account", "private_key": "SECRET" }');
          write('terraform.tfstate.backup');
          write('.env.example', 'TOKEN=\n');
          write('fresh.txt', 'fresh\n');
          write('other.json', '{"type": 1}');
        }),
      );
      expect(read).toEqual([...names.slice(0, 15).map(() => ''), 'TOKEN=', 'readme', 'fresh', '{"type": 1}']);
    },
  );

  test('are not read by other ways to the same file', async () => {
    const { write, run } = await openWorld(executor);
    write('.env');
    const read = await output(
      run(
        `wait()
folder = os.open('.', os.O_RDONLY)
path = os.open('.env', os.O_PATH)
here = os.getcwd()
os.symlink(here + '/.env', os.environ['HOME'] + '/link')
os.symlink(here, os.environ['HOME'] + '/folder')
ways = ['./.env', '//' + here + '//.env', 'sub/../.env', here + '/sub/./../.env', '/proc/self/cwd/.env', '/proc/self/fd/%d' % path,
  '/proc/self/fd/%d/.env' % folder, '/proc/thread-self/cwd/.env', '/dev/fd/%d' % path, os.environ['HOME'] + '/link',
  os.environ['HOME'] + '/folder/.env', '/proc/%d/root' % os.getpid() + here + '/.env']
show([read(way) for way in ways] + [read('.env', os.O_RDWR), read('.env', os.O_RDONLY | os.O_NONBLOCK)])`,
        () => {
          write('.env.new');
          write('sub/x');
          renameSync(write('.env.tmp'), write('.env'));
        },
      ),
    );
    expect(new Set(JSON.stringify(read).match(/SECRET/g))).toEqual(new Set());
  });

  test('are not read by a program that changes the path or the folder while it is opened', async () => {
    const { project, write, run } = await openWorld(executor);
    write('plain.txt', 'plain\n');
    const seen = await output(
      run(
        `import ctypes
wait()
libc = ctypes.CDLL(None, use_errno=True)
name = ctypes.create_string_buffer(b'plain.txt')
folders = [os.open('.', os.O_RDONLY), os.open('secret', os.O_RDONLY)]
shared = os.dup(folders[0])
over = False
def swap():
    while not over:
        name.value = b'.env'
        os.dup2(folders[1], shared)
        name.value = b'plain.txt'
        os.dup2(folders[0], shared)
threads = [threading.Thread(target=swap) for _ in range(2)]
for thread in threads: thread.start()
seen = set()
for _ in range(1500):
    file = libc.openat(shared, name, os.O_RDONLY)
    if file < 0: continue
    seen.add(os.read(file, 100).decode().strip())
    os.close(file)
over = True
show(sorted(seen - {''}))`,
        () => {
          renameSync(write('.env.tmp'), path.join(project, '.env'));
          write('secret/.env');
          write('secret/plain.txt', 'plain\n');
        },
      ),
    );
    expect(seen).toEqual(['plain']);
  });

  test('are not read after the program renamed or linked them, and ordinary files are', async () => {
    const { project, write, run } = await openWorld(executor, { access: 'write' });
    write('docs/a.txt', 'a\n');
    for (const name of ['docs', 'docs/a.txt']) chmodSync(path.join(project, name), 0o777);
    const result = await output(
      run(
        `wait()
show([
  attempt(os.rename, 'late/.env', 'late/x'), attempt(os.link, 'late/.env', 'late/y'), attempt(os.rename, 'late/.aws', 'late/z'),
  attempt(os.rename, 'late/.cargo', 'late/cargo'), attempt(os.rename, 'late/.env', os.environ['HOME'] + '/x'),
  attempt(os.link, 'late/.env', os.environ['HOME'] + '/y'),
] + [read(name) for name in ['late/x', 'late/y', 'late/z/credentials', 'late/cargo/credentials', os.environ['HOME'] + '/x', os.environ['HOME'] + '/y']] + [
  attempt(os.rename, 'docs/a.txt', 'docs/b.txt'), read('docs/b.txt'), attempt(os.link, 'docs/b.txt', 'docs/c.txt'), read('docs/c.txt'),
  attempt(os.mkdir, 'docs/more'), attempt(os.rename, 'docs/more', 'docs/less'), attempt(os.rename, 'docs/c.txt', 'docs/less/c.txt'),
  read('docs/less/c.txt'), attempt(os.mkdir, 'docs/less'), attempt(os.rename, 'none', 'docs/d'),
])`,
        () => {
          for (const name of ['late/.env', 'late/.aws/credentials', 'late/.cargo/credentials'])
            chmodSync(write(name), 0o666);
          for (const name of ['late', 'late/.aws', 'late/.cargo']) chmodSync(path.join(project, name), 0o777);
        },
      ),
    );
    expect(JSON.stringify(result)).not.toContain('SECRET');
    expect([result].flat().slice(0, 4)).toEqual(['EACCES', 'EACCES', 'EACCES', 'EACCES']);
    expect([result].flat().slice(12)).toEqual([
      'done',
      'a',
      'done',
      'a',
      'done',
      'done',
      'done',
      'a',
      'EEXIST',
      'ENOENT',
    ]);
    expect(readFileSync(path.join(project, 'late/.env'), 'utf8')).toBe('SECRET\n');
  });

  test('a program creates, changes and reads its own files in a writable project as usual', async () => {
    const { project, run } = await openWorld(executor, { access: 'write' });
    const result = await output(
      run(`import subprocess, tempfile, shutil, stat
os.umask(0o027)
os.makedirs('build/a/b')
open('build/a/b/one.txt', 'w').write('one\\n')
with open('build/a/b/one.txt', 'r+') as file:
    file.write('ONE'); file.seek(0); again = file.read().strip()
mode = oct(stat.S_IMODE(os.stat('build/a/b/one.txt').st_mode))
exclusive = attempt(os.open, 'build/a/b/one.txt', os.O_CREAT | os.O_EXCL | os.O_WRONLY)
shutil.copytree('build', 'copied')
shutil.move('copied/a', 'moved')
with tempfile.NamedTemporaryFile('w+', dir='.') as file:
    file.write('temporary'); file.seek(0); temporary = file.read()
os.mkfifo('pipe')
shell = subprocess.run(['sh', '-c', 'echo piped > pipe & cat pipe; wait; cat < README.md; cat /dev/stdin < build/a/b/one.txt; find . -name one.txt | sort; (cd moved/b && cat one.txt)'],
  capture_output=True, text=True)
open('.env', 'w').write('MINE\\n')
show([again, mode, exclusive, temporary, shell.stdout.split(), shell.stderr, read('.env'), attempt(os.remove, '.env')])`),
    );
    expect(result).toEqual([
      'ONE',
      '0o640',
      'EEXIST',
      'temporary',
      ['piped', 'readme', 'ONE', './build/a/b/one.txt', './moved/b/one.txt', 'ONE'],
      '',
      '',
      'done',
    ]);
    expect(existsSync(path.join(project, 'moved/b/one.txt'))).toBe(true);
  });

  test('a project of 10,000 files is read in full, and its packages are free', async () => {
    const { project, write, run } = await openWorld(executor);
    for (let folder = 0; folder < 100; folder += 1) {
      mkdirSync(path.join(project, `d${String(folder)}`));
      for (let file = 0; file < 100; file += 1)
        writeFileSync(path.join(project, `d${String(folder)}/f${String(file)}.txt`), 'x\n');
    }
    write('node_modules/tls/test.pem', 'test\n');
    copyFileSync('/bin/true', write('tool'));
    chmodSync(path.join(project, 'tool'), 0o755);
    const result = await output(
      run(
        `import subprocess
wait()
show([sum(read('d%d/f%d.txt' % (a, b)) == 'x' for a in range(100) for b in range(100)), read('d99/.env'), read('node_modules/tls/test.pem'),
  subprocess.run(['./tool']).returncode])`,
        () => write('d99/.env'),
      ),
    );
    expect(result).toEqual([10_000, '', 'test', 0]);
  });
});
