/** Files of a suite that no format reads: one of them may hold the cases that fail, under another name. */
import path from 'node:path';

import { quoted } from '#core';
import { isInside, readTextFile } from '#platform';
import type { EvalCase } from './case.ts';
import { CASE_FILE_ENDINGS, readDocument } from './document.ts';
import { recognize } from './recognize.ts';

export interface OtherFile {
  readonly file: string;
  readonly isLink: boolean;
  /** Whether everything in its folder is about cases. */
  readonly isOfCases: boolean;
}

/** Files about a folder, which are no cases. */
const ABOUT = /^(?:\.|(?:readme|licen[cs]e|notice|changelog|contributing|authors)(?:\.|$))/i;
const MAX_BYTES = 1024 * 1024;
const TRIED_ENDINGS = ['.json', '.jsonl', '.yaml', '.csv'] as const;

/** Names each file that nothing uses, with the reason. Outside of folders of cases these are only files that hold cases. */
export function listUnread(
  others: readonly OtherFile[],
  cases: readonly EvalCase[],
  read: ReadonlySet<string>,
): readonly { readonly file: string; readonly reason: string }[] {
  const named = cases.flatMap(({ files, answers, expect: { output = [] } }) => [
    ...files,
    ...(answers?.type === 'cassette' ? [answers.file] : []),
    ...output.flatMap((check) => (check.type === 'checker' ? [check.script] : [])),
  ]);
  const used = new Set([...read, ...named]);
  // A checker may load what is beside it.
  const programs = new Set(
    cases.flatMap(({ expect: { output = [] } }) =>
      output.flatMap((check) => (check.type === 'checker' ? [path.dirname(check.script)] : [])),
    ),
  );
  const isBeside = (file: string): boolean => [...programs].some((folder) => isInside(file, folder));
  return others.flatMap((other) => {
    if (used.has(other.file)) return [];
    const reason = explainUnread({ ...other, isOfCases: other.isOfCases && !isBeside(other.file) });
    return reason === undefined ? [] : [{ file: other.file, reason }];
  });
}

function explainUnread({ file, isLink, isOfCases }: OtherFile): string | undefined {
  if (isLink) return isOfCases ? 'it is a symbolic link, and case files are regular files' : undefined;
  const ending = path.extname(file);
  if (holdsCases(file)) {
    const why = ending === '' ? 'its name has no ending' : `its name ends with ${quoted(ending)}`;
    return `it holds cases, but ${CASE_FILE_ENDINGS.includes(ending) ? 'its folder holds files of cases' : why}: rename or move it`;
  }
  if (!isOfCases || ABOUT.test(path.basename(file))) return undefined;
  return ending === '' ? 'names of case files have an ending' : `names of case files do not end with ${quoted(ending)}`;
}

function holdsCases(file: string): boolean {
  const read = readTextFile(file, MAX_BYTES);
  if (read.type !== 'read' || !read.validUtf8 || read.text.trim() === '') return false;
  return TRIED_ENDINGS.some((ending) => {
    const document = readDocument(`cases${ending}`, read.text);
    return document.type === 'read' && recognize(document.document.value, ending === '.csv').type === 'cases';
  });
}
