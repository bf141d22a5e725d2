/** Runs git and npm with a timeout, limits and abort support. */
import { DEFAULT_LIMITS, isSkillError, printable, type ProgramEnd } from '#core';
import { refused } from '../problems.ts';
import { runChild } from '#sandbox';

export interface Program {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin?: Uint8Array;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  readonly maxOutputBytes?: number;
  /** Receives stdout instead of the result. Return false to end the program. */
  readonly onOutput?: (chunk: Uint8Array) => boolean;
  /** Checked every 100 ms. Return true to end the program. */
  readonly isTooMuch?: () => boolean;
}

export interface ProgramResult {
  readonly exitCode: number;
  readonly output: Buffer;
  /** The end of stderr. */
  readonly errors: string;
  readonly isTooMuch: boolean;
}

const MAX_OUTPUT = 64 * 1024 * 1024;
const MAX_ERRORS = 64 * 1024;

/** Runs a program. Throws a refusal if it cannot be started or times out, and the abort reason. */
export async function runProgram(program: Program): Promise<ProgramResult> {
  const { argv, cwd, env, timeoutMs, signal, onOutput, isTooMuch } = program;
  const output: Buffer[] = [];
  let errors = Buffer.alloc(0);
  const keep = (chunk: Uint8Array): boolean => output.push(Buffer.from(chunk)) > 0;
  const name = printable(argv[0] ?? '');
  const keepErrors = (chunk: Uint8Array): boolean => {
    errors = Buffer.concat([errors, chunk]).subarray(-MAX_ERRORS);
    return true;
  };
  const running = runChild(
    { argv, cwd, env },
    {
      stdin: program.stdin ?? new Uint8Array(),
      limits: { ...DEFAULT_LIMITS, wallMs: timeoutMs, outputBytes: program.maxOutputBytes ?? MAX_OUTPUT },
      streams: { stdout: { write: onOutput ?? keep }, stderr: { write: keepErrors }, signal },
      poll: (): ProgramEnd['reason'] | undefined => (isTooMuch?.() === true ? 'disk' : undefined),
    },
  );
  const end = await running.catch((error: unknown) => {
    if (!isSkillError(error)) throw error;
    throw refused('source/failed', `${name} is needed for this source and cannot be started: ${error.message}`);
  });
  signal?.throwIfAborted();
  if (end.reason === 'timeout') throw refused('source/failed', `${name} timed out after ${String(timeoutMs)} ms`);
  return {
    exitCode: end.exitCode ?? 1,
    output: Buffer.concat(output),
    errors: errors.toString('utf8'),
    isTooMuch: end.reason === 'disk' || end.reason === 'output',
  };
}
