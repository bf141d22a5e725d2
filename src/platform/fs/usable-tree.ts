/**
 * Reading a tree that has entries which cannot be used: links that lead outside, files that cannot be read, devices. They are not part of
 * the tree then, like `.git`: they are neither in its digest nor in copies of it, and the rest stays usable.
 */
import { isProblem } from '#core';
import type { TreeProblem, TreeRefusal, WalkOptions } from './tree-walk.ts';

const OMITTED: ReadonlySet<TreeProblem> = new Set(['link-outside', 'unreadable', 'not-regular']);
/** A tree with more unusable entries is refused: each one takes another walk. */
const MAX_OMITTED = 20;

export type Usable<T> = T & {
  /** Why each entry is left out. */
  readonly omitted: readonly TreeRefusal[];
};

/** Repeats a walk without the entries that made it fail. Every attempt is strict, so an entry is never left out unseen. */
export async function withoutUnusable<T extends { readonly type: string }>(
  act: (options: Pick<WalkOptions, 'skip'>) => Promise<T | TreeRefusal>,
): Promise<Usable<T> | TreeRefusal> {
  const omitted = new Map<string, TreeRefusal>();
  for (;;) {
    const result = await act(omitted.size === 0 ? {} : { skip: (path) => omitted.has(path) });
    if (!isProblem(result)) return { ...result, omitted: [...omitted.values()] };
    const isOver = result.path === '' || omitted.has(result.path) || omitted.size === MAX_OMITTED;
    if (isOver || !OMITTED.has(result.problem)) return result;
    omitted.set(result.path, result);
  }
}
