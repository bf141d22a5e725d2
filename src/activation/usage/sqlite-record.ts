/** The record format of SQLite. */

export type SqliteValue = string | number | null;

const CONTINUES = 0x80;
const MAX_VARINT = 9;

/** A number of one to nine bytes. Beyond 2^53 it is not exact, which only row ids reach. */
export function readVarint(bytes: Buffer, at: number): { readonly value: number; readonly end: number } {
  let value = 0;
  for (let index = 0; index < MAX_VARINT; index += 1) {
    const byte = bytes[at + index] ?? 0;
    if (index === MAX_VARINT - 1) return { value: value * 256 + byte, end: at + MAX_VARINT };
    value = value * CONTINUES + (byte & ~CONTINUES);
    if (byte < CONTINUES) return { value, end: at + index + 1 };
  }
  return { value, end: at + MAX_VARINT };
}

const INTEGER_BYTES = [0, 1, 2, 3, 4, 6, 8] as const;
const REAL = 7;
const ZERO = 8;
const ONE = 9;
const FIRST_BLOB = 12;

/** The values of a row. Blobs are null: no table that is read has text in them. */
export function readRecord(bytes: Buffer): readonly SqliteValue[] {
  const head = readVarint(bytes, 0);
  const values: SqliteValue[] = [];
  let at = head.value;
  for (let place = head.end; place < Math.min(head.value, bytes.length);) {
    const { value: type, end } = readVarint(bytes, place);
    place = end;
    const length =
      type >= FIRST_BLOB ? Math.floor((type - FIRST_BLOB) / 2) : type === REAL ? 8 : (INTEGER_BYTES[type] ?? 0);
    values.push(readValue(bytes.subarray(at, at + length), type, length));
    at += length;
  }
  return values;
}

function readValue(bytes: Buffer, type: number, length: number): SqliteValue {
  if (bytes.length < length) return null;
  if (type >= FIRST_BLOB) return type % 2 === 1 ? bytes.toString('utf8') : null;
  if (type === ZERO) return 0;
  if (type === ONE) return 1;
  if (type === REAL) return bytes.readDoubleBE(0);
  if (length === 0) return null;
  return length === 8 ? Number(bytes.readBigInt64BE(0)) : bytes.readIntBE(0, length);
}
