/**
 * Posts what the action found as one comment on the pull request, and updates it on later pushes. Never fails the job: a pull request from a
 * fork has a token that may not write, and the summary of the job says the same.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';

const { env } = process;
/** GitHub refuses longer comments. */
const MOST_CHARACTERS = 65_000;
const MOST_PAGES = 50;
const TIMEOUT_MS = 30_000;

/** Without the comments of strangers: one with the same mark is not ours to change. */
const TRUSTED = new Set(['OWNER', 'MEMBER', 'COLLABORATOR']);

function read(name) {
  try {
    return readFileSync(path.join(env.RESULTS ?? '', name), 'utf8').trim();
  } catch {
    return '';
  }
}

/** The steps in their order; `skipped` ones did not run because an earlier one failed, or were switched off. */
const OUTCOMES = ['CHECK', 'SCAN', 'CASES', 'EVALUATE'].map((name) => [
  name.toLowerCase(),
  /^(?:success|failure|cancelled|skipped)$/.test(env[name] ?? '') ? env[name] : 'skipped',
]);

function writeBody(mark) {
  const isBad = OUTCOMES.some(([, outcome]) => outcome === 'failure' || outcome === 'cancelled');
  const page = `${env.GITHUB_SERVER_URL}/${env.GITHUB_REPOSITORY}/actions/runs/${env.GITHUB_RUN_ID}`;
  const [difference, evaluation] = [read('difference.md'), read('evaluation.md')];
  const head = [
    mark,
    `## Skillwright: ${isBad ? 'failed' : 'passed'}`,
    '',
    `| ${OUTCOMES.map(([name]) => name).join(' | ')} |`,
    `|${'---|'.repeat(OUTCOMES.length)}`,
    `| ${OUTCOMES.map(([, outcome]) => outcome).join(' | ')} |`,
    '',
    `[Report page and files](${page}), commit ${/^[0-9a-f]{7}/.exec(env.HEAD_SHA ?? '')?.[0] ?? 'unknown'}`,
    '',
  ].join('\n');
  const whole =
    difference === ''
      ? evaluation
      : `${difference}\n\n<details><summary>Evaluation of this branch</summary>\n\n${evaluation}\n\n</details>`;
  const fitting = [whole, difference, evaluation].find((text) => head.length + text.length < MOST_CHARACTERS);
  return `${head}\n${fitting ?? ''}\n`;
}

async function ask(method, address, body) {
  const response = await fetch(address, {
    method,
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
    headers: {
      accept: 'application/vnd.github+json',
      authorization: `Bearer ${env.TOKEN ?? ''}`,
      'user-agent': 'skillwright-action',
      'x-github-api-version': '2022-11-28',
      'content-type': 'application/json',
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} answered with status ${response.status}`);
  return response.json();
}

async function findComment(comments, mark) {
  for (let page = 1; page <= MOST_PAGES; page += 1) {
    const listed = await ask('GET', `${comments}?per_page=100&page=${page}`);
    const found = listed.find(
      ({ body, user, author_association: role }) =>
        typeof body === 'string' && body.startsWith(mark) && (user?.type === 'Bot' || TRUSTED.has(role)),
    );
    if (found !== undefined) return found;
    if (listed.length < 100) return undefined;
  }
  return undefined;
}

async function comment() {
  const event = JSON.parse(readFileSync(env.GITHUB_EVENT_PATH ?? '', 'utf8'));
  const number = event.pull_request?.number;
  if (!Number.isSafeInteger(number)) return 'this is not a pull request';
  if (!/^[\w.-]+\/[\w.-]+$/.test(env.GITHUB_REPOSITORY ?? '')) return 'GITHUB_REPOSITORY is not OWNER/NAME';
  // Two uses of the action in one workflow have a comment each.
  const use = createHash('sha256').update(`${env.GITHUB_JOB}\n${env.SKILLS}`).digest('hex').slice(0, 16);
  const mark = `<!-- skillwright ${use} -->`;
  const issues = `${env.GITHUB_API_URL}/repos/${env.GITHUB_REPOSITORY}/issues`;
  const known = await findComment(`${issues}/${number}/comments`, mark);
  const body = writeBody(mark);
  if (known === undefined) await ask('POST', `${issues}/${number}/comments`, { body });
  else await ask('PATCH', `${issues}/comments/${Number(known.id)}`, { body });
  return known === undefined ? 'commented on the pull request' : 'updated the comment on the pull request';
}

try {
  console.log(await comment());
} catch (error) {
  const reason = error instanceof Error ? error.message.replaceAll(/[\r\n]+/g, ' ') : 'unknown';
  console.log(`::notice::no comment on the pull request (${reason}); the summary of the job has the same text`);
}
