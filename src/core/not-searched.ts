/** Folders with copies of skills that are not part of a collection: version control, state of skillwright, caches, environments. */
const NOT_SEARCHED: ReadonlySet<string> = new Set(['node_modules', '.cache', '.venv', '.tox', '.npm']);

/**
 * Whether a folder of that name is never searched for skills; other hidden folders may contain some. `copies`: it has only copies of skills
 * that are elsewhere, so that those in it need not be named.
 */
export function isNeverSearched(name: string): 'copies' | boolean {
  const folded = name.toLowerCase();
  return ['.git', '.svn', '.hg', '.skillwright'].includes(folded) ? 'copies' : NOT_SEARCHED.has(folded);
}
