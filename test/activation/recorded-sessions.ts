/** Transcripts of real agents: four requests to a mock model, kept by scripts/check-agents/usage.js. */
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterEach } from 'vitest';

const TRANSCRIPTS = fileURLToPath(new URL('transcripts', import.meta.url));
export const AGENTS = readdirSync(TRANSCRIPTS).toSorted();
/** As scripts/check-agents/usage.js writes it. */
const PLACEHOLDER = `/placeholder-of-the-project-${'x'.repeat(120)}`.slice(0, 120);
const SKILLS = {
  'csv-report': 'Summarises a CSV file as a Markdown report. Use it when the user has a CSV file.',
  'text-diff': 'Compares two texts word by word. Use it when the user wants to compare two texts.',
  'slide-deck': 'Builds slides for a presentation from an outline. Use it when the user needs slides.',
};

const made: string[] = [];
afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

export interface Place {
  readonly home: string;
  readonly project: string;
}

/** A home with the transcripts of an agent, and the project in which they were made. */
export function openPlace(agent: string): Place {
  const home = mkdtempSync(path.join(os.tmpdir(), 'usage-'));
  made.push(home);
  // As long as the placeholder, because a database has no room for another length.
  const start = path.join(home, 'project-');
  const project = start + 'p'.repeat(PLACEHOLDER.length - start.length);
  cpSync(path.join(TRANSCRIPTS, agent), home, { recursive: true });
  for (const name of readdirSync(home, { recursive: true, encoding: 'utf8' })) {
    const file = path.join(home, name);
    if (!statSync(file).isFile()) continue;
    writeFileSync(file, readFileSync(file, 'latin1').replaceAll(PLACEHOLDER, project), 'latin1');
  }
  for (const [name, description] of Object.entries(SKILLS)) {
    const folder = path.join(project, agent === 'claude-code' ? '.claude/skills' : '.agents/skills', name);
    mkdirSync(folder, { recursive: true });
    const text = `---\nname: ${name}\ndescription: ${description}\n---\n\n# How ${name} works\n\nAnswer that ${name} was loaded.\n`;
    writeFileSync(path.join(folder, 'SKILL.md'), text);
    // Older than the sessions.
    utimesSync(path.join(folder, 'SKILL.md'), 1_000_000_000, 1_000_000_000);
  }
  mkdirSync(path.join(project, '.git'));
  return { home, project };
}

export function transcriptsOf(home: string): readonly string[] {
  return readdirSync(home, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => path.join(home, name));
}
