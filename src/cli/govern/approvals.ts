import path from 'node:path';

import { APPROVAL_SCOPES } from '../../core/approval.ts';
import { approvalLines, shortId } from '../../policy/approval-text.ts';
import { SkillError } from '../../core/errors.ts';
import { printable, quoted } from '../../core/text/text.ts';
import { sha256 } from '../../platform/hash.ts';
import { answerPending, isAnswered, listPending, withdrawPending } from '../../policy/approval/pending-approvals.ts';
import type { PendingPlace, PendingQuestion } from '../../policy/approval/pending-approvals.ts';
import { openStoredApprovals, storedId } from '../../policy/approval/stored-approvals.ts';
import type { StoredApproval } from '../../policy/approval/stored-approvals.ts';
import { pendingFolder } from '../../policy/approval/pending-approvals.ts';
import { surroundingsOf } from '../../runtime/config/config.ts';
import { defineCommand } from '../command.ts';
import type { GlobalInvocation } from '../command.ts';
import { EXIT, UsageError } from '../exit.ts';
import { jsonText } from '../json.ts';
import type { Terminal } from '../terminal/terminal.ts';

const flags = {
  scope: {
    type: 'string',
    value: 'SCOPE',
    choices: APPROVAL_SCOPES,
    about: 'how far a yes reaches: once, for the run, or for the skill as it is now; once',
  },
  all: { type: 'boolean', about: 'revoke every stored answer' },
  folder: {
    type: 'string',
    value: 'DIR',
    path: true,
    about: 'where questions wait (.agent/pending of the home folder)',
  },
} as const;

export const command = defineCommand({
  usage: 'approvals [list] | approvals answer ID yes|no [--scope SCOPE] | approvals revoke ID|SKILL|--all',
  details: [
    'Lists the questions that wait for an answer and the answers that are kept, answers a question, or takes answers and questions back. An answer for a',
    'skill holds until a byte of the skill changes. ID is as it is listed.',
  ].join('\n'),
  flags,
  examples: [
    ['skillwright approvals', 'what waits, and what was said'],
    ['skillwright approvals answer 3fa94c21d0be yes --scope run', 'let a run go on'],
    ['skillwright approvals revoke release-notes', 'ask again about everything of a skill'],
  ],
  positionals: [0, 3],
  async run({ flags: given, positionals, ...invocation }) {
    const { home, cwd } = surroundingsOf(given.cwd === undefined ? {} : { cwd: given.cwd });
    if (home === undefined) throw noHome();
    const folder = given.folder === undefined ? pendingFolder(home) : path.resolve(cwd, given.folder);
    const asked: Asked = { ...invocation, flags: given, positionals, place: { home, folder } };
    const [verb = 'list', ...words] = positionals;
    const isAll = given.all === true;
    if (verb === 'list' && words.length === 0 && !isAll) return list(asked);
    if (verb === 'answer' && words.length === 2 && !isAll) return answer(asked, given.scope);
    if (verb === 'revoke' && words.length === (isAll ? 0 : 1)) return revoke(asked, words[0]);
    throw new UsageError('that makes no sense here', `usage: skillwright ${command.usage}`);
  },
});

interface Asked extends GlobalInvocation {
  readonly place: PendingPlace;
}

function list({ flags: given, terminal, place }: Asked): number {
  const waiting = listPending(place);
  const stored = openStoredApprovals(place.home).list();
  const problems = [...waiting.problems, ...stored.problems];
  if (given.json === true) {
    const approvals = stored.approvals.map((approval) => ({ id: storedId(approval), ...approval }));
    terminal.out(
      jsonText({
        pending: waiting.questions.map(({ request, at }) => ({ at, answered: isAnswered(place, request.id), request })),
        approvals,
        problems,
      }),
    );
    return EXIT.done;
  }
  for (const { request, at } of waiting.questions) {
    const state = isAnswered(place, request.id) ? 'answered, and not asked for since' : 'waits since';
    terminal.out(terminal.style('bold', `${state} ${at}`));
    for (const line of approvalLines(request, { width: terminal.width, hash: sha256 })) terminal.out(line);
    terminal.out('');
  }
  for (const approval of stored.approvals) terminal.out(storedLine(approval, terminal));
  for (const problem of problems) terminal.err(`${terminal.style('yellow', 'warning')}: ${problem}`);
  if (waiting.questions.length + stored.approvals.length === 0)
    terminal.remark('no question waits, and no answer is kept');
  return EXIT.done;
}

function storedLine(approval: StoredApproval, terminal: Terminal): string {
  const { skill, tool, verdict, coverage, at } = approval;
  const what = `${printable(skill.id)}  ${printable(tool)}  ${quoted(coverage, 100)}`;
  return `${storedId(approval)}  ${verdict.padEnd(3)}  ${what}  ${terminal.style('dim', at.slice(0, 10))}`;
}

function answer({ flags: given, positionals, terminal, place }: Asked, scopeName: string | undefined): number {
  const [, word = '', verdict] = positionals;
  if (verdict !== 'yes' && verdict !== 'no')
    throw new UsageError('the answer must be yes or no', `usage: skillwright ${command.usage}`);
  const scope = APPROVAL_SCOPES.find((known) => known === scopeName) ?? 'once';
  const id = idOf(word, place);
  const { request } = answerPending(place, id, { verdict, scope });
  if (given.json === true) terminal.out(jsonText({ id, verdict, scope }));
  else {
    for (const line of approvalLines(request, { width: terminal.width, hash: sha256 })) terminal.remark(line);
    terminal.out(`${shortId(id)}: ${verdict}, ${scope}`);
  }
  return EXIT.done;
}

/** The one question whose id starts so. */
function idOf(word: string, place: PendingPlace): string {
  const found = questionsOf(word, place);
  const [question] = found;
  if (question !== undefined && found.length === 1) return question.request.id;
  throw new SkillError({
    code: 'input/invalid',
    message:
      found.length > 1
        ? `${String(found.length)} questions start with ${JSON.stringify(word)}`
        : `no question ${quoted(word, 200)} waits for an answer`,
    hint: 'see `skillwright approvals`; at least twelve digits of an id are needed',
    data: { expected: 'the id of a question that waits' },
  });
}

function questionsOf(word: string, place: PendingPlace): readonly PendingQuestion[] {
  const digits = word.replace(/^sha256:/, '');
  if (!/^[0-9a-f]{12,64}$/.test(digits)) return [];
  return listPending(place).questions.filter(({ request }) => request.id.startsWith(`sha256:${digits}`));
}

/** Without a word: every stored answer. With one it is an id or a skill, whatever it looks like. */
async function revoke({ flags: given, terminal, place }: Asked, word: string | undefined): Promise<number> {
  const stored = openStoredApprovals(place.home);
  const withdrawn = word === undefined ? [] : questionsOf(word, place).map(({ request }) => request.id);
  for (const id of withdrawn) withdrawPending(place, id);
  const gone =
    word === undefined
      ? await stored.revoke('all')
      : [...(await stored.revoke({ id: word })), ...(await stored.revoke({ skill: word }))];
  if (given.json === true) {
    const revoked = gone.map((approval) => ({ id: storedId(approval), ...approval }));
    terminal.out(jsonText({ revoked, withdrawn }));
  } else {
    for (const id of withdrawn) terminal.out(`withdrawn: ${shortId(id)}`);
    for (const approval of gone) terminal.out(`revoked: ${storedLine(approval, terminal)}`);
  }
  if (gone.length + withdrawn.length > 0 || word === undefined) return EXIT.done;
  terminal.remark('neither an answer nor a question is meant by that');
  return EXIT.failed;
}

function noHome(): SkillError<'input/invalid'> {
  return new SkillError({
    code: 'input/invalid',
    message: 'there is no home folder: answers are kept there',
    hint: 'set HOME',
    data: { expected: 'a home folder' },
  });
}
