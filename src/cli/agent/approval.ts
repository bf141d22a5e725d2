import { printable, REFUSALS, SkillError, typedWord, type ActionFailed, type Approve, withToolName } from '#core';
import type { EventSink } from '#journal';
import { openApprovalFiles, openApprovals } from '#policy';
import { readSurroundings } from '#runtime';
import { askStreams, isTerminal, openTerminalAsker, type Asker } from '../terminal/ask.ts';
import { list, option, toggle, type Flags, type Invocation } from '../command.ts';
import type { EditMode } from './edit-mode.ts';
import { reportHint, reportWarning, type Terminal } from '../terminal/terminal.ts';

export const APPROVAL_FLAGS = {
  yes: toggle('approve every action of medium risk; never one of high risk', { short: 'y' }),
  approve: list('ID', 'approve exactly the action with this id, once'),
  defer: toggle('queue requests for `skillwright approvals answer` instead of asking'),
} as const satisfies Flags;

/** Flag of commands that run programs; the same as `policy.sandboxed: allow`. */
export const AUTO_FLAG = {
  auto: toggle(
    'run programs without asking if they are fully contained: isolated, no network, no secrets, no write access to your files',
  ),
} as const satisfies Flags;

export const ACCEPT_FLAG = {
  accept: option('WHAT', 'edits: do not ask about edits of files that git tracks, or that are new in a repository', {
    choices: ['edits'],
  }),
} as const satisfies Flags;

export const KEEP_GOING_FLAG = {
  'keep-going': toggle('without a terminal, go on without actions that need approval (default: stop at the first)'),
} as const satisfies Flags;

/** Asks at the terminal. Stdin is opened for the first question, because most runs ask none. */
function terminalAsker(mode: EditMode | undefined): Asker {
  const acceptEdits = mode === undefined ? undefined : () => mode.choose('edits');
  return {
    by: 'terminal',
    async ask(request, options) {
      const streams = askStreams(process);
      const asker = openTerminalAsker(streams, acceptEdits);
      if (asker === undefined) return 'nobody';
      // Rings, because the user may look elsewhere.
      streams.output.write('\u0007');
      return asker.ask(request, options);
    },
  };
}

/** The approver that the flags select: the terminal, the queue, or fixed answers. */
export function openApprover(
  {
    flags,
    terminal,
    surroundings: { home },
  }: Pick<Invocation<typeof APPROVAL_FLAGS>, 'flags' | 'terminal' | 'surroundings'>,
  mode?: EditMode,
): Approve {
  const { approve } = openApprovals({
    home,
    approved: flags.approve ?? [],
    yes: flags.yes === true,
    asker: flags.defer === true ? undefined : terminalAsker(mode),
    // Answers in the queue count also without --defer, and the console shows what this terminal asks.
    pending: home === undefined ? undefined : { isShared: isAttended(), waitMs: flags.defer === true ? 0 : undefined },
    onWarning: (message) => reportWarning(terminal, printable(message)),
  });
  return mode === undefined ? approve : (request, options) => mode.answer(request) ?? approve(request, options);
}

/** The command line that approves an action, from the word for `--approve`. */
export type ApprovingCommand = (ticket: string) => readonly string[];

/** The error for an action that policy or the user refused. Its hint is the command line that approves it once. */
export function policyRefusal(
  { code, message, hint }: ActionFailed,
  command: ApprovingCommand,
): SkillError<'policy/refused'> | undefined {
  if (!REFUSALS.has(code)) return undefined;
  const [, id, rest = ''] = /--approve ([0-9a-f]{64})(.*)/.exec(hint) ?? [];
  const again = id === undefined ? '' : `skillwright ${command(nextTicket(id)).map(typedWord).join(' ')}`;
  const unlisted = message.includes('because it is not in allowed-tools of')
    ? 'the skill allows its agents only what allowed-tools lists; to do this all the same, add --set policy.allowed_tools=ignore'
    : hint;
  return new SkillError({
    code: 'policy/refused',
    message,
    hint: again === '' ? unlisted : `to approve exactly this once, run: ${again}${rest}`,
    data: { rule: code, approval: id ?? '', command: again },
  });
}

/** Prints how to approve what was refused. A user who just said no is not told: that hint is for the model. */
export function printRefusalHint(terminal: Terminal, refused: SkillError<'policy/refused'> | undefined): void {
  if (refused === undefined || refused.data.rule === 'approval/refused') return;
  reportHint(terminal, refused.hint);
}

/** The hint with the word that `--approve` accepts next. */
export function withNextTicket(hint: string): string {
  return hint.replace(/(?<=--approve )[0-9a-f]{64}\b(?!-)/, nextTicket);
}

/** An approval that was used before has a number behind it. */
function nextTicket(id: string): string {
  const { home } = readSurroundings({});
  return home === undefined ? id : openApprovalFiles(home).ticket(`sha256:${id}`);
}

/** Repeats the command line with the approval, before `--`, which ends the flags. Approvals that it already has are used up. */
export function repeatedCommand(words: readonly string[]): ApprovingCommand {
  return (ticket) => {
    const end = words.indexOf('--');
    const at = end === -1 ? words.length : end;
    const flags = words
      .slice(0, at)
      .filter(
        (word, place) => !word.startsWith('--approve=') && word !== '--approve' && words[place - 1] !== '--approve',
      );
    return [...flags, '--approve', ticket, ...words.slice(at)];
  };
}

export interface RefusalWatch {
  readonly sink: EventSink;
  /** The refusal, if the last action of the run was refused, with the command that approves it. */
  readonly last: (command: ApprovingCommand) => SkillError<'policy/refused'> | undefined;
}

/** Follows the actions of a run: a model may report success after the decisive action was refused. */
export function openRefusalWatch(): RefusalWatch {
  let last: ActionFailed | undefined;
  return {
    sink({ event }) {
      if (event.type !== 'observation' || event.observation.action === 'final_answer') return;
      last = event.observation.type === 'failed' ? withToolName(event.tool, event.observation) : undefined;
    },
    last: (command) => (last === undefined ? undefined : policyRefusal(last, command)),
  };
}

export function isAttended(): boolean {
  return isTerminal(askStreams(process));
}
