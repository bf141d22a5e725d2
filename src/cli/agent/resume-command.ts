/** The commands that continue a recorded run. */
import type { AgentResult } from '#agent';
import { typedWord } from '#core';
import { SETTING_FLAGS } from '../command.ts';
import { RESUME_FLAGS } from './agent-flags.ts';
import type { ApprovingCommand } from './approval.ts';

/** Flags that `runs resume` takes too; the others are in the record or belong to one output. An approval is used up. */
const { approve: _used, again: _again, ...RESUMED } = { ...RESUME_FLAGS, ...SETTING_FLAGS };

type GivenFlags = Readonly<Record<string, boolean | string | readonly string[] | undefined>>;

/** Continues a recorded run with the approval: the request and everything before the action are in the record. */
export function resumingCommand(run: string, flags: GivenFlags): ApprovingCommand {
  return (ticket) => [...resumingWords(run, flags), '--approve', ticket];
}

/** The line with the command that continues a run that a budget or a person ended; undefined for every other end. */
export function continuation(
  { outcome, run }: Pick<AgentResult, 'outcome' | 'run'>,
  flags: GivenFlags,
): string | undefined {
  if (run === undefined || (outcome !== 'degraded' && outcome !== 'cancelled')) return undefined;
  const { budget: _spent, ...others } = flags;
  const words = ['skillwright', ...resumingWords(run, outcome === 'degraded' ? others : flags)];
  return `continue with: ${words.map(typedWord).join(' ')}${outcome === 'degraded' ? ' --budget NAME=N' : ''}`;
}

function resumingWords(run: string, flags: GivenFlags): readonly string[] {
  const repeated = Object.entries(flags).flatMap(([name, value]) => {
    if (!Object.hasOwn(RESUMED, name) || value === false || value === undefined) return [];
    // The record says that the run had no programs.
    if (name === 'executor' && value === 'none') return [];
    if (value === true) return [`--${name}`];
    return (typeof value === 'string' ? [value] : value).flatMap((one) => [`--${name}`, one]);
  });
  return ['runs', 'resume', run, ...repeated];
}
