/** All ancestor folders except the top: `a/b/c` gives `a` and `a/b`. */
export function listParentFolders(path: string): readonly string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, at) => parts.slice(0, at + 1).join('/'));
}
