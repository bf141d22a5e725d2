import type { SeedDocument } from './row.ts';
export const SKILLS_AGENT: SeedDocument = {
  title: 'skills-agent (001, 004)',
  page: 'vocabularies/skills-agent.md',
  rows: [],
};
