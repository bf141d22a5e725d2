/** The start of what a program prints, and the rest in a file. */
import { openSync, fchmodSync, closeSync } from 'node:fs';
import { createHash } from 'node:crypto';

import {
  cleanText,
  SkillError,
  quoted,
  type OutputSink,
  type AttachedWorkspace,
  type ProgramEnd,
  type Redactor,
  wholeCharacters,
} from '#core';
import { OPEN_FLAGS, writeAll, isSystemError } from '#platform';

type ProgramStreams = Parameters<AttachedWorkspace['run']>[1];

export interface CaptureLimits {
  /** Bytes of the text for a model: half from the start, half from the end (default: 16 KiB). */
  readonly inlineBytes?: number;
  /** Bytes captured in total. */
  readonly maxBytes: number;
}

/** One captured stream of a finished program. */
export interface Captured {
  /** Safe for a model: no control characters, whole characters, and a marker line where the middle is left out. */
  readonly text: string;
  /** Size of the file. */
  readonly bytes: number;
  /** `text` is incomplete. */
  readonly truncated: boolean;
  /** SHA-256 of the file, in hex. */
  readonly digest: string;
  readonly file: string;
}

/** Captures a stream of any length in constant memory. */
export interface Capture extends OutputSink {
  /** Closes the file. May be called again and returns the same result. */
  finish(): Captured;
}

const INLINE_BYTES = 16 * 1024;

interface Ends {
  add(chunk: Uint8Array): void;
  head(): Uint8Array;
  tail(): Uint8Array;
  /** Head and tail, if they are all of the output. */
  whole(): Uint8Array;
}

/** Captures into a new file. Throws `io/failed` if the file cannot be created or, from `write`, if the disk is full. */
export function openCapture(file: string, { inlineBytes = INLINE_BYTES, maxBytes }: CaptureLimits): Capture {
  const descriptor = refusing(file, () =>
    // Fails if the program created a file or a link there first.
    openSync(file, OPEN_FLAGS.newFile, 0o644),
  );
  // Later programs of the workspace may run as another user and read it; its folder keeps everybody else out.
  refusing(file, () => {
    fchmodSync(descriptor, 0o644);
  });
  const hash = createHash('sha256');
  const half = Math.ceil(inlineBytes / 2);
  const ends = keepEnds(half);
  let bytes = 0;
  let isCut = false;
  let captured: Captured | undefined;
  return {
    write: (chunk) => {
      if (captured !== undefined || isCut) return false;
      const part = chunk.length > maxBytes - bytes ? chunk.subarray(0, maxBytes - bytes) : chunk;
      isCut = part.length < chunk.length;
      refusing(file, () => {
        writeAll(descriptor, part);
      });
      hash.update(part);
      ends.add(part);
      bytes += part.length;
      return !isCut;
    },
    finish: () => {
      if (captured !== undefined) return captured;
      closeSync(descriptor);
      const isWhole = bytes <= half * 2;
      const text = isWhole ? visible(ends.whole()) : shortened(ends.head(), ends.tail(), bytes);
      captured = { text, bytes, truncated: !isWhole || isCut, digest: hash.digest('hex'), file };
      return captured;
    },
  };
}

function shortened(head: Uint8Array, tail: Uint8Array, bytes: number): string {
  const start = head.subarray(0, wholeCharacters(head));
  const end = tail.subarray(firstCharacter(tail));
  const left = bytes - start.length - end.length;
  return `${visible(start)}\n[... ${String(left)} bytes left out ...]\n${visible(end)}`;
}

function visible(bytes: Uint8Array): string {
  return cleanText(new TextDecoder('utf-8').decode(bytes));
}

/** The start of the first whole character. */
function firstCharacter(bytes: Uint8Array): number {
  let at = 0;
  while (at < 3 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at += 1;
  return at;
}

/** Keeps the first and the last `half` bytes of a stream. */
function keepEnds(half: number): Ends {
  const head = Buffer.alloc(half);
  // Twice as long as needed: bytes are moved once per `half`, not once per chunk.
  const tail = Buffer.alloc(half * 2);
  let headLength = 0;
  let tailLength = 0;
  const last = (): Uint8Array => tail.subarray(Math.max(0, tailLength - half), tailLength);
  return {
    add: (chunk) => {
      const first = chunk.subarray(0, half - headLength);
      head.set(first, headLength);
      headLength += first.length;
      const rest = chunk.subarray(Math.max(first.length, chunk.length - half));
      if (tailLength + rest.length > tail.length) {
        const kept = last();
        tail.copyWithin(0, tailLength - kept.length, tailLength);
        tailLength = kept.length;
      }
      tail.set(rest, tailLength);
      tailLength += rest.length;
    },
    head: () => head.subarray(0, headLength),
    tail: last,
    whole: () => Buffer.concat([head.subarray(0, headLength), last()]),
  };
}

function refusing<T>(file: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw new SkillError({
      code: 'io/failed',
      message: `cannot write output to ${quoted(file, 200)}: ${error.code}`,
      hint:
        error.code === 'ENOSPC' || error.code === 'EDQUOT'
          ? 'free disk space'
          : 'check the permissions of the run folder',
      data: { path: file, cause: error.code },
      cause: error,
    });
  }
}

/** Redacts program output before it is stored or shown. */
export function withRedaction(attached: AttachedWorkspace, redactor: Redactor | undefined): AttachedWorkspace {
  if (redactor === undefined || redactor.isEmpty) return attached;
  const start = attached.start?.bind(attached);
  return {
    ...attached,
    async run(spec, streams) {
      const { redacted, flush } = redactedStreams(streams, redactor);
      const end = await attached.run(spec, redacted);
      flush(end);
      return end;
    },
    ...(start === undefined
      ? {}
      : {
          async start(spec, streams) {
            const { redacted, flush } = redactedStreams(streams, redactor);
            const running = await start(spec, { ...redacted, terminal: streams.terminal });
            return {
              write: (bytes) => running.write(bytes),
              closeInput: () => running.closeInput(),
              kill: () => running.kill(),
              // Held-back bytes are written before the end is reported.
              ended: running.ended.then((end) => {
                flush(end);
                return end;
              }),
            };
          },
        }),
    detach: () => attached.detach(),
  };
}

function redactedStreams(
  streams: ProgramStreams,
  redactor: Redactor,
): { readonly redacted: ProgramStreams; readonly flush: (end: ProgramEnd) => void } {
  const stdout = redactedSink(streams.stdout, redactor);
  const stderr = redactedSink(streams.stderr, redactor);
  return {
    redacted: { ...streams, stdout, stderr },
    flush({ reason }) {
      // Truncated output may end inside a secret, so a possible prefix of one is not written.
      if (reason !== 'exited') return;
      stdout.flush();
      stderr.flush();
    },
  };
}

function redactedSink(sink: OutputSink, redactor: Redactor): OutputSink & { flush(): void } {
  const stream = redactor.stream();
  return {
    write: (chunk) => sink.write(stream.write(chunk)),
    flush() {
      const rest = stream.end();
      if (rest.length > 0) sink.write(rest);
    },
  };
}

type OnOutput = (stream: 'stdout' | 'stderr', chunk: Uint8Array) => void;

/**
 * Live output for a person. Invisible characters are removed before redaction, because a color code inside a secret would hide it from the
 * redactor.
 */
export function observedOutput(
  onOutput: OnOutput,
  redactor: Redactor | undefined,
): { readonly tell: OnOutput; readonly flush: () => void } {
  if (redactor === undefined || redactor.isEmpty) return { tell: onOutput, flush: () => undefined };
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  const streams = { stdout: redactor.stream(), stderr: redactor.stream() };
  const pass = (name: 'stdout' | 'stderr', clean: Uint8Array): void => {
    if (clean.length > 0) onOutput(name, clean);
  };
  return {
    tell(name, chunk) {
      pass(name, streams[name].write(Buffer.from(cleanText(decoders[name].decode(chunk, { stream: true })))));
    },
    flush() {
      for (const name of ['stdout', 'stderr'] as const) pass(name, streams[name].end());
    },
  };
}

/** Redacts the bytes of a file on their way into a store. */
export function* redactedChunks(
  chunks: Iterable<Uint8Array>,
  redactor: Redactor | undefined,
): Generator<Uint8Array, void, undefined> {
  if (redactor === undefined || redactor.isEmpty) return yield* chunks;
  const stream = redactor.stream();
  for (const chunk of chunks) {
    const clean = stream.write(chunk);
    if (clean.length > 0) yield clean;
  }
  const rest = stream.end();
  if (rest.length > 0) yield rest;
}
