/** Removes undefined properties, so that the result fits optional properties. */
export function defined<T extends object>(value: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  // The compiler cannot follow the filter.
  return Object.fromEntries(entries) as { [Key in keyof T]?: Exclude<T[Key], undefined> };
}
