import { readFileSync } from 'node:fs';
import path from 'node:path';

import { PROJECT } from '../files-below.ts';

export interface Requirement {
  readonly behaviour: string;
  /** True if all of it is built and at least one test says `verifies(id, ...)`. */
  readonly claimed: boolean;
  /** What is not built yet. */
  readonly open?: string;
}

export type RequirementId = `${string}-${number}`;

/** What is missing, by requirement. Everything else is claimed. */
const OPEN: Readonly<Record<RequirementId, string>> = {
  'DOC-1': 'executed tutorials, docs in the package, a site',
  'TRUE-2': 'promises on pages tied to tests',
  'SCAN-2': 'data flow across files',
  'ACT-2': 'all of it',
  'ACT-3': 'all of it',
  'ACT-4': 'all of it',
  'DIST-3': 'all of it',
  'UI-2': 'the timeline, attempts',
};

/** The requirements of docs/requirements.md, in its order. */
export const REQUIREMENTS: ReadonlyMap<string, Requirement> = readRequirements();

function readRequirements(): ReadonlyMap<string, Requirement> {
  const text = readFileSync(path.join(PROJECT, 'docs/requirements.md'), 'utf8');
  const entries = [...text.matchAll(/^- ([A-Z]+-\d+) (.*(?:\n {2}.*)*)/gm)].map(([, id = '', behaviour = '']) => {
    const open = Object.hasOwn(OPEN, id) ? OPEN[id as RequirementId] : undefined;
    const claimed = open === undefined;
    const requirement = { behaviour: behaviour.replaceAll(/\s+/g, ' '), claimed, ...(claimed ? {} : { open }) };
    return [id, requirement] as const;
  });
  return new Map(entries);
}

/** Ids that OPEN names and the page does not have. */
export function unknownOpen(): readonly string[] {
  return Object.keys(OPEN).filter((id) => !REQUIREMENTS.has(id));
}
