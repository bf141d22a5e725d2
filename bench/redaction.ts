import { createHash } from 'node:crypto';

import { createRedactor } from '../src/journal/redact/redact.ts';
import { median } from './median.ts';
import type { BenchRow } from './row.ts';

const BYTES = 1024 * 1024;
const ROUNDS = 31;

/** What it takes to keep secrets out of 1 MB of output, in one call, against a plain copy of the same bytes in the same moments. */
export function benchRedaction(): readonly BenchRow[] {
  return [
    ...[0, 1, 20, 100].map((count) => measured(`redaction of 1 MB, ${String(count)} secrets`, count, {})),
    measured('redaction of 1 MB, 20 secrets and known shapes', 20, { shapes: true }),
    measured('redaction of 1 MB in pieces of 4 KB, 20 secrets', 20, { pieceBytes: 4096 }),
    making(20),
    making(100),
  ];
}

interface Variation {
  readonly shapes?: boolean;
  readonly pieceBytes?: number;
}

function measured(name: string, count: number, { shapes = false, pieceBytes }: Variation): BenchRow {
  const redactor = createRedactor(secrets(count), { shapes });
  const output = sampleOutput(count);
  const times: { readonly copy: number; readonly ours: number }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const copy = elapsed(() => Uint8Array.from(output));
    const ours = elapsed(() => {
      if (pieceBytes === undefined) return redactor.bytes(output);
      const stream = redactor.stream();
      for (let at = 0; at < output.length; at += pieceBytes) stream.write(output.subarray(at, at + pieceBytes));
      return stream.end();
    });
    times.push({ copy, ours });
  }
  const ms = median(times.map(({ ours }) => ours));
  const ratio = median(times.map(({ ours, copy }) => ours / copy));
  const isBound = count === 20 && pieceBytes === undefined && !shapes;
  return {
    name,
    value: ms,
    unit: 'ms',
    ...(isBound ? { bound: '<= 30', ok: ms <= 30 } : {}),
    note: `${ratio.toFixed(1)} times a plain copy`,
  };
}

function making(count: number): BenchRow {
  const given = secrets(count);
  const times = Array.from({ length: 5 }, () => elapsed(() => createRedactor(given)));
  return { name: `making a redactor for ${String(count)} secrets`, value: median(times), unit: 'ms' };
}

function elapsed(act: () => unknown): number {
  const began = performance.now();
  act();
  return performance.now() - began;
}

/** Tokens of 40 characters, with signs that every encoding writes in another way. */
function secrets(count: number): readonly { readonly name: string; readonly value: string }[] {
  return Array.from({ length: count }, (_, place) => {
    const digits = createHash('sha256')
      .update(`secret ${String(place)}`)
      .digest('base64')
      .slice(0, 34);
    return { name: `TOKEN_${String(place)}`, value: `${digits}/+"&'é` };
  });
}

/** Lines of a log, base64 and hexadecimal digits; one line of a hundred holds a secret. */
function sampleOutput(count: number): Uint8Array {
  const known = secrets(count);
  const lines: string[] = [];
  for (let bytes = 0, line = 0; bytes < BYTES; line += 1) {
    const digest = createHash('sha256').update(String(line));
    const secret = known.length > 0 && line % 100 === 99 ? (known[line % known.length]?.value ?? '') : '';
    const text = `2026-01-01T00:00:00Z INFO request ${String(line)} done in ${String(line % 97)} ms, etag ${
      line % 2 === 0 ? digest.digest('hex') : digest.digest('base64')
    } ${secret}\n`;
    lines.push(text);
    bytes += Buffer.byteLength(text);
  }
  return Buffer.from(lines.join('')).subarray(0, BYTES);
}
