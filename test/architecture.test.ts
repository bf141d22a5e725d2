import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { PROJECT, filesBelow } from './files-below.ts';

/** The import table of docs/architecture.md: a folder imports from itself, from every row above, and from its friends in its own row. */
const ROWS: readonly (readonly string[])[] = [
  ['version.ts'],
  ['core'],
  ['platform'],
  [
    'format',
    'registry',
    'search',
    'catalog',
    'loader',
    'policy',
    'sandbox',
    'project',
    'artifact',
    'journal',
    'model',
    'tools',
  ],
  ['runtime'],
  ['agent', 'packs', 'mcp'],
  ['evals', 'server', 'console'],
  ['cli'],
  [
    'index.ts',
    'core.ts',
    'agent.ts',
    'evals.ts',
    'tools.ts',
    'packs.ts',
    'mcp.ts',
    'client.ts',
    'testing.ts',
    'testing',
  ],
];

/** Imports inside a row. Each needs a reason. */
const FRIENDS: Readonly<Record<string, readonly string[]>> = {
  // Indexing a skill means reading its frontmatter.
  registry: ['format'],
  // Level 2 is the body behind the frontmatter.
  loader: ['format'],
  // Runs save their outputs as artifacts.
  sandbox: ['artifact'],
  // The rule model finds quickstarts in SKILL.md.
  model: ['format'],
  // The page uses the types of the API that it calls, and shows reports of evaluations.
  console: ['server', 'evals'],
};

interface Import {
  readonly from: string;
  readonly to: string;
  readonly isLazy: boolean;
  readonly isType: boolean;
}

const sources = filesBelow('src', /\.tsx?$/);
const read = (file: string): string => readFileSync(path.join(PROJECT, file), 'utf8');
const imports: readonly Import[] = sources.flatMap((from) => {
  const text = read(from);
  const statics = [...text.matchAll(/^(?:import|export)\s(type\s)?[^;]*?from\s+'([^']+)'/gms)].map(
    ([, type, to = '']) => ({ to, isLazy: false, isType: type !== undefined }),
  );
  const lazies = [...text.matchAll(/\bimport\('([^']+)'\)/g)].map(([, to = '']) => ({
    to,
    isLazy: true,
    isType: false,
  }));
  return [...statics, ...lazies].map((found) => ({
    ...found,
    from,
    to: found.to.startsWith('.') ? path.posix.join(path.posix.dirname(from), found.to) : found.to,
  }));
});
const folderOf = (file: string): string => file.split('/')[1] ?? '';
const rowOf = (file: string): number => ROWS.findIndex((row) => row.includes(folderOf(file)));

describe('the import table', () => {
  test('every file is in a row of the table', () => {
    expect(sources.filter((file) => rowOf(file) === -1)).toEqual([]);
  });

  test('imports stay in the folder, go to a row above, or go to a friend', () => {
    const inside = imports.filter(({ to }) => to.startsWith('src/'));
    const isAllowed = (from: string, to: string): boolean =>
      folderOf(from) === folderOf(to) ||
      rowOf(to) < rowOf(from) ||
      (FRIENDS[folderOf(from)]?.includes(folderOf(to)) ?? false);
    const isDoor = (file: string): boolean => file.split('/').length === 2;
    const wrong = inside.filter(({ from, to }) => !isDoor(from) && !isAllowed(from, to));
    expect(inside.length).toBeGreaterThan(100);
    expect(wrong).toEqual([]);
  });

  test('the page imports nothing that runs except core, the texts of reports and its own files', () => {
    const page = imports.filter(({ from, isType }) => folderOf(from) === 'console' && !isType);
    expect(page.length).toBeGreaterThan(50);
    expect(
      page
        .filter(
          ({ to }) =>
            !/^src\/(?:console|core|evals\/report)\/|^src\/evals\/page\/view\.ts$|^preact(?:\/hooks)?$/.test(to),
        )
        .map(({ from, to }) => [from, to]),
    ).toEqual([]);
  });

  test('no import cycle exists, types included', () => {
    const edges = groupByFile(imports);
    expect(findCycle(edges)).toEqual([]);
  });

  test('core is pure: no node module, no process, no Buffer, and no package', () => {
    const outside = imports
      .filter(({ from, to }) => folderOf(from) === 'core' && !to.startsWith('src/'))
      .map(({ to }) => to);
    expect([...new Set(outside)]).toEqual([]);
    const impure = sources.filter(
      (file) =>
        folderOf(file) === 'core' && /\b(?:process|Buffer|require|__dirname|globalThis)\b\s*[.(]/.test(read(file)),
    );
    expect(impure).toEqual([]);
  });

  test('listing skills loads no package but the one for column widths, no frontmatter reader and no search engine until they are needed', () => {
    const edges = groupByFile(imports.filter(({ isLazy, isType }) => !isLazy && !isType));
    const loaded = reachable('src/cli/skills/list.ts', edges);
    expect([...loaded].filter((file) => !file.startsWith('src/') && !file.startsWith('node:'))).toEqual([
      'fast-string-width',
    ]);
    expect([...loaded].filter((file) => /^src\/(?:search|format)\//.test(file))).toEqual([
      'src/skills/format/bounds.ts',
    ]);
  });

  test('only cli talks to the process; the surroundings are read in one place', () => {
    const speakers = sources.filter((file) =>
      /\bprocess\.(?:env|cwd|argv|exit|stdout|stderr)\b|\bconsole\./.test(read(file)),
    );
    expect(speakers.filter((file) => !file.startsWith('src/cli/'))).toEqual(['src/runtime/config/config.ts']);
  });
});

describe('the files', () => {
  test('none has more than 400 lines', () => {
    const code = ['src', 'test', 'bench', 'scripts', 'examples', 'skills'].flatMap((folder) =>
      filesBelow(folder, /\.(?:[cm]?[jt]sx?|py)$/),
    );
    expect(code.filter((file) => read(file).split('\n').length > 401)).toEqual([]);
  });

  test('how files of others are opened stands in one place', () => {
    const naming = sources.filter((file) => /\bO_(?:NOFOLLOW|DIRECTORY|EXCL)\b/.test(read(file)));
    expect(naming).toEqual(['src/platform/fs/open-flags.ts']);
  });

  test('none is called utils, helpers or common', () => {
    expect(sources.filter((file) => /(?:^|\/)(?:utils?|helpers?|common|misc)(?:\/|\.ts$)/.test(file))).toEqual([]);
  });

  test('exports are written out by hand', () => {
    expect(sources.filter((file) => /^export \*/m.test(read(file)))).toEqual([]);
  });

  test('the version is that of the package', async () => {
    const { VERSION } = await import('../src/version.ts');
    expect(VERSION).toBe(JSON.parse(read('package.json')).version);
  });
});

describe('the doors', () => {
  test('the library has at most 25 values', async () => {
    const library = await import('../src/index.ts');
    expect(Object.keys(library).sort()).toMatchSnapshot();
    expect(Object.keys(library).length).toBeLessThanOrEqual(25);
  });
});

function groupByFile(all: readonly Import[]): ReadonlyMap<string, readonly string[]> {
  const edges = new Map<string, string[]>();
  for (const { from, to } of all) edges.set(from, [...(edges.get(from) ?? []), to]);
  return edges;
}

function reachable(start: string, edges: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const seen = new Set([start]);
  for (const file of seen) for (const next of edges.get(file) ?? []) seen.add(next);
  return seen;
}

function findCycle(edges: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const finished = new Set<string>();
  const walk = (file: string, trail: readonly string[]): readonly string[] => {
    if (trail.includes(file)) return [...trail.slice(trail.indexOf(file)), file];
    if (finished.has(file)) return [];
    for (const next of edges.get(file) ?? []) {
      const cycle = walk(next, [...trail, file]);
      if (cycle.length > 0) return cycle;
    }
    finished.add(file);
    return [];
  };
  for (const file of edges.keys()) {
    const cycle = walk(file, []);
    if (cycle.length > 0) return cycle;
  }
  return [];
}
