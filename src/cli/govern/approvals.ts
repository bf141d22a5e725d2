import path from 'node:path';

import { APPROVAL_SCOPES, invalidInput, printable, quoted, type ApprovalAnswer } from '#core';
import { approvalLines, openApprovalFiles } from '#policy';
import { defineCommand, option, toggle, type GlobalInvocation } from '../command.ts';
import { EXIT, usageError } from '../exit.ts';
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
  async run({ flags: options, positionals, ...invocation }) {
    const { home, cwd } = invocation.surroundings;
    if (home === undefined)
      throw invalidInput('HOME is not set; answers are stored in the home folder', 'a home folder', 'set HOME');
    const files = openApprovalFiles(home, options.folder === undefined ? undefined : path.resolve(cwd, options.folder));
    const parsed: ApprovalsInvocation = { ...invocation, flags: options, positionals, files };
    const [verb = 'list', ...words] = positionals;
    const isAll = options.all === true;
    if (verb === 'list' && words.length === 0 && !isAll) return list(parsed);
    if (verb === 'answer' && words.length === 2 && !isAll) return answer(parsed, options);
    if (verb === 'revoke' && words.length === (isAll ? 0 : 1)) return revoke(parsed, words[0]);
    throw usageError('invalid arguments', `usage: skillwright ${command.usage}`);
  },
});

interface ApprovalsInvocation extends GlobalInvocation {
  readonly files: ApprovalFiles;
}

function list({ terminal, files }: ApprovalsInvocation): number {
  const waiting = files.questions();
  const stored = files.answers();
  const problems = [...waiting.problems, ...stored.problems];
  const pending = waiting.questions.map(({ request, at, isAnswered }) => ({ at, answered: isAnswered, request }));
  if (terminal.printJson({ pending, approvals: stored.answers, problems })) return EXIT.done;
  for (const { request, at, answered } of pending) {
    const state = answered ? 'answered, not used yet, asked' : 'pending since';
    terminal.out(terminal.style('bold', `${state} ${at}`));
    terminal.out(approvalLines(request, { width: terminal.width }));
    terminal.out('');
  }
  terminal.out(stored.answers.map((kept) => storedLine(kept, terminal)));
  for (const problem of problems) reportWarning(terminal, problem);
  if (waiting.questions.length + stored.answers.length === 0)
    terminal.remark('no pending requests and no stored answers');
  return EXIT.done;
}

type ApprovalFiles = ReturnType<typeof openApprovalFiles>;
type KeptAnswer = ReturnType<ApprovalFiles['answers']>['answers'][number];

function storedLine({ id, skill, tool, verdict, coverage, at }: KeptAnswer, terminal: Terminal): string {
  const what = `${printable(skill.id)}  ${printable(tool)}  ${quoted(coverage, 100)}`;
  return `${id}  ${verdict.padEnd(3)}  ${what}  ${terminal.style('dim', at.slice(0, 10))}`;
}

function answer(
  { positionals, terminal, files }: ApprovalsInvocation,
  { scope = 'once', reason }: { readonly scope?: ApprovalAnswer['scope']; readonly reason?: string },
): number {
  const [, word = '', verdict] = positionals;
  if (verdict !== 'yes' && verdict !== 'no')
    throw usageError('the answer must be yes or no', `usage: skillwright ${command.usage}`);
  const id = resolveRequestId(word, files);
  const request = files.answer(id, { verdict, scope, reason });
  if (!terminal.printJson({ id, verdict, scope })) {
    terminal.remark(approvalLines(request, { width: terminal.width }));
    terminal.out(`${shortId(id)}: ${verdict}, ${scope}`);
  }
  return EXIT.done;
}

function resolveRequestId(word: string, files: ApprovalFiles): string {
  const found = findQuestions(word, files);
  const [id] = found;
  if (id !== undefined && found.length === 1) return id;
  throw invalidInput(
    found.length > 1
      ? `${String(found.length)} pending requests start with ${quoted(word, 200)}`
      : `no pending request ${quoted(word, 200)}`,
    'the id of a pending request',
    'give at least 12 digits of an id from skillwright approvals',
  );
}

function findQuestions(word: string, files: ApprovalFiles): readonly string[] {
  const digits = word.replace(/^sha256:/, '');
  if (!/^[0-9a-f]{12,64}$/.test(digits)) return [];
  const ids = files.questions().questions.map(({ request }) => request.id);
  return ids.filter((id) => id.startsWith(`sha256:${digits}`));
}

function shortId(id: string): string {
  return id.replace(/^sha256:/, '').slice(0, 12);
}

/** Revokes every stored answer, or those that match an id or a skill. */
async function revoke({ terminal, files }: ApprovalsInvocation, word: string | undefined): Promise<number> {
  const withdrawn = word === undefined ? [] : findQuestions(word, files);
  files.withdraw(withdrawn);
  const gone =
    word === undefined
      ? await files.revoke('all')
      : [...(await files.revoke({ id: word })), ...(await files.revoke({ skill: word }))];
  if (!terminal.printJson({ revoked: gone, withdrawn })) {
    terminal.out(withdrawn.map((id) => `withdrawn: ${shortId(id)}`));
    terminal.out(gone.map((kept) => `revoked: ${storedLine(kept, terminal)}`));
  }
  if (gone.length + withdrawn.length > 0 || word === undefined) return EXIT.done;
  terminal.remark(`no answer and no pending request matches ${quoted(word, 200)}`);
  return EXIT.failed;
}
