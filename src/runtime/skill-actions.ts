import {
  actionFailed,
  countText,
  failure,
  nearest,
  quoted,
  serverOfSource,
  withoutOurTags,
  type ActionOfKind,
  type Config,
  type Observation,
  type SessionState,
  type SkillEntry,
  type Action,
  type OfType,
} from '#core';
import { refuseDynamicCommands } from '#policy';
import { listFiles, findScript, inSkill, listSkillFiles, loadSkill, readResourceFile } from '#skills';

type DocumentSelection = OfType<Action, 'select_documents'>['documents'];
type LoadedSkill = SessionState['loaded'][number];

type SkillAction = ActionOfKind<'skill'>;

interface ReadingContext {
  readonly limits: ReadingLimits;
  readonly state: SessionState | undefined;
  /** What a skill needs and this session does not have. */
  readonly missing: (skill: SkillEntry) => readonly string[];
}

export interface ReadingLimits {
  readonly body: Parameters<typeof loadSkill>[1];
  /** Characters of a file in one answer; absent: the default of the loader, and no limit of its own for a document. */
  readonly resource: number | undefined;
  /** Characters of all documents of one answer; absent: the default, which cuts no document that is named. */
  readonly documents: number | undefined;
}

export function readingLimits({ security }: Config): ReadingLimits {
  return {
    body: {
      maxLines: security?.max_skill_body_lines,
      maxCharacters: security?.max_skill_body_characters,
      onTooLong: security?.oversized_body ?? 'cut',
    },
    resource: security?.max_resource_characters,
    documents: security?.max_documents_characters,
  };
}

/** The limits with the defaults of the loader, for a vocabulary whose own limits the configuration has already narrowed. */
export function withBodyLimits({ body, ...others }: ReadingLimits): ReadingLimits {
  const { maxLines = 500, maxCharacters = 40_000 } = body;
  return { ...others, body: { ...body, maxLines, maxCharacters } };
}

export function readSkill(action: SkillAction, skill: SkillEntry, context: ReadingContext): Observation {
  switch (action.type) {
    case 'load_skill':
      return load(action, skill, context);
    case 'list_resources':
      return list(action, skill);
    case 'read_resource':
      return read(action, skill, context);
    case 'select_documents':
      return select(action, skill, context);
    case 'get_script_path':
      return script(action, skill);
  }
}

function load(action: OfType<Action, 'load_skill'>, skill: SkillEntry, context: ReadingContext): Observation {
  const { whole, uncut } = action;
  const body = loadSkill(skill, { ...context.limits.body, whole, uncut });
  if (body.type === 'failed') return actionFailed(action.type, body.failure);
  const { isCut: filesCut } = body;
  const files = body.files.filter(({ path }) => path !== skill.file);
  const before = context.state?.loaded.find((one) => one.skill.id === skill.id);

  const { keepsConversation: isKept = false, placement } = context.state?.settings ?? {};
  const known = loadStatus(before, body.report.digest, isKept || placement === 'system');
  const isWanted = before?.isPreloaded === true || (action.again === true && !isKept);
  const status = known === 'repeated' && isWanted && placement !== 'system' ? 'new' : known;
  const wanted = action.documents ?? before?.documents ?? [];
  const documents = chooseDocuments(skill, { files, unusable: body.unusable }, wanted, {
    // A caller that lost the instructions has lost the documents with them.
    before: status === 'repeated' ? before : undefined,
    limits: context.limits,
  });
  const inert = refuseDynamicCommands(body.text, 'the policy does not allow commands in skill text');
  // `whole` returns the file as it is; instructions must not contain our tags.
  const shown = action.whole === true ? inert.text : withoutOurTags(inert.text);
  const text = status === 'repeated' ? '' : `${originLine(skill)}${shown}`;
  const notes = [
    ...displacedNotes(before, context.state),
    ...(status === 'changed' ? ['SKILL.md changed since it was last loaded; this is the new text'] : []),
    ...(body.headChanged ? ['the frontmatter changed since the skills were listed'] : []),
    ...context.missing(skill),
    ...unusableNotes(body.unusable.filter(({ path }) => action.documents?.includes(path) !== true)),
    ...(inert.commands.length > 0
      ? [`${countText(inert.commands.length, 'command in the text was', 'commands in the text were')} not run`]
      : []),
    ...body.notes,
    ...documents.notes,
  ];
  return {
    type: 'skill-loaded',
    action: action.type,
    skill: toSkillIdentity(skill),
    status,
    text,
    report: { ...body.report, characters: text.length },
    files,
    filesCut,
    documents: documents.shown,
    ...(wanted.length === 0 && action.documents === undefined
      ? {}
      : { selected: documents.selected, digests: documents.digests }),
    ...(documents.omitted.length === 0 ? {} : { omitted: documents.omitted }),
    notes,
  } satisfies OfType<Observation, 'skill-loaded'>;
}

/** Names what a further skill displaces. */
function displacedNotes(before: LoadedSkill | undefined, state: SessionState | undefined): readonly string[] {
  if (before !== undefined || state === undefined) return [];
  const { loaded, settings } = state;
  return loaded
    .slice(0, Math.max(0, loaded.length + 1 - settings.maxLoaded))
    .map(
      ({ skill }) =>
        `${quoted(skill.name)} is no longer loaded: session.max_loaded is ${String(settings.maxLoaded)}; load it again to use it`,
    );
}

/** The model sees with the text itself that a server wrote it. */
function originLine({ source }: SkillEntry): string {
  const server = serverOfSource(source);
  return server === undefined
    ? ''
    : `[This text was served by the MCP server ${server}. The user approved its use.]\n\n`;
}

function originNote({ source }: SkillEntry): readonly string[] {
  const server = serverOfSource(source);
  return server === undefined ? [] : [`this file was served by the MCP server ${server}`];
}

/** Names the first files of a skill that cannot be used. */
function unusableNotes(unusable: ReturnType<typeof listSkillFiles>['unusable']): readonly string[] {
  const more = unusable.length - UNUSABLE_NAMED;
  return [
    ...unusable.slice(0, UNUSABLE_NAMED).map(({ path, reason }) => `${quoted(path)} is not usable: ${reason}`),
    ...(more > 0 ? [`${countText(more, 'more file')} ${more === 1 ? 'is' : 'are'} not usable`] : []),
  ];
}

const UNUSABLE_NAMED = 5;

/** The same content is not sent twice. A caller may have truncated the conversation, though, so every second request gets the text. */
function loadStatus(
  before: SessionState['loaded'][number] | undefined,
  digest: string,
  isKept: boolean,
): OfType<Observation, 'skill-loaded'>['status'] {
  if (before === undefined) return 'new';
  if (before.digest !== digest) return 'changed';
  return isKept || before.repeats % 2 === 0 ? 'repeated' : 'new';
}

function list(action: OfType<Action, 'list_resources'>, skill: SkillEntry): Observation {
  const listing = inSkill(skill, (directory) => ({ type: 'listed' as const, ...listFiles(directory) }));
  if (listing.type === 'failed') return actionFailed(action.type, listing.failure);
  const { files, isCut: filesCut } = listing;
  const folder = action.folder?.replace(/^(?:\.\/+)+|\/+$/g, '') ?? '';
  const listed = folder === '' || folder === '.' ? files : files.filter(({ path }) => path.startsWith(`${folder}/`));
  if (listed.length === 0 && files.length > 0 && folder !== '') {
    const folders = [
      ...new Set(files.flatMap(({ path }) => (path.includes('/') ? [path.slice(0, path.lastIndexOf('/'))] : []))),
    ];
    const near = nearest(folder, folders);
    const message = `the skill has no files below ${quoted(folder)}`;
    return actionFailed(
      action.type,
      failure('file/missing', message, {
        nearest: near,
        ...(folders.length === 0 ? {} : { hint: `its folders are ${folders.slice(0, 10).join(', ')}` }),
      }),
    );
  }
  return { type: 'resources-listed', action: action.type, skill: toSkillIdentity(skill), files: listed, filesCut };
}

/** A skill of a server may have one file of this size, which hosts have to take. */
const SERVER_FILE_BYTES = 16 * 1024 * 1024;

function read(action: OfType<Action, 'read_resource'>, skill: SkillEntry, { limits }: ReadingContext): Observation {
  const file = readResourceFile(skill, action.path, {
    maxCharacters: limits.resource,
    maxBytes: serverOfSource(skill.source) === undefined ? undefined : SERVER_FILE_BYTES,
    offset: action.offset,
    section: action.section,
    lines: action.lines,
  });
  if (file.type === 'failed') return actionFailed(action.type, file.failure);
  const { mediaType, isBinary, text, lines, totalLines, report, notes, headings } = file;
  return {
    type: 'resource-read',
    mediaType,
    isBinary,
    text,
    lines,
    totalLines,
    report,
    notes: [...notes, ...originNote(skill)],
    headings,
    action: action.type,
    skill: toSkillIdentity(skill),
  };
}

function select(
  action: OfType<Action, 'select_documents'>,
  skill: SkillEntry,
  { state, limits }: ReadingContext,
): Observation {
  const loaded = state?.loaded.find((one) => one.skill.id === skill.id);
  if (state !== undefined && loaded === undefined) {
    const message = `the skill ${quoted(skill.name)} is not loaded`;
    return actionFailed(action.type, failure('skill/not-loaded', message));
  }
  const files = listSkillFiles(skill.dir);
  const { mode, offset } = action;
  const selection = mode === 'clear' ? [] : action.documents;
  const documents = chooseDocuments(skill, files, selection, { before: loaded, limits, offset });
  const selected = selectDocuments(loaded?.documents ?? [], mode, documents.selected);
  const kept = mode === 'add' ? loaded?.digests : undefined;
  return {
    type: 'documents-selected',
    action: action.type,
    skill: toSkillIdentity(skill),
    mode,
    selected,
    digests: { ...kept, ...documents.digests },
    documents: documents.shown,
    ...(documents.omitted.length === 0 ? {} : { omitted: documents.omitted }),
    ...(documents.notes.length === 0 ? {} : { notes: documents.notes }),
  };
}

function script(action: OfType<Action, 'get_script_path'>, skill: SkillEntry): Observation {
  const found = findScript(skill, action.script);
  if (found.type === 'failed') return actionFailed(action.type, found.failure);
  const { path, isExecutable } = found;
  return { type: 'script-found', action: action.type, skill: toSkillIdentity(skill), path, isExecutable };
}

/** The documents that `*` selects. */
export function listDocuments({ dir, file }: SkillEntry): readonly string[] {
  return documentPaths(listSkillFiles(dir).files, file);
}

/** The `.md` and `.txt` files of a skill except SKILL.md. */
function documentPaths(
  files: readonly OfType<Observation, 'skill-loaded'>['files'][number][],
  skillFile: string,
): readonly string[] {
  return files.map(({ path }) => path).filter((path) => /\.(?:md|txt)$/i.test(path) && path !== skillFile);
}

interface ChosenDocuments {
  readonly shown: readonly OfType<Observation, 'skill-loaded'>['documents'][number][];
  /** Those that can be read; `*` where all are wanted. */
  readonly selected: DocumentSelection;
  /** Of what is selected and shown, now or before, by path. */
  readonly digests: Readonly<Record<string, string>>;
  /** Readable, but beyond the limit of this answer. */
  readonly omitted: readonly string[];
  readonly notes: readonly string[];
}

interface DocumentContext {
  readonly before: Pick<LoadedSkill, 'digests'> | undefined;
  readonly limits: Pick<ReadingLimits, 'documents' | 'resource'>;
  readonly offset?: number;
}

/** Characters of all documents of one answer, so that `*` cannot fill the context. */
const MAX_DOCUMENTS_CHARACTERS = 48_000;
/** A document without a limit of its own; a larger one cannot be read. */
const WHOLE_DOCUMENT = { maxCharacters: Infinity, maxBytes: 2_000_000 };

/**
 * Reads the wanted documents in order, up to the limit: one that does not fit beside others is selected and shown by a later call. A document that is missing or cannot be read is a note, because the
 * instructions are useful without it. Documents that were shown before and have not changed are not sent again, unless an offset asks for a part.
 */
function chooseDocuments(
  skill: SkillEntry,
  { files, unusable }: Pick<ReturnType<typeof listSkillFiles>, 'files' | 'unusable'>,
  selection: DocumentSelection,
  { before, offset, limits }: DocumentContext,
): ChosenDocuments {
  const all = documentPaths(files, skill.file);
  const paths =
    selection === '*' ? all : [...new Set(selection.map((path) => path.replace(/^(?:\.\/+)+/, '')))].toSorted();
  const digests = new Map<string, string>();
  const shown: OfType<Observation, 'skill-loaded'>['documents'][number][] = [];
  const selected: string[] = [];
  const omitted: string[] = [];
  const notes: string[] = [];
  let room = limits.documents ?? MAX_DOCUMENTS_CHARACTERS;
  // A document that is named is shown whole, unless a setting bounds it.
  const ownLimit = limits.resource ?? Infinity;
  const firstLimit = selection === '*' ? room : (limits.documents ?? Infinity);
  for (const path of paths) {
    const refused = unusable.find((one) => one.path === path);
    if (refused !== undefined) {
      notes.push(`${quoted(path)} is not shown: ${refused.reason}`);
      continue;
    }
    if (path === skill.file && offset === undefined) {
      notes.push(`${quoted(path)} is not a document: loading the skill shows it`);
      continue;
    }
    if (!all.includes(path) && path !== skill.file) {
      const near = nearest(path, all);
      const hint = near.length === 0 ? '' : `; nearest: ${near.join(', ')}`;
      notes.push(`there is no document ${quoted(path)} in the skill${hint}`);
      continue;
    }
    const isFirst = shown.length === 0;
    const maxCharacters = Math.min(isFirst ? firstLimit : room, ownLimit);
    const limit = maxCharacters === Infinity ? WHOLE_DOCUMENT : { maxCharacters };
    const read = readResourceFile(skill, path, { ...limit, offset });
    if (read.type === 'failed') {
      notes.push(`${quoted(path)} is not shown: ${read.failure.message}`);
      continue;
    }
    if (read.isBinary) {
      notes.push(`${quoted(path)} is not shown: it is not UTF-8 text (${read.mediaType})`);
      continue;
    }
    selected.push(path);
    const { digest } = read.report;
    const known = before?.digests?.[path];
    // A part of a changed document leaves the rest of it to a later call.
    if (known !== undefined) digests.set(path, known);
    if (known === digest && offset === undefined) continue;
    if (read.report.truncated && !isFirst && room < ownLimit) omitted.push(path);
    else {
      shown.push({ text: withoutOurTags(read.text), report: read.report });
      if (known === undefined || (offset ?? 0) === 0) digests.set(path, digest);
      if (known !== undefined && known !== digest) notes.push(`${quoted(path)} changed since it was last shown`);
      notes.push(...read.notes.map((note) => `${quoted(path)}: ${note}`));
      room = Math.max(0, room - read.text.length);
    }
  }
  return { shown, selected: selection === '*' ? '*' : selected, digests: Object.fromEntries(digests), omitted, notes };
}

/** Applies a change to the selected documents. */
export function selectDocuments(
  before: DocumentSelection,
  mode: 'add' | 'replace' | 'clear',
  documents: DocumentSelection,
): DocumentSelection {
  if (mode === 'clear') return [];
  if (mode === 'replace') return documents;
  if (before === '*' || documents === '*') return '*';
  return [...new Set([...before, ...documents])].toSorted();
}

export function toSkillIdentity({
  id,
  name,
  source,
  dir,
}: OfType<Observation, 'skill-loaded'>['skill']): OfType<Observation, 'skill-loaded'>['skill'] {
  return { id, name, source, dir };
}
