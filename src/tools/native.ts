import { jsonSchema, delimit, type Offer, type ToolRow, type Vocabulary, type Observation, type OfType } from '#core';
import { loadedContent, withDocuments, showContent } from './content.ts';
import {
  lineRange,
  named,
  offsetParameter,
  rare,
  searchParameters,
  skillChoice,
  skillName,
  texts,
} from './parameters.ts';
import { environment, packagesParameter, programParameters, toOutputs, toProgramOptions } from './run-parameters.ts';
import { withPackages } from './pip-packages.ts';
import { FILE_TOOLS } from './native-files.ts';
import { canRun, hasSkills, singleAction } from './single-action.ts';
import {
  ROUTING_ONLY,
  failureText,
  fileLines,
  guidanceFor,
  loadNote,
  readNotes,
  withNotes,
  type ContinueCall,
} from './wording.ts';

const LAST_LINE = 10_000_000;

const continueWith: ContinueCall = (skill, path, offset) =>
  `read_resource(skill=${skill}, path=${path}, offset=${String(offset)})`;

const search: ToolRow = singleAction({
  name: 'search_skills',
  description: 'Find skills that are not listed.',
  action: 'search_skills',
  schema: searchParameters,
  toAction: (input) => ({ type: 'search_skills', ...input }),
  toResult: ({ results }) => results.map(({ name, description, source }) => ({ name, description, source })),
});

const load: ToolRow = singleAction({
  name: 'load_skill',
  description: 'Load the instructions of a skill and the list of its files. Runs nothing.',
  action: 'load_skill',
  schema: (offer) => jsonSchema.section('Which skill.', { skill: skillChoice(offer) }, ['skill']),
  toAction: (input) => ({ type: 'load_skill', ...input }),
  toResult(loaded, offer) {
    const note = loadNote(loaded, offer);
    return note === undefined ? loadedContent(loaded, continueWith) : withDocuments(note, loaded, offer, continueWith);
  },
});

const list: ToolRow = singleAction({
  name: 'list_resources',
  description: 'List the files of a skill.',
  action: 'list_resources',
  schema: () =>
    jsonSchema.section(
      'Which skill.',
      { skill: skillName, folder: rare(jsonSchema.text('Only files below this folder of the skill.')) },
      ['skill'],
    ),
  toAction: ({ skill, folder }) => ({ type: 'list_resources', skill, folder: folder || undefined }),
  toResult: ({ files, filesCut }) =>
    files.length === 0 ? 'the skill has no files' : fileLines(files, filesCut).join('\n'),
});

const read: ToolRow = singleAction({
  name: 'read_resource',
  description: 'Read a file of a skill, or the section below a heading.',
  action: 'read_resource',
  schema: () =>
    jsonSchema.section(
      'Which file.',
      {
        skill: skillName,
        path: named(jsonSchema.text('Path in the skill, as its list of files shows it.')),
        section: named(jsonSchema.text('A heading; the text below it is returned.')),
        from_line: rare(jsonSchema.count('First line.', 1, LAST_LINE)),
        to_line: rare(jsonSchema.count('Last line.', 1, LAST_LINE)),
        offset: offsetParameter,
      },
      ['skill', 'path'],
    ),
  toAction: ({ skill, path, section, from_line: from, to_line: to, offset }) => ({
    type: 'read_resource',
    skill,
    path,
    section: section || undefined,
    lines: lineRange(from, to),
    offset,
  }),
  toResult: showRead,
});

const scriptPath: ToolRow = {
  ...singleAction({
    name: 'get_script_path',
    description: 'Get the absolute path of a script of a skill, for your own tool that runs commands.',
    action: 'get_script_path',
    schema: () =>
      jsonSchema.section(
        'Which script.',
        { skill: skillName, script: named(jsonSchema.text('File below scripts/, such as compare.py.')) },
        ['skill', 'script'],
      ),
    toAction: (input) => ({ type: 'get_script_path', ...input }),
    toResult: ({ path }) => path,
  }),
  // Programs of a session see a copy of the skill, so the path is of use only to another shell.
  isOffered: (offer) => hasSkills(offer) && offer.execution === undefined,
};

const runScript: ToolRow = singleAction({
  name: 'run_script',
  description: 'Run a script of a skill. Called with {}, it explains more parameters.',
  action: 'run_script',
  schema: (offer) =>
    jsonSchema.section(
      'Which script.',
      {
        skill: skillName,
        script: jsonSchema.text('Path below scripts/.'),
        args: named(texts('Its arguments, one per item.')),
        ...packagesParameter(offer),
        ...programParameters,
      },
      ['skill', 'script'],
    ),
  toAction: ({ skill, script, args = [], inputs = [], ...rest }) => ({
    type: 'run_script',
    skill,
    script,
    args,
    ...toProgramOptions(rest),
    inputs,
    outputs: toOutputs(rest),
  }),
  toResult: ({ result }) => result,
  isOffered: canRun,
});

const runCommand: ToolRow = singleAction({
  name: 'run_command',
  description: 'Run a shell command, in the folder of the named skill if there is one.',
  action: 'run_command',
  schema: (offer) =>
    jsonSchema.section(
      'What to run.',
      {
        command: named(jsonSchema.text('The shell command.')),
        skill: skillName,
        cwd:
          offer.execution?.project === undefined
            ? rare(jsonSchema.text(startFolders(offer)))
            : jsonSchema.text(startFolders(offer)),
        env: rare(environment),
        ...packagesParameter(offer),
        ...programParameters,
      },
      ['command'],
    ),
  toAction({ command: written, skill, cwd, inputs = [], packages = [], ...rest }, offer) {
    const { command, packages: asked = [] } = withPackages(written, offer);
    return {
      type: 'run_command',
      command,
      skill: skill || undefined,
      cwd: startFolder({ cwd, skill }, offer),
      ...toProgramOptions({ ...rest, packages: [...packages, ...asked] }),
      inputs,
      outputs: toOutputs(rest),
    };
  },
  toResult: ({ result }) => result,
  isOffered: canRun,
});

/** Commands of no skill start in the project, as at a terminal, if programs see it. */
function startFolder(
  { cwd = '', skill = '' }: { readonly cwd?: string; readonly skill?: string },
  { execution }: Offer,
): string | undefined {
  if (execution?.project === undefined || skill !== '') return cwd || undefined;
  if (/^[$/]/.test(cwd)) return cwd;
  const below = cwd.replace(/^(?:\.\/*(?![^/]))+/, '');
  return below === '' ? '$PROJECT_DIR' : `$PROJECT_DIR/${below}`;
}

function startFolders({ execution }: Offer): string {
  if (execution?.project === undefined) return 'The folder to start in.';
  return `The folder to start in (default: the project${execution.project === 'read' ? ', read-only' : ''}); workspace://work is $WORK_DIR.`;
}

export const native: Vocabulary = {
  name: 'skillwright',
  tools: [search, load, list, read, scriptPath, runScript, runCommand, ...FILE_TOOLS],
  searchTool: 'search_skills',
  loadTool: 'load_skill',
  guidance: (offered) =>
    guidanceFor(offered, [
      'When a task fits a skill, call load_skill first and follow its instructions.',
      ROUTING_ONLY,
      'Read files with read_resource only when the instructions need them.',
      'Run scripts with run_script and other commands with run_command; write results to $OUTPUT_DIR.',
    ]),
  showLoaded: showContent,
  toFailure: (failed) => failureText(failed, { searchTool: search.name }),
};

function showRead(observation: OfType<Observation, 'resource-read'>): string {
  const { skill, report, lines, totalLines, isBinary, text: content } = observation;
  const notes = readNotes(observation, continueWith);
  if (isBinary) return withNotes('', notes);
  const attributes = {
    skill: skill.name,
    path: report.path,
    lines: `${String(lines.from)}-${String(lines.to)}/${String(totalLines)}`,
    digest: report.digest,
  };
  return withNotes(delimit({ tag: 'skill_file', attributes, text: content.trimEnd() }), notes);
}
