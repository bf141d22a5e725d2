/** JSON as agents accept it in settings, with comments and trailing commas, parsed with the positions of all values. */

export type JsonNode = {
  readonly start: number;
  readonly end: number;
} & (
  | { readonly type: 'object'; readonly members: readonly JsonMember[] }
  | { readonly type: 'array'; readonly items: readonly JsonNode[] }
  | { readonly type: 'value'; readonly value: unknown }
);

interface JsonMember {
  readonly key: string;
  readonly start: number;
  readonly value: JsonNode;
}

const MAX_DEPTH = 200;
const SPACE = /(?:[\s\uFEFF]|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
const SCALAR = /"(?:[^"\\\n]|\\.)*"|-?\d[\d.eE+-]*|true|false|null/y;

/** The root value; undefined for a text without one, such as an empty file. Throws SyntaxError. */
export function parseTree(text: string): JsonNode | undefined {
  const reader = new Reader(text);
  reader.skipSpace();
  if (reader.at === text.length) return undefined;
  const root = reader.readValue(0);
  reader.skipSpace();
  if (reader.at < text.length) throw reader.unexpected();
  return root;
}

class Reader {
  at = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  skipSpace(): void {
    SPACE.lastIndex = this.at;
    SPACE.exec(this.#text);
    this.at = SPACE.lastIndex;
  }

  unexpected(): SyntaxError {
    const line = this.#text.slice(0, this.at).split('\n').length;
    const found = this.at < this.#text.length ? JSON.stringify(this.#text.charAt(this.at)) : 'end of file';
    return new SyntaxError(`unexpected ${found} in line ${String(line)}`);
  }

  readValue(depth: number): JsonNode {
    const start = this.at;
    const opening = this.#text.charAt(start);
    if (depth > MAX_DEPTH) throw new SyntaxError(`more than ${String(MAX_DEPTH)} levels`);
    if (opening === '{') {
      const members = this.#readList('}', () => this.#readMember(depth));
      return { type: 'object', members, start, end: this.at };
    }
    if (opening === '[') {
      const items = this.#readList(']', () => this.readValue(depth + 1));
      return { type: 'array', items, start, end: this.at };
    }
    SCALAR.lastIndex = start;
    const [scalar] = SCALAR.exec(this.#text) ?? [];
    if (scalar === undefined) throw this.unexpected();
    this.at += scalar.length;
    return { type: 'value', value: JSON.parse(scalar), start, end: this.at };
  }

  #readMember(depth: number): JsonMember {
    const key = this.readValue(MAX_DEPTH);
    if (key.type !== 'value' || typeof key.value !== 'string') throw this.unexpected();
    this.skipSpace();
    this.#expect(':');
    this.skipSpace();
    return { key: key.value, start: key.start, value: this.readValue(depth + 1) };
  }

  /** The entries of an object or array, whose closing character is passed. */
  #readList<T>(closing: string, readEntry: () => T): readonly T[] {
    const entries: T[] = [];
    this.at += 1;
    for (this.skipSpace(); this.#text.charAt(this.at) !== closing; this.skipSpace()) {
      if (entries.length > 0) {
        this.#expect(',');
        this.skipSpace();
        if (this.#text.charAt(this.at) === closing) break;
      }
      entries.push(readEntry());
    }
    this.at += 1;
    return entries;
  }

  #expect(character: string): void {
    if (this.#text.charAt(this.at) !== character) throw this.unexpected();
    this.at += 1;
  }
}

/** The plain value of a node. Of a key that is repeated the last value counts, as for JSON.parse. */
export function plainValue(node: JsonNode): unknown {
  if (node.type === 'value') return node.value;
  if (node.type === 'array') return node.items.map(plainValue);
  return Object.fromEntries(node.members.map(({ key, value }) => [key, plainValue(value)]));
}
