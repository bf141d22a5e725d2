// Finds which items of two lists belong together. Items are whole numbers: equal items, equal numbers.
// The result is an Int32Array: for each old item the index of its new item, or -1.

const MAX_EDITS = 2_000;
const MAX_GAP_EDITS = 200;

/** Myers' greedy search. Writes matches through `mark`; false when more than `limit` edits are needed. */
function myers(a, b, limit, mark) {
  const max = Math.min(a.length + b.length, limit);
  const middle = max + 1;
  const reach = new Int32Array(2 * max + 3);
  const history = [];
  for (let edits = 0; edits <= max; edits += 1) {
    history.push(reach.slice(middle - edits - 1, middle + edits + 2));
    for (let k = -edits; k <= edits; k += 2) {
      const down = k === -edits || (k !== edits && reach[middle + k - 1] < reach[middle + k + 1]);
      let x = down ? reach[middle + k + 1] : reach[middle + k - 1] + 1;
      let y = x - k;
      while (x < a.length && y < b.length && a[x] === b[y]) {
        x += 1;
        y += 1;
      }
      reach[middle + k] = x;
      if (x >= a.length && y >= b.length) {
        walkBack(history, a.length, b.length, mark);
        return true;
      }
    }
  }
  return false;
}

function walkBack(history, endX, endY, mark) {
  let [x, y] = [endX, endY];
  for (let edits = history.length - 1; edits >= 0; edits -= 1) {
    const row = history[edits];
    const at = (k) => row[k + edits + 1];
    const k = x - y;
    const down = k === -edits || (k !== edits && at(k - 1) < at(k + 1));
    const previousK = down ? k + 1 : k - 1;
    const startX = edits === 0 ? 0 : at(previousK);
    const startY = edits === 0 ? 0 : startX - previousK;
    while (x > startX && y > startY) {
      x -= 1;
      y -= 1;
      mark(x, y);
    }
    [x, y] = [startX, startY];
  }
}

/** Items that occur once on each side, in the longest order both sides share (patience sorting). */
function anchors(a, b) {
  const seen = new Map();
  const note = (items, side) => {
    for (let at = 0; at < items.length; at += 1) {
      const entry = seen.get(items[at]) ?? { counts: [0, 0], places: [0, 0] };
      entry.counts[side] += 1;
      entry.places[side] = at;
      seen.set(items[at], entry);
    }
  };
  note(a, 0);
  note(b, 1);
  const unique = [...seen.values()].filter(({ counts }) => counts[0] === 1 && counts[1] === 1);
  const pairs = unique.map(({ places }) => ({ x: places[0], y: places[1], before: undefined }));
  pairs.sort((one, other) => one.x - other.x);
  const piles = [];
  for (const pair of pairs) {
    let [low, high] = [0, piles.length];
    while (low < high) {
      const half = (low + high) >> 1;
      if (piles[half].y < pair.y) low = half + 1;
      else high = half;
    }
    pair.before = piles[low - 1];
    piles[low] = pair;
  }
  const chain = [];
  for (let pair = piles.at(-1); pair !== undefined; pair = pair.before) chain.push(pair);
  return chain.reverse();
}

/** Marks the common start and end, and returns what is left between them. */
function trimEnds(a, b, mark) {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) {
    mark(start, start);
    start += 1;
  }
  let [endA, endB] = [a.length, b.length];
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) {
    endA -= 1;
    endB -= 1;
    mark(endA, endB);
  }
  return { start, a: a.subarray(start, endA), b: b.subarray(start, endB) };
}

/** Matches two lists. `exact` is false when the lists were too different for the shortest answer. */
export function matchLists(a, b, limit = MAX_EDITS) {
  const match = new Int32Array(a.length).fill(-1);
  const markFrom = (offsetA, offsetB) => (x, y) => {
    match[offsetA + x] = offsetB + y;
  };
  const rest = trimEnds(a, b, markFrom(0, 0));
  const { start } = rest;
  if (myers(rest.a, rest.b, limit, markFrom(start, start))) return { match, exact: true };
  let [x, y] = [0, 0];
  for (const anchor of [...anchors(rest.a, rest.b), { x: rest.a.length, y: rest.b.length }]) {
    const [gapA, gapB] = [start + x, start + y];
    const gap = trimEnds(rest.a.subarray(x, anchor.x), rest.b.subarray(y, anchor.y), markFrom(gapA, gapB));
    myers(gap.a, gap.b, MAX_GAP_EDITS, markFrom(gapA + gap.start, gapB + gap.start));
    if (anchor.x < rest.a.length) markFrom(start, start)(anchor.x, anchor.y);
    [x, y] = [anchor.x + 1, anchor.y + 1];
  }
  return { match, exact: false };
}

/** Gives equal keys equal numbers, over both lists. */
export function numberKeys(oldKeys, newKeys) {
  const numbers = new Map();
  const convert = (keys) =>
    Int32Array.from(keys, (key) => {
      const known = numbers.get(key);
      if (known !== undefined) return known;
      numbers.set(key, numbers.size);
      return numbers.size - 1;
    });
  return [convert(oldKeys), convert(newKeys)];
}

/** The stretches that differ: [oldStart, oldEnd, newStart, newEnd], ends not included. */
export function differences(match, newLength) {
  const blocks = [];
  let [x, y] = [0, 0];
  while (x < match.length || y < newLength) {
    const [startX, startY] = [x, y];
    while (x < match.length && match[x] < 0) x += 1;
    y = x < match.length ? match[x] : newLength;
    if (x > startX || y > startY) blocks.push([startX, x, startY, y]);
    while (x < match.length && match[x] === y) {
      x += 1;
      y += 1;
    }
  }
  return blocks;
}
