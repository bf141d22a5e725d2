import {
  cleanText,
  jsonSchema,
  isProblem,
  escapeHeaderLines,
  failure,
  nearest,
  printable,
  quoted,
  toRelativePath,
  type ActionProblem,
  type Offer,
  type ToolRow,
  type Vocabulary,
} from '#core';
import { located, named, offsetParameter, skillChoice } from './parameters.ts';
import { PROFILES } from './profiles.ts';
import { shellTool } from './shell-tool.ts';
import { hasExecution, singleAction } from './single-action.ts';
import {
  NOTE_MARK,
  askedSkill,
  unknownSkill,
  failureHint,
  failureText,
  inOrder,
  isBelow,
  loadNote,
  loadNotes,
  readNotes,
  withNotes,
  type ContinueCall,
} from './wording.ts';

/** In the order in which ManusX lists them. */
const FOLDERS = ['scripts', 'references', 'assets'];
const RESOURCES = '## Available Resources';
const SKILL = '## Skill:';
const DOCUMENT = '## Document:';

const continueWith: ContinueCall = (skill, path, offset) =>
  `file_read(file=${skill}/${path}, offset=${String(offset)})`;

const request: ToolRow = singleAction({
  name: 'skill_request',
  description: 'Request the full content of a skill: its guide and the list of its files. Runs nothing.',
  action: 'load_skill',
  schema: (offer) => jsonSchema.section('Which skill.', { skill_name: skillChoice(offer) }, ['skill_name']),
  toAction: ({ skill_name: skill }) => ({ type: 'load_skill', skill, uncut: true, again: true }),
  toResult(loaded, offer) {
    const { skill, text: body, files } = loaded;
    const paths = files.map(({ path }) => path);
    const guide = loadNote(loaded, offer) ?? withResources(body, skill.dir, paths);
    const documents = offer.placement === 'system' ? [] : loaded.documents;
    const sections = documents.map(({ report, text }) => documentSection(report.path, text));
    return succeeded({ content: withNotes([guide, ...sections].join('\n\n'), loadNotes(loaded, continueWith)) });
  },
  // ManusX has the tool without skills, too: it answers that there is no such skill.
  isOffered: () => true,
});

const fileRead: ToolRow = singleAction({
  name: 'file_read',
  description: 'Read a file of a skill.',
  action: 'read_resource',
  schema: () =>
    jsonSchema.section(
      'Which file.',
      {
        file: jsonSchema.text('Absolute path in the directory of a skill, or <skill>/<path>.'),
        offset: offsetParameter,
      },
      ['file'],
    ),
  toAction({ file, offset }, offer) {
    const found = locatedInLoaded(file, offer);
    return isProblem(found) ? found : { type: 'read_resource', ...found, offset };
  },
  toResult: (read) =>
    succeeded({
      content: withNotes(escapeHeaderLines(read.text, [NOTE_MARK]), readNotes(read, continueWith)),
    }),
});

/** A path that names no skill is relative to the loaded skills, as in the example of ManusX. */
function locatedInLoaded(file: string, offer: Offer): NonNullable<ReturnType<Offer['locate']>> | ActionProblem {
  const reading = offer.locate(file) === undefined ? toRelativePath(file) : undefined;
  if (reading === undefined || isProblem(reading)) return located(file, offer);
  const owners = offer.loaded().filter(({ files }) => files.includes(reading));
  const [owner] = owners;
  if (owner === undefined)
    return failure('path/not-offered', `${quoted(file)} is a file of no loaded skill`, {
      hint: 'request the skill with skill_request first, or name it: <skill>/<path in the skill>',
      nearest: nearest(reading.split('/', 1)[0] ?? '', offer.skills),
    });
  if (owners.length === 1) return { skill: owner.id, path: reading };
  const names = owners.map(({ name }) => name);
  return failure(
    'path/not-offered',
    `${quoted(file)} is in ${String(owners.length)} loaded skills: ${names.join(', ')}`,
    {
      hint: `name the skill, such as ${owner.name}/${reading}`,
    },
  );
}

const shellExec = shellTool({
  name: 'shell_exec',
  description: 'Run a shell command in the workspace. Write results to $OUTPUT_DIR.',
  toResult: (result) => succeeded({ ...result }),
});

const fileWrite: ToolRow = singleAction({
  name: 'file_write',
  description: 'Write a file in the workspace, where shell_exec runs.',
  action: 'write_file',
  schema: () =>
    jsonSchema.section(
      'Which file.',
      { file: jsonSchema.text('Path in the workspace.'), content: named(jsonSchema.text('The complete contents.')) },
      ['file', 'content'],
    ),
  toAction({ file, content }) {
    const reading = toRelativePath(file);
    if (isProblem(reading))
      return failure(reading.code, reading.message, {
        hint: 'give a path relative to the workspace, such as extract.py',
      });
    return { type: 'write_file', path: `workspace://work/${reading}${/\/\.?$/.test(file) ? '/' : ''}`, content };
  },
  toResult: ({ path, bytes }) => succeeded({ file: path, bytes }),
  isOffered: hasExecution,
});

/** The tools of ManusX: the content of a skill and its files; and a shell and its files, if execution is enabled. */
export const manusx: Vocabulary = {
  name: 'manusx',
  profile: PROFILES.manusx,
  tools: [request, fileRead, shellExec, fileWrite],
  loadTool: 'skill_request',
  catalogFormat: PROFILES.manusx.settings.catalog.format,
  // The catalog has the heading and the only sentence that ManusX injects.
  guidance: () => '',
  showLoaded: ({ name, dir, text: body, files, documents }) =>
    [
      `${SKILL} ${printable(name)}\n\n${withResources(body, dir, files)}`,
      ...documents.map((document) => documentSection(document.path, document.text)),
    ].join('\n\n'),
  toFailure(failed, { action }) {
    const notFound = `Skill '${askedSkill(action, '')}' not found`;
    // Its loader has no skill whose file it cannot use.
    if (failed.code === 'skill/invalid') return { success: false, message: notFound, hint: failureText(failed) };
    const { subject } = unknownSkill(failed, notFound);
    return subject === undefined
      ? { success: false, message: failureText(failed) }
      : { success: false, message: cleanText(subject), hint: failureHint(failed) };
  },
};

function documentSection(path: string, text: string): string {
  return `${DOCUMENT} ${printable(path)}\n\n${inert(text.trim())}`;
}

function succeeded(data: Readonly<Record<string, unknown>>): unknown {
  return { success: true, data };
}

/** Appends the list of files to the guide; the guide itself cannot fake that list. */
function withResources(body: string, dir: string, paths: readonly string[]): string {
  const resources = FOLDERS.flatMap((folder) =>
    inOrder(paths.filter((path) => isBelow(path, [folder])).map((path) => ({ path }))),
  );
  const guide = inert(body.trim());
  if (resources.length === 0) return guide;
  const lines = resources.map(({ path }) => `- ${printable(path)}`);
  return `${guide}\n\n${RESOURCES}\nDirectory: ${printable(dir)}\n${lines.join('\n')}\n`;
}

function inert(text: string): string {
  return escapeHeaderLines(text, [RESOURCES, SKILL, DOCUMENT, NOTE_MARK]);
}
