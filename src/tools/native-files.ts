/** Native tools for files of the project. */
import {
  jsonSchema,
  delimit,
  printable,
  type Action,
  type ObjectSchema,
  type Observation,
  type OfType,
  type ToolRow,
} from '#core';
import { lineRange, named } from './parameters.ts';
import { hasHost, observed, singleAction, type SingleAction } from './single-action.ts';
import { bytesText, withNotes } from './wording.ts';

const LAST_LINE = 10_000_000;
const MAX_DEPTH = 5;

const path = named(jsonSchema.text('Relative to the project.'));

const readFile = onFiles({
  name: 'read_file',
  description: 'Read a project file or some lines.',
  action: 'read_file',
  schema: () =>
    jsonSchema.section(
      'Which file.',
      {
        path,
        from_line: named(jsonSchema.count('First line.', 1, LAST_LINE)),
        to_line: named(jsonSchema.count('Last line.', 1, LAST_LINE)),
      },
      ['path'],
    ),
  toAction: ({ path: file, from_line: from, to_line: to }) => ({
    type: 'read_file',
    path: file,
    lines: lineRange(from, to),
  }),
  toResult: showFile,
});

const listFiles = onFiles({
  name: 'list_files',
  description: 'List a project folder.',
  action: 'list_dir',
  schema: () =>
    jsonSchema.section('Which folder.', { path, depth: named(jsonSchema.count('Levels to list.', 1, MAX_DEPTH, 1)) }),
  toAction: ({ path: folder, depth }) => ({ type: 'list_dir', path: folder || '.', depth }),
  toResult: showFolder,
});

const searchFiles = onFiles({
  name: 'search_files',
  description: 'Find lines in project files by regular expression.',
  action: 'grep',
  schema: () =>
    jsonSchema.section(
      'What to find.',
      {
        pattern: named(jsonSchema.text('JavaScript regular expression.')),
        path,
        glob: named(jsonSchema.text('Such as **/*.ts.')),
      },
      ['pattern'],
    ),
  toAction: ({ pattern, path: folder, glob }) => ({
    type: 'grep',
    pattern,
    path: folder || '.',
    glob: glob || undefined,
  }),
  toResult: showMatches,
});

const writeFile = onFiles({
  name: 'write_file',
  description: 'Write a whole project file.',
  action: 'write_file',
  schema: () =>
    jsonSchema.section('Which file.', { path, content: named(jsonSchema.text('The whole content.')) }, [
      'path',
      'content',
    ]),
  toAction: (input) => ({ type: 'write_file', ...input }),
  toResult: showWritten,
});

const editFile: ToolRow = {
  ...onFiles({
    name: 'edit_file',
    description: 'Replace one passage of a project file.',
    action: 'edit_file',
    schema: () =>
      jsonSchema.section(
        'Which passage.',
        {
          path,
          old_text: jsonSchema.text('Exact; occurs once in the file.'),
          new_text: named(jsonSchema.text('Its replacement.')),
        },
        ['path', 'old_text', 'new_text'],
      ),
    toAction: ({ path: file, old_text: oldText, new_text: newText }) => ({
      type: 'edit_file',
      path: file,
      oldText,
      newText,
    }),
    toResult: () => '',
  }),
  // An edit is performed as a write.
  toResult: ([observation]) => showWritten(observed(observation, 'write_file')),
};

const deleteFile = onFiles({
  name: 'delete_file',
  description: 'Move a project file to the trash.',
  action: 'delete_file',
  schema: () => jsonSchema.section('Which file.', { path }, ['path']),
  toAction: (input) => ({ type: 'delete_file', ...input }),
  toResult: ({ path: file }) => `deleted ${printable(file)}`,
});

export const FILE_TOOLS: readonly ToolRow[] = [readFile, listFiles, searchFiles, writeFile, editFile, deleteFile];

function onFiles<A extends Action['type'], S extends ObjectSchema>(row: SingleAction<A, S>): ToolRow {
  return { ...singleAction(row), isOffered: hasHost };
}

function showFile({
  path: file,
  isBinary,
  text: content,
  lines,
  totalLines,
  notes,
}: OfType<Observation, 'file-read'>): string {
  if (isBinary) return withNotes('', notes);
  const shown = `${String(lines.from)}-${String(lines.to)}/${String(totalLines)}`;
  const attributes = { path: file, lines: shown };
  return withNotes(delimit({ tag: 'project_file', attributes, text: content.trimEnd() }), notes);
}

function showFolder({ entries, isCut }: OfType<Observation, 'directory-listed'>): string {
  const lines = entries.map(({ path: name, kind, bytes }) =>
    kind === 'file'
      ? `${printable(name)} (${bytesText(bytes)})`
      : `${printable(name)}${kind === 'folder' ? '/' : ` (${kind})`}`,
  );
  return withNotes(
    lines.length === 0 ? 'the folder is empty' : lines.join('\n'),
    isCut ? ['not all entries are listed'] : [],
  );
}

function showMatches({ matches, files, isCut, notes }: OfType<Observation, 'lines-found'>): string {
  const lines = matches.map(
    ({ path: file, line, text: found }) => `${printable(file)}:${String(line)}: ${printable(found)}`,
  );
  return withNotes(lines.length === 0 ? `no match in ${String(files)} files` : lines.join('\n'), [
    ...(isCut ? ['there are more matches or files; narrow the search'] : []),
    ...notes,
  ]);
}

function showWritten({ path: file, bytes, replaced }: OfType<Observation, 'file-written'>): string {
  return `${replaced === undefined ? 'created' : 'changed'} ${printable(file)} (${bytesText(bytes)})`;
}
