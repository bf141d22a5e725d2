/** Applies the edits of diagnostics. */
import type { Diagnostic } from '#core';

/** Applies every edit that does not overlap an earlier one. Validate the result again to get the edits that were skipped. */
export function applyEdits(
  text: string,
  diagnostics: readonly Diagnostic[],
): { readonly text: string; readonly applied: readonly Diagnostic[] } {
  const edits = diagnostics
    .flatMap((diagnostic) => (diagnostic.edit === undefined ? [] : [{ diagnostic, edit: diagnostic.edit }]))
    .filter(({ edit }) => edit.offset >= 0 && edit.length >= 0 && edit.offset + edit.length <= text.length)
    // An edit that changes nothing would only block another.
    .filter(({ edit }) => text.slice(edit.offset, edit.offset + edit.length) !== edit.text)
    .toSorted((a, b) => a.edit.offset - b.edit.offset || a.edit.length - b.edit.length);
  const applied: Diagnostic[] = [];
  let out = '';
  let done = 0;
  let lastInsertion = -1;
  for (const { diagnostic, edit } of edits) {
    // Each insertion assumes that it is the only one at its offset.
    if (edit.offset < done || (edit.length === 0 && edit.offset === lastInsertion)) continue;
    out += text.slice(done, edit.offset) + edit.text;
    done = edit.offset + edit.length;
    if (edit.length === 0) lastInsertion = edit.offset;
    applied.push(diagnostic);
  }
  return { text: out + text.slice(done), applied };
}
