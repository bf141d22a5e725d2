import path from 'node:path';

import {
  diagnose,
  failure,
  isForModel,
  isOfKind,
  isProblem,
  isSkillError,
  nearest,
  quoted,
  serverOfSource,
  SkillError,
  scriptPath,
  toRelativePath,
  typedWord,
  type Action,
  type ActionOfKind,
  type ActionProblem,
  type SkillEntry,
} from '#core';
import { isDirectory, isInside, isPresent, realPath } from '#platform';
import { isSecretPath, resultProtection } from '#policy';
import { gitState, resolvePath, type previewWrite } from '#project';
import { findScript, resolveSkill, type SkillIndex } from '#skills';
import { activeSkills, type ActionContext, type HostAccess, type ClosedFolders } from './action-context.ts';
import { explainEmpty } from './empty-reason.ts';
import type { Execution } from '#sandbox';
import { locateFiles } from './server-files.ts';

type PlacedFile = Parameters<typeof previewWrite>[0];

/** What an action applies to. */
export interface ActionTarget {
  /** The skill that the action names. */
  readonly skill?: SkillEntry;
  /** The entry of the index. The skill of an MCP server has its files in another folder. */
  readonly indexed?: SkillEntry;
  /** The tree digest of a skill whose files are not all here yet. */
  readonly listedDigest?: string;
  /** The file or folder that the path of the action leads to. */
  readonly path?: PlacedFile;
  /** Git ignores the file, or a folder around it. */
  readonly isIgnored?: boolean;
  /** Changing the file can be undone, and nothing runs it by its name. */
  readonly isUndoable?: boolean;
}

/** Resolves the skill and the path of an action. Nothing is opened, and nothing has been decided yet. */
export async function findTarget(action: Action, context: ActionContext): Promise<ActionTarget | ActionProblem> {
  const { execution, host } = context;
  if (isOfKind(action, 'program') && execution === undefined)
    return failure('execution/unavailable', 'program execution is disabled for this session (pass `execution: {}`)');
  if ('command' in action && action.command.trim() === '')
    return failure('input/invalid', 'the command is empty', {
      hint: 'pass a shell command, such as python3 scripts/x.py',
    });
  if (isOfKind(action, 'server') && context.servers === undefined)
    return failure('server/unavailable', 'MCP servers are disabled for this session (pass `servers`)');
  if (isOfKind(action, 'host')) {
    const access = host ?? workspaceAccess(action, execution);
    if (access === undefined)
      return failure('policy/denied', 'project files and network are disabled for this session (pass `host: {}`)');
    return findPath(action, access, context);
  }
  const name = 'skill' in action ? action.skill : undefined;
  if (name === undefined) return {};
  const target = await findSkill(name, 'source' in action ? action.source : undefined, context);
  return 'skill' in target ? (fileProblem(action, target.skill) ?? target) : target;
}

/**
 * A path that is not one of the skill, and a script that does not exist, are reported before a person is asked. Other problems of a script
 * are found in the copy that runs.
 */
function fileProblem(action: Action, skill: SkillEntry | undefined): ActionProblem | undefined {
  if (action.type !== 'read_resource' && action.type !== 'run_script') return undefined;
  const asked = toRelativePath(action.type === 'run_script' ? scriptPath(action) : action.path);
  if (isProblem(asked)) return asked;
  if (action.type === 'read_resource') return undefined;
  const { script, anywhere } = action;
  const found = skill === undefined ? undefined : findScript(skill, script, anywhere);
  return found?.type === 'failed' && found.failure.code === 'script/unknown' ? found.failure : undefined;
}

/** Programs use the files of the workspace anyway, so a session with programs can do so without access to the project. */
function workspaceAccess(
  action: ActionOfKind<'host'>,
  execution: Execution | undefined,
): Omit<HostAccess, 'hasNetwork'> | undefined {
  if (execution === undefined || action.type === 'network_request' || !isWorkspacePath(action.path)) return undefined;
  return { project: execution.project, closed: { refusal: () => undefined } };
}

function isWorkspacePath(path: string): boolean {
  return path.startsWith('workspace://');
}

async function findPath(
  action: ActionOfKind<'host'>,
  { project, closed, writesAreHighRisk = false }: Omit<HostAccess, 'hasNetwork'>,
  context: ActionContext,
): Promise<ActionTarget | ActionProblem> {
  if (action.type === 'network_request') return {};
  const { execution } = context;
  const isInWorkspace = isWorkspacePath(action.path) && execution !== undefined;
  const workspace = isInWorkspace ? await workspaceRoot(execution) : undefined;
  if (typeof workspace === 'object') return workspace;
  const active = activeSkills(context);
  const places = {
    project,
    workspace,
    skills: active.map(({ name, dir }) => ({ name, dir })),
  };
  const isWriting = action.type === 'write_file' || action.type === 'edit_file' || action.type === 'delete_file';
  const placed = resolvePath(action.path, places, isWriting ? 'write' : 'read');
  if (placed.type === 'refused') return placed.failure;
  const isReading = !isWriting || action.type === 'edit_file';
  const isHidden = isReading && context.askedBy === 'model' && placed.place === 'project';
  const refusal = isHidden ? closed.refusal(placed, active) : undefined;
  if (refusal !== undefined) return refusal;
  const isIgnored = isReading && action.type !== 'list_dir' && (await isIgnoredFile(placed));
  const isEdit = (action.type === 'write_file' || action.type === 'edit_file') && !writesAreHighRisk;
  const isUndoable = isEdit && (await isUndoableFile(placed));
  return { path: placed, ...(isIgnored ? { isIgnored } : {}), ...(isUndoable ? { isUndoable } : {}) };
}

/** A file that git tracks, or a new one that git does not ignore. Build files and settings count as programs. */
async function isUndoableFile(placed: PlacedFile): Promise<boolean> {
  if (resultProtection(placed.absolute) !== 'free' || isSecretPath(placed.relative)) return false;
  const state = gitState(placed);
  return (
    state === 'tracked' || (state === 'untracked' && !isPresent(placed.absolute) && !(await isIgnoredFile(placed)))
  );
}

/** Whether a `.gitignore` of the project names the file, or a folder around it. */
export async function isIgnoredFile(placed: PlacedFile): Promise<boolean> {
  const { relative, absolute } = placed;
  if (relative === '') return false;
  const { openIgnoredFiles } = await import('#project/ignored-files');
  return openIgnoredFiles(placed)(relative, isDirectory(absolute));
}

async function workspaceRoot(execution: Execution): Promise<string | ActionProblem> {
  try {
    return (await execution.openWorkspace()).place.root;
  } catch (error) {
    if (!isSkillError(error)) throw error;
    return failure('execution/failed', error.message, { hint: error.hint });
  }
}

/** A model cannot choose a skill that is reserved for people, and people cannot call one that is reserved for the model. */
async function findSkill(
  name: string,
  source: string | undefined,
  context: ActionContext,
): Promise<ActionTarget | ActionProblem> {
  const { index, askedBy, state, trust } = context;
  const skill = resolveSkill(index, name, source) ?? (await findByUri(name, context));
  if (isProblem(skill)) return skill;
  if (skill === undefined || skill.state === 'disabled') return unknownSkill(name, source, context);
  const distrust = await trust.distrust(skill);
  if (distrust !== undefined) return untrusted(skill, distrust.message);
  const isLoaded = state?.loaded.some((one) => one.skill.id === skill.id) === true;
  const isAllowed =
    isLoaded || askedBy === 'program' || (askedBy === 'model' ? isForModel(skill.state) : skill.controls.userInvocable);
  if (isAllowed) {
    const files = await locateFiles(skill, context, []);
    return isProblem(files) ? files : { ...files, indexed: skill };
  }
  return reservedSkill(skill, askedBy === 'model' ? 'model' : 'person');
}

function untrusted({ source, name, dir }: SkillEntry, message: string): ActionProblem {
  const server = serverOfSource(source);
  if (server === undefined) return failure('skill/untrusted', message);
  return failure(
    'skill/untrusted',
    `the skill ${quoted(name)} of the MCP server ${server} is not trusted as it is now`,
    {
      hint: `the user can review and trust it: skillwright trust ${typedWord(dir)}`,
    },
  );
}

/** A skill of an MCP server by its URI, listed or not. */
async function findByUri(
  name: string,
  { index, servers }: ActionContext,
): Promise<SkillEntry | undefined | ActionProblem> {
  if (servers === undefined || !SKILL_URI.test(name)) return undefined;
  const found = await servers.findSkill(name);
  if (isProblem(found)) return found;
  const reference = `${found.source}/${found.name}`;
  return (
    resolveSkill(index, reference) ??
    failure('skill/untrusted', `the skill ${quoted(reference)} is new here`, {
      hint: `the user can review and trust it (skillwright inspect ${reference}); a new session has it then`,
    })
  );
}

const SKILL_URI = /^(?:mcp:[^/]+\/)?[a-z][a-z0-9+.-]*:\/\/.*\/SKILL\.md$/i;

function reservedSkill({ name }: SkillEntry, caller: 'model' | 'person'): ActionProblem {
  const [who, hint] =
    caller === 'model'
      ? ['the model', 'choose another skill, or ask the user to call this one by its name']
      : ['a person', 'its author reserved it for the model (user-invocable: false)'];
  return failure('skill/not-offered', `the skill ${quoted(name)} cannot be invoked by ${who}`, { hint });
}

/** Throws `policy/refused` if a person names a skill that is reserved for the model, before a run loads it. */
export function refuseReserved(index: SkillIndex, names: readonly string[] = []): void {
  for (const name of names) {
    const skill = resolveSkill(index, name);
    if (skill === undefined || skill.controls.userInvocable) continue;
    const { code, message, hint } = reservedSkill(skill, 'person');
    throw new SkillError({
      code: 'policy/refused',
      message,
      hint,
      data: { rule: code, approval: '', command: '' },
    });
  }
}

/** Says why a folder that exists has no skill of its name: its SKILL.md is broken, or another folder declares the same name. */
function unknownSkill(name: string, source: string | undefined, { index, askedBy }: ActionContext): ActionProblem {
  const bare = name.slice(name.lastIndexOf('/') + 1);
  const key = bare.trim().toLowerCase();
  const broken = index.report.leftOut.find(({ path }) => toFolderName(path) === key);
  if (broken !== undefined)
    return failure('skill/invalid', `the SKILL.md of ${quoted(bare)} cannot be used: ${broken.message}`, {
      hint: diagnose(broken, 'lenient').hint,
    });
  const names = index.skills
    .filter(({ state }) => (askedBy === 'model' ? isForModel(state) : state !== 'disabled'))
    .map((skill) => skill.name);
  const near = nearest(bare, names);
  const where = source === undefined ? '' : ` in source ${quoted(source)}`;
  const hidden = index.shadowed.find(({ dir, reason }) => reason !== 'same-directory' && toFolderName(dir) === key);
  // Only a name that is offered anyway is told.
  const used = names.find((offered) => offered.toLowerCase() === hidden?.name.toLowerCase());
  // A short list fits into the answer and saves the model a search.
  const isShort = near.length === 0 && names.length > 0 && names.length <= 12;
  const elsewhere =
    source === undefined || !names.some((offered) => offered.toLowerCase() === key) ? [] : sourcesOf(key, index);
  const spellings = names.filter((offered) => offered.toLowerCase() === key);
  const hint =
    spellings.length > 1
      ? `the names ${spellings.join(', ')} differ only in case: spell the one you mean exactly`
      : elsewhere.length > 0
        ? `it is in ${elsewhere.length === 1 ? 'source' : 'the sources'} ${elsewhere.join(', ')}`
        : used !== undefined
          ? `the folder ${quoted(bare)} declares the name ${quoted(used)}, and the skill of another folder is used for it`
          : isShort
            ? `the skills are ${names.join(', ')}`
            : names.length === 0
              ? explainEmpty(index, new Map())
              : undefined;
  return failure('skill/unknown', `there is no skill called ${quoted(name)}${where}`, {
    nearest: near,
    hint,
  });
}

/** The sources that have a skill of this name, in lower case. */
function sourcesOf(name: string, { skills, shadowed }: SkillIndex): readonly string[] {
  const having = [...skills, ...shadowed].filter((skill) => skill.name.toLowerCase() === name);
  return [...new Set(having.map(({ source }) => source))];
}

/** The folder of a skill by the path of its folder or of its SKILL.md, in lower case. */
function toFolderName(path: string): string {
  const folder = path.replace(/\/skill\.md$/i, '');
  return folder.slice(folder.lastIndexOf('/') + 1).toLowerCase();
}

export interface ClosedFoldersOptions {
  readonly index: SkillIndex;
  readonly project: string;
  /** Folders of records, wherever the configuration puts them. */
  readonly records: readonly string[];
  /** Skill roots of sources that the session does not use. */
  readonly otherRoots?: readonly string[];
}

/**
 * A skill is read by loading it: instructions, rules and trust then apply. If the project is itself a folder of a skill, its author works
 * on it, and its files are ordinary files.
 */
export function openClosedFolders({ index, project, records, otherRoots = [] }: ClosedFoldersOptions): ClosedFolders {
  let known: Folders | undefined;
  const folders = (): Folders => {
    if (known !== undefined) return known;
    const real = realPath(project);
    const skills = new Map<string, SkillEntry[]>();
    for (const skill of index.all) {
      const dir = realPath(skill.dir);
      if (isInside(real, dir)) continue;
      const same = skills.get(dir);
      if (same === undefined) skills.set(dir, [skill]);
      else same.push(skill);
    }
    known = { skills, records: records.map(realPath), otherRoots: otherRoots.map(realPath) };
    return known;
  };
  return {
    refusal({ absolute, shown }, active) {
      const closed = folders();
      if (closed.records.some((folder) => isInside(absolute, folder)))
        return failure(
          'policy/denied',
          `${quoted(shown, 200)} is part of the records of runs, which models cannot read`,
        );
      if (closed.otherRoots.some((folder) => isInside(absolute, folder)))
        return failure('policy/denied', `${quoted(shown, 200)} belongs to a source of skills that is not used here`);
      const owners = findOwners(absolute, closed.skills);
      const [owner] = owners;
      if (owner === undefined || owners.some((skill) => active.some(({ id }) => id === skill.id))) return undefined;
      const file = `${quoted(shown, 200)} belongs to the skill ${quoted(owner.name)}`;
      if (isForModel(owner.state))
        return failure('skill/not-loaded', `${file}, which is not loaded`, {
          hint: 'load the skill, then read its files',
        });
      return failure('skill/not-offered', `${file}, which is hidden from the model`, {
        hint: 'the user can trust the skill, or call it by its name',
      });
    },
  };
}

interface Folders {
  /** By real path of the skill. */
  readonly skills: ReadonlyMap<string, readonly SkillEntry[]>;
  readonly records: readonly string[];
  readonly otherRoots: readonly string[];
}

/** The skills of the innermost folder around a path. */
function findOwners(absolute: string, skills: ReadonlyMap<string, readonly SkillEntry[]>): readonly SkillEntry[] {
  for (let folder = absolute; ; folder = path.dirname(folder)) {
    const found = skills.get(folder);
    if (found !== undefined) return found;
    if (path.dirname(folder) === folder) return [];
  }
}
