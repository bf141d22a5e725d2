import fc from 'fast-check';

/** Any way to cut a text into pieces, between the halves of a character too. */
export function piecesOf(text: string): fc.Arbitrary<readonly string[]> {
  return fc.array(fc.nat(text.length), { maxLength: 12 }).map((places) => cutAt(text, places));
}

/** The text one unit at a time: every place where it could be cut. */
export function singlePieces(text: string): readonly string[] {
  return text.split('');
}

function cutAt(text: string, places: readonly number[]): readonly string[] {
  const cuts = [0, ...places.toSorted((a, b) => a - b), text.length];
  return cuts.slice(1).map((end, index) => text.slice(cuts[index], end));
}
