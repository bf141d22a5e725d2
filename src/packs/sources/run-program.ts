/** Programs that fetch for us, git and npm: with a deadline, ended as a whole when nobody waits any more, and what they printed. */
import { SkillError } from '../../core/errors.ts';
import { DEFAULT_LIMITS } from '../../core/execution.ts';
import type { EndReason } from '../../core/execution.ts';
import { refused } from '../problems.ts';
import { printable } from '../../core/text/text.ts';
import { runChild } from '../../platform/process/child-process.ts';

export interface Program {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin?: Uint8Array;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  readonly maxOutputBytes?: number;
  /** Where the output goes, instead of into the result; false ends the program. */
  readonly onOutput?: (chunk: Uint8Array) => boolean;
  /** Asked about every 100 ms; true ends the program. */
  readonly isTooMuch?: () => boolean;
}

export interface ProgramResult {
  /** 0 is success. */
  readonly exitCode: number;
  readonly output: Buffer;
  /** The end of what it complained of. */
  readonly errors: string;
  readonly isTooMuch: boolean;
}

const MAX_OUTPUT = 64 * 1024 * 1024;
const MAX_ERRORS = 64 * 1024;

/** Runs a program to its end. Throws `PackRefused` where it cannot be started or is too slow, and what the signal was aborted with. */
export async function runProgram(program: Program): Promise<ProgramResult> {
  const { argv, cwd, env, timeoutMs, signal, onOutput, isTooMuch } = program;
  const output: Buffer[] = [];
  let errors = Buffer.alloc(0);
  const keep = (chunk: Uint8Array): boolean => output.push(Buffer.from(chunk)) > 0;
  const end = await started(argv[0] ?? '', () =>
    runChild(
      { argv, cwd, env },
      {
        stdin: program.stdin ?? new Uint8Array(),
        limits: { ...DEFAULT_LIMITS, wallMs: timeoutMs, outputBytes: program.maxOutputBytes ?? MAX_OUTPUT },
        streams: {
          stdout: { write: onOutput ?? keep },
          stderr: {
            write: (chunk) => {
              errors = Buffer.concat([errors, chunk]).subarray(-MAX_ERRORS);
              return true;
            },
          },
          ...(signal === undefined ? {} : { signal }),
        },
        poll: (): EndReason | undefined => (isTooMuch?.() === true ? 'disk' : undefined),
      },
    ),
  );
  signal?.throwIfAborted();
  if (end.reason === 'timeout')
    throw refused('source/failed', `${printable(argv[0] ?? '')} did not end within ${String(timeoutMs)} ms`);
  return {
    exitCode: end.exitCode ?? 1,
    output: Buffer.concat(output),
    errors: errors.toString('utf8'),
    isTooMuch: end.reason === 'disk' || end.reason === 'output',
  };
}

async function started<T>(name: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof SkillError)) throw error;
    throw refused(
      'source/failed',
      `${printable(name)} is needed for this source and cannot be started: ${error.message}`,
    );
  }
}
