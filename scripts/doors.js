// A door is the public file of a part: `import { a } from '#core'`. Bundles and declarations import `a` from the file that defines it
// instead, so that they load and contain nothing else of the part.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const project = fileURLToPath(new URL('..', import.meta.url));
const { imports } = JSON.parse(readFileSync(path.join(project, 'package.json'), 'utf8'));
const SOURCES = [path.join(project, 'src/'), path.join(project, 'console/')];
const STATEMENT = /^(import|export)( type)? \{([^}]*)\} from ['"](#[^'"]+)['"];/gm;
const EXPORTS = /^export(?: type)? \{([^}]*)\} from '(\.[^']+)';/gm;
const TYPE_IMPORT = /\bimport\(["'](#[^"']+)["']\)\.(\w+)/g;

/** The source file of a door. */
export function doorFile(door) {
  if (imports[door] === undefined) throw new Error(`package.json has no import ${door}`);
  return path.join(project, imports[door].source);
}

const known = new Map();

/** Each name that a door offers, with the file that defines it. A door without re-exports is itself that file. */
function namesOf(door) {
  const names = known.get(door) ?? new Map();
  if (known.has(door)) return names;
  known.set(door, names);
  const file = doorFile(door);
  for (const [, list, from] of readFileSync(file, 'utf8').matchAll(EXPORTS))
    for (const { name, as } of specifiers(list)) names.set(as, { name, file: path.join(path.dirname(file), from) });
  return names;
}

function specifiers(list) {
  return list
    .replaceAll(/\/\/.*$/gm, '')
    .split(',')
    .map((item) => /^\s*(type\s+)?(\w+)(?:\s+as\s+(\w+))?\s*$/.exec(item))
    .filter((found) => found !== null)
    .map(([, type, name, as = name]) => ({ isType: type !== undefined, name, as }));
}

function definition(door, name) {
  const names = namesOf(door);
  const found = names.get(name) ?? (names.size === 0 ? { name, file: doorFile(door) } : undefined);
  if (found === undefined) throw new Error(`${door} does not export ${name}`);
  return found;
}

/** Replaces doors in a text by files, whose names `specifier` makes. Without `keepTypes` types are left out. */
export function withoutDoors(text, specifier, keepTypes) {
  return text
    .replaceAll(STATEMENT, (_all, keyword, type = '', list, door) => {
      const files = new Map();
      for (const { isType, name, as } of specifiers(list)) {
        if (!keepTypes && (isType || type !== '')) continue;
        const found = definition(door, name);
        const own = `${isType ? 'type ' : ''}${found.name === as ? as : `${found.name} as ${as}`}`;
        files.set(found.file, [...(files.get(found.file) ?? []), own]);
      }
      return [...files]
        .map(([file, names]) => `${keyword}${type} { ${names.join(', ')} } from '${specifier(file)}';`)
        .join(' ');
    })
    .replaceAll(TYPE_IMPORT, (_all, door, name) => {
      const found = definition(door, name);
      return `import('${specifier(found.file)}').${found.name}`;
    });
}

const isSource = (file) => /\.tsx?$/.test(file) && SOURCES.some((folder) => file.startsWith(folder));

/** For esbuild. */
export const doors = {
  name: 'doors',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^#/ }, ({ path: door }) => ({ path: doorFile(door) }));
    onLoad({ filter: /\.tsx?$/ }, ({ path: file }) => {
      if (!isSource(file)) return undefined;
      const contents = withoutDoors(readFileSync(file, 'utf8'), (name) => name, false);
      return { contents, loader: file.endsWith('x') ? 'tsx' : 'ts' };
    });
  },
};

/** For vite. */
export const viteDoors = {
  name: 'doors',
  enforce: 'pre',
  resolveId: (name) => (name.startsWith('#') ? doorFile(name) : undefined),
  transform: (text, file) => (isSource(file) ? withoutDoors(text, (name) => name, false) : undefined),
};
