/** What a session does without asking: a mode that a flag, an answer or Shift-Tab chooses. */
import { failure, isOfKind, type Action, type ActionProblem, type ApprovalAnswer, type ApprovalRequest } from '#core';
import { isSecretPath, resultProtection } from '#policy';
import { isUndoableEdit } from '../terminal/ask.ts';

const MODES = ['ask', 'edits', 'read'] as const;
type ModeName = (typeof MODES)[number];

/** As the prompt shows them. */
export const MODE_LABELS: Readonly<Record<ModeName, string>> = {
  ask: '',
  edits: 'accept edits',
  read: 'read only',
};

export interface EditMode {
  readonly name: ModeName;
  choose(name: ModeName): void;
  /** Goes on to the next mode. */
  turn(): void;
  /** The answer to a question that the mode, or the flags of the run, make unnecessary. */
  answer(request: ApprovalRequest): ApprovalAnswer | undefined;
  /** Why an action is not done in this mode; undefined if it may be decided about. */
  refuse(action: Action): ActionProblem | undefined;
}

interface ModeFlags {
  readonly accept?: 'edits';
  readonly project?: 'none' | 'read' | 'write';
  readonly yes?: boolean;
}

export function openEditMode({ accept, project, yes }: ModeFlags): EditMode {
  let name: ModeName = accept ?? 'ask';
  const isOpen = project === 'write' && yes === true;
  return {
    get name() {
      return name;
    },
    choose: (next) => (name = next),
    turn: () => (name = MODES[(MODES.indexOf(name) + 1) % MODES.length] ?? 'ask'),
    answer(request) {
      const approved = { verdict: 'yes', scope: 'once', by: 'option' } as const;
      if (name === 'edits' && isUndoableEdit(request)) return { ...approved, reason: '--accept' };
      return isOpen && isEditOfProject(request) ? { ...approved, reason: '--project' } : undefined;
    },
    refuse(action) {
      if (name !== 'read' || !(CHANGING.has(action.type) || isOfKind(action, 'program'))) return undefined;
      return failure('policy/denied', `${action.type} is not allowed: this session is read only`, {
        hint: 'say what you would do; the user leaves the mode with Shift-Tab',
      });
    },
  };
}

const CHANGING: ReadonlySet<Action['type']> = new Set([
  'write_file',
  'edit_file',
  'delete_file',
  'network_request',
  'install_packages',
  'call_mcp_tool',
]);

/** A change of a file in a project without git, whose former content the record keeps. Files that a rule asks about stay questions. */
function isEditOfProject({ detail, rule, origin }: ApprovalRequest): boolean {
  if (detail.kind !== 'write' || detail.before === undefined || rule !== 'by risk' || origin.layer !== 'built-in')
    return false;
  return (
    !/^(?:[a-z]+:\/\/|\/)/.test(detail.path) && resultProtection(detail.path) === 'free' && !isSecretPath(detail.path)
  );
}
