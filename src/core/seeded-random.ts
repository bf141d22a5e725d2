/** A reproducible pseudo-random generator. Not for secrets. */
export interface SeededRandom {
  /** An integer from 0 to `limit` - 1. */
  below(limit: number): number;
  isChance(oneIn: number): boolean;
  pick<Item>(items: readonly [Item, ...Item[]]): Item;
}

export function openRandom(seed: number): SeededRandom {
  let state = seed >>> 0;
  const below = (limit: number): number => {
    // Mulberry32: small, and neighboring seeds are uncorrelated.
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * limit);
  };
  return {
    below,
    isChance: (oneIn) => below(oneIn) === 0,
    pick: (items) => items[below(items.length)] ?? items[0],
  };
}
