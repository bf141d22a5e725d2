/** The transport of an MCP server that is a local program, and how its failure is told. */
import {
  deserializeMessage,
  serializeMessage,
  type JSONRPCMessage,
  type Transport,
} from '@modelcontextprotocol/client';

import { cleanText, sliceEnd, sliceStart } from '#core';
import { isSystemError } from '#platform';
import { startChild } from '#sandbox';

const MAX_MESSAGE = 32 * 1024 * 1024;
/** Between two messages of ours, for servers that write without being asked. */
const MAX_UNASKED = 64 * 1024 * 1024;
/** Lines that are no messages, such as log lines on the wrong stream. */
const MAX_NOISE = 1_000;
const KEPT_STDERR = 2_000;
/** How long a server may take to exit after its input was closed. */
const EXIT_MS = 2_000;

export interface ProgramTransport extends Transport {
  /** Why the server ended the connection; empty if it did not. */
  readonly end: string;
  /** The end of what its program printed to stderr. */
  readonly printed: string;
}

/** The transport of a local MCP server: JSON lines over the pipes of a program in its own process group. */
export function programTransport(
  spec: Pick<Parameters<typeof startChild>[0], 'argv' | 'cwd' | 'env'>,
): ProgramTransport {
  let child: Awaited<ReturnType<typeof startChild>> | undefined;
  let pieces: Buffer[] = [];
  let length = 0;
  let unasked = 0;
  let noise = 0;
  let stderr = '';
  let end = '';
  let isClosing = false;

  const stop = (reason: string): boolean => {
    if (end === '') {
      end = reason;
      child?.kill();
      transport.onerror?.(new Error(reason));
    }
    return false;
  };
  const take = (line: Buffer): void => {
    const text = line.toString('utf8').replace(/\r$/, '');
    if (text.trim() === '') return;
    let message: JSONRPCMessage;
    try {
      message = deserializeMessage(text);
    } catch {
      // Servers print logs to the wrong stream. The call that waits for an answer has a deadline.
      noise += 1;
      if (noise > MAX_NOISE) stop(`it wrote more than ${String(MAX_NOISE)} lines that are not JSON-RPC messages`);
      return;
    }
    transport.onmessage?.(message);
  };
  const read = (chunk: Uint8Array): boolean => {
    if (end !== '') return false;
    unasked += chunk.length;
    if (unasked > MAX_UNASKED) return stop(`it wrote more than ${String(MAX_UNASKED)} bytes without being asked`);
    let rest = Buffer.from(chunk);
    for (let at = rest.indexOf(0x0a); at !== -1; at = rest.indexOf(0x0a)) {
      take(Buffer.concat([...pieces, rest.subarray(0, at)]));
      pieces = [];
      length = 0;
      rest = rest.subarray(at + 1);
    }
    length += rest.length;
    if (length > MAX_MESSAGE) return stop(`it sent a message of more than ${String(MAX_MESSAGE)} bytes`);
    if (rest.length > 0) pieces.push(rest);
    return true;
  };

  const transport: ProgramTransport = {
    get end() {
      return end;
    },
    get printed() {
      return stderr;
    },
    async start() {
      child = await startChild(spec, {
        stdout: { write: read },
        stderr: {
          write(chunk) {
            stderr = (stderr + Buffer.from(chunk).toString('utf8')).slice(-KEPT_STDERR);
            return true;
          },
        },
      });
      child.ended.then(
        ({ exitCode, signal }) => {
          const how =
            exitCode === undefined ? `was ended by ${signal ?? 'a signal'}` : `exited with ${String(exitCode)}`;
          if (end === '' && !isClosing) end = withPrinted(`its program ${how}`, stderr);
          transport.onclose?.();
        },
        (error: unknown) => {
          if (end === '') end = `its program cannot be watched: ${toErrorMessage(error)}`;
          transport.onclose?.();
        },
      );
    },
    async send(message) {
      if (end !== '' || isClosing) throw new Error(end === '' ? 'the connection is closed' : end);
      unasked = 0;
      child?.write(Buffer.from(serializeMessage(message)));
    },
    async close() {
      if (child === undefined) return;
      isClosing = true;
      child.closeInput();
      const timer = setTimeout(() => child?.kill(), EXIT_MS);
      await child.ended;
      clearTimeout(timer);
    },
  };
  return transport;
}

export function toErrorMessage(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  // `fetch` says why in its cause only.
  const cause = error instanceof Error && message === 'fetch failed' ? causeText(error.cause) : '';
  const text = cause === '' ? message : `${message}: ${cause}`;
  return sliceStart(cleanText(text).replaceAll('\n', ' '), 1_000);
}

/** The cause of several failed addresses has a code and no message. */
function causeText(cause: unknown): string {
  if (!(cause instanceof Error)) return '';
  return cause.message === '' && isSystemError(cause) ? cause.code : cause.message;
}

/** Lines of a stack trace and of the crash report of Node, which say nothing about the cause. */
const NOISE = /^(?:\s+at .*|\s*\^+\s*|\s*[{}]\s*|\s+\w+: .*,?|node:\S+:\d+|\s+throw .*|Node\.js v\d.*)$/;
const ERROR_LINE = /^(?:Uncaught )?(?:[\w.]*(?:Error|Exception)\b[^:]*:|(?:error|fatal|panic)\b)/i;
const PRINTED_LINES = 3;
const PRINTED_CHARACTERS = 600;

/** Adds what a program printed last: from the line of its error on, if there is one. */
export function withPrinted(reason: string, stderr: string): string {
  const lines = cleanText(stderr)
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '' && !NOISE.test(line));
  const error = lines.findLastIndex((line) => ERROR_LINE.test(line));
  const from = error === -1 ? Math.max(0, lines.length - PRINTED_LINES) : error;
  const shown = lines.slice(from, from + PRINTED_LINES).map((line) => line.replace(/ \{$/, ''));
  if (shown.length === 0) return reason;
  // An error starts with what failed. Other output ends with what happened last.
  const slice = error === -1 ? sliceEnd : sliceStart;
  return `${reason}: ${slice(shown.join('; '), PRINTED_CHARACTERS)}`;
}
