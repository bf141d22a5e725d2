const COPIED = ' was copied to ';

/** The note of a record about a file that was copied into the workspace. */
export function copyNote(file: string, reference: string): string {
  return `${file}${COPIED}${reference}`;
}

export function isCopyNote(message: string): boolean {
  return message.includes(`${COPIED}workspace://`);
}
