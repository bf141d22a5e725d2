import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { PROJECT, filesBelow } from './files-below.ts';

/** The import table of docs/architecture.md: a part imports from itself, from every row above, and from its friends in its own row. */
const ROWS: readonly (readonly string[])[] = [
  ['version.ts'],
  ['core'],
  ['platform'],
  ['skills', 'policy', 'sandbox', 'project', 'journal', 'model', 'tools', 'scan'],
  ['runtime'],
  ['agent', 'packs', 'mcp'],
  ['activation', 'doctor', 'evals', 'library', 'server'],
  ['fleet'],
  ['cli', 'console'],
  ['index.ts', 'core.ts', 'agent.ts', 'evals.ts', 'tools.ts', 'packs.ts', 'mcp.ts', 'client.ts', 'testing.ts'],
];

/** Imports inside a row. Each needs a reason. */
const FRIENDS: Readonly<Record<string, readonly string[]>> = {
  // The rule model finds quickstarts in SKILL.md.
  model: ['skills'],
};

interface Import {
  readonly from: string;
  readonly to: string;
  readonly isLazy: boolean;
  readonly isType: boolean;
}

const sources = ['src', 'console'].flatMap((folder) => filesBelow(folder, /\.tsx?$/));
const read = (file: string): string => readFileSync(path.join(PROJECT, file), 'utf8');
/** The doors of package.json with their files. */
const doors: ReadonlyMap<string, string> = new Map(
  Object.entries<{ source: string }>(JSON.parse(read('package.json')).imports).map(([door, { source }]) => [
    door,
    path.posix.normalize(source),
  ]),
);
/** What each door offers, with the file that defines it. */
const offered = new Map(
  [...doors].map(([door, file]) => [
    door,
    new Map(
      [...read(file).matchAll(/^export(?: type)? \{([^}]*)\} from '(\.[^']+)'/gm)].flatMap(([, list = '', from = '']) =>
        namesIn(list).map(({ name }) => [name, path.posix.join(path.posix.dirname(file), from)] as const),
      ),
    ),
  ]),
);
const imports: readonly Import[] = sources.flatMap((from) => {
  const text = read(from);
  const statics = [...text.matchAll(/^(?:import|export)\s(type\s)?([^;]*?)from\s+'([^']+)'/gms)].flatMap(
    ([, type, list = '', to = '']) => {
      const isType = type !== undefined;
      if (!doors.has(to)) return [{ to, isLazy: false, isType }];
      return namesIn(list.replaceAll(/[{}]/g, '')).map((named) => ({
        to: offered.get(to)?.get(named.name) ?? doors.get(to) ?? to,
        isLazy: false,
        isType: isType || named.isType,
      }));
    },
  );
  const lazies = [...text.matchAll(/\bimport\('([^']+)'\)/g)].map(([, to = '']) => ({
    to,
    isLazy: true,
    isType: false,
  }));
  return [...statics, ...lazies].map((found) => ({
    ...found,
    from,
    to: found.to.startsWith('.')
      ? path.posix.join(path.posix.dirname(from), found.to)
      : (doors.get(found.to) ?? found.to),
  }));
});
const folderOf = (file: string): string => (file.startsWith('console/') ? 'console' : (file.split('/')[1] ?? ''));
const isEntryPoint = (file: string): boolean => /^src\/[^/]+$/.test(file);
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
    const wrong = inside.filter(({ from, to }) => !isEntryPoint(from) && !isAllowed(from, to));
    expect(inside.length).toBeGreaterThan(100);
    expect(wrong).toEqual([]);
  });

  test('a part imports another part through its door, and its own files by their paths', () => {
    const relative = sources.flatMap((from) =>
      [...read(from).matchAll(/(?:\bfrom|\bimport\()\s*'(\.[^']+)'/g)].map(([, to = '']) => ({
        from,
        to: path.posix.join(path.posix.dirname(from), to),
      })),
    );
    expect(
      relative.filter(({ from, to }) => !isEntryPoint(from) && !isEntryPoint(to) && folderOf(from) !== folderOf(to)),
    ).toEqual([]);
    const used = sources.flatMap((from) =>
      [...read(from).matchAll(/(?:\bfrom|\bimport\()\s*'(#[\w/-]+)'/g)].map(([, door = '']) => ({ from, door })),
    );
    expect(used.filter(({ from, door }) => door.slice(1).split('/')[0] === folderOf(from))).toEqual([]);
    expect([...new Set(used.map(({ door }) => door))].toSorted()).toEqual([...doors.keys()].toSorted());
  });

  test('parts know at most 600 names of each other, and at most 40 of one part but core and platform', () => {
    const known = new Map<string, Set<string>>();
    for (const from of sources.filter((file) => !isEntryPoint(file)))
      for (const [, list = '', part = ''] of read(from).matchAll(
        /^(?:import|export)(?: type)?\s+\{([^}]*)\}\s+from\s+'#(\w+)[\w/-]*'/gm,
      ))
        known.set(part, new Set([...(known.get(part) ?? []), ...namesIn(list).map(({ name }) => name)]));
    const counts = [...known].map(([part, names]) => ({ part, count: names.size }));
    expect(counts.reduce((sum, { count }) => sum + count, 0)).toBeLessThanOrEqual(600);
    expect(counts.filter(({ part, count }) => count > 40 && part !== 'core' && part !== 'platform')).toEqual([]);
  });

  test('the page imports nothing that runs except core, the texts of reports and its own files', () => {
    const page = imports.filter(({ from, isType }) => folderOf(from) === 'console' && !isType);
    expect(page.length).toBeGreaterThan(50);
    expect(
      page
        .filter(
          ({ to }) =>
            !/^(?:console|src\/core|src\/evals\/report)\/|^src\/evals\/page\/view\.ts$|^preact(?:\/hooks)?$/.test(to),
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
    expect([...loaded].filter((file) => /^src\/skills\/(?:search|format)\//.test(file))).toEqual([
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
    const code = ['src', 'console', 'test', 'bench', 'scripts', 'examples', 'skills'].flatMap((folder) =>
      filesBelow(folder, /\.(?:[cm]?[jt]sx?|py)$/),
    );
    expect(code.filter((file) => read(file).split('\n').length > 401)).toEqual([]);
  });

  test('that read skills start no program, and import no part that does', () => {
    const reading = sources.filter((file) => /^src\/(?:core|platform|skills)\//.test(file));
    expect(reading.filter((file) => /child_process|worker_threads|\bnode:vm\b/.test(read(file)))).toEqual([]);
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
  test('the library has at most 26 values', async () => {
    const library = await import('../src/index.ts');
    expect(Object.keys(library).sort()).toMatchSnapshot();
    expect(Object.keys(library).length).toBeLessThanOrEqual(26);
  });
});

function namesIn(list: string): readonly { readonly name: string; readonly isType: boolean }[] {
  return [...list.matchAll(/(type\s+)?(\w+)(?:\s+as\s+\w+)?\s*(?:,|$)/g)].map(([, type, name = '']) => ({
    name,
    isType: type !== undefined,
  }));
}

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
