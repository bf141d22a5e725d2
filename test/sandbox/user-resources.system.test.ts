import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import type { Executor } from '../../src/core/execution.ts';
import { landlockExecutor } from '../../src/sandbox/executors/landlock/executor.ts';
import { namespacesExecutor } from '../../src/sandbox/executors/namespaces/executor.ts';
import { has, needs } from '../needs.ts';
import { SANDBOXES, collected, openWorkspace } from './sandbox.ts';

/** Takes what the kernel gives all processes of a user together. */
const INSTANCES = String.raw`
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
made = 0
while made < 400 and libc.inotify_init1(0) >= 0: made += 1
print(made)
`;
const PIPE = String.raw`
import fcntl, os
here, there = os.pipe()
try: print(fcntl.fcntl(here, 1031, 1 << 20))
except OSError as error: print(error.strerror)
`;

const ALL = [...SANDBOXES, ...(has('landlock') ? [['landlock', landlockExecutor] as const] : [])];

describe('what the kernel gives a user', needs('linux', 'python3'), () => {
  test('a program in namespaces gets a quarter of the inotify instances and watches', needs('namespaces'), async () => {
    const { workspace, close } = await openWorkspace(namespacesExecutor());
    const most = (name: string): number =>
      Math.floor(Number(readFileSync(`/proc/sys/fs/inotify/max_user_${name}`, 'utf8')) / 4);
    try {
      const { stdout } = await collected(workspace, ['python3', '-c', INSTANCES]);
      expect(stdout).toBe(`${String(Math.min(400, most('instances')))}\n`);
      const shown = await collected(workspace, ['cat', '/proc/sys/user/max_inotify_watches']);
      expect(shown.stdout).toBe(`${String(most('watches'))}\n`);
      const raised = await collected(workspace, [
        'sh',
        '-c',
        'echo 9999 > /proc/sys/user/max_inotify_instances || cat /proc/sys/user/max_inotify_instances',
      ]);
      expect(raised.stdout).toBe(`${String(most('instances'))}\n`);
    } finally {
      await close();
    }
  });

  test.each(ALL)('a program in %s cannot enlarge a pipe', async (_name, make) => {
    const { workspace, close } = await openWorkspace(make({}));
    try {
      const { stdout } = await collected(workspace, ['python3', '-c', PIPE]);
      expect(stdout).toBe('Operation not permitted\n');
    } finally {
      await close();
    }
  });
});

/** Sets attributes of a file by its path and by an open file. */
const ATTRIBUTES = String.raw`
import array, ctypes, fcntl, os, sys
won = []
def attempt(name, act):
    try:
        act()
        won.append(name)
    except OSError: pass
libc = ctypes.CDLL(None, use_errno=True)
for file in sys.argv[1:]:
    attempt("setxattr", lambda: os.setxattr(file, "user.x", b"1"))
    attempt("lsetxattr", lambda: os.setxattr(file, "user.y", b"1", follow_symlinks=False))
    attempt("removexattr", lambda: os.removexattr(file, "user.kept"))
    # By a descriptor that only names the file.
    attempt("by name", lambda: os.setxattr(f"/proc/self/fd/{os.open(file, os.O_PATH)}", "user.z", b"1"))
    def opened(act):
        reading = os.open(file, os.O_RDONLY)
        try: act(reading)
        finally: os.close(reading)
    attempt("fsetxattr", lambda: opened(lambda reading: os.setxattr(reading, "user.f", b"1")))
    attempt("fremovexattr", lambda: opened(lambda reading: os.removexattr(reading, "user.kept")))
    # FS_IOC_SETFLAGS with FS_NODUMP_FL, FS_IOC_FSSETXATTR with FS_XFLAG_NODUMP, FS_IOC_ENABLE_VERITY.
    attempt("flags", lambda: opened(lambda reading: fcntl.ioctl(reading, 0x40086602, array.array("l", [0x40]))))
    attempt("extended flags", lambda: opened(lambda reading: fcntl.ioctl(reading, 0x401c5820, array.array("I", [0x80, 0, 0, 0, 0, 0, 0]))))
    attempt("verity", lambda: opened(lambda reading: fcntl.ioctl(reading, 0x40806685, array.array("I", [1, 1, 4096] + [0] * 29))))
print(",".join(won))
`;

/** What only `landlock` leaves open, to an ordinary user. */
const CHANGES = String.raw`
for file in sys.argv[1:]:
    attempt("chmod", lambda: os.chmod(file, 0o777))
    attempt("chown", lambda: os.chown(file, os.getuid(), os.getgid()))
    attempt("utime", lambda: os.utime(file, (0, 0)))
    attempt("fchmod", lambda: opened(lambda reading: os.chmod(reading, 0o777)))
    attempt("futime", lambda: opened(lambda reading: os.utime(reading, (0, 0))))
print(",".join(won))
`;

const ATTACKED: readonly (readonly [string, () => Executor, string])[] = [
  ...SANDBOXES.map(([name, make]) => [name, () => make(), `${ATTRIBUTES}${CHANGES}`] as const),
  ...(has('landlock')
    ? [1, undefined].map(
        (maxAbi) => [`landlock ${String(maxAbi)}`, () => landlockExecutor({ maxAbi }), ATTRIBUTES] as const,
      )
    : []),
];

describe('attributes of files outside', needs('linux', 'python3'), () => {
  test.each(ATTACKED)('cannot be set in %s, in a folder that can be read or not', async (_name, make, attack) => {
    const { workspace, base, executor, close } = await openWorkspace(make());
    const { identity } = executor;
    const files = ['hidden', 'shown'].map((name) => path.join(base, name));
    const [hidden = '', shown = ''] = files;
    chmodSync(base, 0o777);
    for (const file of files) {
      writeFileSync(file, 'content', { mode: 0o644 });
      if (identity !== undefined) chownSync(file, identity.uid, identity.gid);
    }
    const before = files.map((file) => [statSync(file).mode, statSync(file).mtimeMs]);
    try {
      const mounts = [{ source: shown, target: shown, access: 'read' as const }];
      const { stdout, stderr } = await collected(workspace, ['python3', '-c', attack, hidden, shown], { mounts });
      expect([stdout.trim(), stderr]).toEqual(['', '']);
      expect(files.map((file) => [statSync(file).mode, statSync(file).mtimeMs])).toEqual(before);
      const copied = await collected(workspace, ['sh', '-c', `cp -a '${shown}' copy && mv copy moved && cat moved`], {
        mounts,
      });
      expect([copied.stdout, copied.stderr]).toEqual(['content', '']);
    } finally {
      await close();
    }
  });
});

/** Reads the attributes of a file by its path and by a descriptor that only names it; the calls of Linux 6.13 by number. */
const READING = String.raw`
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
file = sys.argv[1]
def named(): return f"/proc/self/fd/{os.open(file, os.O_PATH)}"
def raw(number, *rest):
    room = ctypes.create_string_buffer(4096)
    libc.syscall(number, -100, file.encode(), 0, *[room if one is None else one for one in rest])
    return room.raw
class Wanted(ctypes.Structure): _fields_ = [("value", ctypes.c_uint64), ("size", ctypes.c_uint32), ("flags", ctypes.c_uint32)]
def getxattrat():
    room = ctypes.create_string_buffer(4096)
    wanted = Wanted(ctypes.addressof(room), 4096, 0)
    libc.syscall(464, -100, file.encode(), 0, b"user.private", ctypes.byref(wanted), ctypes.sizeof(wanted))
    return room.raw
seen = []
for name, act in {
    "getxattr": lambda: os.getxattr(file, "user.private"),
    "lgetxattr": lambda: os.getxattr(file, "user.private", follow_symlinks=False),
    "listxattr": lambda: os.listxattr(file),
    "llistxattr": lambda: os.listxattr(file, follow_symlinks=False),
    "by name": lambda: os.getxattr(named(), "user.private"),
    "by descriptor": lambda: os.getxattr(os.open(file, os.O_PATH), "user.private"),
    "getxattrat": getxattrat,
    "listxattrat": lambda: raw(465, None, 4096),
}.items():
    try:
        if "private" in str(act()): seen.append(name)
    except OSError: pass
print(",".join(seen))
`;

describe('attributes of files that a program may not read', needs('linux', 'python3'), () => {
  test.each(ALL)('are not read in %s', async (_name, make) => {
    const { workspace, base, executor, close } = await openWorkspace(make({}));
    const file = path.join(base, 'hidden');
    chmodSync(base, 0o777);
    writeFileSync(file, 'content', { mode: 0o644 });
    const { identity } = executor;
    if (identity !== undefined) chownSync(file, identity.uid, identity.gid);
    const onHost = (code: string): ReturnType<typeof spawnSync> => spawnSync('python3', ['-c', code, file]);
    try {
      const { status } = onHost('import os, sys; os.setxattr(sys.argv[1], "user.private", b"private words")');
      // Nothing stops the attack outside; a file system without attributes has none to read.
      expect(String(onHost(READING).stdout).trim() !== '').toBe(status === 0);
      const { stdout, stderr } = await collected(workspace, ['python3', '-c', READING, file]);
      expect([stdout, stderr]).toEqual(['\n', '']);
    } finally {
      await close();
    }
  });
});
