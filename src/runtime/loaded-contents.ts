/** The skill content that a session has shown to the model, and what remains of it when the conversation is compacted. */
import {
  estimateTokens,
  escapeXml,
  printable,
  type Observation,
  type ShownContent,
  type OfType,
  type SessionState,
  type Action,
  type Vocabulary,
} from '#core';
import type { Catalog } from '#skills';

/**
 * The skill content that an observation shows to the model. Digests of texts that are not files are left empty, because `core` does not
 * hash.
 */
export function shownBy(observation: Observation): readonly ShownContent[] {
  switch (observation.type) {
    case 'skills-found':
      return observation.results.map(({ id, digest, name, description }) => ({
        skill: id,
        path: '',
        digest,
        ...measured(`${name} ${description}`),
        reason: 'search',
      }));
    case 'skill-loaded': {
      const { skill, status, text, report, files, documents } = observation;
      if (status === 'repeated') return [];
      return [
        fromFile(skill, text, report, 'load'),
        ...listed(
          skill,
          files.map(({ path }) => path),
        ),
        ...documents.map((document) => fromFile(skill, document.text, document.report, 'document')),
      ];
    }
    case 'resources-listed':
      return listed(
        observation.skill,
        observation.files.map(({ path }) => path),
      );
    case 'resource-read':
      return [fromFile(observation.skill, observation.text, observation.report, 'resource')];
    case 'documents-selected':
      return observation.documents.map(({ text, report }) => fromFile(observation.skill, text, report, 'document'));
    // Program output is not skill content.
    case 'program-ran':
    case 'command-seen':
    case 'command-killed':
    case 'script-found':
    case 'packages-installed':
    // Neither are project files and server responses.
    case 'file-read':
    case 'directory-listed':
    case 'lines-found':
    case 'file-written':
    case 'file-deleted':
    case 'response-received':
    case 'tool-called':
    case 'answered':
    case 'failed':
      return [];
  }
}

export function fromFile(
  skill: Pick<OfType<Observation, 'skill-loaded'>['skill'], 'id'>,
  text: string,
  { path, digest }: Pick<OfType<Observation, 'skill-loaded'>['report'], 'path' | 'digest'>,
  reason: ShownContent['reason'],
): ShownContent {
  return { skill: skill.id, path, digest, characters: text.length, tokens: estimateTokens(text), reason };
}

function listed(
  skill: OfType<Observation, 'skill-loaded'>['skill'],
  paths: readonly string[],
): readonly ShownContent[] {
  if (paths.length === 0) return [];
  return [{ skill: skill.id, path: '', digest: '', ...measured(paths.join('\n')), reason: 'list' }];
}

function measured(text: string): Pick<ShownContent, 'characters' | 'tokens'> {
  return { characters: text.length, tokens: estimateTokens(text) };
}

type LoadedContent = Parameters<Vocabulary['showLoaded']>[0];

type LoadedDocument = LoadedContent['documents'][number] & {
  /** Where the text continues if it is cut. */
  readonly next?: number;
};

/** Texts of the loaded skills by id; the session state holds only digests. */
export type Contents = ReadonlyMap<string, LoadedContent & { readonly documents: readonly LoadedDocument[] }>;

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

/** Adds the documents that were read, from the offset on, and drops those that are not selected. */
export function withDocuments(
  contents: Contents,
  id: string,
  selected: OfType<Action, 'select_documents'>['documents'],
  read: readonly ReadDocument[],
  offset = 0,
): Contents {
  const content = contents.get(id);
  if (content === undefined) return contents;
  const isSelected = (path: string): boolean => selected === '*' || selected.includes(path);
  const isRead = (path: string): boolean => read.some(({ report }) => report.path === path);
  const documents = [
    ...content.documents.filter(({ path }) => isSelected(path) && !isRead(path)),
    ...read.map((document) => withPart(content.documents, document, offset)),
  ].toSorted((a, b) => (a.path < b.path ? -1 : 1));
  return new Map([...contents, [id, { ...content, documents }]]);
}

type ReadDocument = OfType<Observation, 'skill-loaded'>['documents'][number];

/** A part of a document joins the part that is known, which the model would lose otherwise. */
function withPart(known: readonly LoadedDocument[], { text, report }: ReadDocument, offset: number): LoadedDocument {
  const { path, digest, next } = report;
  if (offset === 0) return { path, text, digest, next };
  const before = known.find((document) => document.path === path && document.digest === digest);
  const lead = `[from character ${String(offset)} on]\n`;
  if (before === undefined) return { path, text: `${lead}${text}`, digest, next };
  if (before.next === offset) return { ...before, text: `${before.text}${text}`, next };
  return before.text.includes(text) ? before : { ...before, text: `${before.text}\n${lead}${text}`, next };
}

/** The loaded texts, most recently used first. */
export function activeContents({ loaded }: SessionState, contents: Contents): readonly LoadedContent[] {
  return loaded.toReversed().flatMap(({ skill }) => {
    const content = contents.get(skill.id);
    return content === undefined ? [] : [{ ...content, documents: content.documents.map(withCutLine) }];
  });
}

/** A system message has no separate notes. */
function withCutLine({ path, text, digest, next }: LoadedDocument): LoadedContent['documents'][number] {
  return {
    path,
    digest,
    text: next === undefined ? text : `${text}\n[${printable(path)} continues at offset ${String(next)}]`,
  };
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

/** What remains of the skills when a conversation is compacted (DISC-8). */
export interface Compaction {
  /** Catalog and skills; replaces what is dropped. */
  readonly text: string;
  readonly tokens: number;
  readonly catalog: Catalog;
  /** In the order of the text: most recently used first. */
  readonly skills: readonly CompactedSkill[];
}

interface CompactedSkill {
  readonly id: string;
  readonly name: string;
  readonly digest: string;
  /** A stub names the skill, its digest and how to load it again. If even stubs do not fit, the least recently used skills are dropped. */
  readonly form: 'whole' | 'stub' | 'dropped';
}

interface CompactInput {
  readonly ceiling: number;
  /** Most recently used first. */
  readonly active: readonly LoadedContent[];
  readonly vocabulary: Vocabulary;
  readonly planCatalog: (budget?: number) => Catalog;
}

/** Share of the ceiling that stubs may take before the catalog. */
const STUB_SHARE = 0.5;

/**
 * Fits the catalog and the active skills under a ceiling: stubs first, then the catalog, then full texts of the most recently used skills.
 * Texts come from the files and do not contain earlier invocation arguments.
 */
export function compactSession({ ceiling, active, vocabulary, planCatalog }: CompactInput): Compaction {
  const stubs = active.map((content) => stub(content, vocabulary.loadTool));
  const kept = countFitting(stubs, ceiling * STUB_SHARE);
  const room = ceiling - estimateTokens(stubs.slice(0, kept).join('\n\n'));
  const whole = planCatalog();
  const catalog = whole.tokens <= room ? whole : planCatalog(Math.max(0, room));
  let left = room - catalog.tokens;
  const skills = active.map((content, place) => {
    const short = place < kept ? (stubs[place] ?? '') : '';
    const text = vocabulary.showLoaded(content);
    const more = estimateTokens(text) - estimateTokens(short);
    if (more <= left) {
      left -= more;
      return { content, text, form: 'whole' as const };
    }
    return { content, text: short, form: short === '' ? ('dropped' as const) : ('stub' as const) };
  });
  const text = [catalog.text, ...skills.map((skill) => skill.text)].filter((part) => part !== '').join('\n\n');
  return {
    text,
    tokens: estimateTokens(text),
    catalog,
    skills: skills.map(({ content: { id, name, digest }, form }) => ({ id, name, digest, form })),
  };
}

function countFitting(texts: readonly string[], room: number): number {
  let left = room;
  const over = texts.findIndex((text) => {
    left -= estimateTokens(text) + 1;
    return left < 0;
  });
  return over === -1 ? texts.length : over;
}

function stub({ name, source, digest }: LoadedContent, loadTool: string): string {
  const attributes = `name="${escapeXml(name)}" source="${escapeXml(source)}" digest="${digest.slice(0, 23)}"`;
  return `<skill_content ${attributes}>in use; load it again with ${loadTool} to see it</skill_content>`;
}
