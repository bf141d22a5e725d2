import assert from 'node:assert/strict';
import { chmodSync, lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';

import { SYSTEM_CALLS } from '../executors/seccomp/system-calls.ts';
import { assertExit, type CaseDefinition, conform } from './fixture.ts';

const MEGABYTE = 1024 * 1024;
const MEMORY = 96 * MEGABYTE;
const DISK = 32 * MEGABYTE;
/** What a program can write between two looks at the disk, on a busy machine. */
const OVERSHOOT = 1024 * MEGABYTE;

const PYTHON = { programs: ['python3'] } as const;

/** Calls that must fail with EPERM or ENOSYS, each with arguments by which it would otherwise do something or fail in another way. */
const FORBIDDEN: Readonly<Record<string, readonly number[]>> = {
  io_uring_setup: [8, 0],
  userfaultfd: [0],
  bpf: [0, 0, 0],
  keyctl: [0, -3, 1],
  add_key: [0, 0, 0, 0, -3],
  ptrace: [16, 1, 0, 0],
  process_vm_readv: [1, 0, 0, 0, 0, 0],
  pidfd_getfd: [0, 0, 0],
  mount: [0, 0, 0, 0, 0],
  fsopen: [0, 0],
  pivot_root: [0, 0],
  chroot: [0],
  unshare: [0x10000000],
  setns: [0, 0],
  clone: [0x10000011, 0, 0, 0, 0],
  clone3: [0, 0],
  perf_event_open: [0, 0, -1, -1, 0],
  kexec_load: [0, 0, 0, 0],
  init_module: [0, 0, 0],
  open_by_handle_at: [-100, 0, 0],
  memfd_secret: [0],
  fanotify_init: [0, 0],
  swapon: [0, 0],
  settimeofday: [0, 0],
};

/** Prints as JSON which calls did not fail as they must. */
function callScript(): string {
  const calls = SYSTEM_CALLS[process.arch === 'arm64' ? 'arm64' : 'x64'];
  const attempts = Object.entries(FORBIDDEN).flatMap(([name, args]) => {
    const number = calls[name];
    return number === undefined ? [] : [[name, number, ...args]];
  });
  return `
import ctypes, json
libc = ctypes.CDLL(None, use_errno=True)
def call(*words):
    ctypes.set_errno(0)
    return ctypes.get_errno() if libc.syscall(*[ctypes.c_long(word) for word in words]) == -1 else 0
wrong = {name: got for name, *words in ${JSON.stringify(attempts)} for got in [call(*words)] if got not in (1, 38)}
wrong.update({number: got for number in (500, 700, 2000, 100000) for got in [call(number, 0, 0, 0)] if got != 38})
print(json.dumps(wrong))
`;
}

/** Each tries to hold four times the limit in memory that belongs to no process, and writes how much it holds. */
const HIDDEN_MEMORY: Readonly<Record<string, string>> = {
  memfd: `
held = []
while total < ${String(4 * MEMORY)}:
    held.append(os.memfd_create("x")); os.write(held[-1], b"x" * 4194304); had(4194304)
`,
  'System V': `
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
while total < ${String(4 * MEMORY)}:
    segment = libc.shmget(0, 4194304, 0o1600)
    if segment < 0: raise OSError(ctypes.get_errno(), "shmget")
    place = libc.shmat(segment, None, 0)
    ctypes.memset(place, 1, 4194304); libc.shmdt(ctypes.c_void_p(place)); had(4194304)
`,
  sockets: `
import socket
for child in range(4):
    held = []
    try:
        while True:
            one, other = socket.socketpair()
            one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 24); one.setblocking(False)
            held.append((one, other))
            try:
                while True: had(one.send(b"x" * 65536))
            except BlockingIOError: pass
    except OSError: pass
    if os.fork() > 0: time.sleep(6); os._exit(0)
    for pair in held: pair[0].close(); pair[1].close()
`,
};

function hidingScript(body: string): string {
  return `
import os, time
total = 0
file = os.open(os.environ["RUN_DIR"] + "/held", os.O_CREAT | os.O_WRONLY)
def had(count):
    global total
    total += count
    # The program may be killed at any time, so the file is never empty in between.
    os.pwrite(file, b"%20d" % total, 0)
try:
    exec(${JSON.stringify(body)})
except OSError as error: print(error)
time.sleep(2)
`;
}

/** Blocks of all files below a folder that programs wrote. */
function bytesBelow(folder: string): number {
  return readdirSync(folder, { withFileTypes: true, recursive: true }).reduce((sum, entry) => {
    const stats = lstatSync(path.join(entry.parentPath, entry.name), { throwIfNoEntry: false });
    return sum + (stats?.blocks ?? 0) * 512;
  }, 0);
}

const HIDES = { isIsolation: true, needs: { ...PYTHON, limits: ['memoryBytes'] } } as const;
const CALLS = { isIsolation: true, needs: PYTHON };

export const KERNEL_CASES: readonly CaseDefinition[] = [
  conform(
    'EXEC-7',
    'the kernel refuses calls that no program needs, and knows none of later versions',
    CALLS,
    async (fixture) => {
      const ran = await fixture.run(['python3', '-c', callScript()]);
      assertExit(ran, 0);
      assert.deepEqual(JSON.parse(ran.text), {});
    },
  ),
  conform('EXEC-8', 'memory in anonymous files, System V segments and sockets is bounded', HIDES, async (fixture) => {
    const outcomes = await Promise.all(
      Object.entries(HIDDEN_MEMORY).map(async ([name, body]) => {
        const { end, runFolder } = await fixture.run(['python3', '-c', hidingScript(body)], {
          limits: { memoryBytes: MEMORY },
        });
        const held = Number(fixture.read(`${runFolder}/held`)?.toString('utf8') ?? 0);
        return end.reason === 'memory' || held < MEMORY ? [] : [`${name}: ${String(held)} bytes, ${end.reason}`];
      }),
    );
    assert.deepEqual(outcomes.flat(), []);
  }),
  conform(
    'EXEC-8',
    'disk space can neither be reserved at once nor hidden in a closed folder',
    { isIsolation: true, ownWorkspace: true, needs: { ...PYTHON, limits: ['diskBytes', 'fileBytes'] } },
    async (fixture) => {
      const script = `
import os, time
os.mkdir("work/closed"); os.chmod("work/closed", 0o300)
for i in range(40): os.posix_fallocate(os.open("work/closed/%d" % i, os.O_CREAT | os.O_WRONLY), 0, 60000000)
time.sleep(20)
`;
      const { end } = await fixture.run(['python3', '-c', script], { limits: { diskBytes: DISK } });
      assert.equal(end.reason, 'disk');
      chmodSync(fixture.onHost('work/closed'), 0o700);
      const left = bytesBelow(fixture.onHost('work'));
      assert(left < DISK + OVERSHOOT, `${String(left)} bytes`);
    },
  ),
  conform('EXEC-7', 'a program cannot write to, trace or enter process 1', CALLS, async (fixture) => {
    const { isolation } = fixture.attached.capabilities;
    const script = `
import glob, json, os
won = []
for file in ["/proc/1/mem", "/proc/1/task/1/mem", *glob.glob("/proc/*/root/proc/1/mem")]:
    try: open(file, "r+b"); won.append(file)
    except OSError: pass
for file in ["/proc/1/environ", "/proc/1/maps", "/proc/1/root/etc/passwd", "/proc/1/fd/0"]:
    try: open(file, "rb").read(1); won.append(file)
    except OSError: pass
for number in (9, 19):
    try: os.kill(1, number)
    except OSError: pass
# Process 1 of these two belongs to the launcher and is covered.
if "${isolation}" in ("bubblewrap", "namespaces"): won += os.listdir("/proc/1")
print(json.dumps(won))
`;
    const ran = await fixture.run(['python3', '-c', script]);
    assertExit(ran, 0);
    assert.deepEqual(JSON.parse(ran.text), []);
  }),
];
