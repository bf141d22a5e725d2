/** Files of skills that MCP servers offer: they are read when an allowed action needs them, not before. */
import {
  failure,
  isOfKind,
  isProblem,
  quoted,
  serverOfSource,
  type Action,
  type ActionProblem,
  type SkillEntry,
} from '#core';
import type { ActionContext } from './action-context.ts';
import { listDocuments } from './skill-actions.ts';

interface SkillFiles {
  readonly skill: SkillEntry;
  /** The tree digest of a skill whose files are not all here yet. */
  readonly listedDigest?: string;
}

/** The skill in the folder that has its files, or will have them. */
export async function locateFiles(
  skill: SkillEntry,
  context: Pick<ActionContext, 'servers' | 'signal'>,
  wanted: readonly string[] | undefined,
): Promise<SkillFiles | ActionProblem> {
  if (serverOfSource(skill.source) === undefined) return { skill };
  if (context.servers === undefined)
    return failure(
      'server/unavailable',
      `the skill ${quoted(skill.name)} is on an MCP server, and this session has none`,
      {
        hint: 'use it in run or chat, or pass `servers` to the session',
      },
    );
  const opened = await context.servers.openSkill(skill, wanted, context.signal);
  return isProblem(opened) ? opened : { skill: opened.skill, listedDigest: opened.digest };
}

/** Reads the files that an action uses. */
export async function readyFiles(
  action: Action,
  { indexed, skill }: { readonly indexed: SkillEntry | undefined; readonly skill: SkillEntry | undefined },
  context: Pick<ActionContext, 'servers' | 'signal'>,
): Promise<SkillEntry | undefined | ActionProblem> {
  if (indexed === undefined || skill === undefined || serverOfSource(skill.source) === undefined) return skill;
  const files = await locateFiles(indexed, context, wantedFiles(action, skill));
  return isProblem(files) ? files : files.skill;
}

/** Undefined for all: a program may use any file. */
function wantedFiles(action: Action, skill: SkillEntry): readonly string[] | undefined {
  if (!isOfKind(action, 'skill')) return undefined;
  switch (action.type) {
    case 'load_skill':
    case 'select_documents': {
      const documents = action.documents ?? [];
      return [skill.file, ...(documents === '*' ? listDocuments(skill) : documents)];
    }
    case 'read_resource':
      return [action.path];
    case 'list_resources':
      return [];
    case 'get_script_path':
      return undefined;
  }
}
