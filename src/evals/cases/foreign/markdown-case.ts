/** Reads `*.eval.md`: a prompt and what must come of it, in sections or in tags. */
import path from 'node:path';

import { defined, isObject, quoted, type JsonPath } from '#core';
import type { CaseFile } from '../draft.ts';
import { ForeignExpectations, type ForeignCase } from './foreign-case.ts';

/** A Markdown file: its front matter and the text below it. */
export interface MarkdownValue {
  readonly head: Readonly<Record<string, unknown>>;
  readonly body: string;
}

export function isMarkdown(value: unknown): value is MarkdownValue {
  return isObject(value) && isObject(value['head']) && typeof value['body'] === 'string';
}

interface Section {
  readonly title: string;
  readonly text: string;
  /** From 0, in the text. */
  readonly line: number;
  readonly level: number;
}

const INPUT = /^(?:input|prompt|task|request|query)$/i;
const EXPECTED =
  /^(?:expectations?|expected(?: (?:behaviou?r|output|result|outcome))?|(?:success |acceptance )?criteria|assertions)$/i;

/** Returns the reason if the file holds no case. */
export function readMarkdownCase(file: CaseFile, { head, body }: MarkdownValue): ForeignCase | string {
  const sections = [...taggedSections(body), ...headedSections(body)];
  const input = sections.find(({ title }) => INPUT.test(title));
  if (input === undefined) return 'no section Input or <prompt>';
  const criteria = sections.filter(({ title }) => EXPECTED.test(title));
  if (criteria.length === 0) return 'no section Success criteria or <expectation>';
  const expected = new ForeignExpectations(file, []);
  for (const line of criteria.flatMap(({ text }) => toLines(text))) expected.rubric(line);
  const title = sections.find(({ level }) => level === 1)?.title;
  for (const section of sections)
    if (section !== input && !criteria.includes(section) && section.level !== 1 && section.text !== '')
      expected.note(
        `the section ${quoted(section.title)} is not read`,
        'write what must hold under Success criteria',
        lineAt(section.line),
      );
  return {
    file,
    at: [],
    id: path.basename(file.report.file).replace(/\.eval\.md$/i, ''),
    written: defined({
      input: input.text,
      name: title,
      tags: Array.isArray(head['tags']) ? head['tags'] : undefined,
      ...expected.write(),
    }),
  };
}

/** The path that the document locates at a line of its text. */
function lineAt(line: number): JsonPath {
  return ['body', line];
}

function taggedSections(body: string): readonly Section[] {
  return [...body.matchAll(/^<([a-z][a-z_-]{0,30})>/gm)].flatMap(({ 0: tag, 1: title = '', index }) => {
    const end = body.indexOf(`</${title}>`, index);
    if (end === -1) return [];
    const text = body.slice(index + tag.length, end).trim();
    return [{ title, text, line: body.slice(0, index).split('\n').length - 1, level: 0 }];
  });
}

function headedSections(body: string): readonly Section[] {
  const sections: { title: string; lines: string[]; line: number; level: number }[] = [];
  let fence = '';
  for (const [line, text] of body.split('\n').entries()) {
    const [, ticks = ''] = /^\s*(```+|~~~+)/.exec(text) ?? [];
    if (ticks !== '') fence = fence === '' ? ticks : text.trim().startsWith(fence) ? '' : fence;
    const [, marks = '', title] = fence === '' ? (/^(#{1,6})\s+(.*?)\s*#*$/.exec(text) ?? []) : [];
    if (title === undefined) sections.at(-1)?.lines.push(text);
    else sections.push({ title, lines: [], line, level: marks.length });
  }
  return sections.map(({ lines, ...section }) => ({ ...section, text: lines.join('\n').trim() }));
}

/** The items of a list, or the whole text. */
function toLines(text: string): readonly string[] {
  const items: string[] = [];
  for (const line of text.split('\n')) {
    const [, item] = /^\s*(?:[-*+]|\d+[.)])\s+(?:\[[ x]\]\s+)?(.*)$/.exec(line) ?? [];
    if (item !== undefined) items.push(item);
    else if (line.trim() !== '' && items.length > 0) items.push(`${items.pop() ?? ''} ${line.trim()}`);
    else if (line.trim() !== '') return [text.replaceAll(/\s*\n\s*/g, ' ')];
  }
  return items;
}
