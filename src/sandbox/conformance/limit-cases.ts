import assert from 'node:assert/strict';
import { lstatSync } from 'node:fs';

import { assertExit, type CaseDefinition, conform } from './fixture.ts';

const MEGABYTE = 1024 * 1024;
/** Enough for interpreters and sandboxes to start. */
const MEMORY = 48 * MEGABYTE;

/** Allocates memory and holds it: `tail` keeps all of its input until its output is read. */
function holding(bytes: number, seconds = 3): string {
  return `head -c ${String(bytes)} /dev/zero | tail -c ${String(bytes)} | (sleep ${String(seconds)}; wc -c)`;
}

/** Allocates slowly, so that executors that poll notice it in time. */
const GROWING =
  'i=0; while [ $i -lt 50 ]; do head -c 4194304 /dev/zero; sleep 0.1; i=$((i + 1)); done | tail -c 209715200 | (sleep 10; wc -c)';

/** Keeps ever more files without a name, in the way that its argument names. Others may free disk space at the same time. */
const HOLD_DELETED = `
import ctypes, os, socket, sys, time
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
kept = []
for i in range(400):
    file = os.open("work/deleted", os.O_CREAT | os.O_RDWR)
    os.unlink("work/deleted")
    os.write(file, bytes(4 * 1024 * 1024))
    if sys.argv[1] == "mapped": libc.mmap(None, 4096, 1, 1, file, 0)
    if sys.argv[1] == "sent":
        pair = socket.socketpair()
        socket.send_fds(pair[0], [b"x"], [file])
        kept.append(pair)
    if sys.argv[1] != "open": os.close(file)
    time.sleep(0.02)
time.sleep(20)
`;

const MEMORY_HELD = { needs: { limits: ['memoryBytes'] } } as const;
const PROCESSES_HELD = { needs: { limits: ['processes'] } } as const;
const FILE_HELD = { needs: { limits: ['fileBytes'] } } as const;
const FILES_HELD = { needs: { limits: ['files'] }, ownWorkspace: true } as const;
const DELETES = { needs: { limits: ['diskBytes'], programs: ['python3'] }, ownWorkspace: true } as const;
const DISK_HELD = { needs: { limits: ['diskBytes'] }, ownWorkspace: true } as const;

export const LIMIT_CASES: readonly CaseDefinition[] = [
  conform('EXEC-8', 'a process that takes more and more memory is ended for it', MEMORY_HELD, async (fixture) => {
    const { end, stdout } = await fixture.shell(GROWING, { limits: { memoryBytes: MEMORY } });
    // Without a control group the kernel may refuse the memory to the process before the watch sees it.
    const isRefused = fixture.attached.capabilities.limits.memoryBytes === 'watched' && Number(stdout) === 0;
    assert(end.reason === 'memory' || isRefused, `the end was ${end.reason}, with ${stdout.toString('utf8')} bytes`);
  }),
  conform('EXEC-8', 'memory that is taken all at once is not had', MEMORY_HELD, async (fixture) => {
    const { end, stdout } = await fixture.shell(holding(4 * MEMORY), { limits: { memoryBytes: MEMORY } });
    const had = Number(stdout.toString('utf8').trim());
    assert(end.reason === 'memory' || had < 4 * MEMORY, `${String(had)} bytes, and the end was ${end.reason}`);
  }),
  conform(
    'EXEC-8',
    'processes with more memory than allowed together are ended for it',
    MEMORY_HELD,
    async (fixture) => {
      // Long enough for an executor that polls on a busy machine; one that works ends the program at once.
      const one = holding(MEMORY / 2, 15);
      const { end } = await fixture.shell(`${one} & ${one} & ${one} & ${one} & wait`, {
        limits: { memoryBytes: MEMORY },
      });
      assert.equal(end.reason, 'memory');
    },
  ),
  conform('EXEC-8', 'a program below its limit of memory is left alone', MEMORY_HELD, async (fixture) => {
    const bytes = String(MEMORY / 4);
    const ran = await fixture.shell(`head -c ${bytes} /dev/zero | tail -c ${bytes} | (sleep 0.5; wc -c)`, {
      limits: { memoryBytes: MEMORY },
    });
    assertExit(ran, 0);
    assert.equal(ran.text.trim(), bytes);
  }),
  conform('EXEC-8', 'more processes than allowed are not had at once', PROCESSES_HELD, async (fixture) => {
    const { end, runFolder } = await fixture.shell(
      // They stay until an executor that counts processes from time to time sees them, however slow the machine is.
      'i=0; while [ $i -lt 120 ]; do sleep 60 & i=$((i + 1)); echo $i >> "$RUN_DIR/born"; done; sleep 30',
      { limits: { processes: 24 } },
    );
    const born = (fixture.read(`${runFolder}/born`)?.toString('utf8') ?? '').split('\n').length - 1;
    assert(end.reason === 'processes' || born < 120, `${String(born)} processes, and the end was ${end.reason}`);
  }),
  conform('EXEC-8', 'one file does not grow beyond its limit', FILE_HELD, async (fixture) => {
    const { end } = await fixture.shell(`exec head -c ${String(64 * MEGABYTE)} /dev/zero > out/large`, {
      limits: { fileBytes: 4 * MEGABYTE },
    });
    assert(end.reason === 'disk' || end.exitCode !== 0, `the end was ${end.reason} ${String(end.exitCode)}`);
    const { size } = lstatSync(fixture.onHost('out/large'));
    assert(size <= 4 * MEGABYTE, `${String(size)} bytes`);
  }),
  conform(
    'EXEC-8',
    'many files of too many bytes together end the program for its disk',
    DISK_HELD,
    async (fixture) => {
      const { end } = await fixture.shell(
        'i=0; while [ $i -lt 64 ]; do head -c 1048576 /dev/zero > "work/$i"; i=$((i + 1)); sleep 0.02; done; sleep 20',
        { limits: { diskBytes: 16 * MEGABYTE } },
      );
      assert.equal(end.reason, 'disk');
    },
  ),
  conform('EXEC-8', 'too many files end the program for its disk', FILES_HELD, async (fixture) => {
    const { end } = await fixture.shell(
      'cd work; i=0; while [ $i -lt 400 ]; do : > "$i"; i=$((i + 1)); done; sleep 20',
      { limits: { files: 200 } },
    );
    assert.equal(end.reason, 'disk');
  }),
  conform('EXEC-8', 'deleted files count while they are open, mapped or inside a socket', DELETES, async (fixture) => {
    for (const held of ['open', 'mapped', 'sent']) {
      const { end } = await fixture.run(['python3', '-c', HOLD_DELETED, held], {
        limits: { diskBytes: 16 * MEGABYTE, fileBytes: 8 * MEGABYTE },
      });
      assert.deepEqual([held, end.reason], [held, 'disk']);
    }
  }),
  conform('EXEC-8', 'what is left beyond the limit of a short program is said, too', DISK_HELD, async (fixture) => {
    const { end } = await fixture.shell('head -c 20000000 /dev/zero > out/large', {
      limits: { diskBytes: 4 * MEGABYTE },
    });
    assert.equal(end.reason, 'disk');
  }),
];
