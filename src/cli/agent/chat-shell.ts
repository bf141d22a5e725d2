/** `!command` of a chat: the user runs a command in the project, and the model reads its output with the next message. */
import { spawn } from 'node:child_process';
import { StringDecoder } from 'node:string_decoder';

import { cleanText, sliceStart, type Redactor } from '#core';
import type { Terminal } from '../terminal/terminal.ts';

/** How a note for the model begins. */
export const SHELL_NOTE = 'I ran this command myself: ';
const MAX_KEPT = 8_000;
/** A program in the background may keep the output open after the command has ended. */
const DRAIN_MS = 1_000;

interface ShellContext {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly terminal: Pick<Terminal, 'pass'>;
  /** Removes known secrets from what the model reads; the user sees the output as it is. */
  readonly redactor: Redactor;
}

interface ShellEnd {
  readonly code?: number | null;
  readonly endedBy?: NodeJS.Signals | null;
  readonly problem?: string;
}

/** Runs a command with the shell and the rights of the user, shows what it prints, and returns the note for the model. */
export async function runShellLine(
  command: string,
  signal: AbortSignal,
  { cwd, env, terminal, redactor }: ShellContext,
): Promise<string> {
  const child = spawn('/bin/sh', ['-c', command], { cwd, env: { ...env }, stdio: ['inherit', 'pipe', 'pipe'] });
  let kept = '';
  let last = '';
  const keep = (text: string): void => {
    kept = (kept + text).slice(-2 * MAX_KEPT);
  };
  const followed = (['stdout', 'stderr'] as const).map((stream) => {
    // Secrets are removed before the text is cut, because a part of a secret is not found.
    const clean = redactor.stream();
    const decoder = new StringDecoder('utf8');
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      terminal.pass(stream, text);
      last = text;
      keep(decoder.write(Buffer.from(clean.write(Buffer.from(text)))));
    });
    return () => keep(decoder.write(Buffer.from(clean.end())) + decoder.end());
  });
  const { code, endedBy, problem } = await new Promise<ShellEnd>((resolve) => {
    child.once('error', ({ message }) => resolve({ problem: message }));
    child.once('exit', (code, endedBy) => {
      const timer = setTimeout(() => {
        child.stdout.destroy();
        child.stderr.destroy();
      }, DRAIN_MS);
      child.once('close', () => {
        clearTimeout(timer);
        resolve({ code, endedBy });
      });
    });
  });
  // The terminal interrupts this process too, which may learn of it later than of the end of the child.
  if (endedBy === 'SIGINT') await onceAborted(signal);
  const end =
    problem === undefined
      ? code === null
        ? `it was ended by ${endedBy ?? 'a signal'}`
        : `exit code ${String(code)}`
      : `it could not be started: ${problem}`;
  for (const finish of followed) finish();
  if (last !== '' && !last.endsWith('\n')) terminal.pass('stderr', '\n');
  const text = redactor.text(cleanText(kept)).trim();
  const left = text.length > MAX_KEPT ? `[the first ${String(text.length - MAX_KEPT)} characters are left out]\n` : '';
  return `${SHELL_NOTE}${sliceStart(redactor.text(command), 2_000)}\n${end}; its output:\n${left}${text.slice(-MAX_KEPT)}`;
}

function onceAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, DRAIN_MS);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}
