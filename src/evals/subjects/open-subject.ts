/** Finds the program and the keys of a subject. What is missing skips its cases; nothing of the user is copied. */
import { mkdtempSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { DEFAULT_LIMITS, isSkillError, printable } from '#core';
import { removeTree, findProgram } from '#platform';
import { runChild } from '#sandbox';
import { listOwnSkills } from '../report/arm-doubts.ts';
import type { CaseResult } from '../report/result.ts';
import type { SubjectAgent } from './subject.ts';

export interface OpenSubject {
  readonly agent: SubjectAgent;
  /** Undefined for the default model of the agent. */
  readonly model?: string;
  readonly label: string;
  readonly program: string;
  readonly searchPath: string;
  readonly env: Readonly<Record<string, string>>;
  /** Why no case can run; empty if all can. */
  readonly missing: string;
  /** Skills that the agent brings and offers in every run, as its controls showed them; undefined before. */
  readonly ownSkills?: readonly string[];
}

/** After its controls: what the agent offers in an empty home is its own, and what it offers later beyond that is a leak. */
export function withOwnSkills(subject: OpenSubject, controls: readonly Pick<CaseResult, 'given'>[]): OpenSubject {
  return { ...subject, ownSkills: listOwnSkills(controls) };
}

/** Needed behind a company proxy. */
const PROXIES = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'];
const CERTIFICATES = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE'];
const VERSION_MS = 60_000;

interface SubjectOptions extends Pick<OpenSubject, 'agent' | 'model'> {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly pass?: readonly string[];
  readonly signal: AbortSignal;
}

export async function openSubject({ agent, model, env, pass = [], signal }: SubjectOptions): Promise<OpenSubject> {
  const folders = (env['PATH'] ?? '').split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  const find = (name: string): string | undefined => (path.isAbsolute(name) ? name : findProgram(name, folders));
  const names = [...agent.keys(model), ...agent.variables, ...PROXIES, ...CERTIFICATES, ...pass];
  const own = names.flatMap((name) => {
    const value = env[name];
    return value === undefined || value === '' ? [] : [[name, value] as const];
  });
  const subject = {
    agent,
    model,
    label: agent.id,
    program: find(agent.program) ?? '',
    searchPath: folders.join(path.delimiter),
    env: Object.fromEntries(own),
  };
  const missing = missingFor(subject, find, pass);
  if (missing !== '' || agent.install === '') return { ...subject, missing };
  const version = await readVersion(subject, signal);
  if ('problem' in version)
    return { ...subject, missing: `${subject.program} --version ${version.problem}: run it by hand` };
  return { ...subject, label: `${agent.id} ${version.found}`, missing: '' };
}

function missingFor(
  { agent, model, program, env }: Omit<OpenSubject, 'missing'>,
  find: (name: string) => string | undefined,
  pass: readonly string[],
): string {
  if (program === '') return `${agent.program} is not on PATH: install it with ${agent.install}`;
  const need = agent.needs?.find((name) => find(name) === undefined);
  if (need !== undefined) return `${agent.id} needs ${need}, which is not on PATH`;
  const keys = agent.keys(model);
  if (keys.length > 0 && !keys.some((name) => Object.hasOwn(env, name)))
    return `${keys.length > 1 ? 'none of ' : ''}${keys.join(', ')} is set: ${agent.id} runs in an empty home, where no login applies`;
  const unset = pass.find((name) => !Object.hasOwn(env, name));
  return unset === undefined ? '' : `the variable ${unset} of --subject-env is not set`;
}

async function readVersion(
  { program, searchPath }: Pick<OpenSubject, 'program' | 'searchPath'>,
  signal: AbortSignal,
): Promise<{ readonly found: string } | { readonly problem: string }> {
  const home = mkdtempSync(path.join(os.tmpdir(), 'skillwright-subject-'));
  const texts = { stdout: '', stderr: '' };
  const sink = (name: keyof typeof texts) => ({
    write: (chunk: Uint8Array): boolean => ((texts[name] += Buffer.from(chunk).toString('utf8')), true),
  });
  const streams = { stdout: sink('stdout'), stderr: sink('stderr'), signal };
  let isDone = false;
  try {
    const env = { PATH: searchPath, HOME: home, TMPDIR: home, NO_COLOR: '1' };
    const spec = { argv: [program, '--version'], cwd: home, env };
    const limits = { ...DEFAULT_LIMITS, wallMs: VERSION_MS, outputBytes: 65_536 };
    const end = await runChild(spec, { stdin: new Uint8Array(), limits, streams });
    isDone = end.reason === 'exited' && end.exitCode === 0;
  } catch (error) {
    if (!isSkillError(error)) throw error;
    return { problem: 'did not start' };
  } finally {
    await removeTree(home);
  }
  signal.throwIfAborted();
  // The error of a program that crashes names other versions, such as that of Node.
  const found = /\d+\.\d+\.\d+[\w.-]*/.exec(isDone ? texts.stdout + texts.stderr : texts.stdout)?.[0];
  if (found !== undefined) return { found };
  const error = texts.stderr.split('\n').find((line) => /error/i.test(line));
  return {
    problem:
      error === undefined ? 'printed no version within 60 s' : `failed: ${printable(error.trim()).slice(0, 200)}`,
  };
}
