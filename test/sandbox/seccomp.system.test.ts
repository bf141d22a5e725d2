import { describe, expect, test } from 'vitest';

import { ALLOW, encodeProgram, errno } from '../../src/sandbox/executors/seccomp/bpf.ts';
import {
  ALLOWED_CALLS,
  CHECKED_CALLS,
  REFUSED_CALLS,
  UNCOUNTED_MEMORY,
  type CallRule,
} from '../../src/sandbox/executors/seccomp/calls.ts';
import { ARCHITECTURE_IDS, KILL, seccompBytes, seccompFilter } from '../../src/sandbox/executors/seccomp/filter.ts';
import {
  SECCOMP_ARCHITECTURES,
  SYSTEM_CALLS,
  type SeccompArchitecture,
} from '../../src/sandbox/executors/seccomp/system-calls.ts';
import { verifies } from '../conformance/verifies.ts';
import { decodeProgram, listing, runFilter, verdictOf } from './bpf-simulator.ts';
import { collected, openBubblewrap } from './sandbox.ts';
import { needs, skipUnless } from '../needs.ts';

const NOT_PERMITTED = errno(1);
const NOT_IMPLEMENTED = errno(38);
const NO_SUCH_FAMILY = errno(97);

/** A call by name, with the program read back from its bytes. */
function verdict(
  architecture: SeccompArchitecture,
  name: string,
  args: readonly bigint[] = [],
  further: readonly CallRule[] = [],
): number | undefined {
  const number = SYSTEM_CALLS[architecture][name];
  if (number === undefined) return undefined;
  const program = decodeProgram(seccompBytes(architecture, further));
  return verdictOf(program, { number, architecture: ARCHITECTURE_IDS[architecture], args });
}

describe.each(SECCOMP_ARCHITECTURES)('the filter for %s', (architecture) => {
  const names = new Map(Object.entries(SYSTEM_CALLS[architecture]).map(([name, number]) => [number ?? -1, name]));

  test('matches the reviewed golden file', async () => {
    const bytes = seccompBytes(architecture);
    const hex = Buffer.from(bytes).toString('hex').replaceAll(/.{16}/g, '$&\n');
    await expect(hex).toMatchFileSnapshot(`golden/seccomp-${architecture}.hex`);
    await expect(listing(decodeProgram(bytes), names, ARCHITECTURE_IDS[architecture])).toMatchFileSnapshot(
      `golden/seccomp-${architecture}.txt`,
    );
  });

  test('reads back as it was written, ends every way with a verdict, and fits the kernel', () => {
    const program = seccompFilter(architecture);
    expect(decodeProgram(encodeProgram(program))).toEqual(program);
    expect(program.length).toBeLessThan(4096);
    for (const [at, { code, whenTrue, whenFalse }] of program.entries())
      if (code !== 0x06) expect(at + 1 + Math.max(whenTrue, whenFalse)).toBeLessThan(program.length);
  });

  test('every denied call is denied with any arguments', () => {
    const known = REFUSED_CALLS.filter((name) => SYSTEM_CALLS[architecture][name] !== undefined);
    const ones = Array.from({ length: 6 }, () => -1n);
    const verdicts = known.flatMap((name) => [verdict(architecture, name), verdict(architecture, name, ones)]);
    expect(new Set(verdicts)).toEqual(new Set([NOT_PERMITTED]));
    expect(known.length).toBeGreaterThan(55);
  });

  test('is an allow-list: what it does not name fails with ENOSYS, also the calls of later kernels', () => {
    const program = decodeProgram(seccompBytes(architecture));
    const id = ARCHITECTURE_IDS[architecture];
    const named = new Set([...ALLOWED_CALLS, ...REFUSED_CALLS, ...CHECKED_CALLS.flatMap(({ calls }) => calls)]);
    const others = Array.from({ length: 2000 }, (_, number) => number).filter(
      (number) => !named.has(names.get(number) ?? ''),
    );
    expect(new Set(others.map((number) => verdictOf(program, { number, architecture: id })))).toEqual(
      new Set([NOT_IMPLEMENTED]),
    );
    expect(others.length).toBeGreaterThan(1500);
    for (const name of ALLOWED_CALLS)
      if (SYSTEM_CALLS[architecture][name] !== undefined) expect(verdict(architecture, name), name).toBe(ALLOW);
  });

  test('without a control group, memory that belongs to no process is bounded', () => {
    const judged = (name: string, ...args: readonly bigint[]): number | undefined =>
      verdict(architecture, name, args, UNCOUNTED_MEMORY);
    expect({
      memfd: judged('memfd_create', 0n, 0n),
      vmsplice: judged('vmsplice', 0n, 0n),
      queue: judged('msgget', 0n, 0n),
      segments: [16n << 10n, (16n << 10n) + 1n, 1n << 32n].map((bytes) => judged('shmget', 0n, bytes)),
      semaphores: [16n, 17n].map((count) => judged('semget', 0n, count)),
      buffers: [7n, 8n, 32n, 33n].map((option) => judged('setsockopt', 3n, 1n, option)),
      others: [judged('setsockopt', 3n, 1n, 2n), judged('setsockopt', 3n, 6n, 7n), judged('openat', 0n, 0n, 0n)],
    }).toEqual({
      memfd: NOT_IMPLEMENTED,
      vmsplice: NOT_IMPLEMENTED,
      queue: NOT_IMPLEMENTED,
      segments: [ALLOW, errno(12), errno(12)],
      semaphores: [ALLOW, errno(22)],
      buffers: [errno(0), errno(0), errno(0), errno(0)],
      others: [ALLOW, ALLOW, ALLOW],
    });
  });

  test('every call is decided within a few instructions', () => {
    const program = decodeProgram(seccompBytes(architecture));
    const steps = Array.from(
      { length: 1000 },
      (_, number) => runFilter(program, { number, architecture: ARCHITECTURE_IDS[architecture] }).steps,
    );
    // Two loads, the processor, at most eight halvings, and the longest rule.
    expect(Math.max(...steps)).toBeLessThanOrEqual(24);
  });

  test("another processor's calls kill", () => {
    const program = seccompFilter(architecture);
    const others = [0x40000003, 0x40000028, 0xc000003e, 0xc00000b7, 0, 0xffffffff].filter(
      (id) => id !== ARCHITECTURE_IDS[architecture],
    );
    for (const other of others)
      for (const number of [0, 1, 56, 101, 0x40000000])
        expect(verdictOf(program, { number, architecture: other })).toBe(KILL);
  });

  test('calls with flags in memory fail with ENOSYS', () => {
    expect([verdict(architecture, 'clone3'), verdict(architecture, 'openat2')]).toEqual([
      NOT_IMPLEMENTED,
      NOT_IMPLEMENTED,
    ]);
  });

  test('clone makes threads and processes and no namespace', () => {
    const SIGCHLD = 17n;
    const threads = 0x3d0f00n;
    expect([verdict(architecture, 'clone', [SIGCHLD]), verdict(architecture, 'clone', [threads])]).toEqual([
      ALLOW,
      ALLOW,
    ]);
    const namespaces = [
      0x00020000n,
      0x02000000n,
      0x04000000n,
      0x08000000n,
      0x10000000n,
      0x20000000n,
      0x40000000n,
      0x7e020000n,
    ];
    expect(namespaces.map((flag) => verdict(architecture, 'clone', [flag | SIGCHLD]))).toEqual(
      namespaces.map(() => NOT_PERMITTED),
    );
  });

  test('nothing can be typed into a terminal, with odd high bits either', () => {
    const requests = [0x5412n, 0x541cn, 0x5423n, 0xdead00005412n];
    expect(requests.map((request) => verdict(architecture, 'ioctl', [0n, request]))).toEqual(
      requests.map(() => NOT_PERMITTED),
    );
    expect(verdict(architecture, 'ioctl', [0n, 0x5413n])).toBe(ALLOW);
  });

  test('sockets are local, of the internet, or list interfaces', () => {
    const allowed = [[1n], [2n], [10n], [16n, 3n, 0n]];
    expect(allowed.map((args) => verdict(architecture, 'socket', args))).toEqual(allowed.map(() => ALLOW));
    // AF_NETLINK with audit, netfilter, generic; AF_PACKET, AF_ALG, AF_VSOCK, AF_XDP, AF_BLUETOOTH, AF_KEY and a family that is no int.
    const refused = [[16n, 3n, 9n], [16n, 3n, 12n], [16n, 3n, 16n], [17n], [38n], [40n], [44n], [31n], [15n], [-1n]];
    expect(refused.map((args) => verdict(architecture, 'socket', args))).toEqual(refused.map(() => NO_SUCH_FAMILY));
  });

  test('the personality can be asked and not changed', () => {
    expect([0n, 0xffffffffn, 0x40000n, 8n].map((value) => verdict(architecture, 'personality', [value]))).toEqual([
      ALLOW,
      ALLOW,
      NOT_PERMITTED,
      NOT_PERMITTED,
    ]);
  });

  test('no file gets the bits that lend rights', () => {
    const mode: Readonly<Record<string, number>> = {
      chmod: 1,
      fchmod: 1,
      fchmodat: 2,
      fchmodat2: 2,
      creat: 1,
      mknod: 1,
      mknodat: 2,
    };
    for (const [name, at] of Object.entries(mode)) {
      if (SYSTEM_CALLS[architecture][name] === undefined) continue;
      const args = (value: bigint): readonly bigint[] => [...Array.from({ length: at }, () => 0n), value];
      expect(
        [0o755n, 0o1777n, 0o4755n, 0o2755n, 0o104755n].map((value) => verdict(architecture, name, args(value))),
      ).toEqual([ALLOW, ALLOW, NOT_PERMITTED, NOT_PERMITTED, NOT_PERMITTED]);
    }
    const O_CREAT = 0o100n;
    const O_TMPFILE = 0o20200000n;
    expect([
      verdict(architecture, 'openat', [0n, 0n, O_CREAT, 0o644n]),
      verdict(architecture, 'openat', [0n, 0n, O_CREAT, 0o4644n]),
      verdict(architecture, 'openat', [0n, 0n, O_TMPFILE, 0o2644n]),
      // Without a new file the mode is whatever lay in the register.
      verdict(architecture, 'openat', [0n, 0n, 0n, 0o6777n]),
    ]).toEqual([ALLOW, NOT_PERMITTED, NOT_PERMITTED, ALLOW]);
  });
});

test('x32 calls do not exist on x64', () => {
  const program = seccompFilter('x64');
  const architecture = ARCHITECTURE_IDS.x64;
  for (const number of [0x40000000, 0x40000000 + 101, 0xffffffff])
    expect(verdictOf(program, { number, architecture })).toBe(NOT_IMPLEMENTED);
});

describe('the kernel', needs('bubblewrap', 'python3'), () => {
  verifies('EXEC-7', 'the kernel refuses to real processes what the filter names', async () => {
    const architecture = process.arch === 'arm64' ? 'arm64' : 'x64';
    const numbers = REFUSED_CALLS.flatMap((name) => SYSTEM_CALLS[architecture][name] ?? []);
    const calls = SYSTEM_CALLS[architecture];
    const script = `
import ctypes, json
libc = ctypes.CDLL(None, use_errno=True)
def call(*words):
    ctypes.set_errno(0)
    result = libc.syscall(*[ctypes.c_long(word) for word in words])
    return ctypes.get_errno() if result == -1 else 0
print(json.dumps({
  "refused": sorted(set(call(number, 0, 0, 0, 0, 0, 0) for number in ${JSON.stringify(numbers)})),
  "clone3": call(${String(calls['clone3'])}, 0, 0),
  "openat2": call(${String(calls['openat2'])}, -100, 0, 0, 0),
  "clone newuser": call(${String(calls['clone'])}, 0x10000011, 0, 0, 0, 0),
  "TIOCSTI": call(${String(calls['ioctl'])}, 0, 0x5412, 0),
  "AF_VSOCK": call(${String(calls['socket'])}, 40, 1, 0),
  "AF_ALG": call(${String(calls['socket'])}, 38, 5, 0),
  "AF_PACKET": call(${String(calls['socket'])}, 17, 3, 0),
  "personality": call(${String(calls['personality'])}, 0x40000),
}))
`;
    const { workspace, close } = await openBubblewrap();
    try {
      const { end, stdout } = await collected(workspace, ['python3', '-c', script]);
      expect([end.reason, end.exitCode]).toEqual(['exited', 0]);
      expect(JSON.parse(stdout)).toEqual({
        refused: [1],
        clone3: 38,
        openat2: 38,
        'clone newuser': 1,
        TIOCSTI: 1,
        AF_VSOCK: 97,
        AF_ALG: 97,
        AF_PACKET: 97,
        personality: 1,
      });
    } finally {
      await close();
    }
  });

  test(
    'a call by the gate of 32 bits ends the program as denied',
    skipUnless(process.arch === 'x64', 'an x64 processor'),
    async () => {
      // mov eax, 20 (getpid there); int 0x80; ret
      const script =
        'import ctypes, mmap; m = mmap.mmap(-1, 4096, prot=7); m.write(bytes.fromhex("b814000000cd80c3")); ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))()';
      const { workspace, close } = await openBubblewrap();
      try {
        const { end } = await collected(workspace, ['python3', '-c', script]);
        expect([end.reason, end.signal]).toEqual(['denied', 'SIGSYS']);
      } finally {
        await close();
      }
    },
  );
});
