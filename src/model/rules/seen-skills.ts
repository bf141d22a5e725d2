/** The skills that a request shows to a model: in the catalog of the system text, in search results, and loaded. */
import { CATALOG_LAYOUTS, isObject, parseJson } from '#core';

export interface SeenSkill {
  readonly name: string;
  /** Empty if only the name is shown. */
  readonly description: string;
}

const MAX_SKILLS = 10_000;
const XML_SKILL = /^<skill name="([^"]*)" source="[^"]*"(?:\/>|>(.*)<\/skill>)$/;
const MARKDOWN_SKILL = /^- \*\*(.+?)\*\* \([^)]*\)(?:: (.*))?$/;
const LINES_SKILL = /^- name=(.+?) \| source=.*?(?: \| description=(.*))?$/;
const LIST_SKILL = /^- ([^:]+)(?:: (.*))?$/;

interface Section {
  /** The first line, and the line after the last. */
  readonly from: number;
  readonly to: number;
  readonly skills: readonly SeenSkill[];
}

/** Returns the skills of a catalog in any of its formats. Similar lines outside of a catalog do not count. */
export function skillsInCatalog(text: string): readonly SeenSkill[] {
  return catalogSections(text.split('\n')).flatMap(({ skills }) => skills);
}

function catalogSections(lines: readonly string[]): readonly Section[] {
  return (
    [
      [CATALOG_LAYOUTS.xml, XML_SKILL],
      [CATALOG_LAYOUTS.markdown, MARKDOWN_SKILL],
      [CATALOG_LAYOUTS.lines, LINES_SKILL],
      [CATALOG_LAYOUTS.list, LIST_SKILL],
      [CATALOG_LAYOUTS.expertise, LIST_SKILL],
    ] as const
  ).flatMap(([{ open, close }, pattern]) => {
    const opening = open.split('\n');
    const from = lines.findIndex((_, at) => isAt(lines, at, opening));
    return from === -1 ? [] : [sectionFrom(lines, { from, first: from + opening.length, close, pattern })];
  });
}

function isAt(lines: readonly string[], at: number, opening: readonly string[]): boolean {
  return opening.every((line, place) => lines[at + place] === line);
}

function sectionFrom(
  lines: readonly string[],
  {
    from,
    first,
    close,
    pattern,
  }: { readonly from: number; readonly first: number; readonly close: string; readonly pattern: RegExp },
): Section {
  const skills: SeenSkill[] = [];
  const closing = close === '' ? [] : close.split('\n');
  for (let at = first; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const match = skills.length < MAX_SKILLS ? pattern.exec(line) : null;
    if (match !== null) skills.push({ name: plain(match[1] ?? ''), description: plain(match[2] ?? '') });
    else if (line.trim() !== '' || skills.length > 0)
      return { from, to: isAt(lines, at, closing) ? at + closing.length : at, skills };
  }
  return { from, to: lines.length, skills };
}

/** Returns the words of the user without the additions of the loop: proposed skills in catalog format, and skill texts. */
export function withoutSkillTexts(text: string): string {
  const lines = text.split('\n');
  const sections = catalogSections(lines);
  const kept = lines.filter((_, place) => !sections.some(({ from, to }) => place >= from && place < to)).join('\n');
  return ['skill_content', 'skill_files', 'skill_file'].reduce(withoutElements, kept).trim();
}

/** Skill texts cannot contain our own end marks. */
function withoutElements(text: string, tag: string): string {
  const close = `</${tag}>`;
  const [first = '', ...rest] = text.split(`<${tag} `);
  return (
    first +
    rest
      .map((part) => {
        const end = part.indexOf(close);
        return end === -1 ? '' : part.slice(end + close.length);
      })
      .join('')
  );
}

/** Returns search results, best first: a JSON list of skills, or an object with one. */
export function skillsInResult(content: string): readonly SeenSkill[] {
  const value = readJson(content);
  const list = [value, ...(isObject(value) ? Object.values(value) : [])].find((item) => Array.isArray(item));
  if (!Array.isArray(list)) return [];
  return list.slice(0, MAX_SKILLS).flatMap((item: unknown) => {
    if (!isObject(item) || typeof item['name'] !== 'string') return [];
    const description = typeof item['description'] === 'string' ? item['description'] : '';
    return [{ name: item['name'], description }];
  });
}

/** The start of a loaded skill, in every vocabulary that puts it into a system or user message. */
const LOADED = /^(?:<skill_content name="([^"]*)"|\[Loaded\] (.+)$|## Skill: (.+)$)/gm;

export interface LoadedText {
  readonly name: string;
  readonly text: string;
}

/** Returns the loaded skills in a text, each up to the next one. */
export function loadedIn(text: string): readonly LoadedText[] {
  const starts = [...text.matchAll(LOADED)];
  return starts.map((match, place) => {
    const name = plain(match[1] ?? match[2] ?? match[3] ?? '');
    return { name, text: text.slice(match.index + match[0].length, starts[place + 1]?.index ?? text.length) };
  });
}

const MAX_DEPTH = 6;

/** Returns every string in the result of a tool, which is text or JSON. */
export function textsIn(content: string): readonly string[] {
  const value = readJson(content);
  return value === undefined ? [content] : leaves(value, 0);
}

function leaves(value: unknown, depth: number): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return [];
  return Object.values(value).flatMap((item: unknown) => leaves(item, depth + 1));
}

export function readJson(text: string): unknown {
  return /^\s*[{[]/.test(text) ? parseJson(text) : undefined;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&amp;': '&',
};

function plain(text: string): string {
  return text.replaceAll(/&(?:lt|gt|quot|#39|amp);/g, (entity) => ENTITIES[entity] ?? entity).replaceAll('\\|', '|');
}
