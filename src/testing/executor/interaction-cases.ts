import assert from 'node:assert/strict';

import type { Fixture } from './fixture.ts';
import { endOf } from './fixture.ts';
import type { CaseDefinition } from './definition.ts';
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
  assert.deepEqual(endOf(await program.ended), { reason: 'exited', exitCode: 0 });
}

export const INTERACTION_CASES: readonly CaseDefinition[] = [
  {
    name: 'a program that asks is answered, prompt by prompt',
    requirement: 'EXEC-7',
    needs: { interaction: true },
    async run(fixture) {
      await converse(fixture, false);
    },
  },
  {
    name: 'closing the input is the end of input for the program',
    requirement: 'EXEC-7',
    needs: { interaction: true },
    async run(fixture) {
      const program = await fixture.startInteractive(['sh', '-c', 'cat; echo "the end"; exit 5']);
      program.write(Buffer.from('one '));
      program.write(Buffer.from('two '));
      program.closeInput();
      assert.deepEqual(endOf(await program.ended), { reason: 'exited', exitCode: 5 });
      assert.equal(program.output.bytes.toString('utf8'), 'one two the end\n');
    },
  },
  {
    name: 'input that was given at the start comes before what is written later',
    requirement: 'EXEC-7',
    needs: { interaction: true },
    async run(fixture) {
      const program = await fixture.startInteractive(['cat'], { stdin: 'first ' });
      program.write(Buffer.from('second'));
      program.closeInput();
      await program.ended;
      assert.equal(program.output.bytes.toString('utf8'), 'first second');
    },
  },
  {
    name: 'a program that is killed is gone with all it started',
    requirement: 'EXEC-7',
    needs: { interaction: true, programs: ['setsid'] },
    async run(fixture) {
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
    },
  },
  {
    name: 'writing to a program that is over does nothing',
    requirement: 'EXEC-7',
    needs: { interaction: true },
    async run(fixture) {
      const program = await fixture.startInteractive(['sh', '-c', 'exit 6']);
      assert.deepEqual(endOf(await program.ended), { reason: 'exited', exitCode: 6 });
      program.write(Buffer.from('too late'));
      program.closeInput();
      program.kill();
      assert.deepEqual(endOf(await program.ended), { reason: 'exited', exitCode: 6 });
    },
  },
  {
    name: 'a program that is talked to has a limit of time as well',
    requirement: 'EXEC-8',
    needs: { interaction: true, limits: ['wallMs'] },
    async run(fixture) {
      const program = await fixture.startInteractive(['cat'], { limits: { wallMs: 1000 } });
      assert.equal((await program.ended).reason, 'timeout');
    },
  },
  {
    name: 'a program that is talked to has no terminal unless it was asked for',
    requirement: 'EXEC-7',
    needs: { interaction: true },
    async run(fixture) {
      const program = await fixture.startInteractive(['sh', '-c', '[ -t 0 ] || [ -t 1 ] || [ -t 2 ] || echo none']);
      await program.ended;
      assert.equal(program.output.bytes.toString('utf8'), 'none\n');
    },
  },
  {
    name: 'a terminal is one for the program, on all three streams',
    requirement: 'EXEC-7',
    needs: { interaction: true, terminal: true },
    async run(fixture) {
      const program = await fixture.startInteractive(
        ['sh', '-c', '[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo terminal; exit 7'],
        {
          terminal: true,
        },
      );
      assert.deepEqual(endOf(await program.ended), { reason: 'exited', exitCode: 7 });
      assert.equal(program.output.bytes.toString('utf8').replaceAll('\r', ''), 'terminal\n');
    },
  },
  {
    name: 'a program in a terminal that asks is answered, prompt by prompt',
    requirement: 'EXEC-7',
    needs: { interaction: true, terminal: true },
    async run(fixture) {
      await converse(fixture, true);
    },
  },
  {
    name: 'a program in a terminal that is killed is gone with all it started',
    requirement: 'EXEC-7',
    needs: { interaction: true, terminal: true, programs: ['setsid'] },
    async run(fixture) {
      const heartbeat = makeHeartbeat();
      const program = await fixture.startInteractive(
        ['sh', '-c', `(setsid ${heartbeat.command} &); ${heartbeat.awaited}; echo ready; sleep 40`],
        { terminal: true },
      );
      await program.output.until('ready');
      program.kill();
      assertKilled((await program.ended).reason);
      await heartbeat.assertGone(fixture, program.runFolder);
    },
  },
];
