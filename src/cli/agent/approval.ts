import type { ActionFailed } from '../../core/observation.ts';
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
import type { Terminal } from '../terminal/terminal.ts';

/** Flags of commands that may have to ask a person. */
export const APPROVAL_FLAGS = {
  yes: { type: 'boolean', short: 'y', about: 'say yes to all that is of medium risk; never to more' },
  approve: {
    type: 'string',
    multiple: true,
    value: 'ID',
    about: 'say yes to exactly the question with this id; may be repeated',
  },
  defer: { type: 'boolean', about: 'write a question down for `skillwright approvals answer` instead of asking it' },
} as const satisfies Flags;

/** Looked for when there is a question: to open the keys of a terminal takes milliseconds, and most runs ask nothing. */
const PERSON: Asker = {
  by: 'terminal',
  ask: async (request, options) => (await openTerminalAsker(askStreams(process))?.ask(request, options)) ?? 'nobody',
};

/** Who is asked at this terminal, or instead of it. */
export function openApprover(flags: FlagValues<typeof APPROVAL_FLAGS>, terminal: Terminal): Approve {
  const { home } = surroundingsOf({});
  const { approve } = openApprovals({
    home,
    approved: flags.approve ?? [],
    yes: flags.yes === true,
    ...(flags.defer === true ? {} : { asker: PERSON }),
    // Whoever has answered a question that was left need not say again that it could be left.
    ...(home === undefined
      ? {}
      : { pending: { folder: pendingFolder(home), ...(flags.defer === true ? { waitMs: 0 } : {}) } }),
    onWarning: (message) => terminal.err(`${terminal.style('yellow', 'warning')}: ${printable(message)}`),
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

/** What policy or a person refused, with the command line that would do it once somebody has said yes. */
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
    hint: again === '' ? hint : `to allow exactly this once: ${again}`,
    data: { rule: code, approval: id ?? '', command: again },
  });
}

/** Before `--`, which ends the flags. */
function withApproval(words: readonly string[], id: string): readonly string[] {
  const end = words.indexOf('--');
  const at = end === -1 ? words.length : end;
  return [...words.slice(0, at), '--approve', id, ...words.slice(at)];
}
