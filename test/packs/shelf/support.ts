import { lstatSync, lutimesSync, mkdirSync, readFileSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { openShelf } from '../../../src/packs/shelf/shelf.ts';
import { scratch } from '../../skills/registry/support.ts';

export type ShelfOptions = Parameters<typeof openShelf>[0];

/** A home folder with agents' folders. */
export function homeFolder(): string {
  const home = path.join(scratch(), 'home');
  mkdirSync(path.join(home, '.claude/skills'), { recursive: true });
  return home;
}

export function writeSkill(folder: string, text = 'Do it.'): void {
  mkdirSync(path.join(folder, 'references'), { recursive: true });
  const name = path.basename(folder);
  writeFileSync(path.join(folder, 'SKILL.md'), `---\nname: ${name}\ndescription: Works on ${name}.\n---\n\n${text}\n`);
  writeFileSync(path.join(folder, 'references/notes.md'), `notes of ${name}\n`);
}

export function shelfOf(home: string, more: Partial<ShelfOptions> = {}): ReturnType<typeof openShelf> {
  return openShelf({ surroundings: { home, cwd: home, env: {} }, ...more });
}

/** Everything below a home folder but the state of Skillwright: types, bits, times, targets of links, bytes. */
export function treeOf(top: string): Readonly<Record<string, string>> {
  const entries: Record<string, string> = {};
  const visit = (below: string): void => {
    const place = path.join(top, below);
    const stats = lstatSync(place);
    const content = stats.isSymbolicLink() ? readlinkSync(place) : stats.isFile() ? readFileSync(place, 'utf8') : '';
    if (below !== '.') entries[below] = [stats.mode.toString(8), stats.mtimeMs, content].join(' ');
    if (!stats.isDirectory()) return;
    for (const name of readdirSync(place)) if (!OWN.has(name)) visit(path.join(below, name));
  };
  visit('.');
  return entries;
}

const OWN = new Set(['.agent', '.skillwright']);

/** Whole seconds, which every call keeps exactly. */
export function setTimes(top: string): void {
  const visit = (place: string, second: number): number => {
    let next = second;
    if (lstatSync(place).isDirectory())
      for (const name of readdirSync(place).toSorted()) next = visit(path.join(place, name), next);
    lutimesSync(place, 1_700_000_000, 1_700_000_000 + next);
    return next + 1;
  };
  visit(top, 0);
}
