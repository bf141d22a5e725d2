import { randomUUID } from 'node:crypto';
import { renameSync, unlinkSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import {
  APPROVAL_SCOPES,
  readField,
  invalidInput,
  isObject,
  parseJson,
  printable,
  quoted,
  shape,
  SkillError,
  type ApprovalAnswer,
  type ApprovalRequest,
} from '#core';
import {
  isPresent,
  makeFolders,
  namesIn,
  readPrivateFile,
  openSeals,
  temporaryName,
  writeFileAtomically,
  isSystemError,
  quietly,
} from '#platform';
import { openUsedApprovals } from './used-approvals.ts';
import { RISKS } from '../risks.ts';
import { isEarlierCoverage } from './earlier-coverage.ts';

/**
 * Questions for another process: `<id>.json` is the question, `<id>.answer.json` the answer. Both are authenticated, so that only this
 * program can write a question and only its command can answer it.
 */
export interface PendingFolder {
  readonly folder: string;
  /** The home folder whose key authenticates the files. */
  readonly home: string;
}

export interface PendingQuestion {
  readonly request: ApprovalRequest;
  readonly at: string;
  /** Distinguishes repeated questions, so that an answer is used once. */
  readonly asking: string;
}

export interface PendingAnswer {
  readonly verdict: 'yes' | 'no';
  readonly scope: ApprovalAnswer['scope'];
  /** Why not; the model reads it. */
  readonly reason?: string;
}

const QUESTION = 'skillwright question 1';
const ANSWER = 'skillwright answer 1';
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_QUESTIONS = 10_000;
const POLL_MS = 200;

export function pendingFolder(home: string): string {
  return path.join(home, '.agent/pending');
}

/** Writes a question unless it is already waiting. Throws `io/failed`. */
export function writePending(place: PendingFolder, request: ApprovalRequest, now: Date = new Date()): PendingQuestion {
  const file = toFile(place, request.id, '.json');
  const waiting = readPending(place, request.id);
  if (waiting !== undefined) return waiting;
  const question: PendingQuestion = { request, at: now.toISOString(), asking: randomUUID() };
  writeSealed(place, file, { purpose: QUESTION, body: JSON.stringify(question) });
  return question;
}

/** Returns nothing if the question is missing or fails authentication. Throws `input/invalid` for a malformed id, and `io/failed`. */
export function readPending(place: PendingFolder, id: string): PendingQuestion | undefined {
  const body = readSealed(place, toFile(place, id, '.json'), QUESTION);
  const question = body === undefined ? undefined : parseQuestion(body);
  return question?.request.id === id ? question : undefined;
}

export function listPending(place: PendingFolder): {
  readonly questions: readonly PendingQuestion[];
  readonly problems: readonly string[];
} {
  const questions: PendingQuestion[] = [];
  const problems: string[] = [];
  for (const name of namesIn(place.folder).slice(0, MAX_QUESTIONS)) {
    const [, hex] = /^([0-9a-f]{64})\.json$/.exec(name) ?? [];
    if (hex === undefined) continue;
    const question = readPending(place, `sha256:${hex}`);
    if (question !== undefined) questions.push(question);
    else problems.push(`${printable(path.join(place.folder, name))} is ignored: it was modified`);
  }
  return { questions: questions.toSorted((a, b) => (a.at < b.at ? -1 : 1)), problems };
}

/**
 * Answers a waiting question; the first answer counts. Throws `input/invalid` if no question waits, it is answered already, version 0.1
 * asked it, or the scope is not offered, and `io/failed`.
 */
export function answerPending(
  place: PendingFolder,
  id: string,
  { verdict, scope, reason }: PendingAnswer,
): PendingQuestion {
  const question = readPending(place, id);
  if (question === undefined)
    throw invalid(`no question ${quoted(id, 80)} is waiting for an answer`, 'the id of a waiting question');
  if (verdict === 'yes' && !question.request.scopes.includes(scope))
    throw invalid(`this question cannot be answered with scope ${scope}`, question.request.scopes.join(', '));
  if (isEarlierCoverage(question.request.coverage))
    throw invalidInput(
      `version 0.1 asked the question ${quoted(id, 80)}, and no run of this version can use an answer to it`,
      'a question of this version',
      `continue the run, which asks again: skillwright runs resume ID; remove the question: skillwright approvals revoke ${id.slice('sha256:'.length).slice(0, 12)}`,
    );
  const body = JSON.stringify({
    id,
    asking: question.asking,
    verdict,
    scope,
    reason,
  });
  if (!writeSealed(place, toFile(place, id, '.answer.json'), { purpose: ANSWER, body }))
    throw invalid(`the question ${quoted(id, 80)} is answered already`, 'the id of a question without an answer');
  return question;
}

/** Removes a question and its answer. Throws `input/invalid` for a malformed id. */
export function withdrawPending(place: PendingFolder, id: string): void {
  for (const ending of ['.json', '.answer.json']) unlinkIfPresent(toFile(place, id, ending));
}

export function isAnswered(place: PendingFolder, id: string): boolean {
  return isPresent(toFile(place, id, '.answer.json'));
}

/**
 * Takes the answer to a question and removes both. If several processes try, one gets it. A yes whose use cannot be remembered stays:
 * throws `io/failed`.
 */
export async function takeAnswer(place: PendingFolder, id: string): Promise<ApprovalAnswer | undefined> {
  const file = toFile(place, id, '.answer.json');
  if (!isPresent(file)) return undefined;
  const question = readPending(place, id);
  const claimed = temporaryName(file, '.taken');
  try {
    renameSync(file, claimed);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return undefined;
  }
  try {
    const body = readSealed(place, claimed, ANSWER);
    const answer = body === undefined || question === undefined ? undefined : parseAnswer(body, question);
    if (answer === undefined || question === undefined) return undefined;
    // The files of a used answer may have been copied back.
    const isNew = answer.verdict === 'no' || (await openUsedApprovals(place.home).useAnswer(question.asking));
    unlinkIfPresent(toFile(place, id, '.json'));
    return isNew ? answer : undefined;
  } catch (error) {
    renameSync(claimed, file);
    throw error;
  } finally {
    unlinkIfPresent(claimed);
  }
}

export interface WaitOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/** Waits for an answer; returns `pending` on timeout. Rewrites the question if another process removes it. */
export async function waitForAnswer(
  place: PendingFolder,
  request: ApprovalRequest,
  { timeoutMs, signal }: WaitOptions,
): Promise<ApprovalAnswer | 'pending'> {
  const end = Date.now() + timeoutMs;
  writePending(place, request);
  for (;;) {
    signal?.throwIfAborted();
    const answer = await takeAnswer(place, request.id);
    if (answer !== undefined) return answer;
    const left = end - Date.now();
    if (left <= 0) return 'pending';
    // Another process with the same question took the answer.
    if (!isPresent(toFile(place, request.id, '.json'))) writePending(place, request);
    await pause(Math.min(POLL_MS, left), signal);
  }
}

/** Returns early, without an error, if the signal is aborted. */
async function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  await sleep(milliseconds, undefined, signal === undefined ? {} : { signal }).catch((error: unknown) => {
    if (signal?.aborted !== true) throw error;
  });
}

function toFile({ folder }: PendingFolder, id: string, ending: string): string {
  const [, hex] = /^sha256:([0-9a-f]{64})$/.exec(id) ?? [];
  if (hex === undefined) throw invalid(`${quoted(id, 80)} is not the id of a question`, 'sha256: and 64 hex digits');
  return path.join(folder, hex + ending);
}

/** The body is stored as text, so that the authenticated bytes are the parsed bytes. Returns false for an answer that exists. */
function writeSealed(
  { folder, home }: PendingFolder,
  file: string,
  { purpose, body }: { readonly purpose: string; readonly body: string },
): boolean {
  const text = JSON.stringify({ mac: openSeals(home, purpose).compute(body), body });
  try {
    makeFolders(folder, 0o700);
    writeFileAtomically(file, Buffer.from(text, 'utf8'), { sync: true, isNew: purpose === ANSWER });
    return true;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    if (error.code === 'EEXIST' && purpose === ANSWER) return false;
    throw new SkillError({
      code: 'io/failed',
      message: `${JSON.stringify(file)} cannot be written (${error.code})`,
      hint: 'free disk space, or grant write permission on the folder',
      data: { path: file, cause: error.code },
      cause: error,
    });
  }
}

function readSealed({ home }: PendingFolder, file: string, purpose: string): string | undefined {
  const read = readPrivateFile(file, { maxBytes: MAX_BYTES });
  if (read.type !== 'read') return undefined;
  const { mac, body } = objectIn(read.bytes.toString('utf8'));
  if (typeof mac !== 'string' || typeof body !== 'string') return undefined;
  return openSeals(home, purpose).isValid(mac, body) ? body : undefined;
}

function objectIn(text: string): Readonly<Record<string, unknown>> {
  const value = parseJson(text);
  return isObject(value) ? value : {};
}

/** The file is authentic, but another version of this program may have written it. */
function parseQuestion(body: string): PendingQuestion | undefined {
  const { request, at, asking } = objectIn(body);
  if (typeof at !== 'string' || typeof asking !== 'string' || !isRequest(request)) return undefined;
  return { request, at, asking };
}

const REQUEST = shape({ text: 'id tool rule coverage', object: 'origin detail action', list: 'scopes affects' });

function isRequest(value: unknown): value is ApprovalRequest {
  return REQUEST(value) && RISKS.some((known) => known === readField(value, 'risk'));
}

function parseAnswer(body: string, { request, asking }: PendingQuestion): ApprovalAnswer | undefined {
  const answer = objectIn(body);
  const scope = APPROVAL_SCOPES.find((known) => known === answer['scope']);
  const { verdict } = answer;
  if (answer['id'] !== request.id || answer['asking'] !== asking || scope === undefined) return undefined;
  if (verdict !== 'yes' && verdict !== 'no') return undefined;
  const { reason } = answer;
  return { verdict, scope, by: 'file', ...(typeof reason === 'string' ? { reason } : {}) };
}

function unlinkIfPresent(file: string): void {
  quietly(() => unlinkSync(file));
}

function invalid(message: string, expected: string): SkillError<'input/invalid'> {
  return invalidInput(message, expected, `pass ${expected}; \`skillwright approvals\` lists the waiting questions`);
}
