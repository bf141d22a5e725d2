import { TEXT_LEVELS } from '../../core/event-text.ts';
import { EXECUTOR_NAMES } from '../../core/execution.ts';
import { APPROVAL_FLAGS } from './approval.ts';
import type { Flags } from '../command.ts';

/** Flags of commands in which an agent works. */
export const AGENT_FLAGS = {
  skill: { type: 'string', multiple: true, value: 'NAME', about: 'load this skill first; may be repeated' },
  executor: {
    type: 'string',
    value: 'NAME',
    choices: ['auto', 'none', ...EXECUTOR_NAMES],
    about: 'what runs programs: auto takes the first that isolates; none runs nothing',
  },
  log: { type: 'string', value: 'LEVEL', choices: TEXT_LEVELS, about: 'what is told: quiet, normal or verbose' },
  ...APPROVAL_FLAGS,
} as const satisfies Flags;
