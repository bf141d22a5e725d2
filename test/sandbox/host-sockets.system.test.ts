import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { Executor } from '../../src/core/execution.ts';
import { landlockExecutor } from '../../src/sandbox/executors/landlock/executor.ts';
import { has, needs, PYTHON } from '../needs.ts';
import { SANDBOXES, collected, openWorkspace } from './sandbox.ts';

/** Listens by every kind of unix socket, and prints a line for each connection and message. */
const LISTEN = String.raw`
import os, selectors, socket, sys
folder = sys.argv[1]
chosen = selectors.DefaultSelector()
os.umask(0)
for name, kind in (("stream", socket.SOCK_STREAM), ("packets", socket.SOCK_SEQPACKET), ("datagrams", socket.SOCK_DGRAM)):
    for address in (folder + "/" + name, "\0" + folder + "/" + name):
        made = socket.socket(socket.AF_UNIX, kind)
        made.bind(address)
        if kind != socket.SOCK_DGRAM: made.listen(64)
        chosen.register(made, selectors.EVENT_READ, (name, kind))
print("ready", flush=True)
while True:
    for key, _ in chosen.select():
        name, kind = key.data
        if kind == socket.SOCK_DGRAM: key.fileobj.recv(64)
        else: key.fileobj.accept()[0].close()
        print(name, flush=True)
`;

/** Tries every way from a new socket, or from one end of a pair, to each of the listeners. */
const ATTACK = String.raw`
import ctypes, os, socket, struct, sys
folder = sys.argv[1]
libc = ctypes.CDLL(None, use_errno=True)
def ends():
    for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET, socket.SOCK_DGRAM, socket.SOCK_RAW):
        for flags in (0, socket.SOCK_NONBLOCK, socket.SOCK_CLOEXEC, socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC, 1 << 32, 1 << 8):
            two = (ctypes.c_int * 2)()
            for protocol in (0, 1):
                if libc.syscall(SOCKETPAIR, ctypes.c_long(1), ctypes.c_long(kind | flags), ctypes.c_long(protocol), two) == 0: yield from two
                made = libc.syscall(SOCKET, ctypes.c_long(1), ctypes.c_long(kind | flags), ctypes.c_long(protocol))
                if made >= 0: yield made
    # The streams of the program may be sockets.
    yield from (0, 1, 2)
for end in list(ends()):
    for name in ("stream", "packets", "datagrams"):
        for address in (folder + "/" + name, "\0" + folder + "/" + name):
            raw = struct.pack("=H", 1) + address.encode()
            data = ctypes.create_string_buffer(b"x", 1)
            libc.sendto(end, data, 1, 0x4000, raw, len(raw))
            class Part(ctypes.Structure): _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
            class Message(ctypes.Structure): _fields_ = [("name", ctypes.c_char_p), ("namelen", ctypes.c_uint), ("parts", ctypes.c_void_p), ("count", ctypes.c_size_t), ("control", ctypes.c_void_p), ("controllen", ctypes.c_size_t), ("flags", ctypes.c_int)]
            part = Part(ctypes.cast(data, ctypes.c_void_p), 1)
            kept = ctypes.create_string_buffer(raw, len(raw))
            message = Message(ctypes.cast(kept, ctypes.c_char_p), len(raw), ctypes.addressof(part), 1, None, 0, 0)
            libc.sendmsg(end, ctypes.byref(message), 0x4000)
            # AF_UNSPEC ends the connection of datagrams.
            libc.connect(end, struct.pack("=H14x", 0), 16)
            if end > 2:
                libc.connect(end, raw, len(raw))
                libc.send(end, data, 1, 0x4000)
print("done")
`;

const SANDBOXED: readonly (readonly [string, () => Executor])[] = [
  ...SANDBOXES.map(([name, make]) => [name, () => make()] as const),
  ...(has('landlock')
    ? [1, 4, undefined].map((maxAbi) => [`landlock ${String(maxAbi)}`, () => landlockExecutor({ maxAbi })] as const)
    : []),
];

/** What programs do with pairs of sockets and pipes. */
const ORDINARY: Readonly<Record<string, readonly string[]>> = {
  'processes of Node': [
    'node',
    '-e',
    `const { fork, execFileSync, spawn } = require('child_process');
     if (process.argv[1] === 'child') process.send('message');
     else {
       require('fs').writeFileSync('child.js', 'process.send("message")');
       const child = fork('child.js');
       child.on('message', (text) => {
         const echo = spawn('cat', { stdio: ['pipe', 'pipe', 'inherit', 'ipc'] });
         echo.stdin.end(text + ' ' + execFileSync('echo', ['piped']));
         echo.stdout.pipe(process.stdout);
       });
     }`,
  ],
  'multiprocessing of Python': [
    'python3',
    '-c',
    String.raw`
import asyncio, multiprocessing, subprocess
def work(pipe): pipe.send("message")
here, there = multiprocessing.Pipe()
child = multiprocessing.get_context("fork").Process(target=work, args=(there,)); child.start()
async def echo():
    made = await asyncio.create_subprocess_exec("echo", "piped", stdout=subprocess.PIPE)
    return (await made.communicate())[0].decode()
print(here.recv(), asyncio.run(echo()), end=""); child.join()`,
  ],
  'substitution of bash': ['bash', '-c', 'cat <(echo message piped) | tee >(cat > /dev/null)'],
};

describe('sockets of the host', needs('linux', 'python3'), () => {
  let folder = '';
  let listener: ChildProcess | undefined;
  const reached: string[] = [];
  const namesReached = (): readonly string[] => [...new Set(reached.join(' ').split(/\s+/).filter(Boolean))].toSorted();

  beforeAll(async () => {
    folder = mkdtempSync('/var/tmp/skillwright-sockets-');
    chmodSync(folder, 0o755);
    mkdirSync(path.join(folder, 'project'));
    listener = spawn(PYTHON, ['-c', LISTEN, path.join(folder, 'project')], { stdio: ['ignore', 'pipe', 'inherit'] });
    const { stdout } = listener;
    if (stdout === null) throw new Error('no output');
    await once(stdout, 'data');
    stdout.on('data', (chunk: Buffer) => reached.push(chunk.toString().trim()));
  });

  afterAll(() => {
    listener?.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  const calls = process.arch === 'arm64' ? { socket: 198, socketpair: 199 } : { socket: 41, socketpair: 53 };
  const attack = ATTACK.replace('SOCKETPAIR', String(calls.socketpair)).replace('SOCKET,', `${String(calls.socket)},`);

  test('the listener is reached by a program outside of a sandbox', async () => {
    const child = spawn(PYTHON, ['-c', attack, path.join(folder, 'project')], { stdio: 'ignore' });
    await once(child, 'exit');
    await expect.poll(namesReached).toEqual(['datagrams', 'packets', 'stream']);
  });

  test.each(SANDBOXED)('are not reached from %s, by no kind of socket', async (_name, make) => {
    const { workspace, close } = await openWorkspace(make());
    try {
      // The runtime covers the sockets of a mounted folder; landlock covers nothing.
      const mounted = [{ source: folder, target: folder, access: 'read' as const }];
      for (const mounts of workspace.capabilities.isolation === 'landlock' ? [[], mounted] : [[]]) {
        reached.splice(0);
        const words = ['python3', '-c', attack, path.join(folder, 'project')];
        const { stdout, stderr } = await collected(workspace, words, { mounts });
        expect([mounts.length, stdout, stderr, namesReached()]).toEqual([mounts.length, 'done\n', '', []]);
      }
    } finally {
      await close();
    }
  });

  describe.each(SANDBOXED)('pairs of sockets in %s', (_name, make) => {
    test.each(Object.entries(ORDINARY))('serve %s', async (_title, words) => {
      const { workspace, close } = await openWorkspace(make());
      try {
        const env = { PATH: `${path.dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin` };
        const { stdout, stderr } = await collected(workspace, words, { env });
        expect([stdout, stderr]).toEqual(['message piped\n', '']);
      } finally {
        await close();
      }
    });
  });
});
