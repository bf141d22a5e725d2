/** The start of a command that runs the text of a forwarder; the program follows. */
export function forwarderCommand(forwarder: string, places: readonly string[]): readonly string[] {
  return [process.execPath, '--input-type=module', '--eval', forwarder, '--', ...places, '--'];
}
