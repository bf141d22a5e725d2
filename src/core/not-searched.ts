/** Folders with copies of skills that are not part of a collection: version control, state of skillwright, caches, environments. */
const NOT_SEARCHED: ReadonlySet<string> = new Set([
  'node_modules',
  '.git',
  '.svn',
  '.hg',
  '.skillwright',
  '.cache',
  '.venv',
  '.tox',
  '.npm',
]);

/** Whether a folder has only copies of skills that are elsewhere, so that those in it need not be named. */
export function hasOnlyCopies(name: string): boolean {
  return ['.git', '.svn', '.hg', '.skillwright'].includes(name.toLowerCase());
}

/** Whether a folder of that name is never searched for skills. Other hidden folders may contain some. */
export function isNeverSearched(name: string): boolean {
  return NOT_SEARCHED.has(name.toLowerCase());
}
