import path from 'node:path';

import { compareUnits, type Agent, type AgentSkill, type Catalog, type CatalogContext } from './agent.ts';
import { aliasCost, allocateCharacters, lineCost } from './codex-budget.ts';
import { readByRules } from './skill-rules.ts';

const MAX_DESCRIPTION = 1024;
const WINDOW_PERCENT = 2;
/** The context window of gpt-5, and of models that Codex does not know. */
const WINDOW = 272_000;
/** More is not accepted in `skills.max_context_tokens`. */
const MAX_CONFIGURED = 10_000;
const EVERYWHERE = { depth: 6, isInsideSkills: true } as const;

/* oxlint-disable no-template-curly-in-string -- `${NAME:-path}` is the notation of folders. */
export const CODEX: Agent = {
  id: 'codex',
  checkedVersion: '0.169.0',
  folders: [
    { path: '.codex/skills', isInParents: true, ...EVERYWHERE },
    { path: '${CODEX_HOME:-~/.codex}/skills', ...EVERYWHERE },
    { path: '~/.agents/skills', ...EVERYWHERE },
    { path: '${CODEX_HOME:-~/.codex}/skills/.system', ...EVERYWHERE },
    { path: '.agents/skills', isInParents: true, ...EVERYWHERE },
  ],
  sameName: 'all',
  settings: ['${CODEX_HOME:-~/.codex}/config.toml'],
  companion: 'agents/openai.yaml',
  readSkill(file, companion) {
    const reading = readByRules(file, {
      invalidYaml: 'lines',
      openQuote: 'reject',
      withoutFrontmatter: 'reject',
      isMarkRejected: true,
      name: 'field-or-folder',
      maxName: 64,
      withoutDescription: 'reject',
      otherTypes: 'text',
    });
    if (reading.type !== 'skill') return reading;
    if (/^\s+allow_implicit_invocation:\s*false\b/m.test(companion))
      return { type: 'hidden', name: reading.name, reason: 'agents/openai.yaml says allow_implicit_invocation: false' };
    return { ...reading, name: oneLine(reading.name), description: oneLine(reading.description) };
  },
  visibility({ name, path: file }, settings) {
    const rows = settings.flatMap((one) => listIn(tableIn(one['skills'])['config']));
    const places = [file, path.dirname(file)];
    const row = rows.findLast((one) => one['name'] === name || places.some((place) => place === one['path']));
    return row?.['enabled'] === false ? 'hidden' : 'listed';
  },
  listSkills: listWithin,
};
/* oxlint-enable no-template-curly-in-string */

function tableIn(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}

function listIn(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.map(tableIn) : [];
}

function oneLine(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ');
}

/** Codex writes its own skills into a folder of the user. */
function isSystem(skill: AgentSkill | undefined): boolean {
  return skill?.folder.endsWith('/.system') === true;
}

function rankScope(skill: AgentSkill): number {
  return isSystem(skill) ? 0 : skill.scope === 'project' ? 1 : 2;
}

/**
 * Two percent of the context window for the lines. Everything in full if it fits; else descriptions are shortened to equal lengths; if even
 * names do not fit, descriptions go and lines that do not fit are left out. A line has the path, with an alias such as `r0` for its folder.
 */
function listWithin(found: readonly AgentSkill[], { contextWindow, settings }: CatalogContext): Catalog {
  const skills = found.toSorted(
    (a, b) => rankScope(a) - rankScope(b) || compareUnits(a.name, b.name) || compareUnits(a.path, b.path),
  );
  const aliases = new Map(
    [...new Set(found.map(({ folder }) => folder))].map((folder, at) => [folder, `r${String(at)}`]),
  );
  const lines = skills.map(({ name, description, path: file, folder }) => ({
    name,
    description: cutCharacters(description, MAX_DESCRIPTION),
    locator: `${aliases.get(folder) ?? ''}${file.slice(folder.length)}`,
  }));
  const configured = settings
    .map((one) => tableIn(one['skills'])['max_context_tokens'])
    .findLast((one) => one !== undefined);
  const window = contextWindow ?? WINDOW;
  const limit =
    typeof configured === 'number'
      ? Math.min(configured, MAX_CONFIGURED)
      : Math.max(1, Math.floor((window * WINDOW_PERCENT) / 100));
  const lengths = allocateCharacters(lines, limit - aliasCost([...aliases.keys()]));
  const entries = skills.map((skill, at) => {
    const length = lengths[at];
    const text = [...(lines[at]?.description ?? '')].slice(0, length ?? 0).join('');
    if (length === undefined) return { skill, shown: 'none' as const, text };
    if (text === skill.description) return { skill, shown: 'full' as const, text };
    return { skill, shown: text === '' ? ('name' as const) : ('shortened' as const), text };
  });
  const own = lines.reduce((sum, line, at) => (isSystem(skills[at]) ? sum + lineCost(line) : sum), 0);
  const from =
    typeof configured === 'number'
      ? 'skills.max_context_tokens'
      : `${String(WINDOW_PERCENT)} % of a window of ${window.toLocaleString('en-US')} tokens`;
  return {
    entries: [...entries.filter(({ shown }) => shown !== 'none'), ...entries.filter(({ shown }) => shown === 'none')],
    budget: { limit, unit: 'tokens', own, from },
  };
}

function cutCharacters(text: string, length: number): string {
  const characters = [...text];
  return characters.length <= length ? text : `${characters.slice(0, length - 3).join('')}...`;
}
