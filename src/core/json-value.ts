import type { JsonPath } from './json-schema.ts';

type Container =
  | { readonly type: 'object'; readonly value: Record<string, unknown>; readonly place: Place; key: string }
  | { readonly type: 'list'; readonly value: unknown[]; readonly place: Place };

interface Place {
  readonly path: JsonPath;
  /** What it stands in; nothing around the outermost object. */
  readonly around: Container | undefined;
}

const HERE: JsonPath = [];

/** An object that is put together while its text is read, and where in it the reader stands. */
export class JsonValueBuilder {
  readonly #hasPaths: boolean;
  /** The innermost object or list that is not closed. A field, because every sign asks for it. */
  #inside: Container | undefined;
  #depth = 0;
  #path: JsonPath | undefined;

  /** Paths cost as much as small values do, and are made only where somebody wants them. */
  constructor(hasPaths: boolean) {
    this.#hasPaths = hasPaths;
  }

  get depth(): number {
    return this.#depth;
  }

  get isInList(): boolean {
    return this.#inside?.type === 'list';
  }

  /** The place of the value that comes next or has just been completed. */
  path(): JsonPath {
    return (this.#path ??= pathIn(this.#inside));
  }

  open(type: Container['type']): void {
    const place = { path: this.#hasPaths ? this.path() : HERE, around: this.#inside };
    this.#inside = type === 'list' ? { type, value: [], place } : { type, value: {}, place, key: '' };
    this.#depth += 1;
    this.#path = undefined;
  }

  /** The object or list that is complete; the reader stands where it goes. */
  close(): Record<string, unknown> | unknown[] {
    const closed = this.#inside;
    if (closed === undefined) return {};
    this.#inside = closed.place.around;
    this.#depth -= 1;
    this.#path = closed.place.path;
    return closed.value;
  }

  /** The key of the next value; false where the object has it already. */
  key(key: string): boolean {
    const container = this.#inside;
    if (container?.type !== 'object' || Object.hasOwn(container.value, key)) return false;
    container.key = key;
    return true;
  }

  add(value: unknown): void {
    const container = this.#inside;
    this.#path = undefined;
    if (container === undefined) return;
    if (container.type === 'list') container.value.push(value);
    // A plain assignment would make it the prototype.
    else if (container.key === '__proto__') define(container.value, value);
    else container.value[container.key] = value;
  }
}

function pathIn(container: Container | undefined): JsonPath {
  if (container === undefined) return HERE;
  return [...container.place.path, container.type === 'list' ? container.value.length : container.key];
}

function define(object: Record<string, unknown>, value: unknown): void {
  Object.defineProperty(object, '__proto__', { value, enumerable: true, configurable: true, writable: true });
}
