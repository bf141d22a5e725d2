import { escapeHeaderLines } from '../core/text/delimit-untrusted.ts';
import { printable } from '../core/text/text.ts';
import type { ToolRow, Vocabulary } from '../core/tool.ts';
import { inputOf, readOf, skillName, text, textOf } from './parameters.ts';
import { singleAction } from './single-action.ts';
import {
  LOADING_RUNS_NOTHING,
  NOTE_MARK,
  ROUTING_ONLY,
  askedSkill,
  failureText,
  guidanceFor,
  inOrder,
  isBelow,
  loadNote,
  loadNotes,
  readNotes,
  withNotes,
} from './wording.ts';

/** In the order in which ManusX lists them. */
const FOLDERS = ['scripts', 'references', 'assets'];
const RESOURCES = '## Available Resources';
const SKILL = '## Skill:';
const DOCUMENT = '## Document:';

const request: ToolRow = singleAction({
  name: 'skill_request',
  description: 'Request the full content of a skill: its guide and the list of its files. Loading runs nothing.',
  action: 'load_skill',
  schema: (offer) => inputOf('Which skill.', { skill_name: skillName(offer) }, ['skill_name']),
  toAction: (input) => ({ type: 'load_skill', skill: textOf(input, 'skill_name') }),
  toResult(loaded, offer) {
    const { skill, text: body, files } = loaded;
    const note = loadNote(loaded, offer);
    const paths = files.map(({ path }) => path);
    const content = note ?? withNotes(withResources(body, skill.dir, paths), loadNotes(loaded));
    return succeeded({ content });
  },
});

const fileRead: ToolRow = singleAction({
  name: 'file_read',
  description:
    "Read a file of a skill: one of its resources, by absolute path in the skill's directory or as skill/path.",
  action: 'read_resource',
  schema: () =>
    inputOf('Which file.', { file: text('Absolute path in the directory of a skill, or <skill>/<path>.') }, ['file']),
  toAction: (input, offer) => readOf(textOf(input, 'file'), offer),
  toResult: (read) => succeeded({ content: withNotes(escapeHeaderLines(read.text, [NOTE_MARK]), readNotes(read)) }),
});

/** The two tools of ManusX: the content of a skill, and its files. */
export const manusx: Vocabulary = {
  name: 'manusx',
  tools: [request, fileRead],
  loadTool: 'skill_request',
  catalogFormat: 'list',
  guidance: (offered) =>
    guidanceFor(offered, [
      '## Available Skills\n',
      'When a task fits a skill, request its full content with skill_request.',
      ROUTING_ONLY,
      'Read a resource that the content names with file_read.',
      LOADING_RUNS_NOTHING,
    ]),
  showLoaded: ({ name, dir, text: body, files, documents }) =>
    [
      `${SKILL} ${printable(name)}\n\n${withResources(body, dir, files)}`,
      ...documents.map((document) => `${DOCUMENT} ${printable(document.path)}\n\n${inert(document.text.trim())}`),
    ].join('\n\n'),
  toFailure: (failed, { action }) => ({
    success: false,
    message: failureText(
      failed,
      failed.code === 'skill/unknown' ? { subject: `Skill '${askedSkill(action)}' not found` } : {},
    ),
  }),
};

function succeeded(data: Readonly<Record<string, string>>): unknown {
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
