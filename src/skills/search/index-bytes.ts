/** An index as bytes, for a file of the cache. */
import { sha256 } from '#platform';
import { FIELD_COUNT, isNarrow, type IndexData, type Terms } from './index-data.ts';

/** Increase it whenever the same documents would produce different bytes: words, stems, stop words, layout. Old indexes are rebuilt. */
const FORMAT_VERSION = 4;

/** Stored as a number, so that a machine with another byte order reads a different value and rebuilds. */
const MAGIC = 0x53_57_49_58;

/** Magic, version, checksum, size, deep, then the byte length of each section. */
const HEADER_LENGTH = 5;
const SECTION_COUNT = 9;

/** Serializes an index: a header of 32-bit numbers, then the sections, each aligned to four bytes. */
export function writeIndexBytes(data: IndexData): Uint8Array {
  const terms = Array.from({ length: data.terms.length }, (_, place) => data.terms.at(place) ?? '');
  const termOffsets = new Uint32Array(terms.length + 1);
  for (const [place, term] of terms.entries())
    termOffsets[place + 1] = (termOffsets[place] ?? 0) + Buffer.byteLength(term);
  const sections: readonly Uint8Array[] = [
    asBytes(data.frequencies),
    asBytes(data.postingOffsets),
    asBytes(data.lengths),
    asBytes(data.nameRanks),
    asBytes(data.sequenceOffsets),
    data.postings,
    asBytes(data.sequences),
    asBytes(termOffsets),
    Buffer.from(terms.join('')),
  ];
  const start = (HEADER_LENGTH + SECTION_COUNT) * 4;
  const bytes = new Uint8Array(sections.reduce((length, section) => length + aligned(section.length), start));
  const header = new Uint32Array(bytes.buffer, 0, HEADER_LENGTH + SECTION_COUNT);
  let at = start;
  for (const [index, section] of sections.entries()) {
    header[HEADER_LENGTH + index] = section.length;
    bytes.set(section, at);
    at += aligned(section.length);
  }
  header[0] = MAGIC;
  header[1] = FORMAT_VERSION;
  header[3] = data.size;
  header[4] = data.deep ? 1 : 0;
  header[2] = checksum(bytes);
  return bytes;
}

/** Opens an index without copying it. Returns `undefined` if the bytes are damaged or of another version. */
export function readIndexBytes(bytes: Uint8Array, isIntact: boolean): IndexData | undefined {
  const start = (HEADER_LENGTH + SECTION_COUNT) * 4;
  if (bytes.length < start || bytes.length % 4 !== 0) return undefined;
  // The arrays below are views of these bytes and need four-byte alignment.
  const whole = bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes);
  const [foundMagic, version, sum, size = 0, deep, ...lengths] = new Uint32Array(
    whole.buffer,
    whole.byteOffset,
    start / 4,
  );
  if (foundMagic !== MAGIC || version !== FORMAT_VERSION || !(isIntact || sum === checksum(whole))) return undefined;
  if (lengths.reduce((end, length) => end + aligned(length), start) !== whole.length) return undefined;

  let at = whole.byteOffset + start;
  const [
    frequencies,
    postingOffsets,
    fieldLengths,
    nameRanks,
    sequenceOffsets,
    postings,
    sequences,
    termOffsets,
    text,
  ] = lengths.map((length) => {
    const section = new Uint8Array(whole.buffer, at, length);
    at += aligned(length);
    return section;
  });
  const offsets = asNumbers(termOffsets);
  const terms = openTerms(offsets, text);
  const data: IndexData = {
    size,
    deep: deep === 1,
    frequencies: asNumbers(frequencies),
    postingOffsets: asNumbers(postingOffsets),
    lengths: asNumbers(fieldLengths),
    nameRanks: asNumbers(nameRanks),
    sequenceOffsets: asNumbers(sequenceOffsets),
    postings: postings ?? new Uint8Array(),
    sequences: isNarrow(terms.length) ? asShortNumbers(sequences) : asNumbers(sequences),
    terms,
  };
  return isPartition(offsets, data.terms.length, text?.length ?? 0) && fitsTogether(data) ? data : undefined;
}

/** Decodes a term when it is asked for: a search compares a few hundred of tens of thousands. */
function openTerms(offsets: Uint32Array, text: Uint8Array = new Uint8Array()): Terms {
  const bytes = Buffer.from(text.buffer, text.byteOffset, text.length);
  const known = new Map<number, string>();
  return {
    length: Math.max(0, offsets.length - 1),
    at(place) {
      const term = known.get(place) ?? bytes.toString('utf8', offsets[place], offsets[place + 1]);
      known.set(place, term);
      return term;
    },
  };
}

/** Whether the arrays agree on the numbers of terms and documents, so that no loop leaves its bounds. */
function fitsTogether(data: IndexData): boolean {
  return (
    data.frequencies.length === data.terms.length &&
    data.lengths.length === data.size * FIELD_COUNT &&
    data.nameRanks.length === data.size &&
    isPartition(data.postingOffsets, data.terms.length, data.postings.length) &&
    isPartition(data.sequenceOffsets, data.size, data.sequences.length)
  );
}

function isPartition(offsets: Uint32Array, parts: number, length: number): boolean {
  return offsets.length === parts + 1 && offsets[0] === 0 && offsets[parts] === length;
}

function asNumbers(section: Uint8Array | undefined): Uint32Array {
  return section === undefined
    ? new Uint32Array()
    : new Uint32Array(section.buffer, section.byteOffset, Math.floor(section.length / 4));
}

function asShortNumbers(section: Uint8Array | undefined): Uint16Array {
  return section === undefined
    ? new Uint16Array()
    : new Uint16Array(section.buffer, section.byteOffset, Math.floor(section.length / 2));
}

function aligned(length: number): number {
  return (length + 3) & ~3;
}

function asBytes(numbers: Uint16Array | Uint32Array): Uint8Array {
  return new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}

/** Of everything behind the checksum. It detects damage, not forgery. */
function checksum(bytes: Uint8Array): number {
  return Number.parseInt(sha256(bytes.subarray(3 * 4)).slice(0, 8), 16);
}
