/** Values of this browser. A report in a sandboxed frame has no storage and keeps nothing. */

export function storedValue(name: string): string | undefined {
  return storage()?.getItem(`skillwright.${name}`) ?? undefined;
}

export function storeValue(name: string, value: string): void {
  storage()?.setItem(`skillwright.${name}`, value);
}

function storage(): Storage | undefined {
  try {
    return localStorage;
  } catch (error) {
    if (error instanceof DOMException) return undefined;
    throw error;
  }
}
