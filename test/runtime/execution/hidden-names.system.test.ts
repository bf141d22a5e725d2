import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';

import { verifies } from '../../conformance/verifies.ts';

import { describeHiding, openWorld, output } from './hidden-names-world.ts';

let big: string | undefined;

/** Made once for all executors. */
function bigProject(): string {
  if (big === undefined) {
    big = path.join(mkdtempSync(path.join(tmpdir(), 'big-')), 'project');
    for (let at = 0; at < 10_000; at += 1) {
      const folder = path.join(big, `d${String(Math.floor(at / 100))}`);
      if (at % 100 === 0) mkdirSync(folder, { recursive: true });
      writeFileSync(path.join(folder, `f${String(at % 100)}.txt`), 'x\n');
    }
    mkdirSync(path.join(big, 'node_modules/tls'), { recursive: true });
    writeFileSync(path.join(big, 'node_modules/tls/test.pem'), 'test\n');
    copyFileSync('/bin/true', path.join(big, 'tool'));
    chmodSync(path.join(big, 'tool'), 0o755);
    chmodSync(path.dirname(big), 0o755);
  }
  for (const name of ['go', 'd99/.env']) rmSync(path.join(big, name), { force: true });
  return big;
}

afterAll(() => {
  if (big !== undefined) rmSync(path.dirname(big), { recursive: true });
});

describeHiding('a socket in a project', (executor) => {
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

describeHiding('a named pipe in a project', (executor) => {
  test('is neither written to nor read, in a folder that can be written either', async () => {
    for (const access of ['read', 'write'] as const) {
      const { project, run } = await openWorld(executor, { access });
      const place = path.join(project, 'deep/commands');
      mkdirSync(path.dirname(place));
      execFileSync('mkfifo', ['-m', '666', place]);
      // Open for both, so that no side waits for the other.
      const host = openSync(place, constants.O_RDWR | constants.O_NONBLOCK);
      writeSync(host, 'of the host');
      const use = `import os
def put(name):
    os.write(os.open(name, os.O_WRONLY | os.O_NONBLOCK), b"of the program")
def take(name):
    if os.read(os.open(name, os.O_RDONLY | os.O_NONBLOCK), 100) == b"": raise OSError(5, "nothing")
`;
      const names = JSON.stringify(['deep/commands', `/proc/self/root${place}`, '/proc/self/cwd/deep/commands']);
      const results = await output(run(`${use}show([attempt(act, name) for name in ${names} for act in (put, take)])`));
      const left = Buffer.alloc(100);
      const received = left.toString('utf8', 0, readSync(host, left));
      closeSync(host);
      expect([received, (results as string[]).includes('done')]).toEqual(['of the host', false]);
    }
  });
});

describeHiding('files with secret names in a project', (executor) => {
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
own = os.umask(0o027)
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
show([own, again, mode, exclusive, temporary, shell.stdout.split(), shell.stderr, read('.env'), attempt(os.remove, '.env')])`),
    );
    expect(result).toEqual([
      process.umask(),
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

  test('programs that start and end beside each other get the files that they open', async () => {
    const { run } = await openWorld(executor, { access: 'write' });
    const result = await output(
      run(`import subprocess, threading
wrong = []
def work(pipe):
    os.mkfifo(pipe)
    for _ in range(25):
        shell = subprocess.run(['sh', '-c', f'echo piped > {pipe} & cat {pipe}; wait; cat < README.md; cat /dev/stdin < README.md'], capture_output=True, text=True)
        if (shell.stdout, shell.stderr) != ('piped\\nreadme\\nreadme\\n', ''): wrong.append([shell.stdout, shell.stderr])
threads = [threading.Thread(target=work, args=[f'pipe{number}']) for number in range(6)]
for thread in threads: thread.start()
for thread in threads: thread.join()
show(wrong)`),
    );
    expect(result).toEqual([]);
  });

  test('a program that attacks the broker, or calls it with anything, gets errors and no secret', async () => {
    const { project, write, run } = await openWorld(executor);
    write('folder/x', 'x\n');
    symlinkSync('loop', path.join(project, 'loop'));
    const result = await output(
      run(
        `import ctypes, resource, signal
wait()
libc = ctypes.CDLL(None, use_errno=True)
def call(*words):
    got = libc.openat(-100, *words)
    return got if got >= 0 else errno.errorcode[ctypes.get_errno()]
def parent(pid):
    with open('/proc/%d/stat' % pid) as file: return int(file.read().rsplit(')', 1)[1].split()[1])
# The broker is the parent of the program, or of the shell that starts it.
above, pid = [], os.getpid()
while len(above) < 3 and pid > 1:
    pid = parent(pid)
    above.append(pid)
memory = []
for path in ['/proc/%d/%s' % (pid, name) for pid in above for name in ['mem', 'task/%d/mem' % pid, 'environ']]:
    try:
        with open(path, 'rb') as file: memory.append(os.readlink('/proc/self/fd/%d' % file.fileno()))
    except OSError: pass
# Signals at every moment neither repeat nor lose a call.
ticks = []
signal.signal(signal.SIGALRM, lambda *_: ticks.append(1))
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
interrupted = {read('README.md') for _ in range(300)}
signal.setitimer(signal.ITIMER_REAL, 0)
several = []
threads = [threading.Thread(target=lambda: several.extend(read('README.md') for _ in range(50))) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
libc.prctl(4, 0)
hidden = read('.env')
errors = [call(ctypes.c_void_p(8), 0), call(b'x' * 5000, 0), call(b'', 0), call(b'none', 0), call(b'README.md/x', 0), call(b'loop', 0),
  call(b'folder', os.O_RDWR), call(b'README.md', os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600), call(b'/dev/tty', os.O_RDWR)]
resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
many = call(b'README.md', 0)
broker = above[-1] if len(above) < 3 else above[-2]
show([[name for name in memory if '/%d/' % broker in name], sorted(interrupted), len(ticks) > 0, several == ['readme'] * 400, hidden, errors, many])`,
        () => renameSync(write('.env.tmp'), path.join(project, '.env')),
      ),
    );
    expect(result).toEqual([
      [],
      ['readme'],
      true,
      true,
      '',
      ['EFAULT', 'ENAMETOOLONG', 'ENOENT', 'ENOENT', 'ENOTDIR', 'ELOOP', 'EISDIR', 'EEXIST', 'ENXIO'],
      'EMFILE',
    ]);
  });

  test('a project of 10,000 files is read in full, and its packages are free', async () => {
    const { write, run } = await openWorld(executor, { project: bigProject() });
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
