import type {
  Action,
  ActionType,
  GetScriptPath,
  ListResources,
  LoadSkill,
  ReadResource,
  SearchSkills,
  SelectDocuments,
} from '../core/action.ts';
import type { Config } from '../core/config.ts';
import { refuseDynamicCommands } from '../core/dynamic-commands.ts';
import { failure } from '../core/failure-codes.ts';
import type { Failure } from '../core/failure-codes.ts';
import { withoutOurTags } from '../core/inert.ts';
import { resolveSkill } from '../core/resolve-skill.ts';
import type { SkillIndex } from '../core/index-skills.ts';
import { nearest } from '../core/nearest.ts';
import { actionFailed, identityOf } from '../core/observation.ts';
import type { Observation, SkillLoaded } from '../core/observation.ts';
import { findLoaded, selectDocuments } from '../core/session.ts';
import type { AskedBy, SessionState } from '../core/session.ts';
import { isForModel } from '../core/skill.ts';
import type { SkillEntry } from '../core/skill.ts';
import { quoted } from '../core/text.ts';
import { filesOf, listSkillFiles } from '../loader/files.ts';
import { loadBodyIn } from '../loader/load-body.ts';
import type { BodyLimits } from '../loader/load-body.ts';
import { readResourceFile } from '../loader/read-resource.ts';
import { inSkill } from '../loader/skill-directory.ts';
import { findScript } from '../loader/script-path.ts';
import { isExecutionAction } from './execution/execution-action.ts';
import type { ExecutionAction } from './execution/execution-action.ts';
import type { Execution } from './execution/execution.ts';
import { isHostAction } from './host-action.ts';
import type { HostAction } from './host-action.ts';
import { documentPaths, existingDocuments, readDocuments } from './documents.ts';
import type { SearchOptions, SearchResult } from './skill-search.ts';

/** What an action is performed on: one snapshot of skills, and the session it belongs to where there is one. */
export interface ActionContext {
  readonly index: SkillIndex;
  readonly limits: BodyLimits;
  readonly askedBy: AskedBy;
  readonly state: SessionState | undefined;
  readonly signal: AbortSignal | undefined;
  /** Absent: nothing is run. */
  readonly execution: Execution | undefined;
  readonly search: (query: string, n: number, options: SearchOptions) => Promise<readonly SearchResult[]>;
}

/** How much of a body is shown. */
export function bodyLimits({ security }: Config): BodyLimits {
  return {
    maxLines: security?.max_skill_body_lines ?? 500,
    maxCharacters: security?.max_skill_body_characters ?? 40_000,
    onTooLong: security?.oversized_body ?? 'cut',
  };
}

/** Performs one action and gives its one observation. What can be expected to go wrong is an observation too. */
export async function performAction(action: Action, context: ActionContext): Promise<Observation> {
  context.signal?.throwIfAborted();
  const { endedBy } = context.state ?? {};
  if (action.type === 'final_answer') return { type: 'answered', action: action.type, answer: action.answer };
  if (endedBy !== undefined) return actionFailed(action.type, runEnded(endedBy.action, endedBy.code));
  if (action.type === 'search_skills') return search(action, context);
  if (isExecutionAction(action)) return execute(action, context);
  if (isHostAction(action)) return actionFailed(action.type, failure('policy/denied', 'files and network of this machine were not opened for this session'));
  const found = findSkill(action, context);
  return found.type === 'failed' ? actionFailed(action.type, found.failure) : onSkill(action, found.skill, context);
}

/** Runs a program, or talks to one. A program of a skill is as open to whoever asks as the skill itself. */
async function execute(action: ExecutionAction, context: ActionContext): Promise<Observation> {
  if (context.execution === undefined)
    return actionFailed(
      action.type,
      failure('execution/unavailable', 'running programs was not opened for this session'),
    );
  const name = 'skill' in action ? action.skill : undefined;
  if (name === undefined) return context.execution.perform(action, undefined, context.signal);
  const source = 'source' in action ? action.source : undefined;
  const found = findSkill({ skill: name, ...(source === undefined ? {} : { source }) }, context);
  if (found.type === 'failed') return actionFailed(action.type, found.failure);
  return context.execution.perform(action, found.skill, context.signal);
}

function onSkill(
  action: Exclude<Action, SearchSkills | ExecutionAction | HostAction | { readonly type: 'final_answer' }>,
  skill: SkillEntry,
  context: ActionContext,
): Observation {
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

async function search(
  action: SearchSkills,
  { index, askedBy, signal, search: find }: ActionContext,
): Promise<Observation> {
  const results = await find(action.query, action.n ?? 5, {
    forModel: askedBy === 'model',
    ...(signal === undefined ? {} : { signal }),
  });
  return {
    type: 'skills-found',
    action: action.type,
    query: action.query,
    results: results.flatMap(({ name, source, description, score }) => {
      const entry = resolveSkill(index, name, source);
      return entry === undefined ? [] : [{ id: entry.id, digest: entry.digest, name, source, description, score }];
    }),
  };
}

type Found =
  | { readonly type: 'found'; readonly skill: SkillEntry }
  | { readonly type: 'failed'; readonly failure: Failure };

/** The skill that is meant, if whoever asks may have it: a model may not choose what was kept for people, nor the other way round. */
function findSkill(wanted: { readonly skill: string; readonly source?: string }, context: ActionContext): Found {
  const { index, askedBy, state } = context;
  const skill = resolveSkill(index, wanted.skill, wanted.source);
  if (skill === undefined || skill.state === 'disabled') return unknownSkill(wanted, context);
  const isOpen = state !== undefined && findLoaded(state, skill.id) !== undefined;
  const isAllowed =
    isOpen || askedBy === 'program' || (askedBy === 'model' ? isForModel(skill.state) : skill.controls.userInvocable);
  if (isAllowed) return { type: 'found', skill };
  const [who, hint] =
    askedBy === 'model'
      ? ['the model', 'a person may call it by its name; choose another skill or ask for it']
      : ['a person', 'its author keeps it for the model'];
  const message = `the skill ${quoted(skill.name)} is not for ${who} to choose`;
  return { type: 'failed', failure: failure('skill/not-offered', message, { hint }) };
}

function unknownSkill(
  { skill, source }: { readonly skill: string; readonly source?: string },
  { index, askedBy }: ActionContext,
): Found {
  const names = index.skills
    .filter(({ state }) => (askedBy === 'model' ? isForModel(state) : state !== 'disabled'))
    .map(({ name }) => name);
  const near = nearest(skill.slice(skill.lastIndexOf('/') + 1), names);
  const where = source === undefined ? '' : ` in source ${quoted(source)}`;
  const message = `there is no skill called ${quoted(skill)}${where}`;
  // A short list teaches more than "search": all of it fits into the answer.
  return {
    type: 'failed',
    failure: failure('skill/unknown', message, { nearest: near.length > 0 || names.length > 12 ? near : names }),
  };
}

function load(action: LoadSkill, skill: SkillEntry, context: ActionContext): Observation {
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
  const inert = refuseDynamicCommands(body.text, 'commands in the text of a skill are not opened by policy');
  // Who asks for the whole file gets its bytes; instructions are kept from imitating us wherever they are put.
  const shown = action.whole === true ? inert.text : withoutOurTags(inert.text);
  const text = status === 'repeated' ? '' : shown;
  const notes = [
    ...(status === 'changed' ? ['SKILL.md has changed since it was last loaded: this is the new text'] : []),
    ...(body.headChanged ? ['the frontmatter has changed since the skills were listed'] : []),
    ...(inert.count > 0 ? [`${String(inert.count)} commands in the text were not run`] : []),
    ...(body.report.truncated
      ? [`only the start is shown: read the rest of ${skill.file} as a file, by section or by lines`]
      : []),
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

/**
 * The same bytes are not sent twice. A loop may have cut its own conversation, though, and then the model asks again after the
 * note: every second time it gets the text.
 */
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
    const message = `there is nothing below ${quoted(folder)} in the skill`;
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
  return { ...file, type: 'resource-read', action: action.type, skill: identityOf(skill) };
}

function select(action: SelectDocuments, skill: SkillEntry, { state }: ActionContext): Observation {
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

/** What is answered once one kind of failure came too often. */
export function runEnded(action: ActionType, code: string): Failure {
  return failure('run/ended', `${action} failed too often in the same way (${code}); no more actions in this turn`);
}
