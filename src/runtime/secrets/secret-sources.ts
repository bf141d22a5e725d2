import { isUtf8 } from 'node:buffer';
import path from 'node:path';

import { DEFAULT_LIMITS, isSkillError, quoted, type OutputSink, type ProgramEnd, type Surroundings } from '#core';
import { readPrivateFile } from '#platform';
import { runChild, PROGRAM_FOLDERS } from '#sandbox';

/** The source of a secret: exactly one of these. */
export interface SecretSource {
  /** A variable in the environment of the runtime. */
  readonly env?: string;
  /** A file that only its owner can access, absolute or below `~/`. */
  readonly file?: string;
  /** A program and its arguments, run without a shell; its output is the value. */
  readonly command?: readonly string[];
}

export type FetchedSecret =
  | { readonly type: 'value'; readonly value: string }
  /** `reason` describes the source and never contains its output. */
  | { readonly type: 'missing'; readonly reason: string; readonly hint?: string }
  | { readonly type: 'cancelled' };

const MAX_BYTES = 64 * 1024;
const COMMAND_MS = 10_000;

/** Names a source in messages. For a command only the program, because arguments may contain secrets. */
export function sourceName({ env, file, command }: SecretSource): string {
  if (env !== undefined) return `the variable ${quoted(env)}`;
  return file === undefined ? `the command ${quoted(command?.[0] ?? '')}` : `the file ${quoted(file)}`;
}

export async function fetchSecret(
  source: SecretSource,
  surroundings: Surroundings,
  signal?: AbortSignal,
): Promise<FetchedSecret> {
  if (source.env !== undefined) {
    const value = Object.hasOwn(surroundings.env, source.env) ? surroundings.env[source.env] : undefined;
    if (value === undefined) return { type: 'missing', reason: 'it is not set' };
    return value === '' ? { type: 'missing', reason: 'it is empty' } : { type: 'value', value };
  }
  if (source.file !== undefined) return fromFile(source.file, surroundings);
  return await fromCommand(source.command ?? [], surroundings, signal);
}

function fromFile(file: string, { home }: Surroundings): FetchedSecret {
  if (file.startsWith('~/') && home === undefined) return { type: 'missing', reason: 'there is no home folder' };
  const place = file.startsWith('~/') ? path.join(home ?? '', file.slice(2)) : file;
  const found = readPrivateFile(place, { maxBytes: MAX_BYTES, isSecret: true });
  switch (found.type) {
    case 'absent':
      return { type: 'missing', reason: 'it does not exist' };
    case 'failed':
      return {
        type: 'missing',
        reason: found.reason,
        hint: 'use a regular file of at most 64 KiB that belongs to you or root and that only its owner can access: chmod 600',
      };
    case 'read':
      return parseSecret(found.bytes);
  }
}

async function fromCommand(
  argv: readonly string[],
  { home, cwd, env }: Surroundings,
  signal: AbortSignal | undefined,
): Promise<FetchedSecret> {
  const chunks: Uint8Array[] = [];
  const stdout: OutputSink = { write: (chunk) => chunks.push(Uint8Array.from(chunk)) > 0 };
  // stderr may contain the secret and is discarded.
  const stderr: OutputSink = { write: () => true };
  const spec = {
    argv,
    cwd: home ?? cwd,
    env: { PATH: env['PATH'] ?? PROGRAM_FOLDERS.join(':'), ...(home === undefined ? {} : { HOME: home }) },
    // Password managers leave an agent process running, which must not be killed.
    isContained: true,
  };
  try {
    const end = await runChild(spec, {
      stdin: new Uint8Array(),
      limits: { ...DEFAULT_LIMITS, wallMs: COMMAND_MS, outputBytes: MAX_BYTES },
      streams: { stdout, stderr, signal },
    });
    if (end.reason === 'cancelled') return { type: 'cancelled' };
    return end.exitCode === 0 && end.reason === 'exited'
      ? parseSecret(Buffer.concat(chunks))
      : { type: 'missing', reason: endReason(end), hint: 'run the command yourself to see its error' };
  } catch (error) {
    if (!isSkillError(error)) throw error;
    return { type: 'missing', reason: 'it cannot be started', hint: error.hint };
  }
}

function endReason({ reason, exitCode, signal }: ProgramEnd): string {
  if (reason === 'timeout') return `it took longer than ${String(COMMAND_MS / 1000)} seconds`;
  if (reason === 'output') return `its output is larger than ${String(MAX_BYTES)} bytes`;
  return exitCode === undefined ? `it was ended by ${signal ?? reason}` : `it exited with code ${String(exitCode)}`;
}

/** Removes a trailing line end. */
function parseSecret(bytes: Buffer): FetchedSecret {
  if (!isUtf8(bytes)) return { type: 'missing', reason: 'its output is not UTF-8 text' };
  const value = bytes.toString('utf8').replace(/\r?\n$/, '');
  return value === '' ? { type: 'missing', reason: 'it is empty' } : { type: 'value', value };
}
