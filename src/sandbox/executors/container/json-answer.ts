/** Accessors for responses of an engine, which are untrusted data. */

/** Returns `undefined` where the bytes are not JSON. */
export function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return value;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The value at a path of keys, or `undefined`. */
export function field(value: unknown, ...names: readonly string[]): unknown {
  let at: unknown = value;
  for (const name of names) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return undefined;
    at = Object.entries(at).find(([key]) => key === name)?.[1];
  }
  return at;
}

export function textField(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function numberField(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

export function listField(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textsField(value: unknown): readonly string[] {
  return listField(value).filter((item) => typeof item === 'string');
}
