import { compareText } from './diagnostic.ts';

/**
 * The candidates most similar to an unknown word, best first. Error messages use it to suggest skills, flags, commands and configuration
 * keys.
 */
export function nearest(text: string, candidates: readonly string[], count = 3): readonly string[] {
  // Names are short, so the rest of a long word cannot match.
  const word = text.slice(0, 128).toLowerCase();
  if (word === '') return [];
  const limit = Math.max(1, Math.floor(word.length / 3));
  const near: { readonly name: string; readonly distance: number }[] = [];
  for (const name of candidates) {
    const distance = likeness(word, name.toLowerCase(), limit);
    if (distance !== undefined) near.push({ name, distance });
  }
  near.sort((a, b) => a.distance - b.distance || a.name.length - b.name.length || compareText(a.name, b.name));
  return near.slice(0, count).map(({ name }) => name);
}

/** The edit distance; a name that contains the word, or all of its parts, ranks behind close matches. */
function likeness(word: string, name: string, limit: number): number | undefined {
  const edits = editDistance(word, name, limit);
  if (edits <= limit) return edits;
  if (word.length >= 3 && name.includes(word)) return limit + 1;
  if (name.length >= 3 && word.includes(name)) return limit + 2;
  const named = new Set(name.split(/[^\p{L}\p{N}]+/u));
  const parts = word.split(/[^\p{L}\p{N}]+/u).filter((part) => part !== '');
  return parts.length > 1 && parts.every((part) => named.has(part)) ? limit + 3 : undefined;
}

/** Damerau-Levenshtein distance up to `limit`; anything beyond returns `limit + 1`. */
export function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let before: readonly number[] = [];
  let previous: readonly number[] = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    let best = row;
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) cost = Math.min(cost, (before[column - 2] ?? 0) + 1);
      current.push(cost);
      if (cost < best) best = cost;
    }
    if (best > limit) return limit + 1;
    before = previous;
    previous = current;
  }
  return previous[b.length] ?? limit + 1;
}
