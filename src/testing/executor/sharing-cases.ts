import assert from 'node:assert/strict';
import path from 'node:path';
import { writeFileSync } from 'node:fs';

import { isSkillError } from '../../core/errors.ts';
import { Bench, TakenOutput, assertExit } from './bench.ts';
import type { CaseDefinition } from './definition.ts';
import { makeHeartbeat } from './survivors.ts';

const MANY = 20;

async function withSecond(first: Bench, act: (second: Bench) => Promise<void>): Promise<void> {
  const second = await Bench.open({ executor: first.executor, base: first.base });
  try {
    await act(second);
  } finally {
    await second.close();
  }
}

export const SHARING_CASES: readonly CaseDefinition[] = [
  {
    name: 'twenty programs at once each get what is theirs',
    requirement: 'EXEC-7',
    ownWorkspace: true,
    async run(bench) {
      const all = Array.from({ length: MANY }, (_, at) => String(at));
      const runs = await Promise.all(
        all.map(async (number) => {
          const script =
            'read -r line; echo "$NUMBER" > "$RUN_DIR/number"; sleep 0.2; echo "$1 $line $(cat "$RUN_DIR/number")"; echo "err $1" >&2; exit "$1"';
          const ran = await bench.shell(script, { stdin: `line ${number}\n`, env: { NUMBER: number } }, [number]);
          return [ran.stdout.toString('utf8'), ran.stderr.toString('utf8'), ran.end.exitCode, ran.end.reason];
        }),
      );
      const expected = all.map((number) => [
        `${number} line ${number} ${number}\n`,
        `err ${number}\n`,
        Number(number),
        'exited',
      ]);
      assert.deepEqual(runs, expected);
    },
  },
  {
    name: 'two workspaces of one executor keep their files apart',
    requirement: 'EXEC-7',
    async run(bench) {
      await withSecond(bench, async (second) => {
        const script = 'echo "$WHOSE" > work/whose; sleep 0.3; cat work/whose';
        const [one, two] = await Promise.all([
          bench.must(script, { env: { WHOSE: 'first' } }),
          second.must(script, { env: { WHOSE: 'second' } }),
        ]);
        assert.deepEqual([one.stdout.toString('utf8'), two.stdout.toString('utf8')], ['first\n', 'second\n']);
      });
    },
  },
  {
    name: 'a program sees nothing of another workspace',
    requirement: 'EXEC-7',
    isIsolation: true,
    async run(bench) {
      await withSecond(bench, async (second) => {
        await second.must('umask 0; echo of-the-second > out/secret; chmod 777 out work; chmod 666 out/secret');
        const theirs = second.onHost('.');
        const { runFolder } = await bench.shell(
          'cat "$1/out/secret" > "$RUN_DIR/read"; ls "$1" "$1/out" "$(dirname "$1")" > "$RUN_DIR/listed"; echo x > "$1/out/written"; cat "$WORKSPACE_DIR"/../*/out/secret >> "$RUN_DIR/read"; : > "$RUN_DIR/tried"',
          {},
          [path.resolve(theirs)],
        );
        const found = ['read', 'listed', 'tried'].map((name) => bench.read(`${runFolder}/${name}`)?.toString('utf8'));
        // The own one may be seen from above; it holds no such file.
        assert.deepEqual([found[0], found[2], second.read('out/written')], ['', '', undefined]);
        assert.equal(found[1]?.includes('secret'), false);
      });
    },
  },
  {
    name: 'detaching ends what runs',
    requirement: 'EXEC-7',
    ownWorkspace: true,
    needs: { programs: ['setsid'] },
    async run(bench) {
      const heartbeat = makeHeartbeat();
      const stdout = new TakenOutput();
      const prepared = bench.prepare([
        'sh',
        '-c',
        `(setsid ${heartbeat.command} &); ${heartbeat.awaited}; echo ready; sleep 40`,
      ]);
      const running = Promise.allSettled([bench.runPrepared(prepared, { stdout })]);
      await Promise.race([stdout.until('ready\n'), running]);
      await bench.attached.detach();
      await heartbeat.assertGone(bench, prepared.runFolder);
      const [ran] = await running;
      // It may be told as an end or as a failure, but not as an exit of its own.
      if (ran.status === 'fulfilled') assert.notEqual(ran.value.end.reason, 'exited');
      else assert(isSkillError(ran.reason), String(ran.reason));
    },
  },
  {
    name: 'detaching twice is the same as once, and nothing runs afterwards',
    requirement: 'EXEC-7',
    ownWorkspace: true,
    async run(bench) {
      await bench.must('true');
      await Promise.all([bench.attached.detach(), bench.attached.detach()]);
      await bench.attached.detach();
      const prepared = bench.prepare(['sh', '-c', ': > "$RUN_DIR/ran"']);
      await assert.rejects(bench.runPrepared(prepared), isSkillError);
      assert.equal(bench.read(`${prepared.runFolder}/ran`), undefined);
    },
  },
  {
    name: 'what a person puts into work/ between two programs is seen by the second',
    requirement: 'EXEC-7',
    async run(bench) {
      await bench.must('umask 0; mkdir -p work/open');
      writeFileSync(bench.onHost('work/open/by-the-host'), 'hand-made', { mode: 0o644, flag: 'wx' });
      const ran = await bench.shell('cat work/open/by-the-host');
      assertExit(ran, 0);
      assert.equal(ran.stdout.toString('utf8'), 'hand-made');
    },
  },
];
