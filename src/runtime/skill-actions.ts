import type {
  ActionOfKind,
  GetScriptPath,
  ListResources,
  LoadSkill,
  ReadResource,
  SelectDocuments,
  DocumentSelection,
} from '../core/action.ts';
import type { Config } from '../core/config/config.ts';
import { refuseDynamicCommands } from '../policy/command/dynamic-commands.ts';
import { failure } from '../core/failure-codes.ts';
import type { Failure } from '../core/failure-codes.ts';
import { withoutOurTags } from '../core/text/delimit-untrusted.ts';
import { nearest } from '../core/nearest.ts';
import { actionFailed, identityOf } from '../core/observation.ts';
import type { ListedFile, Observation, ShownDocument, SkillLoaded } from '../core/observation.ts';
import { findLoaded, selectDocuments } from '../core/session.ts';
import type { SessionState } from '../core/session.ts';
import type { SkillEntry } from '../core/skill.ts';
import { quoted } from '../core/text/text.ts';
import { filesOf, listSkillFiles } from '../loader/files.ts';
import { loadBodyIn } from '../loader/load-body.ts';
import type { BodyLimits } from '../loader/load-body.ts';
import { readResourceFile } from '../loader/read-resource.ts';
import { findScript } from '../loader/script-path.ts';
import { inSkill } from '../loader/skill-directory.ts';

type SkillAction = ActionOfKind<'skill'>;

interface ReadingContext {
  readonly limits: BodyLimits;
  readonly state: SessionState | undefined;
}

export function bodyLimits({ security }: Config): BodyLimits {
  return {
    maxLines: security?.max_skill_body_lines ?? 500,
    maxCharacters: security?.max_skill_body_characters ?? 40_000,
    onTooLong: security?.oversized_body ?? 'cut',
  };
}

export function readSkill(action: SkillAction, skill: SkillEntry, context: ReadingContext): Observation {
  switch (action.type) {
    case 'load_skill':
      return load(action, skill, context);
    case 'list_resources':
      return list(action, skill);
    case 'read_resource':
      return read(action, skill);
    case 'select_documents':
      return select(action, skill, context);
    case 'get_script_path':
      return script(action, skill);
  }
}

function load(action: LoadSkill, skill: SkillEntry, context: ReadingContext): Observation {
  const opened = inSkill(skill, (directory) => {
    const body = loadBodyIn(directory, skill, { ...context.limits, whole: action.whole ?? false });
    return body.type === 'failed' ? body : { type: 'opened' as const, body, ...filesOf(directory) };
  });
  if (opened.type === 'failed') return actionFailed(action.type, opened.failure);
  const { body, isCut: filesCut } = opened;
  const files = opened.files.filter(({ path }) => path !== skill.file);
  const before = context.state === undefined ? undefined : findLoaded(context.state, skill.id);

  const selection = action.documents ?? [];
  const existing = existingDocuments(selection, documentPaths(files, skill.file));
  if (existing.type === 'failed') return actionFailed(action.type, existing.failure);
  const documents = readDocuments(skill, existing.paths);
  if (documents.type === 'failed') return actionFailed(action.type, documents.failure);

  const status = loadStatus(before, body.report.digest, context.state?.settings.placement === 'system');
  const inert = refuseDynamicCommands(body.text, 'the policy does not allow commands in skill text');
  // `whole` returns the file as it is; instructions must not contain our tags.
  const shown = action.whole === true ? inert.text : withoutOurTags(inert.text);
  const text = status === 'repeated' ? '' : shown;
  const notes = [
    ...(status === 'changed' ? ['SKILL.md changed since it was last loaded; this is the new text'] : []),
    ...(body.headChanged ? ['the frontmatter changed since the skills were listed'] : []),
    ...(inert.count > 0 ? [`${String(inert.count)} commands in the text were not run`] : []),
    ...(body.report.truncated ? [`truncated: read the rest of ${skill.file} as a file, by section or by lines`] : []),
    ...body.notes,
  ];
  return {
    type: 'skill-loaded',
    action: action.type,
    skill: identityOf(skill),
    status,
    text,
    report: { ...body.report, characters: text.length },
    files,
    filesCut,
    documents: documents.documents,
    notes,
  } satisfies SkillLoaded;
}

/** The same content is not sent twice. The caller may have truncated the conversation, though, so every second request gets the text. */
function loadStatus(
  before: ReturnType<typeof findLoaded>,
  digest: string,
  isInSystemMessage: boolean,
): SkillLoaded['status'] {
  if (before === undefined) return 'new';
  if (before.digest !== digest) return 'changed';
  return isInSystemMessage || before.repeats % 2 === 0 ? 'repeated' : 'new';
}

function list(action: ListResources, skill: SkillEntry): Observation {
  const listing = inSkill(skill, (directory) => ({ type: 'listed' as const, ...filesOf(directory) }));
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
      failure('file/missing', message, { nearest: near.length > 0 ? near : folders.slice(0, 10) }),
    );
  }
  return { type: 'resources-listed', action: action.type, skill: identityOf(skill), files: listed, filesCut };
}

function read(action: ReadResource, skill: SkillEntry): Observation {
  const file = readResourceFile(skill, action.path, {
    ...(action.section === undefined ? {} : { section: action.section }),
    ...(action.lines === undefined ? {} : { lines: action.lines }),
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
    notes,
    headings,
    action: action.type,
    skill: identityOf(skill),
  };
}

function select(action: SelectDocuments, skill: SkillEntry, { state }: ReadingContext): Observation {
  const loaded = state === undefined ? undefined : findLoaded(state, skill.id);
  if (state !== undefined && loaded === undefined) {
    const message = `the skill ${quoted(skill.name)} is not loaded`;
    return actionFailed(action.type, failure('skill/not-loaded', message));
  }
  const { files } = listSkillFiles(skill.dir);
  const all = documentPaths(files, skill.file);
  const asked = existingDocuments(action.mode === 'clear' ? [] : action.documents, all);
  if (asked.type === 'failed') return actionFailed(action.type, asked.failure);
  const before = loaded?.documents ?? [];
  const selected = selectDocuments(before, action.mode, action.documents === '*' ? '*' : asked.paths);
  const shownBefore = before === '*' ? all : before;
  const documents = readDocuments(
    skill,
    asked.paths.filter((path) => !shownBefore.includes(path)),
  );
  if (documents.type === 'failed') return actionFailed(action.type, documents.failure);
  const { mode } = action;
  return {
    type: 'documents-selected',
    action: action.type,
    skill: identityOf(skill),
    mode,
    selected,
    documents: documents.documents,
  };
}

function script(action: GetScriptPath, skill: SkillEntry): Observation {
  const found = findScript(skill, action.script);
  if (found.type === 'failed') return actionFailed(action.type, found.failure);
  const { path, isExecutable } = found;
  return { type: 'script-found', action: action.type, skill: identityOf(skill), path, isExecutable };
}

/** Limit for all documents together, so that `*` cannot fill the context. */
const MAX_DOCUMENT_CHARACTERS = 48_000;

/** The `.md` and `.txt` files of a skill except SKILL.md. */
function documentPaths(files: readonly ListedFile[], skillFile: string): readonly string[] {
  return files.map(({ path }) => path).filter((path) => /\.(?:md|txt)$/i.test(path) && path !== skillFile);
}

/** The selected documents, or a failure that names the first unknown one. */
function existingDocuments(
  selection: DocumentSelection,
  documents: readonly string[],
):
  | { readonly type: 'paths'; readonly paths: readonly string[] }
  | { readonly type: 'failed'; readonly failure: Failure } {
  if (selection === '*') return { type: 'paths', paths: documents };
  const unknown = selection.find((path) => !documents.includes(path));
  if (unknown === undefined) return { type: 'paths', paths: [...new Set(selection)].toSorted() };
  const message = `there is no document ${quoted(unknown)} in the skill`;
  const near = nearest(unknown, documents);
  return {
    type: 'failed',
    failure: failure('documents/unknown', message, { nearest: near.length > 0 ? near : documents.slice(0, 10) }),
  };
}

/** Reads documents in order up to the limit. Documents beyond it are reported, not shown. */
function readDocuments(
  skill: SkillEntry,
  paths: readonly string[],
):
  | { readonly type: 'read'; readonly documents: readonly ShownDocument[] }
  | { readonly type: 'failed'; readonly failure: Failure } {
  const documents: ShownDocument[] = [];
  let characters = 0;
  for (const path of paths) {
    const read = readResourceFile(skill, path, {});
    if (read.type === 'failed') return read;
    const fits = characters + read.text.length <= MAX_DOCUMENT_CHARACTERS;
    const text = fits ? withoutOurTags(read.text) : '';
    characters += text.length;
    const report = fits ? read.report : { ...read.report, characters: 0, truncated: true };
    documents.push({ text, report });
  }
  return { type: 'read', documents };
}
