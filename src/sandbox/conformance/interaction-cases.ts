import assert from 'node:assert/strict';

import { type CaseDefinition, conform, type Fixture, pickStableEnd } from './fixture.ts';
import { makeHeartbeat } from './heartbeat.ts';

/** A requested end is reported as a signal or as cancelled. */
function assertKilled(reason: string): void {
  assert(reason === 'signal' || reason === 'cancelled', `the end was ${reason}`);
}

const ECHO = ['sh', '-c', 'printf "name? "; read -r name; echo "hello $name"; read -r more; echo "more $more"'];

async function converse(fixture: Fixture, terminal: boolean): Promise<void> {
  const program = await fixture.startInteractive(ECHO, { terminal });
  await program.output.until('name? ');
  program.write(Buffer.from('größe\n'));
  await program.output.until('hello größe');
  program.write(Buffer.from('大小\n'));
  await program.output.until('more 大小');
  assert.deepEqual(pickStableEnd(await program.ended), { reason: 'exited', exitCode: 0 });
}

const TALKS = { needs: { interaction: true } };
const FORKS = { needs: { interaction: true, programs: ['setsid'] } } as const;
const TIMED = { needs: { interaction: true, limits: ['wallMs'] } } as const;
const TTY = { needs: { interaction: true, terminal: true } };

export const INTERACTION_CASES: readonly CaseDefinition[] = [
  conform('EXEC-7', 'a program that asks is answered, prompt by prompt', TALKS, async (fixture) => {
    await converse(fixture, false);
  }),
  conform('EXEC-7', 'closing the input is the end of input for the program', TALKS, async (fixture) => {
    const program = await fixture.startInteractive(['sh', '-c', 'cat; echo "the end"; exit 5']);
    program.write(Buffer.from('one '));
    program.write(Buffer.from('two '));
    program.closeInput();
    assert.deepEqual(pickStableEnd(await program.ended), { reason: 'exited', exitCode: 5 });
    assert.equal(program.output.bytes().toString('utf8'), 'one two the end\n');
  }),
  conform('EXEC-7', 'input that was given at the start comes before what is written later', TALKS, async (fixture) => {
    const program = await fixture.startInteractive(['cat'], { stdin: 'first ' });
    program.write(Buffer.from('second'));
    program.closeInput();
    await program.ended;
    assert.equal(program.output.bytes().toString('utf8'), 'first second');
  }),
  conform('EXEC-7', 'a program that is killed is gone with all it started', FORKS, async (fixture) => {
    const heartbeat = makeHeartbeat();
    const program = await fixture.startInteractive([
      'sh',
      '-c',
      `trap '' TERM HUP INT; (setsid ${heartbeat.command} &); ${heartbeat.awaited}; echo ready; sleep 40`,
    ]);
    await program.output.until('ready');
    program.kill();
    program.kill();
    assertKilled((await program.ended).reason);
    await heartbeat.assertGone(fixture, program.runFolder);
  }),
  conform('EXEC-7', 'writing to a program that is over does nothing', TALKS, async (fixture) => {
    const program = await fixture.startInteractive(['sh', '-c', 'exit 6']);
    assert.deepEqual(pickStableEnd(await program.ended), { reason: 'exited', exitCode: 6 });
    program.write(Buffer.from('too late'));
    program.closeInput();
    program.kill();
    assert.deepEqual(pickStableEnd(await program.ended), { reason: 'exited', exitCode: 6 });
  }),
  conform('EXEC-8', 'a program that is talked to has a limit of time as well', TIMED, async (fixture) => {
    const program = await fixture.startInteractive(['cat'], { limits: { wallMs: 1000 } });
    assert.equal((await program.ended).reason, 'timeout');
  }),
  conform('EXEC-7', 'a program that is talked to has no terminal unless it was asked for', TALKS, async (fixture) => {
    const program = await fixture.startInteractive(['sh', '-c', '[ -t 0 ] || [ -t 1 ] || [ -t 2 ] || echo none']);
    await program.ended;
    assert.equal(program.output.bytes().toString('utf8'), 'none\n');
  }),
  conform('EXEC-7', 'a terminal is one for the program, on all three streams', TTY, async (fixture) => {
    const program = await fixture.startInteractive(
      ['sh', '-c', '[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo terminal; exit 7'],
      {
        terminal: true,
      },
    );
    assert.deepEqual(pickStableEnd(await program.ended), { reason: 'exited', exitCode: 7 });
    assert.equal(program.output.bytes().toString('utf8').replaceAll('\r', ''), 'terminal\n');
  }),
  conform('EXEC-7', 'a program in a terminal that asks is answered, prompt by prompt', TTY, async (fixture) => {
    await converse(fixture, true);
  }),
  conform(
    'EXEC-7',
    'a program in a terminal that is killed is gone with all it started',
    { needs: { interaction: true, terminal: true, programs: ['setsid'] } },
    async (fixture) => {
      const heartbeat = makeHeartbeat();
      const program = await fixture.startInteractive(['sh', '-c', heartbeat.forked], { terminal: true });
      await program.output.until('ready');
      program.kill();
      assertKilled((await program.ended).reason);
      await heartbeat.assertGone(fixture, program.runFolder);
    },
  ),
];
