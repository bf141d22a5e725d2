import { failure, isProblem, jsonSchema, quoted, type Observation, type OfType, type Offer, type ToolRow } from '#core';
import { lineRange, located } from './parameters.ts';
import { defineTool, hasHost, hasSkills, observed, singleAction } from './single-action.ts';
import { bytesText, inOrder, readNotes, type ContinueCall } from './wording.ts';

/**
 * The tools of skills-agent for files and servers. A path inside a skill is read as part of that skill; every other path belongs to
 * the project, if the session has opened it.
 */

const HOST_PATH =
  'A project file by its relative path, a workspace file as workspace://path, or a skill file as <skill>/<path>; a project file wins.';
const SKILL_PATH = '<skill>/<path in the skill>, or an absolute path in the folder of a skill.';

/** A path of the project wins over the same path in a skill. */
function isOfProject(path: string, offer: Offer): boolean {
  const { host } = offer;
  return host !== undefined && (host.hasFile?.(path) === true || offer.locate(path) === undefined);
}

function pathParameter(offer: Offer): ReturnType<typeof jsonSchema.text> {
  return jsonSchema.text(offer.host === undefined ? SKILL_PATH : HOST_PATH);
}

const readFile: ToolRow = defineTool({
  name: 'read_file',
  description: 'Read one file or some of its lines.',
  action: 'read_file',
  schema: (offer) =>
    jsonSchema.section(
      'Which file.',
      {
        path: pathParameter(offer),
        from: jsonSchema.count('The first line to show.', 1, 10_000_000),
        to: jsonSchema.count('The last line to show.', 1, 10_000_000),
      },
      ['path'],
    ),
  isOffered: canRead,
  toActions({ path, from, to }, offer) {
    const lines = lineRange(from, to);
    if (isOfProject(path, offer)) return [{ type: 'read_file', path, lines }];
    const found = locatedInLoaded(path, offer);
    return isProblem(found) ? found : [{ type: 'read_resource', ...found, lines }];
  },
  toResult([observation]) {
    if (observation?.type === 'file-read') return showFile(observation);
    const read = observed(observation, 'read_resource');
    return { ok: true, path: `${read.skill.name}/${read.report.path}`, ...showRead(read) };
  },
});

function showFile({
  path,
  mediaType,
  isBinary,
  text: content,
  lines,
  totalLines,
  bytes,
  digest,
  ...rest
}: OfType<Observation, 'file-read'>): unknown {
  const notes = [...(isBinary ? [`binary file of ${bytesText(bytes)}, not shown`] : []), ...rest.notes];
  return {
    ok: true,
    path,
    media_type: mediaType,
    ...(isBinary ? {} : { content, lines: { ...lines, total: totalLines } }),
    truncated: rest.truncated,
    sha256: toBareHash(digest),
    ...(notes.length === 0 ? {} : { notes }),
  };
}

const listDirectory: ToolRow = defineTool({
  name: 'list_dir',
  description: 'List the contents of a folder. Opens no file.',
  action: 'list_dir',
  schema: (offer) => jsonSchema.section('Which folder.', { path: pathParameter(offer) }, ['path']),
  isOffered: canRead,
  toActions({ path }, offer) {
    if (isOfProject(path, offer)) return [{ type: 'list_dir', path }];
    const found = locatedInLoaded(path, offer);
    if (isProblem(found)) return found;
    const folder = found.path.replace(/\/+$/, '') || undefined;
    return [{ type: 'list_resources', skill: found.skill, folder }];
  },
  toResult([observation]) {
    return observation?.type === 'directory-listed'
      ? showFolder(observation)
      : showResources(observed(observation, 'list_resources'));
  },
});

function showFolder({ path, entries, isCut }: OfType<Observation, 'directory-listed'>): unknown {
  return {
    ok: true,
    path,
    files: entries.map((entry) => ({ path: entry.path, kind: entry.kind, bytes: entry.bytes })),
    truncated: isCut,
  };
}

function showResources({ skill, files, filesCut }: OfType<Observation, 'resources-listed'>): unknown {
  return {
    ok: true,
    skill: skill.name,
    files: inOrder(files).map(({ path, bytes }) => ({ path, kind: 'file', bytes })),
    truncated: filesCut,
  };
}

const grep: ToolRow = defineTool({
  name: 'grep',
  description: 'Find lines that match a regular expression, in a file or below a folder.',
  action: 'grep',
  schema: (offer) =>
    jsonSchema.section(
      'What to search for, and where.',
      {
        pattern: jsonSchema.text('A JavaScript regular expression, without slashes around it.'),
        path: pathParameter(offer),
        glob: jsonSchema.text('Only files that match this pattern, such as **/*.ts.'),
        ignore_case: jsonSchema.flag('Ignore case.'),
        max_matches: jsonSchema.count('Lines to give.', 1, 1_000, 200),
      },
      ['pattern'],
    ),
  toActions({ pattern, path = '.', glob, ignore_case: ignoreCase, max_matches: maxMatches }, offer) {
    const found = isOfProject(path, offer) ? undefined : locatedInLoaded(path, offer);
    if (found !== undefined && isProblem(found)) return found;
    const place = found === undefined ? path : `skill://${nameOf(found.skill, offer)}/${found.path}`;
    return [{ type: 'grep', pattern, path: place, glob, ignoreCase: ignoreCase || undefined, maxMatches }];
  },
  toResult([observation]) {
    const { matches, files, skipped, isCut, notes } = observed(observation, 'grep');
    return {
      ok: true,
      matches: matches.map(({ path, line, text: found }) => ({ path, line, text: found })),
      files_searched: files,
      files_skipped: skipped,
      truncated: isCut,
      ...(notes.length === 0 ? {} : { notes }),
    };
  },
  isOffered: hasHost,
});

/** The tools for files reach the files of a skill once its instructions are loaded, and rules with them. */
function locatedInLoaded(path: string, offer: Offer): ReturnType<typeof located> {
  const found = located(path, offer);
  if (isProblem(found) || offer.loaded().some(({ id }) => id === found.skill)) return found;
  return failure('skill/not-loaded', `${quoted(path, 200)} is in a skill that is not loaded`, {
    hint: 'load the skill with select_skills, or read the file with load_resource',
  });
}

function nameOf(skill: string, offer: Offer): string {
  return offer.loaded().find(({ id }) => id === skill)?.name ?? skill;
}

const writeFile: ToolRow = singleAction({
  name: 'write_file',
  description: 'Write a whole file of the project or the workspace. The user may be asked first.',
  action: 'write_file',
  schema: () =>
    jsonSchema.section(
      'Which file.',
      {
        path: jsonSchema.text('Relative to the project, or workspace://path.'),
        content: jsonSchema.text('The complete contents.'),
      },
      ['path', 'content'],
    ),
  toAction: (input) => ({ type: 'write_file', ...input }),
  toResult: ({ path, bytes, digest, replaced }) => ({
    ok: true,
    path,
    bytes,
    sha256: toBareHash(digest),
    replaced: replaced !== undefined,
  }),
  isOffered: hasHost,
});

const deleteFile: ToolRow = singleAction({
  name: 'delete_file',
  description: 'Move a file of the project to the trash. The user may be asked first.',
  action: 'delete_file',
  schema: () => jsonSchema.section('Which file.', { path: jsonSchema.text('Relative to the project.') }, ['path']),
  toAction: (input) => ({ type: 'delete_file', ...input }),
  toResult: ({ path, trash }) => ({ ok: true, path, trash }),
  isOffered: hasHost,
});

const networkRequest: ToolRow = singleAction({
  name: 'network_request',
  description: 'Send a request to a server. The user is asked first, unless a rule allows the host.',
  action: 'network_request',
  schema: () =>
    jsonSchema.section(
      'The request.',
      {
        url: jsonSchema.text('The address, http or https.'),
        method: jsonSchema.choice('The method.', ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'], 'GET'),
        headers: jsonSchema.map('Headers.', jsonSchema.text('Its value.')),
        body: jsonSchema.text('What is sent.'),
      },
      ['url'],
    ),
  toAction: ({ headers = {}, ...input }) => ({ type: 'network_request', ...input, headers }),
  toResult: ({ url, status, headers, mediaType, isBinary, text: body, bytes, truncated, redirects }) => ({
    ok: status < 400,
    url,
    status,
    headers,
    media_type: mediaType,
    ...(isBinary ? { notes: [`binary response of ${bytesText(bytes)}, not shown`] } : { body }),
    truncated,
    ...(redirects.length === 0 ? {} : { redirects }),
  }),
  isOffered: (offer) => offer.host?.hasNetwork === true,
});

function canRead(offer: Offer): boolean {
  return hasHost(offer) || hasSkills(offer);
}

export const HOST_TOOLS: readonly ToolRow[] = [readFile, listDirectory, grep, writeFile, deleteFile, networkRequest];

export const continueWith: ContinueCall = (skill, path, offset) =>
  `load_resource(skill=${skill}, relative_path=${path}, offset=${String(offset)})`;

export function showRead(read: OfType<Observation, 'resource-read'>): object {
  const { skill, report, mediaType, isBinary, lines, totalLines, text: content } = read;
  const notes = readNotes(read, continueWith);
  return {
    ok: true,
    skill: { name: skill.name, source: skill.source },
    relative_path: report.path,
    media_type: mediaType,
    ...(isBinary ? {} : { content, lines: { ...lines, total: totalLines } }),
    truncated: report.truncated,
    sha256: toBareHash(report.digest),
    ...(notes.length === 0 ? {} : { notes }),
  };
}

/** The bare hash, as in the results of skills-agent. */
export function toBareHash(digest: string): string {
  return digest.replace(/^sha256:/, '');
}
