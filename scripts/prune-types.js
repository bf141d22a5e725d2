// Deletes the declarations that no door of the package leads to. tsc writes one for each file; users read a third of them.
import { existsSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const project = fileURLToPath(new URL('..', import.meta.url));
const { exports } = JSON.parse(readFileSync(path.join(project, 'package.json'), 'utf8'));
const IMPORTED = /(?:\bfrom|\bimport)\s*\(?\s*['"](\.[^'"]+)['"]/g;

const reached = new Set();
const waiting = Object.values(exports).flatMap(({ types }) => (types === undefined ? [] : [path.join(project, types)]));
for (const file of waiting) {
  if (reached.has(file)) continue;
  reached.add(file);
  for (const [, name] of readFileSync(file, 'utf8').matchAll(IMPORTED)) {
    const declaration = path.join(path.dirname(file), name).replace(/\.[jt]s$/, '.d.ts');
    if (!existsSync(declaration)) throw new Error(`${file} imports ${name}, which has no declarations`);
    waiting.push(declaration);
  }
}
const dist = path.join(project, 'dist');
for (const name of readdirSync(dist, { recursive: true }))
  if (name.endsWith('.d.ts') && !reached.has(path.join(dist, name))) rmSync(path.join(dist, name));
