import { ReadableStream } from 'node:stream/web';

import type { TarHeader } from 'modern-tar';

import { problemError, type Problem, type SkillError } from '#core';

/** Tar streams to and from a container engine. `modern-tar` encodes and decodes them; it is loaded with the first stream. */

/** Why a tree was not extracted: its tar is invalid, or holds more than the limits allow. Entries before it have been yielded already. */
export type TarProblem = Problem<'tar/broken' | 'tar/too-large'>;

export function isTarProblem(problem: Problem): problem is TarProblem {
  return problem.code === 'tar/broken' || problem.code === 'tar/too-large';
}

/** The stream is not a valid tar, or an entry of it must not be extracted. */
export function brokenTar(message: string): SkillError {
  return problemError({ code: 'tar/broken', message, hint: '' });
}

export interface TarEntry {
  readonly header: TarHeader;
  /** The content of a file. Read it to its end before asking for the next entry. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** Decodes a tar as it arrives. Raises `tar/broken`; an error of the source itself is thrown as it is. */
export async function* readTar(source: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry, void> {
  const { createTarDecoder } = await import('modern-tar');
  // Strict: a wrong checksum, a missing end or bytes after the end are errors.
  const { readable, writable } = createTarDecoder({ strict: true });
  let sourceFailure: { readonly error: unknown } | undefined;
  const watchedSource = async function* (): AsyncGenerator<Uint8Array, void> {
    try {
      yield* source;
    } catch (error) {
      sourceFailure = { error };
      throw error;
    }
  };
  const failure = (error: unknown): unknown =>
    sourceFailure === undefined
      ? brokenTar(error instanceof Error ? error.message : String(error))
      : sourceFailure.error;
  const stop = new AbortController();
  const fed = ReadableStream.from(watchedSource()).pipeTo(writable, { signal: stop.signal });
  try {
    for await (const { header, body } of withFailure(readable, failure)) {
      yield { header, body: withFailure(body, failure) };
      // The decoder waits until the body was read or cancelled.
      await body.cancel().catch((error: unknown) => {
        throw failure(error);
      });
    }
  } finally {
    // A caller that stops early must not leave the engine sending. Failures of the feed were reported through `readable`.
    stop.abort();
    await Promise.allSettled([fed]);
  }
}

async function* withFailure<Item>(
  items: AsyncIterable<Item>,
  failure: (error: unknown) => unknown,
): AsyncGenerator<Item, void> {
  const iterator = items[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await iterator.next().catch((error: unknown) => {
        throw failure(error);
      });
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    await iterator.return?.();
  }
}

export interface PackedEntry {
  readonly header: TarHeader;
  /** Yields exactly `header.size` bytes. Absent for entries without content. */
  readonly body?: () => Iterable<Uint8Array>;
}

/** Encodes entries as one tar stream, as fast as the consumer reads it. */
export async function* writeTar(entries: Iterable<PackedEntry>): AsyncGenerator<Uint8Array, void> {
  const { createTarPacker } = await import('modern-tar');
  const { readable, controller } = createTarPacker();
  const packed = (async () => {
    try {
      for (const { header, body } of entries) {
        const writer = controller.add(header).getWriter();
        for (const chunk of body?.() ?? []) await writer.write(chunk);
        await writer.close();
      }
      controller.finalize();
    } catch (error) {
      // Reported to the consumer of `readable`.
      controller.error(error);
    }
  })();
  try {
    yield* readable;
  } finally {
    await packed;
  }
}
