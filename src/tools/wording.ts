import type { Action } from '../core/action.ts';
import { compareText } from '../core/diagnostic.ts';
import { FAILURES } from '../core/failure-codes.ts';
import type { ActionFailed, ListedFile, ResourceRead, ShownDocument, SkillLoaded } from '../core/observation.ts';
import { cleanText, printable } from '../core/text/text.ts';
import type { Offer } from '../core/tool.ts';

/** What a model reads where several vocabularies say the same thing. */

/** Of a name that is repeated to the model. */
const LONGEST_NAME = 100;

const RUN_IS_OVER =
  'the same failure came too often and the run is over: call no more tools, answer now with what you have';

interface Wording {
  /** How a system says what was wrong, where it has its own words. */
  readonly subject?: string;
  /** The tool that finds skills, where there is one. */
  readonly searchTool?: string;
}

/** A failure that teaches: what was wrong, what to do, what was probably meant. */
export function failureText(failed: ActionFailed, wording: Wording = {}): string {
  const sentences = [
    `${wording.subject ?? failed.message}.`,
    `${capital(hintOf(failed, wording))}.`,
    ...(failed.nearest.length === 0 ? [] : [`Nearest: ${failed.nearest.map((name) => printable(name)).join(', ')}.`]),
  ];
  return cleanText(sentences.join(' '));
}

/** The skill as it was asked for, where an action got that far. */
export function askedSkill(action: Action | undefined): string {
  return action !== undefined && 'skill' in action ? printable(action.skill.slice(0, LONGEST_NAME)) : '';
}

/** What to do; in a run that is over, to answer. Advice to search is given only with a tool to do it. */
export function hintOf({ code, hint, isTerminal }: ActionFailed, { searchTool }: Wording = {}): string {
  if (isTerminal) return RUN_IS_OVER;
  if (code !== 'skill/unknown' || hint !== FAILURES[code]) return hint;
  return searchTool === undefined
    ? 'choose one of the skills that are listed'
    : `find it with ${searchTool}, or choose one of the skills that are listed`;
}

/**
 * Why a load gives a note and no text: the text is there already, or it goes into the system message. Nothing where the text
 * itself belongs into the result.
 */
export function loadNote({ status, skill }: SkillLoaded, { placement }: Offer): string | undefined {
  if (placement === 'system') return `${skill.name} is loaded: its instructions are in the system message`;
  return status === 'repeated'
    ? `${skill.name} is loaded already and has not changed: follow the instructions you have`
    : undefined;
}

/** What is odd about a loaded skill and its documents, their cuts included. */
export function loadNotes({ report, documents, notes }: SkillLoaded): readonly string[] {
  return [
    ...(report.truncated ? [cutNote(report.path, report.reference)] : []),
    ...documentNotes(documents),
    ...notes.map((note) => printable(note)),
  ];
}

export function documentNotes(documents: readonly ShownDocument[]): readonly string[] {
  return documents.filter(({ report }) => report.truncated).map(({ report }) => cutNote(report.path, report.reference));
}

/** What is odd about a file that was read. */
export function readNotes(read: ResourceRead): readonly string[] {
  const { isBinary, mediaType, report, lines, totalLines, headings, notes } = read;
  return [
    ...(isBinary
      ? [`${printable(report.path)} is a binary file (${mediaType}, ${bytesText(report.bytes)}) and not shown`]
      : []),
    ...(report.truncated
      ? [
          `lines ${String(lines.from)} to ${String(lines.to)} of ${String(totalLines)} are shown; ${cutNote(report.path, report.reference)}`,
        ]
      : []),
    ...(headings.length === 0 ? [] : [`the headings are: ${headings.map((name) => printable(name)).join('; ')}`]),
    ...notes.map((note) => printable(note)),
  ];
}

/** What notes start with; a text beside them must not have lines that do. */
export const NOTE_MARK = '[note]';

/** A text with its notes below it, for systems whose result is text alone. */
export function withNotes(text: string, notes: readonly string[]): string {
  if (notes.length === 0) return text;
  const below = notes.map((note) => `${NOTE_MARK} ${note}`).join('\n');
  return text === '' ? below : `${text}\n\n${below}`;
}

/** The files of a skill as a list; a name cannot start a line of its own. */
export function fileLines(files: readonly ListedFile[], isCut: boolean): readonly string[] {
  return [
    ...inOrder(files).map(({ path, kind, bytes }) => `- ${printable(path)} (${kind}, ${bytesText(bytes)})`),
    ...(isCut ? ['- … and more that are not listed'] : []),
  ];
}

/** Below one of these folders of a skill. */
export function isBelow(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => path.startsWith(`${folder}/`));
}

export function inOrder<F extends Pick<ListedFile, 'path'>>(files: readonly F[]): readonly F[] {
  return files.toSorted((a, b) => compareText(a.path, b.path));
}

/** Lines of guidance. A line that names a tool, which is a word with an underscore, is given only where that tool is offered. */
export function guidanceFor(offered: readonly string[], lines: readonly string[]): string {
  if (offered.length === 0) return '';
  const isTrue = (line: string): boolean =>
    (line.match(/[a-z]+(?:_[a-z]+)+/g) ?? []).every((tool) => offered.includes(tool));
  return lines.filter(isTrue).join('\n');
}

export const ROUTING_ONLY =
  'The list of skills is for choosing only: load a skill before you use it, and do not guess its commands from its description.';
export const LOADING_RUNS_NOTHING = 'Loading and reading run nothing.';

function cutNote(path: string, reference: string): string {
  return `${printable(path)} is cut; the whole is ${printable(reference)}`;
}

export function bytesText(bytes: number): string {
  return bytes < 1024 ? `${String(bytes)} B` : `${(bytes / 1024).toFixed(1)} KiB`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
