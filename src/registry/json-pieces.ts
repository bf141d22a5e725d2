/** Entries of a column that are turned into text at a time. */
const STEP = 100;

/** The JSON text of an object, in pieces: its long arrays and large maps are cut, so that no text of all of it is ever made. */
export function* jsonPieces(value: object): Generator<string, void> {
  const entries = Object.entries(value);
  if (entries.length > STEP) {
    yield* mapPieces(entries);
    return;
  }
  let comma = '';
  yield '{';
  for (const [key, item] of entries) {
    yield `${comma}${JSON.stringify(key)}:`;
    yield* itemPieces(item);
    comma = ',';
  }
  yield '}';
}

function* itemPieces(item: unknown): Generator<string, void> {
  if (Array.isArray(item) && item.length > STEP) {
    for (let at = 0; at < item.length; at += STEP) {
      yield (at === 0 ? '[' : ',') + JSON.stringify(item.slice(at, at + STEP)).slice(1, -1);
    }
    yield ']';
    return;
  }
  const entries = typeof item === 'object' && item !== null && !Array.isArray(item) ? Object.entries(item) : [];
  if (entries.length > STEP) yield* mapPieces(entries);
  else yield JSON.stringify(item);
}

function* mapPieces(entries: readonly (readonly [string, unknown])[]): Generator<string, void> {
  for (let at = 0; at < entries.length; at += STEP) {
    yield (at === 0 ? '{' : ',') + JSON.stringify(Object.fromEntries(entries.slice(at, at + STEP))).slice(1, -1);
  }
  yield '}';
}
