import type { SeedDocument } from './row.ts';
export const SKILLS_AGENT: SeedDocument = {
  title: 'skills-agent (overview and registry design)',
  page: 'vocabularies/skills-agent.md',
  rows: [],
};
