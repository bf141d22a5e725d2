/**
 * Level 1 of a file whose only mistakes are colons in unquoted text, `description: Use when: asked`: by far the commonest reason
 * why YAML refuses frontmatter. What the library would say of it is known beforehand, so that it need not be loaded.
 */
import { isTooLarge } from './checks.ts';
import type { Fences } from './fences.ts';
import { findFences } from './fences.ts';
import { MAX_LIBRARY_TEXT, findTooDeep } from './guard.ts';
import type { Piece } from './pieces.ts';
import { cutPieces } from './pieces.ts';
import { readPlain } from './plain.ts';
import { rescueFields } from './rescue.ts';
import { NESTED_KEY, isPlainStart } from './scalars.ts';
import type { HeadOptions, HeadReading, HeadSource } from './source.ts';
import type { YamlReading } from './yaml.ts';
import { finishHead, openReport } from './skill-head.ts';

/** Of the whole and of each piece that is not plain. Its words are told only where nothing else is, and then the library is asked. */
const BROKEN: YamlReading = { type: 'broken', at: 0, message: '' };

/** Reads the head if all that is not plain is such a colon; `undefined` where `readHead` must be asked. */
export function readColonHead(source: HeadSource, options: HeadOptions): HeadReading | undefined {
  const { text } = source;
  const found = findFences(text);
  if (found.type !== 'found') return undefined;
  const { fences } = found;
  if (fences.openRest.trim() !== '' || isTooLarge(text, fences.end) || !isBrokenByColons(text, fences))
    return undefined;
  const report = openReport(source, options, fences);
  const rescue = rescueFields(report, () => BROKEN, { text, start: fences.start, end: fences.close });
  if (rescue === undefined || report.diagnostics.length === 0) return undefined;
  return finishHead({ source, options, report, fences, map: rescue.map, unreadable: rescue.unreadable });
}

/** Every field is plain by itself, or text on one line that a colon breaks; and there is one of the latter. */
function isBrokenByColons(text: string, { start, close }: Fences): boolean {
  if (close - start > MAX_LIBRARY_TEXT || DOUBTFUL.test(text) || findTooDeep(text, start, close) !== undefined)
    return false;
  const { pieces, stray } = cutPieces(text, start, close);
  if (stray !== undefined) return false;
  let broken = 0;
  for (const piece of pieces) {
    if (piece.column !== 0 || piece.tailEnd > piece.end) return false;
    if (readPlain(text, piece.start, piece.end)?.entries.length === 1) continue;
    if (!isColonText(text, piece)) return false;
    broken += 1;
  }
  return broken > 0;
}

/** Tabs, CR LF and controls mean more to the library than can be told from here. */
const DOUBTFUL = /[\0-\x09\x0b-\x1f]/;
const PLAIN_KEY = /[A-Za-z_][\w-]*: +/y;

/** A map inside a map on one line: an error to YAML, wherever it stands. */
function isColonText(text: string, { start, bodyStart, end }: Piece): boolean {
  PLAIN_KEY.lastIndex = start;
  if (bodyStart !== end || !PLAIN_KEY.test(text)) return false;
  const valueStart = PLAIN_KEY.lastIndex;
  return isPlainStart(text, valueStart) && NESTED_KEY.test(text.slice(valueStart, end - 1));
}
