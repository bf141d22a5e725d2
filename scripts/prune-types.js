// Makes declarations import from the files that define the names instead of from doors, then deletes those that no entry point of the
// package leads to. tsc writes one for each file; users read a third of them.
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { withoutDoors } from './doors.js';

const project = fileURLToPath(new URL('..', import.meta.url));
const { exports } = JSON.parse(readFileSync(path.join(project, 'package.json'), 'utf8'));
const IMPORTED = /(?:\bfrom|\bimport)\s*\(?\s*['"](\.[^'"]+)['"]/g;

const dist = path.join(project, 'dist');

/** The declaration of a source file, as another declaration names it. */
const specifier = (from) => (file) => {
  const to = path.join(dist, path.relative(path.join(project, 'src'), file)).replace(/\.ts$/, '.js');
  const relative = path.relative(path.dirname(from), to);
  return relative.startsWith('.') ? relative : `./${relative}`;
};

function readDeclaration(file) {
  const text = readFileSync(file, 'utf8');
  const direct = withoutDoors(text, specifier(file), true);
  if (direct !== text) writeFileSync(file, direct);
  return direct;
}

const reached = new Set();
const waiting = Object.values(exports).flatMap(({ types }) => (types === undefined ? [] : [path.join(project, types)]));
for (const file of waiting) {
  if (reached.has(file)) continue;
  reached.add(file);
  for (const [, name] of readDeclaration(file).matchAll(IMPORTED)) {
    const declaration = path.join(path.dirname(file), name).replace(/\.[jt]s$/, '.d.ts');
    if (!existsSync(declaration)) throw new Error(`${file} imports ${name}, which has no declarations`);
    waiting.push(declaration);
  }
}
for (const name of readdirSync(dist, { recursive: true }))
  if (name.endsWith('.d.ts') && !reached.has(path.join(dist, name))) rmSync(path.join(dist, name));
