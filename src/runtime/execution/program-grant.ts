/**
 * A grant for programs as the user wrote it: `localhost:3000` and `127.0.0.1:3000` mean this machine and need no `private://`. Other
 * spellings of the loopback do, because people may not recognize them. Requests of a model never get this: their host is not the user's words.
 */
export function programGrant(text: string): string {
  return /^(?:localhost|127\.0\.0\.1|\[::1\])(?::(?:\d+|\*))?$/i.test(text) ? `private://${text}` : text;
}
