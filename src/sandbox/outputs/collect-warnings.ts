import { SKIP_REASONS } from '../../core/outputs.ts';
import type { SkipReason, SkippedOutput } from '../../core/outputs.ts';
import { printable } from '../../core/text/text.ts';

const MEANINGS: Readonly<Record<SkipReason, string>> = {
  'max-files': 'there are more than may be collected',
  'max-file-bytes': 'larger than one file may be, so not read whole',
  'max-total-bytes': 'more than all files together may have',
  name: 'the name has characters that do not show, or that no path can spell',
  link: 'a link, which is not followed',
  'link-outside': 'a link that leaves the workspace',
  'hard-link': 'the file has another name elsewhere',
  'set-id': 'the file would run as another user',
  'not-regular': 'a pipe, socket or device',
  'too-deep': 'too many folders in folders',
  changed: 'it changed while it was read',
  empty: 'empty, after a run that failed',
  unreadable: 'the system does not let it be read',
};

const SHOWN_NAMES = 3;

/** One line a reason: what was not collected, and the first names. */
export function describeSkipped(skipped: readonly SkippedOutput[]): readonly string[] {
  return SKIP_REASONS.flatMap((reason) => {
    const names = skipped.filter((output) => output.reason === reason).map(({ name }) => `"${printable(name)}"`);
    if (names.length === 0) return [];
    const more = names.length > SHOWN_NAMES ? ` and ${String(names.length - SHOWN_NAMES)} more` : '';
    return [`not collected (${MEANINGS[reason]}): ${names.slice(0, SHOWN_NAMES).join(', ')}${more}`];
  });
}
