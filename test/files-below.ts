import { readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const PROJECT = fileURLToPath(new URL('..', import.meta.url));

/** Files of the project below a folder, as paths from its top with forward slashes, sorted. */
export function filesBelow(folder: string, name: RegExp): readonly string[] {
  const found: string[] = [];
  const visit = (relative: string): void => {
    for (const entry of readdirSync(path.join(PROJECT, relative), { withFileTypes: true })) {
      const inside = `${relative}/${entry.name}`;
      if (entry.name === 'node_modules') continue;
      if (entry.isDirectory()) visit(inside);
      else if (name.test(entry.name)) found.push(inside);
    }
  };
  visit(folder);
  return found.sort();
}
