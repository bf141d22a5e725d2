type Defined<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> };

/** Removes undefined properties, so that the result fits optional properties. */
export function defined<T extends object>(value: T): Defined<T>;
export function defined(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined));
}
