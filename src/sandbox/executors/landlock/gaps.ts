/** What a program can do under Landlock that the other sandboxes block. Measured by the tests; shown by `doctor`. */
export function landlockGaps(isRoot = process.getuid?.() === 0): readonly string[] {
  return [
    `learns size and dates of every file that ${isRoot ? 'user 65534 may reach and ' : ''}it knows the path of, and names of files that are used while it runs, but lists no folder and reads no content`,
    // Programs of root run as another user, who owns none of these files.
    ...(isRoot ? [] : ['changes permissions and dates of your files']),
    'sees all processes with their command lines, but no environment or memory',
    'sees network interfaces and routes, but opens no socket',
    'has no terminal, no /tmp and no network by permission',
  ];
}
