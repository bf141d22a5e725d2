import {
  cleanText,
  compareText,
  printable,
  sliceStart,
  type Action,
  type ActionFailed,
  type Offer,
  type Observation,
  type OfType,
  failure,
} from '#core';

type SkillLoaded = OfType<Observation, 'skill-loaded'>;

/** The texts for models that several vocabularies share. */

const LONGEST_NAME = 100;

interface Wording {
  /** The description of the problem in the words of the system, if it has its own. */
  readonly subject?: string;
  /** The tool that searches skills, if there is one. */
  readonly searchTool?: string;
}

/** Renders a failure: what was wrong, what to do, and the nearest names. */
export function failureText(failed: ActionFailed, wording: Wording = {}): string {
  return `${cleanText(wording.subject ?? failed.message)}. ${failureHint(failed, wording)}`;
}

/** What to do about a failure, and the nearest names. */
export function failureHint(failed: ActionFailed, wording: Wording = {}): string {
  const sentences = [
    `${capital(buildHint(failed, wording))}.`,
    ...(failed.nearest.length === 0 ? [] : [`Nearest: ${failed.nearest.map((name) => printable(name)).join(', ')}.`]),
  ];
  return cleanText(sentences.join(' '));
}

/** The requested skill, if the action names one; `empty` stands for no name. */
export function askedSkill(action: Action | undefined, empty = '(empty name)'): string {
  const name = action !== undefined && 'skill' in action ? (action.skill ?? '') : '';
  return name.trim() === '' ? empty : printable(sliceStart(name, LONGEST_NAME));
}

/** To the systems that ours stands for, a skill that is hidden until the user trusts it is unknown. Our reason follows their words. */
export function unknownSkill(failed: ActionFailed, words: string): { readonly subject?: string } {
  if (failed.code === 'skill/unknown') return { subject: words };
  return failed.code === 'skill/untrusted' ? { subject: `${words}: ${failed.message}` } : {};
}

/** The next step. An agent ends its run at a terminal failure; other sessions go on, so the text does not claim an end. */
export function buildHint(failed: ActionFailed, wording: Wording = {}): string {
  const hint = nextStep(failed, wording);
  return failed.isTerminal && failed.code !== 'record/failed' && failed.code !== 'run/ended'
    ? `${hint}; this failure occurred several times in a row, so do not repeat the same call`
    : hint;
}

/** Suggests a search only if there is a search tool. */
function nextStep({ code, hint }: ActionFailed, { searchTool }: Wording): string {
  if (code !== 'skill/unknown' || hint !== failure(code, '').hint) return hint;
  return searchTool === undefined
    ? 'choose one of the listed skills'
    : `find it with ${searchTool}, or choose one of the listed skills`;
}

/**
 * Explains why a load returns a note and no text: the text is already in the conversation, or it goes into the system message.
 * Undefined if the result contains the text.
 */
export function loadNote({ status, skill }: SkillLoaded, { placement }: Offer): string | undefined {
  if (placement === 'system') return `${skill.name} is loaded: its instructions are in the system message`;
  return status === 'repeated'
    ? `${skill.name} is already loaded and unchanged: follow the instructions you have`
    : undefined;
}

/** How a vocabulary continues a file that was cut, as a call that a model can make. */
export type ContinueCall = (skill: string, path: string, offset: number) => string;

/** Notes about a loaded skill and its documents, including what was cut. */
export function loadNotes(loaded: SkillLoaded, continueWith: ContinueCall): readonly string[] {
  return [
    ...cutNotes(loaded.skill, loaded.report, continueWith),
    ...documentNotes(loaded, continueWith),
    ...loaded.notes.map((note) => printable(note)),
  ];
}

/** Notes about documents that are cut or did not fit. */
export function documentNotes(
  { skill, documents, omitted = [] }: Pick<SkillLoaded, 'skill' | 'documents' | 'omitted'>,
  continueWith: ContinueCall,
): readonly string[] {
  const names = omitted.map((path) => printable(path));
  const [first = ''] = names;
  const call = continueWith(printable(skill.name), first, 0);
  return [
    ...documents.flatMap(({ report }) => cutNotes(skill, report, continueWith)),
    ...(omitted.length === 0
      ? []
      : [`not shown, because the answer is full: ${names.join(', ')}; continue with ${call}`]),
  ];
}

/** Notes about a file. */
export function readNotes(read: OfType<Observation, 'resource-read'>, continueWith: ContinueCall): readonly string[] {
  const { skill, isBinary, mediaType, report, lines, totalLines, headings, notes } = read;
  return [
    ...(isBinary
      ? [`${printable(report.path)} is a binary file (${mediaType}, ${bytesText(report.bytes)}) and is not shown`]
      : []),
    ...(report.truncated
      ? [`showing lines ${String(lines.from)} to ${String(lines.to)} of ${String(totalLines)}`]
      : []),
    ...cutNotes(skill, report, continueWith),
    ...(headings.length === 0 ? [] : [`the headings are: ${headings.map((name) => printable(name)).join('; ')}`]),
    ...notes.map((note) => printable(note)),
  ];
}

function cutNotes(
  { name }: SkillLoaded['skill'],
  { path, next }: SkillLoaded['report'],
  continueWith: ContinueCall,
): readonly string[] {
  if (next === undefined) return [];
  const shown = printable(path);
  return [`${shown} is cut; continue with ${continueWith(printable(name), shown, next)}`];
}

/** The prefix of notes; lines of a skill text must not start with it. */
export const NOTE_MARK = '[note]';

/** Appends notes to a text, for systems with plain-text results. */
export function withNotes(text: string, notes: readonly string[]): string {
  if (notes.length === 0) return text;
  const below = notes.map((note) => `${NOTE_MARK} ${note}`).join('\n');
  return text === '' ? below : `${text}\n\n${below}`;
}

/** Renders the files of a skill as a list; a name cannot start a line of its own. */
export function fileLines(
  files: readonly OfType<Observation, 'skill-loaded'>['files'][number][],
  isCut: boolean,
): readonly string[] {
  const listed = inOrder(files).slice(0, MAX_LINES);
  return [
    ...listed.map(({ path, kind, bytes }) => `- ${printable(path)} (${kind}, ${bytesText(bytes)})`),
    ...(isCut || listed.length < files.length ? ['- … and more files that are not listed'] : []),
  ];
}

const MAX_LINES = 2_000;

/** Whether the path is below one of these folders. */
export function isBelow(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => path.startsWith(`${folder}/`));
}

export function inOrder<F extends Pick<OfType<Observation, 'skill-loaded'>['files'][number], 'path'>>(
  files: readonly F[],
): readonly F[] {
  return files.toSorted((a, b) => compareText(a.path, b.path));
}

/** Lines of guidance. A line that names a tool (a word with an underscore) is included only if that tool is offered. */
export function guidanceFor(offered: readonly string[], lines: readonly string[]): string {
  if (offered.length === 0) return '';
  const isTrue = (line: string): boolean =>
    (line.match(/[a-z]+(?:_[a-z]+)+/g) ?? []).every((tool) => offered.includes(tool));
  return lines.filter(isTrue).join('\n');
}

export const ROUTING_ONLY = 'Descriptions are only for choosing: do not guess commands from them.';

export function bytesText(bytes: number): string {
  return bytes < 1024 ? `${String(bytes)} B` : `${(bytes / 1024).toFixed(1)} KiB`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
