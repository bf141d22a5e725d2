import {
  jsonSchema,
  escapeHeaderLines,
  failure,
  quoted,
  toRelativePath,
  type ToolRow,
  type Vocabulary,
  isProblem,
} from '#core';
import { showContent, withDocuments } from './content.ts';
import { DEFAULT_RESULTS, named, offsetParameter, skillChoice, skillName } from './parameters.ts';
import { PROFILES } from './profiles.ts';
import { shellTool } from './shell-tool.ts';
import { always, singleAction } from './single-action.ts';
import {
  NOTE_MARK,
  ROUTING_ONLY,
  askedSkill,
  unknownSkill,
  failureText,
  guidanceFor,
  inOrder,
  isBelow,
  loadNote,
  readNotes,
  withNotes,
  type ContinueCall,
} from './wording.ts';

/** The folders from which openseed lets a model read files. */
const FOLDERS = ['references', 'assets', 'scripts'];

/** More skills than any root has. */
const MOST_SKILLS = 1_000_000;

const continueWith: ContinueCall = (skill, path, offset) =>
  `load_skill_asset(skill_name=${skill}, relative_path=${path}, offset=${String(offset)})`;

const search: ToolRow = singleAction({
  name: 'search_skills',
  description: 'Find skills for a task.',
  action: 'search_skills',
  schema: () =>
    jsonSchema.section(
      'What to search for.',
      {
        query: named(jsonSchema.text('What the task needs, in a few words.')),
        n: { type: 'integer', description: 'How many to return.', default: DEFAULT_RESULTS } as const,
      },
      ['query'],
    ),
  // The first n, as the system takes them: none below 1, and all if there are fewer.
  toAction: ({ query, n = DEFAULT_RESULTS }) => ({
    type: 'search_skills',
    query,
    n: Math.min(Math.max(n, 0), MOST_SKILLS),
  }),
  toResult: ({ results }) => results.map(({ name, description }) => ({ name, description })),
  isOffered: always,
});

const load: ToolRow = singleAction({
  name: 'load_skill',
  description: 'Load the SKILL.md of a skill: how to do the work, step by step. Runs nothing.',
  action: 'load_skill',
  schema: (offer) => jsonSchema.section('Which skill.', { skill_name: skillChoice(offer) }, ['skill_name']),
  toAction: ({ skill_name: skill }) => ({ type: 'load_skill', skill, whole: true, uncut: true, again: true }),
  toResult: (loaded, offer) =>
    withDocuments(loadNote(loaded, offer) ?? inert(loaded.text), loaded, offer, continueWith),
  isOffered: always,
});

const loadAsset: ToolRow = singleAction({
  name: 'load_skill_asset',
  description: 'Read a file of a skill below references/, assets/ or scripts/.',
  action: 'read_resource',
  schema: () =>
    jsonSchema.section(
      'Which file.',
      {
        skill_name: skillName,
        relative_path: named(jsonSchema.text('Path in the skill, such as references/REFERENCE.md.')),
        offset: offsetParameter,
      },
      ['skill_name', 'relative_path'],
    ),
  toAction({ skill_name: skill, relative_path: path, offset }) {
    const reading = toRelativePath(path);
    if (isProblem(reading)) return reading;
    // The note of a cut `load_skill` names the offset that continues it.
    const isRest = reading === 'SKILL.md' && offset !== undefined && offset > 0;
    if (!isBelow(reading, FOLDERS) && !isRest)
      return failure('path/not-offered', `${quoted(reading)} is not below references/, assets/ or scripts/`, {
        hint: 'list the assets of the skill and use one of their paths',
      });
    return { type: 'read_resource', skill, path: reading, offset };
  },
  toResult: (read) => withNotes(inert(read.text), readNotes(read, continueWith)),
  isOffered: always,
});

const scriptPath: ToolRow = singleAction({
  name: 'get_skill_script_path',
  description: 'Get the absolute path of a script of a skill, for a shell command.',
  action: 'get_script_path',
  schema: () =>
    jsonSchema.section(
      'Which script.',
      { skill_name: skillName, script_name: jsonSchema.text('File below scripts/, such as compare.py.') },
      ['skill_name', 'script_name'],
    ),
  toAction: ({ skill_name: skill, script_name: script }) => ({ type: 'get_script_path', skill, script }),
  toResult: ({ path }) => path,
  isOffered: always,
});

const listAssets: ToolRow = singleAction({
  name: 'list_skill_assets',
  description: 'List the files of a skill below references/, scripts/ and assets/.',
  action: 'list_resources',
  schema: () => jsonSchema.section('Which skill.', { skill_name: skillName }, ['skill_name']),
  toAction: ({ skill_name: skill }) => ({ type: 'list_resources', skill }),
  toResult: ({ files }) =>
    inOrder(files)
      .map(({ path }) => path)
      .filter((path) => isBelow(path, FOLDERS)),
  isOffered: always,
});

const listSkills: ToolRow = {
  name: 'list_skills',
  description: 'List the folders of all skills.',
  action: 'search_skills',
  schema: () => jsonSchema.section('Nothing.', {}),
  isOffered: always,
  // The folders are part of the offer. The search makes the call one that rules reach and records show.
  toActions: () => [{ type: 'search_skills', query: '', n: 1 }],
  toResult: (_, { folders }) => folders.toSorted(),
};

const runShellCommand = shellTool({
  name: 'run_shell_command',
  description: 'Run a shell command, such as python <path of a script> file1 file2. Write results to $OUTPUT_DIR.',
  startsInProject: true,
  toResult: (result) => result,
});

/** The tools of openseed: search, load, and three tools for the files of a skill. */
export const openseed: Vocabulary = {
  name: 'openseed',
  profile: PROFILES.openseed,
  tools: [search, load, loadAsset, scriptPath, listAssets, listSkills, runShellCommand],
  searchTool: 'search_skills',
  loadTool: 'load_skill',
  guidance: (offered) =>
    guidanceFor(offered, [
      'Before a task, find a skill with search_skills and read it with load_skill; make your own plan only if none fits.',
      ROUTING_ONLY,
      'list_skill_assets names its files, load_skill_asset reads one.',
      'get_skill_script_path gives the path of a script for your shell tool.',
      'Run a script by that path with run_shell_command.',
    ]),
  showLoaded: showContent,
  toFailure: (failed, { action }) =>
    failureText(failed, {
      searchTool: search.name,
      ...unknownSkill(failed, `Skill not found: ${askedSkill(action)}`),
    }),
};

/** Returns the text with lines escaped that could pass for a note of ours. */
function inert(text: string): string {
  return escapeHeaderLines(text, [NOTE_MARK]);
}
