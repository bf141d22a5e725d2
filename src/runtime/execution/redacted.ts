import type { Redactor } from '#journal';
import { cleanText, type AttachedWorkspace, type OutputSink, type ProgramEnd } from '#core';

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
  streams: Parameters<AttachedWorkspace['run']>[1],
  redactor: Redactor,
): { readonly redacted: Parameters<AttachedWorkspace['run']>[1]; readonly flush: (end: ProgramEnd) => void } {
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
