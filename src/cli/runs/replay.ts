import { defineCommand } from '../command.ts';
import { REPLAY_FLAGS, replay } from './runs.ts';

export const command = defineCommand({
  usage: 'replay ID [--writes] [--network] [--record]',
  details: [
    'Repeats the actions of a recorded run and compares the results, without writes and network requests unless you pass --writes or --network. The same as `skillwright runs replay`. ID is the id of a run, a unique prefix, `last`, or the path of a run folder.',
    'Exit code 1: a result differs; 4: a skill of the record is gone or has changed.',
  ].join('\n'),
  flags: REPLAY_FLAGS,
  examples: [['skillwright replay last', 'check whether the actions still give the same results']],
  positionals: [1, 1],
  run: (invocation) => replay({ ...invocation, positionals: ['replay', ...invocation.positionals] }),
});
