import { decodeName } from './decode-name.ts';
import { refused } from './refused.ts';

/** What the records of a pax header change of the entry after them; all else in them is of no interest here. */
export interface PaxChanges {
  readonly path?: string;
  readonly bytes?: number;
}

const SPACE = 0x20;
const LINE_END = 0x0a;
const SIZE = /^[0-9]{1,15}$/;

/** Reads `<length> <key>=<value>\n` records. Throws `PackRefused`. */
export function readPax(data: Buffer): PaxChanges {
  const records = new Map<string, Buffer>();
  for (let at = 0; at < data.length;) {
    const { key, value, end } = readRecord(data, at);
    if (key.startsWith('GNU.sparse')) throw refused('archive/special-file', 'a file is stored with holes');
    // Which of two counts is not the same everywhere.
    if (records.has(key)) throw refused('archive/mismatch', 'an entry is given the same property twice');
    records.set(key, value);
    at = end;
  }
  const path = records.get('path');
  const size = records.get('size');
  return {
    ...(path === undefined ? {} : { path: decodeName(path) }),
    ...(size === undefined ? {} : { bytes: readSize(size.toString('latin1')) }),
  };
}

function readRecord(data: Buffer, at: number): { readonly key: string; readonly value: Buffer; readonly end: number } {
  const space = data.indexOf(SPACE, at);
  const digits = space === -1 ? '' : data.toString('latin1', at, Math.min(space, at + 10));
  const end = at + Number.parseInt(digits, 10);
  const equals = data.indexOf('=', space);
  const isRecord = /^[1-9][0-9]*$/.test(digits) && end <= data.length && equals > space && equals < end;
  if (!isRecord || data[end - 1] !== LINE_END) throw refused('archive/unreadable', 'an extended header cannot be read');
  return { key: data.toString('latin1', space + 1, equals), value: data.subarray(equals + 1, end - 1), end };
}

function readSize(text: string): number {
  if (SIZE.test(text)) return Number(text);
  throw refused('archive/unreadable', 'an extended header has a size that makes no sense');
}
