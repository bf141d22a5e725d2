import { BUDGET_NAMES } from '../../agent/count-budget.ts';
import { EXECUTOR_NAMES } from '../../core/execution.ts';
import { APPROVAL_FLAGS } from '../agent/approval.ts';
import type { Flags } from '../command.ts';

/** Of `runs resume`, apart from what does it: they are read before that is known. */
export const RESUME_FLAGS = {
  model: { type: 'string', value: 'NAME', about: 'resume: the model to go on with; as for a new run' },
  budget: {
    type: 'string',
    multiple: true,
    value: 'NAME=N',
    about: `resume: another budget, of ${BUDGET_NAMES.join(', ')}; may be repeated`,
  },
  in: {
    type: 'string',
    multiple: true,
    value: 'FILE',
    path: true,
    about: 'resume: a file outside of the project that the run was given, once more; may be repeated',
  },
  executor: {
    type: 'string',
    value: 'NAME',
    choices: ['auto', ...EXECUTOR_NAMES],
    about: 'resume: what runs its programs, where it had any; auto',
  },
  ...APPROVAL_FLAGS,
} as const satisfies Flags;
