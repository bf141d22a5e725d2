import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import type { Aftermath, AttackCase } from './attack-case.ts';
import { filesBelow } from './attack-host.ts';

const MIB = 1024 * 1024;
/** Small limits show the same as large ones and are reached sooner. */
const MEMORY = 96 * MIB;
const DISK = 16 * MIB;
/** What a program can write between two looks at the disk, on a busy machine. */
const OVERSHOOT = 1024 * MIB;

function leftBytes(root: string): number {
  return filesBelow(root).reduce((total, { bytes }) => total + bytes, 0);
}

/** A heartbeat that a survivor would go on writing. */
async function stillBeats({ read }: Aftermath): Promise<readonly string[]> {
  const before = read('heartbeat').length;
  await delay(400);
  return read('heartbeat').length === before ? [] : ['a process survived'];
}

const beat = (root: string): string => `while :; do echo x >> ${root}/out/heartbeat; sleep 0.05; done`;

/** Cases 8 to 10, 13 to 17 and 31: what may be used of the machine. */
export const limitAttacks: readonly AttackCase[] = [
  {
    number: 8,
    name: 'starts 600 processes',
    language: 'python3',
    script: ({ root }) => `
import os, time
born = 0
for i in range(600):
    try:
        if os.fork() == 0: time.sleep(20); os._exit(0)
        born += 1
    except OSError: pass
    open("${root}/out/born", "w").write(str(born))
time.sleep(3)
`,
    reasons: ['processes'],
    judge: ({ read, limits }) => (Number(read('born')) <= limits.processes ? [] : [`${read('born')} processes`]),
  },
  {
    number: 9,
    name: 'takes 1.5 GiB in one process',
    language: 'python3',
    script: ({ root }) => `
held = []
for i in range(96):
    held.append(bytearray(b"x") * (16 * 1024 * 1024))
    open("${root}/out/held", "w").write(str((i + 1) * 16))
`,
    limits: { memoryBytes: MEMORY },
    // Without control groups the program is refused the memory and ends by itself.
    reasons: ['memory', 'exited'],
    judge: ({ read, limits }) => (Number(read('held')) * MIB <= limits.memoryBytes ? [] : [`${read('held')} MiB`]),
  },
  {
    number: 9,
    name: 'fills page tables instead of pages',
    language: 'python3',
    script: ({ root }) => `
import mmap, time
# PROT_READ of MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE: each byte that is read needs a table and no page.
held = mmap.mmap(-1, 96 << 30, flags=0x4022, prot=1)
for at in range(0, 96 << 30, 2 << 20): held[at]
time.sleep(10)
open("${root}/out/held", "w").write("all")
`,
    limits: { memoryBytes: MEMORY },
    reasons: ['memory'],
    judge: ({ read }) => (read('held') === '' ? [] : ['it had 192 MiB']),
  },
  {
    number: 9,
    name: 'takes 16 times 20 MiB in as many processes',
    language: 'python3',
    script: ({ root }) => `
import os, time
for i in range(16):
    if os.fork() == 0:
        held = bytearray(b"x") * (20 * 1024 * 1024)
        time.sleep(20); os._exit(0)
for i in range(16): os.wait()
open("${root}/out/held", "w").write("all")
`,
    limits: { memoryBytes: MEMORY },
    reasons: ['memory'],
    judge: ({ read }) => (read('held') === '' ? [] : ['they all had it']),
  },
  {
    number: 10,
    name: 'shares memory between processes to hide it',
    language: 'python3',
    script: ({ root }) => `
import mmap, time
held = [mmap.mmap(-1, 32 * 1024 * 1024) for i in range(8)]
for memory in held:
    for at in range(0, len(memory), 4096): memory[at] = 1
time.sleep(20)
open("${root}/out/held", "w").write("all")
`,
    limits: { memoryBytes: MEMORY },
    reasons: ['memory'],
    judge: ({ read }) => (read('held') === '' ? [] : ['it had all of it']),
  },
  {
    number: 10,
    name: 'writes one file that is too large, and one that is sparse',
    language: 'sh',
    script: ({ root }) =>
      `trap '' XFSZ; truncate -s 1T ${root}/out/sparse; head -c 300000000 /dev/zero > ${root}/out/large; true`,
    judge: ({ root, limits }) =>
      filesBelow(path.join(root, 'out'))
        .filter(({ bytes }) => bytes > limits.fileBytes)
        .map((file) => file.path),
  },
  {
    number: 10,
    name: 'writes many files that are too much together',
    language: 'sh',
    script: ({ root }) => `i=0; while :; do head -c 4194304 /dev/zero > ${root}/work/$i; i=$((i + 1)); done`,
    limits: { diskBytes: DISK },
    reasons: ['disk'],
    judge: ({ root, limits }) =>
      leftBytes(root) <= limits.diskBytes + OVERSHOOT ? [] : [`${String(leftBytes(root))} bytes`],
  },
  {
    number: 10,
    name: 'hides files below paths that are too long, and under names that are no text',
    language: 'python3',
    script: ({ root }) => `
import os, time
os.chdir("${root}/work")
os.mkdir(b"\\xff\\xfe"); os.chdir(b"\\xff\\xfe")
for i in range(40):
    os.mkdir("d" * 200); os.chdir("d" * 200)
for i in range(8):
    open("x%d" % i, "wb").write(b"x" * (4 * 1024 * 1024))
time.sleep(20)
`,
    limits: { diskBytes: DISK },
    reasons: ['disk'],
    judge: () => [],
  },
  {
    number: 10,
    name: 'makes 200,000 empty files',
    language: 'python3',
    script: ({ root }) => `
import time
for i in range(200000): open("${root}/work/%d" % i, "w").close()
time.sleep(20)
`,
    // How many there are when the limit is noticed depends on how busy the machine is.
    reasons: ['disk'],
    judge: () => [],
  },
  {
    number: 10,
    name: 'fills /tmp and /dev/shm',
    language: 'sh',
    script: ({ root }) => `
trap '' XFSZ
for folder in /tmp /dev/shm; do
  i=0; while [ $i -lt 20 ]; do head -c 16777216 /dev/zero > $folder/$i || break; i=$((i + 1)); done 2>/dev/null
  [ $i -lt 20 ] || echo $folder >> ${root}/out/filled
done; true`,
    judge: ({ read }) => read('filled').split('\n').filter(Boolean),
  },
  {
    number: 10,
    name: 'makes files without end in /tmp',
    language: 'python3',
    script: ({ root }) => `
for i in range(400000): open("/tmp/%d" % i, "w").close()
open("${root}/out/made", "w").write("all")
`,
    // What the kernel needs for them counts as memory where there are control groups.
    reasons: ['disk', 'memory'],
    judge: ({ read }) => (read('made') === '' ? [] : ['it made all of them']),
  },
  {
    number: 13,
    name: 'leaves a process with a session of its own when its time is up',
    language: 'sh',
    script: ({ root }) => `(setsid sh -c 'trap "" TERM HUP INT; (${beat(root)}) &' &); sleep 60`,
    limits: { wallMs: 1000 },
    reasons: ['timeout'],
    judge: stillBeats,
  },
  {
    number: 14,
    name: 'leaves a process without its parents, group, session and environment when it ends',
    language: 'sh',
    script: ({ root }) => `(setsid sh -c '(env -i setsid sh -c "${beat(root)}" > /dev/null 2>&1 &) &' &); sleep 0.05`,
    reasons: ['exited'],
    judge: stillBeats,
  },
  {
    number: 14,
    name: 'leaves a process that holds the output when it ends',
    language: 'sh',
    script: ({ root }) => `(setsid sh -c '${beat(root)}' &); exit 0`,
    reasons: ['exited'],
    judge: stillBeats,
  },
  {
    number: 15,
    name: 'does not hear that it should end',
    language: 'sh',
    script: ({ root }) => `trap '' TERM INT HUP QUIT; ${beat(root)}`,
    limits: { wallMs: 700 },
    reasons: ['timeout'],
    judge: stillBeats,
  },
  {
    number: 16,
    name: 'runs in circles',
    language: 'sh',
    script: () => 'while :; do :; done & while :; do :; done & while :; do :; done',
    limits: { wallMs: 400 },
    reasons: ['timeout'],
    judge: () => [],
  },
  {
    number: 17,
    name: 'writes without end',
    language: 'sh',
    script: () => 'yes',
    reasons: ['output'],
    judge: ({ outputBytes, limits }) => (outputBytes <= limits.outputBytes ? [] : [`${String(outputBytes)} bytes`]),
  },
  {
    number: 17,
    name: 'writes one line without end, and bytes that are no text',
    language: 'sh',
    script: () => 'cat /dev/zero & cat /dev/urandom >&2 & wait',
    reasons: ['output'],
    judge: () => [],
  },
  {
    number: 31,
    name: 'makes the machine so busy that time is forgotten',
    language: 'sh',
    script: () => 'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do (while :; do :; done) & done; wait',
    limits: { wallMs: 600 },
    reasons: ['timeout'],
    judge: () => [],
  },
];
