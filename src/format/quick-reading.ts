/** From what the quick reader found in one text to the head. */
import { OPEN } from './controls.ts';
import { MAX_NAME, readName } from '../core/skill-name.ts';
import { SPACE } from './scalars.ts';
import type { MetaPairs, QuickCursor } from './quick-metadata.ts';
import type { Notes } from './quick-notes.ts';
import { ODD_NAME, hasFewLines, insertNote, noteOf, takeAll } from './quick-notes.ts';
import { textOf } from './quick-text.ts';
import { makeHead } from '../core/skill.ts';
import type { SkillControls, SkillHead } from '../core/skill.ts';

export const OPENING = '---\n';

/** Fields that are text on one line, most of the time. */
export const NAME = 0;
export const DESCRIPTION = 1;
export const LICENSE = 2;
export const COMPATIBILITY = 3;
export const VERSION = 4;
export const AUTHOR = 5;
export const DISABLED = 6;
export const INVOCABLE = 7;
/** A field that nobody here reads: its value must be plain, and is dropped. */
export const OTHER = 8;
export const TOOLS = 9;
export const METADATA = 10;
/** No field: the line is empty. */
export const BLANK = 11;
/** A field for the readers that know it, or no plain key. */
export const UNSURE = 12;

/** All other fields of ours are left to the readers that know them. */
export const SLOTS: ReadonlyMap<string, number> = new Map([
  ['name', NAME],
  ['description', DESCRIPTION],
  ['license', LICENSE],
  ['compatibility', COMPATIBILITY],
  ['version', VERSION],
  ['author', AUTHOR],
  ['disable-model-invocation', DISABLED],
  ['user-invocable', INVOCABLE],
  ['allowed-tools', TOOLS],
  ['metadata', METADATA],
]);

const NO_META: Readonly<Record<string, string>> = Object.freeze(Object.create(null));

/** What was found in one text, and how far it is read. */
export interface Draft extends QuickCursor {
  /** By slot. */
  readonly texts: (string | undefined)[];
  /** A bit for each slot. */
  seen: number;
  tools: readonly string[] | undefined;
  metadata: MetaPairs | undefined;
  /** The description has a colon that breaks YAML. */
  hasColon: boolean;
}

export interface QuickReading {
  /** Absent: all is plain, but the skill is left out because it has no description. */
  readonly head: SkillHead | undefined;
  /** With the head, all that must be known to tell (`NoteTeller`); absent where `readPlainHead` or `readColonHead` must be asked. */
  readonly notes: Notes | undefined;
}

const NO_NOTES: Notes = [];
const NO_DESCRIPTION: QuickReading = { head: undefined, notes: undefined };

export function readingOf(draft: Draft, directory: string): QuickReading | undefined {
  const { texts, seen, tools, notes } = draft;
  const written = texts[NAME];
  if (written === undefined) return undefined;
  const { name, problem } = readName(written);
  const description = texts[DESCRIPTION]?.trim();
  if (name === undefined || description === '') return undefined;
  const controls = (seen & ANY_CONTROL) === 0 ? OPEN : controlsOf(texts, tools);
  if (controls === undefined) return undefined;
  if (description === undefined) return NO_DESCRIPTION;
  const head = headOf(draft, name, description, controls);
  if (problem !== undefined || written !== directory || name.length > MAX_NAME) noteName(draft, written);
  if (!draft.isNoted || !hasFewLines(draft.text, draft.isLineByLine)) return { head, notes: undefined };
  return { head, notes: notes.length === 0 ? NO_NOTES : takeAll(notes) };
}

/** Notes the line of the name, where it is on one. */
function noteName(draft: Draft, written: string): void {
  const { text, notes } = draft;
  const line = text.indexOf('\nname: ') + 1;
  const feed = text.indexOf('\n', line);
  if (line > 0 && textOf(text.slice(line + 'name: '.length, feed)) === written && text.charCodeAt(feed + 1) !== SPACE)
    insertNote(notes, noteOf(ODD_NAME, line));
  else draft.isNoted = false;
}

function headOf(
  { texts, seen, metadata }: Draft,
  name: string,
  description: string,
  controls: SkillControls,
): SkillHead {
  const meta = (seen & ANY_META) === 0 ? NO_META : metaOf(texts[VERSION], texts[AUTHOR], metadata);
  if ((seen & LICENSE_OR_COMPATIBILITY) === 0) return { name, description, controls, meta };
  const license = texts[LICENSE]?.trim();
  const compatibility = texts[COMPATIBILITY]?.trim();
  return makeHead({
    name,
    description,
    license: license === '' ? undefined : license,
    compatibility: compatibility === '' ? undefined : compatibility,
    controls,
    meta,
  });
}

const ANY_CONTROL = (1 << DISABLED) | (1 << INVOCABLE) | (1 << TOOLS);
const ANY_META = (1 << VERSION) | (1 << AUTHOR) | (1 << METADATA);
const LICENSE_OR_COMPATIBILITY = (1 << LICENSE) | (1 << COMPATIBILITY);

function controlsOf(
  texts: readonly (string | undefined)[],
  tools: readonly string[] | undefined,
): SkillControls | undefined {
  const disabled = texts[DISABLED]?.trim();
  const invocable = texts[INVOCABLE]?.trim();
  if (!isBoolean(disabled) || !isBoolean(invocable)) return undefined;
  const disableModelInvocation = disabled === 'true';
  const userInvocable = invocable !== 'false';
  return tools === undefined
    ? { disableModelInvocation, userInvocable, runMode: 'inline' }
    : { disableModelInvocation, userInvocable, allowedTools: tools, runMode: 'inline' };
}

function isBoolean(written: string | undefined): boolean {
  return written === undefined || written === 'true' || written === 'false';
}

function metaOf(
  version: string | undefined,
  author: string | undefined,
  metadata: MetaPairs | undefined,
): Readonly<Record<string, string>> {
  const meta: Record<string, string> = Object.create(null);
  if (version !== undefined) meta['version'] = version.trim();
  if (author !== undefined) meta['author'] = author.trim();
  if (metadata === undefined) return meta;
  for (let at = 0; at < metadata.length; at += 2) {
    const key = metadata[at] ?? '';
    if (!(key in meta)) meta[key] = (metadata[at + 1] ?? '').trim();
  }
  return meta;
}
