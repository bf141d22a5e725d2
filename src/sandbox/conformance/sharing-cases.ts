import assert from 'node:assert/strict';
import path from 'node:path';
import { writeFileSync } from 'node:fs';

import { isSkillError } from '#core';
import { ALONE, assertExit, type CaseDefinition, conform, type Fixture, ISOLATED, openFixture } from './fixture.ts';
import { makeHeartbeat } from './heartbeat.ts';

const MANY = 20;

async function withSecond(first: Fixture, act: (second: Fixture) => Promise<void>): Promise<void> {
  const second = await openFixture(first.executor, first.base);
  try {
    await act(second);
  } finally {
    await second.close();
  }
}

const FORKS = { ownWorkspace: true, needs: { programs: ['setsid'] } } as const;

export const SHARING_CASES: readonly CaseDefinition[] = [
  conform('EXEC-7', 'twenty programs at once each get what is theirs', ALONE, async (fixture) => {
    const all = Array.from({ length: MANY }, (_, at) => String(at));
    const runs = await Promise.all(
      all.map(async (number) => {
        const script =
          'read -r line; echo "$NUMBER" > "$RUN_DIR/number"; sleep 0.2; echo "$1 $line $(cat "$RUN_DIR/number")"; echo "err $1" >&2; exit "$1"';
        const ran = await fixture.shell(script, { stdin: `line ${number}\n`, env: { NUMBER: number } }, [number]);
        return [ran.text, ran.stderr.toString('utf8'), ran.end.exitCode, ran.end.reason];
      }),
    );
    const expected = all.map((number) => [
      `${number} line ${number} ${number}\n`,
      `err ${number}\n`,
      Number(number),
      'exited',
    ]);
    assert.deepEqual(runs, expected);
  }),
  conform('EXEC-7', 'two workspaces of one executor keep their files apart', async (fixture) => {
    await withSecond(fixture, async (second) => {
      const script = 'echo "$WHOSE" > work/whose; sleep 0.3; cat work/whose';
      const [one, two] = await Promise.all([
        fixture.mustSucceed(script, { env: { WHOSE: 'first' } }),
        second.mustSucceed(script, { env: { WHOSE: 'second' } }),
      ]);
      assert.deepEqual([one.text, two.text], ['first\n', 'second\n']);
    });
  }),
  conform('EXEC-13', 'a program sees nothing of the private folder of another skill', ISOLATED, async (fixture) => {
    const home = fixture.workspace.homeOf({ name: 'other', source: 'conformance' });
    const script = 'echo "$HOME" > "$HOME/own"; ls -A "$WORKSPACE_DIR/home" 2> /dev/null || basename "$HOME"';
    const own = fixture.prepare(['sh', '-c', script]);
    const { text } = await fixture.runPrepared(own);
    assert.deepEqual(text.split('\n'), [path.basename(own.spec.home ?? ''), '']);
    const other = fixture.prepare(['sh', '-c', 'cat "$1/own"; ls -A "$2"', 'sh', `../../${own.spec.home ?? ''}`, home]);
    const ran = await fixture.runPrepared({ ...other, spec: { ...other.spec, home } });
    assert.equal(ran.text, '');
    assert.equal(
      fixture.read(`${own.spec.home ?? ''}/own`)?.toString('utf8'),
      `${fixture.root}/${own.spec.home ?? ''}\n`,
    );
  }),
  conform('EXEC-7', 'a program sees nothing of another workspace', ISOLATED, async (fixture) => {
    await withSecond(fixture, async (second) => {
      await second.mustSucceed('umask 0; echo of-the-second > out/secret; chmod 777 out work; chmod 666 out/secret');
      const theirs = second.onHost('.');
      const { runFolder } = await fixture.shell(
        'cat "$1/out/secret" > "$RUN_DIR/read"; ls "$1" "$1/out" "$(dirname "$1")" > "$RUN_DIR/listed"; echo x > "$1/out/written"; cat "$WORKSPACE_DIR"/../*/out/secret >> "$RUN_DIR/read"; : > "$RUN_DIR/tried"',
        {},
        [path.resolve(theirs)],
      );
      const found = ['read', 'listed', 'tried'].map((name) => fixture.read(`${runFolder}/${name}`)?.toString('utf8'));
      // The program may list its own workspace, which has no such file.
      assert.deepEqual([found[0], found[2], second.read('out/written')], ['', '', undefined]);
      assert.equal(found[1]?.includes('secret'), false);
    });
  }),
  conform('EXEC-7', 'detaching ends what runs', FORKS, async (fixture) => {
    const heartbeat = makeHeartbeat();
    const { running, runFolder } = await fixture.startReady(heartbeat.forked);
    const settled = Promise.allSettled([running]);
    await fixture.attached.detach();
    await heartbeat.assertGone(fixture, runFolder);
    const [ran] = await settled;
    // An end or a failure is accepted, but not a normal exit.
    if (ran.status === 'fulfilled') assert.notEqual(ran.value.end.reason, 'exited');
    else assert(isSkillError(ran.reason), String(ran.reason));
  }),
  conform('EXEC-7', 'detaching twice is the same as once, and nothing runs afterwards', ALONE, async (fixture) => {
    await fixture.mustSucceed('true');
    await Promise.all([fixture.attached.detach(), fixture.attached.detach()]);
    await fixture.attached.detach();
    const prepared = fixture.prepare(['sh', '-c', ': > "$RUN_DIR/ran"']);
    await assert.rejects(fixture.runPrepared(prepared), isSkillError);
    assert.equal(fixture.read(`${prepared.runFolder}/ran`), undefined);
  }),
  conform('EXEC-7', 'what a person puts into work/ between two programs is seen by the second', async (fixture) => {
    await fixture.mustSucceed('umask 0; mkdir -p work/open');
    writeFileSync(fixture.onHost('work/open/by-the-host'), 'hand-made', { mode: 0o644, flag: 'wx' });
    const ran = await fixture.shell('cat work/open/by-the-host');
    assertExit(ran, 0);
    assert.equal(ran.text, 'hand-made');
  }),
];
