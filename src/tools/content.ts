import { delimit, printable, type Observation, type Offer, type OfType, type Vocabulary } from '#core';
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

/** The instructions, or the note in place of them, and the documents of this load; a system message has its own. */
export function withDocuments(
  text: string,
  loaded: OfType<Observation, 'skill-loaded'>,
  { placement }: Offer,
  continueWith: ContinueCall,
): string {
  const documents = placement === 'system' ? [] : markedDocuments(loaded.skill.name, shownDocuments(loaded));
  return withNotes([text, ...documents].join('\n'), loadNotes(loaded, continueWith));
}

export function loadedContent(loaded: OfType<Observation, 'skill-loaded'>, continueWith: ContinueCall): string {
  const { skill, report, text, files, filesCut } = loaded;
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
    documents: shownDocuments(loaded),
  });
  return withNotes(marked, loadNotes(loaded, continueWith));
}

function markedContent({ name, source, dir, digest, text, files, documents }: Marked): string {
  return [
    delimit({ tag: 'skill_content', attributes: { name, source, dir, digest }, text: text.trimEnd() }),
    ...(files.length === 0
      ? []
      : [delimit({ tag: 'skill_files', attributes: { skill: name }, text: files.join('\n') })]),
    ...markedDocuments(name, documents),
  ].join('\n');
}

function shownDocuments({ documents }: OfType<Observation, 'skill-loaded'>): Marked['documents'] {
  return documents.map(({ report, text }) => ({ path: report.path, text }));
}

function markedDocuments(skill: string, documents: Marked['documents']): readonly string[] {
  return documents.map(({ path, text }) =>
    delimit({ tag: 'skill_file', attributes: { skill, path }, text: text.trimEnd() }),
  );
}
