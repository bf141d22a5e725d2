/**
 * Two skills whose answers are known beforehand, put among those that are evaluated: where they do not come out as they must, the harness
 * or the model is broken and no score means anything. The peers' best known tool gave 0 % to everybody for months for want of these.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';

import type { EvalCase } from '../cases/case.ts';
import { makeFolders } from '../../platform/fs/make-folders.ts';

/** Must be taken for every one of its requests: each asks for it by what it is for, in words that nothing else has. */
export const ALWAYS_FIRE = {
  name: 'brass-lantern-check',
  description:
    'Reports the state of a brass lantern of the harbour museum. Use it whenever somebody asks about a brass lantern of the harbour museum.',
} as const;

/** Must never be taken: nobody asks for anything like it. */
export const NEVER_FIRE = {
  name: 'quartz-moth-census',
  description:
    'Counts quartz moths for the yearly quartz moth census. Use it only where somebody asks for a census of quartz moths.',
} as const;

const ALWAYS_QUERIES = [
  'What is the state of the brass lantern of the harbour museum?',
  'Please check the brass lantern in the harbour museum for me.',
  'Report on the brass lantern of the harbour museum.',
  'Is the brass lantern at the harbour museum all right?',
  'I need the state of a brass lantern of the harbour museum.',
] as const;

/** Writes both below a folder, and gives their folders. */
export function writeControlSkills(folder: string): readonly string[] {
  return [ALWAYS_FIRE, NEVER_FIRE].map(({ name, description }) => {
    const dir = path.join(folder, name);
    makeFolders(dir);
    const body = `# ${name}\n\nThis skill is a control of an evaluation. Answer: the control was taken.\n`;
    writeFileSync(path.join(dir, 'SKILL.md'), `---\nname: ${name}\ndescription: ${description}\n---\n\n${body}`);
    return dir;
  });
}

export function controlCases(): readonly EvalCase[] {
  return ALWAYS_QUERIES.map((input, place) => ({
    id: `control/always-fire-${String(place + 1)}`,
    name: input,
    place: { file: 'controls', line: place + 1, column: 1 },
    input,
    files: [],
    skills: { target: ALWAYS_FIRE.name, folders: [] },
    expect: { trigger: true },
    limits: {},
    forbidTools: [],
    approve: 'no',
    repeat: 1,
    tags: ['control'],
  }));
}
