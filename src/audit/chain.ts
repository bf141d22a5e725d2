/**
 * A line of `events.jsonl` as bytes. The hash stands last, so that the bytes it covers are the line's own with the end cut off:
 *
 *     {"seq":1,"time":"…","elapsed":0.2,"event":{…},"hash":"…"}
 *
 * `hash` is SHA-256 over the hash of the line before, a line end, and the line without its hash: `{"seq":1,…,"event":{…}}`.
 */
import { isVisible, nextHidden } from '../core/text.ts';
import { openSha256 } from '../platform/hash.ts';

/** What stands for the hash before the first line. */
export const FIRST_HASH = '0'.repeat(64);

/** Longer lines are not read. */
export const MAX_LINE_BYTES = 16 * 1024 * 1024;

const TAIL = /^,"hash":"([0-9a-f]{64})"\}$/;
const TAIL_LENGTH = ',"hash":""}'.length + 64;

export interface LinkedLine {
  /** With its line end. */
  readonly bytes: Buffer;
  readonly hash: string;
}

/** Ties a line, given as the JSON of all but its hash, to the line before. */
export function linkLine(previous: string, json: string): LinkedLine {
  const hash = openSha256()(`${previous}\n${json}`);
  return { bytes: Buffer.from(`${json.slice(0, -1)},"hash":"${hash}"}\n`, 'utf8'), hash };
}

export interface SplitLine {
  /** The line without its hash, as it was hashed. */
  readonly json: Buffer;
  readonly hash: string;
}

/** Takes a line, without its line end, apart by bytes; nothing where it does not end as a line must. */
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

/**
 * JSON text in which nothing acts on a screen or hides from a reader: `cat` of a journal is safe. All such characters stand inside
 * strings, where an escape means the same.
 */
export function visibleJson(json: string): string {
  if (isVisible(json)) return json;
  let out = '';
  let from = 0;
  for (let hidden = nextHidden(json, 0); hidden !== undefined; hidden = nextHidden(json, from)) {
    const end = hidden.index + (hidden.codePoint > 0xffff ? 2 : 1);
    out += json.slice(from, hidden.index);
    for (let at = hidden.index; at < end; at += 1) out += `\\u${json.charCodeAt(at).toString(16).padStart(4, '0')}`;
    from = end;
  }
  return out + json.slice(from);
}
