/**
 * Whether a text has a run of at least so many characters of one kind. Looks at the last character that a run could have, and from there back
 * to the first that is of another kind: what lies before that is never looked at.
 */
export function hasLongRun(text: string, length: number, isOfKind: (code: number) => boolean): boolean {
  for (let last = length - 1; last < text.length;) {
    let at = last;
    while (at > last - length && isOfKind(text.charCodeAt(at))) at -= 1;
    if (at === last - length) return true;
    last = at + length;
  }
  return false;
}
