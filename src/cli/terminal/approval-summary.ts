/** The question of an approval as short as possible: what a person at a terminal sees first. */
import {
  countCharacters,
  diffLines,
  FRAME,
  frameText,
  listHostInputs,
  shownText,
  type ApprovalRequest,
  startsProgram,
} from '#core';
import { textWidth } from '#platform';

/** Starts a question. Answers of models are shown without it, so that they cannot imitate one. */
export const QUESTION_MARK = '◆';

/** Rows for a text that does not fit on the line of the question. */
const MAX_ROWS = 4;

export interface ApprovalSummary {
  /** The question, and framed rows below it where the text needs them. */
  readonly lines: readonly string[];
  /** Whether the lines show everything that would be done. If not, details must be seen before a yes. */
  readonly isWhole: boolean;
}

const CAPABILITIES = {
  project_write: 'your files mounted for writing',
  network: 'uses the network',
  secrets: 'gets secrets',
  weak_isolation: 'weaker isolation',
  no_isolation: 'NOT ISOLATED',
} as const;

/**
 * Our own words come first, then the untrusted text: quoted or escaped, on the same line or in a frame, cut at the width of the terminal. So
 * no name and no command can push our words away or imitate a question.
 */
export function approvalSummary(request: ApprovalRequest, width: number): ApprovalSummary {
  const { detail, skill, tool } = request;
  const { verb, subject, isAll } = describeSubject(detail);
  const of = skill === undefined ? '' : ` for ${shownText(skill.name, 30)}`;
  const what = verb === '' ? shownText(tool, 30) : verb;
  const head = `${QUESTION_MARK} ${[`${request.risk} risk`, ...describeReach(request), ...unusual(subject)].join(', ')}: ${isInProject(request) ? 'run in project' : what}${of}:`;
  const rowsWithin = (columns: number, maxRows: number) => {
    const { start, end } = frameText(subject, { width: columns, maxRows, isOneLine: true });
    return { start, isCut: end.length > 0 };
  };
  // frameText keeps five columns for its frame, and at least twenty for the text.
  const besideHead = rowsWithin(width - textWidth(head) - 1 + FRAME.length, 1);
  const line = `${head} ${(besideHead.start[0] ?? '').slice(FRAME.length)}`;
  const isComplete = isAll && !givesMore(request);
  const files = hostFileLines(request, width);
  if (!besideHead.isCut) return { lines: [line, ...files], isWhole: isComplete };
  const below = rowsWithin(width, MAX_ROWS);
  return isComplete && !below.isCut
    ? { lines: [head, ...below.start], isWhole: true }
    : { lines: [`${line}…`, ...files], isWhole: false };
}

/** The files of the machine that a program gets, as far as there is room; all of them are in the details. */
function hostFileLines({ action }: ApprovalRequest, width: number): readonly string[] {
  const files = listHostInputs(action);
  if (files.length === 0) return [];
  const frame = { width, maxRows: 1, isOneLine: true } as const;
  const rows = files.slice(0, MAX_ROWS).flatMap((file) => frameText(shownText(file, LONGEST), frame).start);
  const more = files.length > MAX_ROWS ? [`  and ${String(files.length - MAX_ROWS)} more`] : [];
  return ['  it gets a copy of files of this machine:', ...rows, ...more];
}

function describeReach({ isolation, capabilities }: ApprovalRequest): readonly string[] {
  if (isolation === undefined) return [];
  if (isolation === 'none') return [CAPABILITIES.no_isolation];
  const reached = (capabilities ?? []).map(({ name }) => CAPABILITIES[name]);
  return capabilities?.length === 0 ? ['contained'] : reached.length === 0 ? [isolation] : reached;
}

/** Letters of other scripts can imitate ASCII letters. */
function unusual(text: string): readonly string[] {
  const count = countCharacters(text.replaceAll(/[\0-\x7f]/g, ''));
  return count === 0 ? [] : [`${String(count)} not ASCII`];
}

interface Subject {
  readonly verb: string;
  readonly subject: string;
  /** False where the content is not in the subject. */
  readonly isAll: boolean;
}

const LONGEST = 4_000;

function describeSubject(detail: ApprovalRequest['detail']): Subject {
  switch (detail.kind) {
    case 'command':
      return { verb: 'run command', subject: detail.command, isAll: true };
    case 'script': {
      const words = [detail.script, ...detail.args].map((word) => shownText(word, LONGEST));
      return { verb: 'run script', subject: words.join(' '), isAll: true };
    }
    case 'write':
      return writeSubject(detail);
    case 'packages': {
      const { requested, packages } = detail;
      return {
        verb: `install ${String(packages.length)} packages`,
        subject: requested.map((one) => shownText(one)).join(' '),
        isAll: false,
      };
    }
    case 'delete':
      return { verb: `delete ${String(detail.bytes)} bytes`, subject: shownText(detail.path, LONGEST), isAll: true };
    case 'request':
      return {
        verb: 'send request',
        subject: `${shownText(detail.method)} ${detail.url}`,
        isAll: detail.body === '',
      };
    case 'other':
      return { verb: '', subject: detail.summary, isAll: true };
  }
}

function writeSubject({ path, before, after }: Extract<ApprovalRequest['detail'], { kind: 'write' }>): Subject {
  const subject = shownText(path, LONGEST);
  if (before === after) return { verb: 'write the same content to', subject, isAll: true };
  const { added, removed } = diffLines(before ?? '', after);
  const verb = before === undefined ? `create +${String(added)}` : `change +${String(added)} -${String(removed)}`;
  return { verb, subject, isAll: false };
}

/** Where a model that works on code runs most commands; the line says it in our words. */
function isInProject({ action }: ApprovalRequest): boolean {
  return 'cwd' in action && action.cwd === '$PROJECT_DIR';
}

/** Whether a program or request gets something besides its command line. */
function givesMore(request: ApprovalRequest): boolean {
  const { action } = request;
  if (action.type === 'network_request') return Object.keys(action.headers ?? {}).length > 0;
  if (!startsProgram(action)) return false;
  const { env = {}, stdin = '', inputs = [] } = action;
  const { cwd, editorText } = { cwd: undefined, editorText: undefined, ...action };
  return (
    Object.keys(env).length > 0 ||
    stdin !== '' ||
    inputs.length > 0 ||
    (cwd !== undefined && !isInProject(request)) ||
    editorText !== undefined
  );
}
