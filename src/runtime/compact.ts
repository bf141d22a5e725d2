import type { Catalog } from '#skills';
import { escapeXml, estimateTokens, type Vocabulary } from '#core';

/** What remains of the skills when a conversation is compacted (DISC-8). */
export interface Compaction {
  /** Catalog and skills; replaces what is dropped. */
  readonly text: string;
  readonly tokens: number;
  readonly catalog: Catalog;
  /** In the order of the text: most recently used first. */
  readonly skills: readonly CompactedSkill[];
}

export interface CompactedSkill {
  readonly id: string;
  readonly name: string;
  readonly digest: string;
  /** A stub names the skill, its digest and how to load it again. If even stubs do not fit, the least recently used skills are dropped. */
  readonly form: 'whole' | 'stub' | 'dropped';
}

interface CompactInput {
  readonly ceiling: number;
  /** Most recently used first. */
  readonly active: readonly Parameters<Vocabulary['showLoaded']>[0][];
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

function stub({ name, source, digest }: Parameters<Vocabulary['showLoaded']>[0], loadTool: string): string {
  const attributes = `name="${escapeXml(name)}" source="${escapeXml(source)}" digest="${digest.slice(0, 23)}"`;
  return `<skill_content ${attributes}>in use; load it again with ${loadTool} to see it</skill_content>`;
}
