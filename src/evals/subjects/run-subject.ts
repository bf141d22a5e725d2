/** Runs one request with another agent in an empty home and project, and records its transcript as a run. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { StringDecoder } from 'node:string_decoder';

import {
  DEFAULT_LIMITS,
  isObject,
  parseJson,
  printable,
  sliceStart,
  type Budget,
  type OutputSink,
  type ProgramEnd,
  type RunInfo,
  type Redactor,
} from '#core';
import { createRedactor, createRun, redactionProblem, type RunRecord } from '#journal';
import { findProjectFolder } from '#packs';
import { copyTree, makeFolders, sha256 } from '#platform';
import { VERSION } from '../../version.ts';
import { openTranscript, type JsonObject, type Transcript } from './transcript.ts';
import { findLoads, type InstalledSkill } from './installed-skills.ts';
import type { EvalCase } from '../cases/case.ts';
import { placeFiles, type AttemptBasis } from '../run/run-case.ts';
import { readFilesIn } from '../run/stored-outputs.ts';
import type { OpenSubject } from './open-subject.ts';
import type { SubjectAgent, SubjectFolders } from './subject.ts';
import { runChild } from '#sandbox';

/** Reaching a limit of the case ends the run and fails the check. */
export interface SubjectRun extends AttemptBasis {
  readonly subject: OpenSubject;
  readonly skills: readonly InstalledSkill[];
  readonly skillsDigest: string;
  /** An unused folder for this run only. */
  readonly work: string;
  /** Ends a run that has done enough for the question of its case, without failing a check. */
  readonly stopAfter?: Pick<Budget, 'turns' | 'toolCalls'> | undefined;
}

/**
 * Returns the run folder, and the files that the agent created or changed. Rejects with the abort reason, and for a problem of the machine;
 * every end of the agent is in the record.
 */
export async function runSubject(run: SubjectRun) {
  const { evalCase, subject, skills, signal } = run;
  const request = buildRequest(evalCase);
  const places = await makeSubjectFolders(run.work, subject.agent, skills);
  placeFiles(evalCase, places.project);
  const before = projectFiles(places.project);
  const record = createRun(
    run.runs,
    {
      request,
      version: VERSION,
      indexHash: run.skillsDigest,
      index: { skills: skills.map(({ name }) => ({ name })) },
      policyHash: '',
      subject: subject.label,
    },
    { redactor: redactorFor(subject.env) },
  );
  const transcript = openTranscript();
  const recorded = openRecord(record, skills, transcript);
  try {
    const { stdout, ...ended } = await follow(run, request, places, transcript, recorded);
    signal.throwIfAborted();
    if (stdout.length > 0) record.keep(stdout);
    const files = changedFiles(before, projectFiles(places.project));
    recorded.end(request, { ...ended, files }, run);
    const { offered, models } = transcript;
    const ownSkills = offered && listForeign(offered, skills);
    return { folder: record.path, project: places.project, files, ownSkills, models };
  } catch (error) {
    if (signal.aborted) record.end('cancelled', 'interrupted');
    throw error;
  }
}

/** Other agents are told about the files of a case as a person would. */
function buildRequest({ input, files }: EvalCase): string {
  if (files.length === 0) return input;
  return `${input}\n\nFiles in the current directory: ${files.map((file) => path.basename(file)).join(', ')}`;
}

/** Hides the values of keys in the record, except values that are too short or too common to be secret. */
function redactorFor(env: Readonly<Record<string, string>>): Redactor {
  const secrets = Object.entries(env).map(([name, value]) => ({ name, value }));
  const isSecret = ({ name, value }: (typeof secrets)[number]): boolean =>
    /KEY|TOKEN|SECRET|PASS/i.test(name) && redactionProblem(value) === undefined;
  return createRedactor(secrets.filter(isSecret), { shapes: true });
}

const MAX_OUTPUT = 64 * 1024 * 1024;
/** Bytes of the transcript that are kept as evidence. */
const MAX_KEPT = 4 * 1024 * 1024;
const MAX_ERRORS = 4096;

async function follow(
  run: SubjectRun,
  request: string,
  places: SubjectFolders,
  transcript: Transcript,
  recorded: ReturnType<typeof openRecord>,
): Promise<Omit<SubjectEnd, 'files'> & { readonly stdout: Buffer }> {
  const { subject, evalCase, signal, timeoutMs } = run;
  // A prompt that starts with `-` would be a flag, and one with `@` the name of a file.
  const prompt = /^[-@]/.test(request) ? ` ${request}` : request;
  const { agent, program, model, env, searchPath } = subject;
  const start = agent.start({ ...places, prompt, model, env });
  for (const [file, text] of Object.entries(start.files ?? {})) {
    makeFolders(path.dirname(file));
    writeFileSync(file, text, { mode: 0o600 });
  }
  const stopping = new AbortController();
  let stopped: Stopped | undefined;
  const lines = lineReader((line) => {
    const value = parseJson(line);
    if (stopped !== undefined || !isObject(value)) return;
    readEvent(agent, value, transcript);
    stopped = stopFor(run, transcript);
    // What is beyond a limit is not recorded.
    if (stopped === undefined) recorded.advance();
    else stopping.abort();
  });
  const stdout: Uint8Array[] = [];
  let [kept, errors] = [0, ''];
  const streams = {
    stdout: {
      write(chunk: Uint8Array) {
        if (kept < MAX_KEPT) stdout.push(Uint8Array.from(chunk));
        kept += chunk.length;
        return lines.write(chunk);
      },
    },
    stderr: {
      write(chunk: Uint8Array) {
        errors = (errors + Buffer.from(chunk).toString('utf8')).slice(-MAX_ERRORS);
        return true;
      },
    },
    signal: AbortSignal.any([signal, stopping.signal]),
  };
  const base = { PATH: searchPath, HOME: places.home, TMPDIR: places.temporary, LANG: 'C.UTF-8', NO_COLOR: '1' };
  const wallMs = Math.min(timeoutMs, evalCase.limits.wallMs ?? timeoutMs);
  const end = await runChild(
    { argv: [program, ...start.args], cwd: places.project, env: { ...base, ...env, ...start.env } },
    { stdin: new Uint8Array(), limits: { ...DEFAULT_LIMITS, wallMs, outputBytes: MAX_OUTPUT }, streams },
  );
  lines.end();
  return { end, errors, stopped, timeoutMs, stdout: Buffer.concat(stdout) };
}

/** Whether the agent is beyond a limit of the case, or has done enough for its question. */
function stopFor({ evalCase: { limits }, stopAfter }: SubjectRun, transcript: Transcript): Stopped | undefined {
  const used = { turns: transcript.turns, toolCalls: transcript.calls };
  for (const name of ['turns', 'toolCalls'] as const) {
    const own = limits[name];
    if (own !== undefined && used[name] > own) return { name, limit: own, isLimit: true };
    const enough = stopAfter?.[name];
    if (enough !== undefined && used[name] > enough) return { name, limit: enough, isLimit: false };
  }
  return undefined;
}

export function readEvent({ events }: SubjectAgent, event: JsonObject, transcript: Transcript): void {
  const { type } = event;
  if (typeof type === 'string' && Object.hasOwn(events, type)) events[type]?.(event, transcript);
}

function lineReader(take: (line: string) => void): OutputSink & { end(): void } {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  const feed = (text: string): void => {
    if (!text.includes('\n')) {
      rest += text;
      return;
    }
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    lines.forEach(take);
  };
  return {
    write(chunk) {
      feed(decoder.write(Buffer.from(chunk)));
      return true;
    },
    end: () => feed(`${decoder.end()}\n`),
  };
}

/** Why the harness ended the agent. */
interface Stopped {
  readonly name: 'turns' | 'toolCalls';
  readonly limit: number;
  /** A limit of the case: the run failed it. Otherwise the question of the case was answered by then. */
  readonly isLimit: boolean;
}

interface SubjectEnd {
  readonly end: ProgramEnd;
  readonly errors: string;
  readonly stopped?: Stopped | undefined;
  readonly timeoutMs: number;
  readonly files: ProjectFiles;
}

/** Records a transcript of another agent as a run, so that graders, reports and `runs` read it like any other. */
function openRecord(record: RunRecord, skills: readonly InstalledSkill[], transcript: Transcript) {
  let turns = 0;
  const advance = (): void => {
    for (; turns < transcript.turns; turns += 1) record.append({ type: 'turn', turn: turns + 1 });
    for (const call of transcript.takeEnded()) {
      const { name: tool, input, ok, output } = call;
      const loads = findLoads(call, skills);
      record.append({ type: 'subject-call', tool, input, ok, output, loads });
      // An agent that loads a skill has offered it, whether it said so or not.
      const loaded = loads.map(({ skill }) => skill).filter((name) => !skills.some((skill) => skill.name === name));
      if (loaded.length > 0) transcript.offered = [...new Set([...(transcript.offered ?? []), ...loaded])];
    }
  };
  const end = (request: string, ended: SubjectEnd, { evalCase: { limits }, subject }: SubjectRun): void => {
    const { end: program, stopped, files } = ended;
    if (stopped === undefined) {
      transcript.endOpen();
      advance();
    }
    const { model, answer, usage = {}, usd, isComplete } = transcript;
    const tokens = usage.inputTokens ?? 0;
    // An agent that was ended has not reported its last step.
    const isWhole = isComplete && stopped === undefined;
    record.append({ type: 'model-call', turn: 1, model, request: sha256(request), tokens });
    const spoken = { turn: 1, text: answer, toolCalls: [], finish: 'stop', usage, retries: 0 } as const;
    record.append({ type: 'model-answer', ...spoken, ...(isWhole ? {} : { outputIsEstimated: true }) });
    const own = listForeign(transcript.offered ?? [], skills);
    const brought = own.length === 0 ? [] : [`the agent offers skills that are not installed here: ${own.join(', ')}`];
    for (const message of [...program.warnings, ...brought]) record.append({ type: 'note', message });
    record.append({
      type: 'subject-end',
      exitCode: program.exitCode ?? null,
      ...(isCrash(ended, transcript) ? { crashed: true } : {}),
      usd: isWhole ? usd : undefined,
      files: [...files].map(([path, bytes]) => ({ path, bytes: bytes.length, digest: `sha256:${sha256(bytes)}` })),
    });
    if (answer !== '') {
      record.append({ type: 'action', call: 1, action: { type: 'final_answer', answer }, askedBy: 'model' });
      const observation = { type: 'answered', action: 'final_answer', answer } as const;
      record.append({ type: 'observation', call: 1, observation });
    }
    if (stopped?.isLimit === true)
      record.append({ type: 'budget-end', name: stopped.name, used: stopped.limit, limit: stopped.limit });
    const limit = program.reason === 'timeout' ? Math.min(ended.timeoutMs, limits.wallMs ?? Infinity) : undefined;
    if (limit !== undefined) record.append({ type: 'budget-end', name: 'wallMs', used: limit, limit });
    record.end(...findOutcome(ended, limit, transcript, skills, subject.ownSkills));
  };
  return { advance, end };
}

/** An agent that took a turn and then died or flooded its output failed. One that never began may lack its model. */
function isCrash({ end, stopped }: SubjectEnd, { error, turns }: Transcript): boolean {
  if (stopped !== undefined || error !== undefined || turns === 0 || end.reason === 'timeout') return false;
  return end.reason !== 'exited' || end.exitCode !== 0;
}

function listForeign(offered: readonly string[], skills: readonly InstalledSkill[]): readonly string[] {
  return offered.filter((name) => !skills.some((skill) => skill.name === name)).toSorted();
}

/** The exit code alone proves nothing: agents end with 0 after an error. */
function findOutcome(
  { end, stopped, errors }: SubjectEnd,
  limitMs: number | undefined,
  { error, isComplete, offered = [] }: Transcript,
  skills: readonly InstalledSkill[],
  ownSkills: OpenSubject['ownSkills'],
): [Exclude<RunInfo['outcome'], 'running'>, string] {
  if (stopped !== undefined) return ['degraded', `stopped after ${String(stopped.limit)} ${WORDS[stopped.name]}`];
  if (limitMs !== undefined) return ['degraded', `timed out after ${String(limitMs / 1000)} s`];
  if (end.reason === 'output') return ['failed', 'the transcript has more than 64 MiB'];
  const foreign = ownSkills && listForeign(offered, skills).filter((name) => !ownSkills.includes(name));
  if (foreign !== undefined && foreign.length > 0)
    return ['failed', `the agent offers skills that are not installed here: ${foreign.join(', ')}`];
  if (error !== undefined) return ['failed', sliceStart(printable(error), LONGEST)];
  if (end.reason !== 'exited' || end.exitCode !== 0) {
    const how =
      end.reason === 'exited' ? `exit code ${String(end.exitCode)}` : `${end.reason} ${end.signal ?? ''}`.trim();
    return ['failed', `${how}${lastLine(errors)}`];
  }
  if (!isComplete) return ['failed', `the transcript has no end: its format may have changed${lastLine(errors)}`];
  return ['done', ''];
}

const WORDS = { turns: 'turns', toolCalls: 'tool calls' } as const;
const LONGEST = 400;

function lastLine(text: string): string {
  const line = text.trim().split('\n').at(-1) ?? '';
  return line === '' ? '' : `: ${sliceStart(printable(line), LONGEST)}`;
}

/** An empty home, and a project with the skills. Throws if a skill cannot be copied. `work` is an unused folder. */
async function makeSubjectFolders(
  work: string,
  agent: SubjectAgent,
  skills: readonly InstalledSkill[],
): Promise<SubjectFolders> {
  const [home, temporary, project] = [path.join(work, 'home'), path.join(work, 'tmp'), path.join(work, 'project')];
  for (const folder of [home, temporary, project]) makeFolders(folder, 0o700);
  makeRepository(path.join(project, '.git'));
  const to = path.join(project, findProjectFolder(agent.listedAs ?? agent.id));
  makeFolders(to);
  for (const { folder } of skills) {
    const name = path.basename(folder);
    const copied = await copyTree(folder, { to: path.join(to, name), permissions: 'writable' });
    if (copied.type === 'refused') throw new Error(`cannot install the skill ${name}: ${copied.message}`);
  }
  return { home, temporary, project, skills: to };
}

/** An empty repository, as `git init` makes it: without one, agents look for skills in parent folders. */
function makeRepository(folder: string): void {
  for (const name of ['objects', 'refs/heads']) mkdirSync(path.join(folder, name), { recursive: true });
  writeFileSync(path.join(folder, 'HEAD'), 'ref: refs/heads/main\n');
  writeFileSync(path.join(folder, 'config'), '[core]\n\trepositoryformatversion = 0\n\tbare = false\n');
}

/** What agents keep in a project for themselves. */
const OWN_FOLDERS = /^\.(?:git|claude|agents|codex|gemini|opencode|pi)\//;

type ProjectFiles = ReadonlyMap<string, Buffer>;

function projectFiles(project: string): ProjectFiles {
  return readFilesIn(project, (name) => !OWN_FOLDERS.test(name));
}

function changedFiles(before: ProjectFiles, after: ProjectFiles): ProjectFiles {
  return new Map([...after].filter(([name, bytes]) => before.get(name)?.equals(bytes) !== true));
}
