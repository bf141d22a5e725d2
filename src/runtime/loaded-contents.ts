import type { SessionState, ShownContent, Observation, OfType, Action, Vocabulary } from '#core';
import { fromFile } from './shown-content.ts';

type LoadedContent = Parameters<Vocabulary['showLoaded']>[0];

/** Texts of the loaded skills by id; the session state holds only digests. */
export type Contents = ReadonlyMap<string, LoadedContent>;

/** Drops texts of unloaded skills, so that memory stays bounded. */
export function stillLoaded(contents: Contents, { loaded }: SessionState): Contents {
  if (loaded.length === contents.size && loaded.every(({ skill }) => contents.has(skill.id))) return contents;
  return new Map(
    loaded.flatMap(({ skill: { id } }) => {
      const content = contents.get(id);
      return content === undefined ? [] : [[id, content] as const];
    }),
  );
}

export function withSkill(
  contents: Contents,
  { skill, report, text, files }: OfType<Observation, 'skill-loaded'>,
): Contents {
  const { id, name, source, dir } = skill;
  const paths = files.map(({ path }) => path);
  const before = contents.get(id)?.documents ?? [];
  // A system message has no separate notes.
  const shown = report.truncated ? `${text}\n[only the start of ${report.path} is shown]` : text;
  const content = { id, name, source, dir, digest: report.digest, text: shown, files: paths, documents: before };
  return new Map([...contents, [id, content]]);
}

/** Adds the documents that were read and drops those that are not selected. */
export function withDocuments(
  contents: Contents,
  id: string,
  selected: OfType<Action, 'select_documents'>['documents'],
  read: readonly OfType<Observation, 'skill-loaded'>['documents'][number][],
): Contents {
  const content = contents.get(id);
  if (content === undefined) return contents;
  const isSelected = (path: string): boolean => selected === '*' || selected.includes(path);
  const isRead = (path: string): boolean => read.some(({ report }) => report.path === path);
  const documents = [
    ...content.documents.filter(({ path }) => isSelected(path) && !isRead(path)),
    ...read.map(({ text, report }) => ({ path: report.path, text, digest: report.digest })),
  ].toSorted((a, b) => (a.path < b.path ? -1 : 1));
  return new Map([...contents, [id, { ...content, documents }]]);
}

/** The loaded texts, most recently used first. */
export function activeContents({ loaded }: SessionState, contents: Contents): readonly LoadedContent[] {
  return loaded.toReversed().flatMap(({ skill }) => contents.get(skill.id) ?? []);
}

/** The content that a skill and its documents show to the model. */
export function contentShown(
  content: LoadedContent,
  reasons: { readonly body: ShownContent['reason']; readonly document: ShownContent['reason'] },
): readonly ShownContent[] {
  return [
    fromFile(content, content.text, { path: 'SKILL.md', digest: content.digest }, reasons.body),
    ...content.documents.map((document) => fromFile(content, document.text, document, reasons.document)),
  ];
}
