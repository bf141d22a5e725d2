import { delimit, printable, type Observation, type OfType, type Vocabulary } from '#core';
import { fileLines, loadNotes, withNotes, type ContinueCall } from './wording.ts';

type LoadedContent = Parameters<Vocabulary['showLoaded']>[0];

/** Loaded skills between marks that the enclosed text cannot close, for systems without a format of their own. */

interface Marked extends Omit<LoadedContent, 'id' | 'files' | 'documents'> {
  readonly files: readonly string[];
  readonly documents: readonly { readonly path: string; readonly text: string }[];
}

export function showContent(loaded: LoadedContent): string {
  const others = loaded.files.filter((path) => path.toLowerCase() !== 'skill.md');
  return markedContent({ ...loaded, files: others.map((path) => `- ${printable(path)}`) });
}

export function loadedContent(loaded: OfType<Observation, 'skill-loaded'>, continueWith: ContinueCall): string {
  const { skill, report, text, files, filesCut, documents } = loaded;
  const marked = markedContent({
    name: skill.name,
    source: skill.source,
    dir: skill.dir,
    digest: report.digest,
    text,
    files: fileLines(
      files.filter(({ path }) => path !== report.path),
      filesCut,
    ),
    documents: documents.map((document) => ({ path: document.report.path, text: document.text })),
  });
  return withNotes(marked, loadNotes(loaded, continueWith));
}

function markedContent({ name, source, dir, digest, text, files, documents }: Marked): string {
  return [
    delimit({ tag: 'skill_content', attributes: { name, source, dir, digest }, text: text.trimEnd() }),
    ...(files.length === 0
      ? []
      : [delimit({ tag: 'skill_files', attributes: { skill: name }, text: files.join('\n') })]),
    ...documents.map((document) =>
      delimit({ tag: 'skill_file', attributes: { skill: name, path: document.path }, text: document.text.trimEnd() }),
    ),
  ].join('\n');
}
