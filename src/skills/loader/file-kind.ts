import type { Observation, OfType } from '#core';

type FileKind = OfType<Observation, 'resources-listed'>['files'][number]['kind'];

const KINDS_BY_FOLDER: ReadonlyMap<string, FileKind> = new Map([
  ['scripts', 'script'],
  ['references', 'reference'],
  ['reference', 'reference'],
  ['assets', 'asset'],
]);

/** Files below scripts/ that scripts fill in, and that are not meant to be run. */
const TEMPLATE = /(?:^|\/)templates?\/|\.(?:tmpl|tpl|template|j2|jinja2?|hbs|mustache)$/i;

/** Whether a model may read the file: it is a document or lies in one of the standard folders. */
export function isOfferedPath(path: string): boolean {
  return kindOfFile(path) !== 'other';
}

/** Classifies a file by its folder; templates below scripts/ are assets; other `.md` and `.txt` files are documents, including SKILL.md. */
export function kindOfFile(path: string): FileKind {
  const slash = path.indexOf('/');
  const kind = slash === -1 ? undefined : KINDS_BY_FOLDER.get(path.slice(0, slash));
  if (kind === 'script' && TEMPLATE.test(path)) return 'asset';
  return kind ?? (isDocument(path) ? 'document' : 'other');
}

function isDocument(path: string): boolean {
  return /\.(?:md|txt)$/i.test(path);
}
