/** The start of a command that runs the text of a forwarder; the program follows. */
export function forwarderCommand(forwarder: string, places: readonly string[]): readonly string[] {
  // Node 22 warns on standard error about the proxy variables, which are for the program.
  return [process.execPath, '--no-warnings', '--input-type=module', '--eval', forwarder, '--', ...places, '--'];
}
