/**
 * BLAKE2b (RFC 7693) with a length of one's choice. Minisign's secret keys carry a sum of 32 bytes, which the cryptography of Node
 * does not offer: it has the length of 64 only. For short inputs; no key.
 */

const MASK = 0xffff_ffff_ffff_ffffn;
const BLOCK = 128;

/** The square roots of the first eight primes, their first 64 binary places. */
const START: readonly bigint[] = [
  0x6a09e667f3bcc908n,
  0xbb67ae8584caa73bn,
  0x3c6ef372fe94f82bn,
  0xa54ff53a5f1d36f1n,
  0x510e527fade682d1n,
  0x9b05688c2b3e6c1fn,
  0x1f83d9abfb41bd6bn,
  0x5be0cd19137e2179n,
];

/** Which word of a block each half step takes, a row a round. */
const ORDER: readonly (readonly number[])[] = [
  '0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15',
  '14 10 4 8 9 15 13 6 1 12 0 2 11 7 5 3',
  '11 8 12 0 5 2 15 13 10 14 3 6 7 1 9 4',
  '7 9 3 1 13 12 11 14 2 6 5 10 4 0 15 8',
  '9 0 5 7 2 4 10 15 14 1 11 12 6 8 3 13',
  '2 12 6 10 0 11 8 3 4 13 7 5 15 14 1 9',
  '12 5 1 15 14 13 4 10 0 7 6 3 9 2 8 11',
  '13 11 7 14 12 1 3 9 5 0 15 4 8 6 2 10',
  '6 15 14 9 11 3 0 8 12 2 13 7 1 4 10 5',
  '10 2 8 4 7 6 1 5 15 11 9 14 3 12 13 0',
].map((row) => row.split(' ').map(Number));

const COLUMNS_AND_DIAGONALS: readonly (readonly [number, number, number, number])[] = [
  [0, 4, 8, 12],
  [1, 5, 9, 13],
  [2, 6, 10, 14],
  [3, 7, 11, 15],
  [0, 5, 10, 15],
  [1, 6, 11, 12],
  [2, 7, 8, 13],
  [3, 4, 9, 14],
];

const ROUNDS = 12;

/** The sum of `data`, `length` bytes of it: 1 to 64. */
export function blake2b(data: Uint8Array, length: number): Uint8Array {
  const state = START.map((word, at) => (at === 0 ? word ^ 0x0101_0000n ^ BigInt(length) : word));
  const blocks = Math.max(1, Math.ceil(data.length / BLOCK));
  for (let block = 0; block < blocks; block += 1) {
    const end = Math.min(data.length, (block + 1) * BLOCK);
    const bytes = new Uint8Array(BLOCK);
    bytes.set(data.subarray(block * BLOCK, end));
    compress(state, wordsOf(bytes), { count: end, isLast: block === blocks - 1 });
  }
  const out = new DataView(new ArrayBuffer(64));
  for (const [at, word] of state.entries()) out.setBigUint64(at * 8, word, true);
  return new Uint8Array(out.buffer, 0, length);
}

function wordsOf(bytes: Uint8Array): readonly bigint[] {
  const view = new DataView(bytes.buffer);
  return Array.from({ length: 16 }, (_, at) => view.getBigUint64(at * 8, true));
}

/** Works on `state`, which belongs to one call of `blake2b`. */
function compress(
  state: bigint[],
  words: readonly bigint[],
  { count, isLast }: { readonly count: number; readonly isLast: boolean },
): void {
  const work = [...state, ...START];
  const at = (place: number): bigint => work[place] ?? 0n;
  work[12] = at(12) ^ BigInt(count);
  if (isLast) work[14] = at(14) ^ MASK;
  for (let round = 0; round < ROUNDS; round += 1) {
    const order = ORDER[round % ORDER.length] ?? [];
    for (const [step, [a, b, c, d]] of COLUMNS_AND_DIAGONALS.entries()) {
      const [first = 0n, second = 0n] = [words[order[step * 2] ?? 0], words[order[step * 2 + 1] ?? 0]];
      work[a] = (at(a) + at(b) + first) & MASK;
      work[d] = turned(at(d) ^ at(a), 32n);
      work[c] = (at(c) + at(d)) & MASK;
      work[b] = turned(at(b) ^ at(c), 24n);
      work[a] = (at(a) + at(b) + second) & MASK;
      work[d] = turned(at(d) ^ at(a), 16n);
      work[c] = (at(c) + at(d)) & MASK;
      work[b] = turned(at(b) ^ at(c), 63n);
    }
  }
  for (const [place, word] of state.entries()) state[place] = word ^ at(place) ^ at(place + 8);
}

function turned(word: bigint, by: bigint): bigint {
  return ((word >> by) | (word << (64n - by))) & MASK;
}
