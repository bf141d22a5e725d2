import type { ActionFailed } from '../../core/observation.ts';
import type { EventSink } from '../../journal/export/sinks.ts';
import type { Approve } from '../../core/approval.ts';
import { SkillError } from '../../core/errors.ts';
import type { FailureCode } from '../../core/failure-codes.ts';
import { typedWord } from '../../core/text/shell-word.ts';
import { printable } from '../../core/text/text.ts';
import { openApprovals } from '../../policy/approval/approver.ts';
import type { Asker } from '../../policy/approval/approver.ts';
import { surroundingsOf } from '../../runtime/config/config.ts';
import { pendingFolder } from '../../policy/approval/pending-approvals.ts';
import { askStreams, openTerminalAsker } from '../terminal/ask.ts';
import type { FlagValues, Flags } from '../command.ts';
import { reportWarning } from '../terminal/terminal.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** Flags of commands that may need the user's approval. */
export const APPROVAL_FLAGS = {
  yes: { type: 'boolean', short: 'y', about: 'approve every action of medium risk; never one of high risk' },
  approve: {
    type: 'string',
    multiple: true,
    value: 'ID',
    about: 'approve exactly the request with this id; may be repeated',
  },
  defer: { type: 'boolean', about: 'queue requests for `skillwright approvals answer` instead of asking' },
} as const satisfies Flags;

/** Asks at the terminal. Stdin is opened for the first question, because most runs ask none. */
const TERMINAL_ASKER: Asker = {
  by: 'terminal',
  ask: async (request, options) => (await openTerminalAsker(askStreams(process))?.ask(request, options)) ?? 'nobody',
};

/** The approver that the flags select: the terminal, the queue, or fixed answers. */
export function openApprover(flags: FlagValues<typeof APPROVAL_FLAGS>, terminal: Terminal): Approve {
  const { home } = surroundingsOf({});
  const { approve } = openApprovals({
    home,
    approved: flags.approve ?? [],
    yes: flags.yes === true,
    ...(flags.defer === true ? {} : { asker: TERMINAL_ASKER }),
    // Answers in the queue count also without --defer.
    ...(home === undefined
      ? {}
      : { pending: { folder: pendingFolder(home), ...(flags.defer === true ? { waitMs: 0 } : {}) } }),
    onWarning: (message) => reportWarning(terminal, printable(message)),
  });
  return approve;
}

const REFUSALS: ReadonlySet<FailureCode> = new Set([
  'policy/denied',
  'approval/needed',
  'approval/pending',
  'approval/refused',
  'skill/untrusted',
]);

/** The error for an action that policy or the user refused. Its hint is the command line that approves it. */
export function policyRefusal(
  { code, message, hint }: ActionFailed,
  words: readonly string[],
): SkillError<'policy/refused'> | undefined {
  if (!REFUSALS.has(code)) return undefined;
  const id = /--approve ([0-9a-f]{64})/.exec(hint)?.[1];
  const again = id === undefined ? '' : `skillwright ${withApproval(words, id).map(typedWord).join(' ')}`;
  return new SkillError({
    code: 'policy/refused',
    message,
    hint: again === '' ? hint : `to approve exactly this once, run: ${again}`,
    data: { rule: code, approval: id ?? '', command: again },
  });
}

/** Inserts the flag before `--`, which ends the flags. */
function withApproval(words: readonly string[], id: string): readonly string[] {
  const end = words.indexOf('--');
  const at = end === -1 ? words.length : end;
  return [...words.slice(0, at), '--approve', id, ...words.slice(at)];
}

export interface RefusalWatch {
  readonly sink: EventSink;
  /** The refusal, if the last action of the run was refused. */
  readonly last: () => SkillError<'policy/refused'> | undefined;
}

/** Follows the actions of a run: a model may report success after the decisive action was refused. */
export function openRefusalWatch(words: readonly string[]): RefusalWatch {
  let last: SkillError<'policy/refused'> | undefined;
  return {
    sink({ event }) {
      if (event.type !== 'observation' || event.observation.action === 'final_answer') return;
      last = event.observation.type === 'failed' ? policyRefusal(event.observation, words) : undefined;
    },
    last: () => last,
  };
}
