import { isUtf8 } from 'node:buffer';

import { countText, fileProblemText, quoted, type ActionProblem, type Action, type OfType } from '#core';
import { sha256 } from '#platform';
import { hostFailure } from './host-failure.ts';
import { readResolved } from './read-file.ts';
import type { ResolvedPath } from './resolve-path.ts';
import type { WritePreview } from './write-file.ts';

const MAX_BYTES = 4 * 1024 * 1024;

interface PlannedEdit {
  readonly write: OfType<Action, 'write_file'>;
  /** The file that the edit was computed from; nothing else may be replaced. */
  readonly preview: WritePreview;
}

/** Computes an edit without writing anything. A file with CRLF line ends keeps them, because `read_file` shows it with LF. */
export function planEdit(action: OfType<Action, 'edit_file'>, placed: ResolvedPath): PlannedEdit | ActionProblem {
  const { shown } = placed;
  const file = quoted(shown, 200);
  const read = readResolved(placed, MAX_BYTES);
  if (read.type === 'failed') return hostFailure(read.code, `${file} ${fileProblemText(read)}`);
  if (!isUtf8(read.bytes)) return hostFailure('file/not-utf8', `${file} is not UTF-8 text`);
  const before = read.bytes.toString('utf8');
  const { oldText, newText, content } = replacePassage(before, action);
  if (oldText === '')
    return hostFailure('input/invalid', 'old_text is empty', 'copy the passage to replace, or write the whole file');
  if (oldText === newText) return hostFailure('input/invalid', 'old_text and new_text are the same', 'change new_text');
  if ([oldText, newText].some((text) => HALF_CHARACTER.test(text)))
    return hostFailure('input/invalid', 'the text has half of a character', 'pass whole characters');
  const found = countMatches(before, oldText);
  if (found !== 1)
    return hostFailure(
      'edit/no-single-match',
      `old_text occurs ${found > MAX_COUNTED ? `more than ${String(MAX_COUNTED)} times` : countText(found, 'time')} in ${file}; it must occur exactly once`,
      found === 0
        ? 'read the file and copy the passage exactly, with its spaces and line ends'
        : 'add the lines around it until it is unique',
    );
  return {
    write: { type: 'write_file', path: action.path, content },
    preview: { before, digest: `sha256:${sha256(read.bytes)}` },
  };
}

/** Replaces the first occurrence of the passage, with both texts in the line ends of the file. */
export function replacePassage(
  before: string,
  action: Pick<OfType<Action, 'edit_file'>, 'oldText' | 'newText'>,
): { readonly oldText: string; readonly newText: string; readonly content: string } {
  const usesCrlf = before.includes('\r\n') && !/(?<!\r)\n/.test(before);
  const fitted = (text: string): string => (usesCrlf ? text.replaceAll(/\r?\n/g, '\r\n') : text);
  const [oldText, newText] = [fitted(action.oldText), fitted(action.newText)];
  // No replacement patterns such as $&: the text is inserted as it is.
  return { oldText, newText, content: before.replace(oldText, () => newText) };
}

/** A lone surrogate: it would match half of a pair, and cannot be written as UTF-8. */
const HALF_CHARACTER = /\p{Surrogate}/u;
/** Counting costs as much as comparing the passage at each of its places. */
const MAX_COUNTED = 20;

/** Matches may overlap: `aa` occurs twice in `aaa`. Counts no further than one more than `MAX_COUNTED`. */
function countMatches(text: string, passage: string): number {
  let count = 0;
  for (let at = text.indexOf(passage); at !== -1 && count <= MAX_COUNTED; at = text.indexOf(passage, at + 1))
    count += 1;
  return count;
}
