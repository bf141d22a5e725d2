/** What a program can do under Landlock that the other sandboxes block. Measured by the tests; shown by `doctor`. */
export const LANDLOCK_GAPS: readonly string[] = [
  'sees names, sizes and dates of all your files, but no content',
  'changes permissions and dates of your files',
  'sees all processes with their command lines, but no environment or memory',
  'sees network interfaces and routes, but opens no socket',
  'has no terminal, no /tmp and no network by permission',
];
