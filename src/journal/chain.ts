/**
 * A line of `events.jsonl` as bytes. The hash comes last, so that it covers the bytes of the line without its end:
 *
 *     {"seq":1,"time":"…","elapsed":0.2,"event":{…},"hash":"…"}
 *
 * `hash` is SHA-256 over the hash of the previous line, a line feed, and the line without its hash: `{"seq":1,…,"event":{…}}`.
 */
import { openSha256 } from '#platform';

/** The previous hash of the first line. */
export const FIRST_HASH = '0'.repeat(64);

/** Longer lines are not read. */
export const MAX_LINE_BYTES = 16 * 1024 * 1024;

const TAIL = /^,"hash":"([0-9a-f]{64})"\}$/;
const TAIL_LENGTH = ',"hash":""}'.length + 64;

export interface LinkedLine {
  /** Including its line feed. */
  readonly line: string;
  readonly hash: string;
}

/** Links a line, given as JSON without its hash, to the previous line. */
export function linkLine(previous: string, json: string, sha256 = openSha256()): LinkedLine {
  const hash = sha256(`${previous}\n${json}`);
  return { line: `${json.slice(0, -1)},"hash":"${hash}"}\n`, hash };
}

export interface SplitLine {
  /** The hashed bytes: the line without its hash. */
  readonly json: Buffer;
  readonly hash: string;
}

/** Splits a line (without its line feed) into JSON and hash. Returns undefined if it does not end with a hash. */
export function splitLine(line: Buffer): SplitLine | undefined {
  const cut = line.length - TAIL_LENGTH;
  if (cut < 1) return undefined;
  const hash = TAIL.exec(line.toString('latin1', cut))?.[1];
  return hash === undefined ? undefined : { json: Buffer.concat([line.subarray(0, cut), CLOSE]), hash };
}

const CLOSE = Buffer.from('}');

export function isLinked(previous: string, { json, hash }: SplitLine): boolean {
  return openSha256()(Buffer.concat([Buffer.from(`${previous}\n`), json])) === hash;
}
