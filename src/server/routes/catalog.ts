import { requestCost } from '#agent';
import { CATALOG_LAYOUTS, isForModel, tokenWeight, type SkillEntry } from '#core';
import { CatalogQuery, CatalogView } from '../api/skills.ts';
import type { SkillContext } from '../context.ts';
import { route, type Route } from '../router.ts';

type Form = CatalogView['entries'][number]['form'];

export function catalogRoutes({ options: { runtime } }: SkillContext): readonly Route[] {
  return [
    route(
      'GET /catalog',
      'Show what a model sees of all skills under a token budget',
      { query: CatalogQuery, answer: CatalogView },
      async ({ query }) => {
        const budget = query.budget ?? runtime.config.catalog?.budget_tokens ?? 4_000;
        const format = query.format ?? runtime.config.catalog?.format ?? 'xml';
        const { skills } = runtime.index;
        // Like a session, the catalog hides skills of untrusted folders.
        const without = await runtime.distrust(skills);
        const session = await runtime.startSession({ catalog: { budget, format } });
        const { catalog } = session;
        await session.close();
        const forms = new Map<string, Form>();
        for (const form of ['full', 'shortened', 'nameOnly', 'omitted'] as const)
          for (const name of catalog[form]) forms.set(name, form);
        const layout = CATALOG_LAYOUTS[format];
        const line = (skill: Pick<SkillEntry, 'name' | 'source' | 'description'>): string => layout.line(skill);
        const entries = skills.map((skill) => ({
          name: skill.name,
          source: skill.source,
          form:
            without.has(skill.dir) || !isForModel(skill.state)
              ? ('hidden' as const)
              : (forms.get(skill.name) ?? 'hidden'),
          tokens: Math.ceil(tokenWeight(line(skill))),
        }));
        const sum = (form: Form, text: (skill: SkillEntry) => string): number =>
          Math.ceil(
            skills.reduce(
              (total, skill) => (forms.get(skill.name) === form ? total + tokenWeight(`${text(skill)}\n`) : total),
              0,
            ),
          );
        const full = sum('full', line);
        const nameOnly = sum('nameOnly', (skill) => line({ ...skill, description: '' }));
        const rest = Math.max(0, catalog.tokens - full - nameOnly);
        const isCut = catalog.shortened.length > 0;
        const frame = isCut ? Math.min(rest, FRAME_TOKENS) : rest;
        return {
          budget,
          tokens: catalog.tokens,
          text: catalog.text,
          parts: { full, nameOnly, shortened: rest - frame, frame },
          entries,
          request: await requestParts(),
        };
      },
    ),
  ];

  async function requestParts(): Promise<readonly { readonly part: string; readonly tokens: number }[]> {
    const session = await runtime.startSession();
    try {
      const { rules, guidance, catalog, tools } = requestCost(session);
      return Object.entries({ rules, guidance, catalog, tools }).map(([part, tokens]) => ({ part, tokens }));
    } finally {
      await session.close();
    }
  }
}

/** The first and last line and the note about omitted skills, where they cannot be told from shortened entries. */
const FRAME_TOKENS = 40;
