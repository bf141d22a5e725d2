/** The items of each key, in order of their first appearance. */
export function groupBy<T>(items: readonly T[], toKey: (item: T) => string): ReadonlyMap<string, readonly [T, ...T[]]> {
  const groups = new Map<string, [T, ...T[]]>();
  for (const item of items) {
    const group = groups.get(toKey(item));
    if (group === undefined) groups.set(toKey(item), [item]);
    else group.push(item);
  }
  return groups;
}
