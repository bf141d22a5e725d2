import type { DocumentSelection } from '../core/action.ts';
import { failure } from '../core/failure-codes.ts';
import type { Failure } from '../core/failure-codes.ts';
import { withoutOurTags } from '../core/text/delimit-untrusted.ts';
import { nearest } from '../core/nearest.ts';
import type { ListedFile, ShownDocument } from '../core/observation.ts';
import type { SkillEntry } from '../core/skill.ts';
import { quoted } from '../core/text/text.ts';
import { readResourceFile } from '../loader/read-resource.ts';

/** All documents of a skill together: `*` on a large skill must not fill a context. */
const MAX_CHARACTERS = 48_000;

/** The `.md` and `.txt` files of a skill, besides its SKILL.md. */
export function documentPaths(files: readonly ListedFile[], skillFile: string): readonly string[] {
  return files.map(({ path }) => path).filter((path) => /\.(?:md|txt)$/i.test(path) && path !== skillFile);
}

/** The selected paths that are really there; the first that is not is named with what was probably meant. */
export function existingDocuments(
  selection: DocumentSelection,
  documents: readonly string[],
):
  | { readonly type: 'paths'; readonly paths: readonly string[] }
  | { readonly type: 'failed'; readonly failure: Failure } {
  if (selection === '*') return { type: 'paths', paths: documents };
  const unknown = selection.find((path) => !documents.includes(path));
  if (unknown === undefined) return { type: 'paths', paths: [...new Set(selection)].toSorted() };
  const message = `there is no document ${quoted(unknown)} in the skill`;
  const near = nearest(unknown, documents);
  return {
    type: 'failed',
    failure: failure('documents/unknown', message, { nearest: near.length > 0 ? near : documents.slice(0, 10) }),
  };
}

/** Reads documents in the order of their names, as far as the limit for all of them goes. The rest is reported, not shown. */
export function readDocuments(
  skill: SkillEntry,
  paths: readonly string[],
):
  | { readonly type: 'read'; readonly documents: readonly ShownDocument[] }
  | { readonly type: 'failed'; readonly failure: Failure } {
  const documents: ShownDocument[] = [];
  let characters = 0;
  for (const path of paths) {
    const read = readResourceFile(skill, path, {});
    if (read.type === 'failed') return read;
    const fits = characters + read.text.length <= MAX_CHARACTERS;
    const text = fits ? withoutOurTags(read.text) : '';
    characters += text.length;
    const report = fits ? read.report : { ...read.report, characters: 0, truncated: true };
    documents.push({ text, report });
  }
  return { type: 'read', documents };
}
