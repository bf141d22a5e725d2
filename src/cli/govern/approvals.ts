import path from 'node:path';

import { APPROVAL_SCOPES, invalidInput, printable, quoted, type ApprovalAnswer } from '#core';
import {
  answerPending,
  approvalLines,
  isAnswered,
  listPending,
  openStoredApprovals,
  pendingFolder,
  shortId,
  storedId,
  withdrawPending,
  type PendingFolder,
  type PendingQuestion,
  type StoredApproval,
} from '#policy';
import { sha256 } from '#platform';
import { defineCommand, option, toggle, type GlobalInvocation } from '../command.ts';
import { EXIT, UsageError } from '../exit.ts';
import { surroundingsFor } from '../surroundings.ts';
import { reportWarning, type Terminal } from '../terminal/terminal.ts';

const flags = {
  scope: option('SCOPE', 'approve once, for the run, or for the skill in its current version (default: once)', {
    choices: APPROVAL_SCOPES,
  }),
  reason: option('TEXT', 'with no: tell the model why'),
  all: toggle('revoke every stored answer'),
  folder: option('DIR', 'read pending requests from DIR (default: ~/.agent/pending)'),
} as const;

export const command = defineCommand({
  usage:
    'approvals [list] | approvals answer ID yes|no [--scope SCOPE] [--reason TEXT] | approvals revoke ID|SKILL|--all',
  details:
    'Lists pending approval requests and stored answers, answers a request, or revokes them. An answer for a skill is valid until a byte of the skill changes. ID is an id from the list.',
  flags,
  examples: [
    ['skillwright approvals', 'list pending requests and stored answers'],
    ['skillwright approvals answer 3fa94c21d0be yes --scope run', 'approve a request for the whole run'],
    ['skillwright approvals answer 3fa94c21d0be no --reason "use the API instead"', 'refuse, and tell the model why'],
    ['skillwright approvals revoke release-notes', 'revoke all answers for a skill'],
  ],
  positionals: [0, 3],
  async run({ flags: given, positionals, ...invocation }) {
    const { home, cwd } = surroundingsFor(given);
    if (home === undefined)
      throw invalidInput('HOME is not set; answers are stored in the home folder', 'a home folder', 'set HOME');
    const folder = given.folder === undefined ? pendingFolder(home) : path.resolve(cwd, given.folder);
    const parsed: ApprovalsInvocation = { ...invocation, flags: given, positionals, place: { home, folder } };
    const [verb = 'list', ...words] = positionals;
    const isAll = given.all === true;
    if (verb === 'list' && words.length === 0 && !isAll) return list(parsed);
    if (verb === 'answer' && words.length === 2 && !isAll) return answer(parsed, given);
    if (verb === 'revoke' && words.length === (isAll ? 0 : 1)) return revoke(parsed, words[0]);
    throw new UsageError('invalid arguments', `usage: skillwright ${command.usage}`);
  },
});

interface ApprovalsInvocation extends GlobalInvocation {
  readonly place: PendingFolder;
}

function list({ terminal, place }: ApprovalsInvocation): number {
  const waiting = listPending(place);
  const stored = openStoredApprovals(place.home).list();
  const problems = [...waiting.problems, ...stored.problems];
  const pending = waiting.questions.map(({ request, at }) => ({
    at,
    answered: isAnswered(place, request.id),
    request,
  }));
  if (terminal.printJson({ pending, approvals: stored.approvals.map(withId), problems })) return EXIT.done;
  for (const { request, at, answered } of pending) {
    const state = answered ? 'answered, not used yet, asked' : 'pending since';
    terminal.out(terminal.style('bold', `${state} ${at}`));
    terminal.out(approvalLines(request, { width: terminal.width, hash: sha256 }));
    terminal.out('');
  }
  terminal.out(stored.approvals.map((approval) => storedLine(approval, terminal)));
  for (const problem of problems) reportWarning(terminal, problem);
  if (waiting.questions.length + stored.approvals.length === 0)
    terminal.remark('no pending requests and no stored answers');
  return EXIT.done;
}

function withId(approval: StoredApproval): object {
  return { id: storedId(approval), ...approval };
}

function storedLine(approval: StoredApproval, terminal: Terminal): string {
  const { skill, tool, verdict, coverage, at } = approval;
  const what = `${printable(skill.id)}  ${printable(tool)}  ${quoted(coverage, 100)}`;
  return `${storedId(approval)}  ${verdict.padEnd(3)}  ${what}  ${terminal.style('dim', at.slice(0, 10))}`;
}

function answer(
  { positionals, terminal, place }: ApprovalsInvocation,
  { scope = 'once', reason }: { readonly scope?: ApprovalAnswer['scope']; readonly reason?: string },
): number {
  const [, word = '', verdict] = positionals;
  if (verdict !== 'yes' && verdict !== 'no')
    throw new UsageError('the answer must be yes or no', `usage: skillwright ${command.usage}`);
  const id = resolveRequestId(word, place);
  const { request } = answerPending(place, id, { verdict, scope, reason });
  if (!terminal.printJson({ id, verdict, scope })) {
    terminal.remark(approvalLines(request, { width: terminal.width, hash: sha256 }));
    terminal.out(`${shortId(id)}: ${verdict}, ${scope}`);
  }
  return EXIT.done;
}

/** The id of the pending request with this prefix. */
function resolveRequestId(word: string, place: PendingFolder): string {
  const found = findQuestions(word, place);
  const [question] = found;
  if (question !== undefined && found.length === 1) return question.request.id;
  throw invalidInput(
    found.length > 1
      ? `${String(found.length)} pending requests start with ${quoted(word, 200)}`
      : `no pending request ${quoted(word, 200)}`,
    'the id of a pending request',
    'give at least 12 digits of an id from skillwright approvals',
  );
}

function findQuestions(word: string, place: PendingFolder): readonly PendingQuestion[] {
  const digits = word.replace(/^sha256:/, '');
  if (!/^[0-9a-f]{12,64}$/.test(digits)) return [];
  return listPending(place).questions.filter(({ request }) => request.id.startsWith(`sha256:${digits}`));
}

/** Revokes every stored answer, or those that match an id or a skill. */
async function revoke({ terminal, place }: ApprovalsInvocation, word: string | undefined): Promise<number> {
  const stored = openStoredApprovals(place.home);
  const withdrawn = word === undefined ? [] : findQuestions(word, place).map(({ request }) => request.id);
  for (const id of withdrawn) withdrawPending(place, id);
  const gone =
    word === undefined
      ? await stored.revoke('all')
      : [...(await stored.revoke({ id: word })), ...(await stored.revoke({ skill: word }))];
  if (!terminal.printJson({ revoked: gone.map(withId), withdrawn })) {
    terminal.out(withdrawn.map((id) => `withdrawn: ${shortId(id)}`));
    terminal.out(gone.map((approval) => `revoked: ${storedLine(approval, terminal)}`));
  }
  if (gone.length + withdrawn.length > 0 || word === undefined) return EXIT.done;
  terminal.remark(`no answer and no pending request matches ${quoted(word, 200)}`);
  return EXIT.failed;
}
