import { closeSync, openSync, readFileSync, readSync, readdirSync, statSync } from 'node:fs';

import { buildIndex } from '../src/skills/registry/registry.ts';
import { importPeer } from './peers.ts';

/** One way to read a folder of skills, run once in a process of its own. Gives how many skills it saw. */
type Loader = (input: WorkerInput) => Promise<() => number | Promise<number>>;

interface WorkerInput {
  readonly directory: string;
  readonly peersDir: string;
  readonly cacheFile: string;
}

const roots = (directory: string) => [{ source: 'bench', path: directory, priority: 1, explicit: true }];

/** A loader prepares (imports, lists of names) outside the measured time. */
const LOADERS: Readonly<Record<string, Loader>> = {
  stat: async ({ directory }) => {
    const names = readdirSync(directory);
    return () => names.filter((name) => statSync(`${directory}/${name}/SKILL.md`).isFile()).length;
  },
  read4k: async ({ directory }) => {
    const buffer = Buffer.alloc(4096);
    return () => {
      const names = readdirSync(directory);
      for (const name of names) {
        const descriptor = openSync(`${directory}/${name}/SKILL.md`, 'r');
        readSync(descriptor, buffer, 0, 4096, 0);
        closeSync(descriptor);
      }
      return names.length;
    };
  },
  cold: async ({ directory }) => {
    // Loaded when a scan finds a change, and like other imports not part of the measured time.
    await Promise.all([import('../src/skills/registry/reindex.ts'), import('../src/skills/format/simple-head.ts')]);
    return async () => (await buildIndex({ roots: roots(directory) })).skills.length;
  },
  fill:
    async ({ directory, cacheFile }) =>
    async () =>
      (await buildIndex({ roots: roots(directory), cacheFile })).skills.length,
  rescan:
    async ({ directory, cacheFile }) =>
    async () =>
      (await buildIndex({ roots: roots(directory), cacheFile })).report.valid,
  rescanAll:
    async ({ directory, cacheFile }) =>
    async () =>
      (await buildIndex({ roots: roots(directory), cacheFile })).skills.length,
  grayMatter: async ({ directory, peersDir }) => {
    const matter = defaultOf(await importPeer(peersDir, 'gray-matter@4.0.3', 'gray-matter'));
    return eachFile(directory, (text) => matter(text));
  },
  jsYaml: async ({ directory, peersDir }) => {
    const load = member(await importPeer(peersDir, 'js-yaml@4.1.0', 'js-yaml'), 'load');
    return eachFile(directory, (text) => load(frontmatterOf(text)));
  },
  yaml: async ({ directory, peersDir }) => {
    const parse = member(await importPeer(peersDir, 'yaml@2.9.1', 'yaml'), 'parse');
    return eachFile(directory, (text) => parse(frontmatterOf(text)));
  },
  deepagents: async ({ directory, peersDir }) => {
    const listSkills = member(await importPeer(peersDir, 'deepagents@1.14.1', 'deepagents'), 'listSkills');
    return () => {
      const skills = listSkills({ projectSkillsDir: directory });
      return Array.isArray(skills) ? skills.length : 0;
    };
  },
};

type Callable = (...input: readonly unknown[]) => unknown;

function member(module: unknown, name: string): Callable {
  const value: unknown = typeof module === 'object' && module !== null ? Reflect.get(module, name) : undefined;
  if (typeof value !== 'function') throw new TypeError(`the peer has no ${name}`);
  return (...input) => Reflect.apply(value, undefined, input);
}

function defaultOf(module: unknown): Callable {
  return member(module, 'default');
}

function eachFile(directory: string, parse: (text: string) => unknown): () => number {
  return () => {
    let good = 0;
    for (const name of readdirSync(directory)) {
      try {
        if (parse(readFileSync(`${directory}/${name}/SKILL.md`, 'utf8')) !== undefined) good += 1;
      } catch (error) {
        // The usual loop: what a library cannot parse is passed over.
        if (!(error instanceof Error)) throw error;
      }
    }
    return good;
  };
}

function frontmatterOf(text: string): string {
  return /^---\r?\n([\s\S]*?)\r?\n---/.exec(text)?.[1] ?? '';
}

/** Each loader in turn, many rounds, in one process: how fast they are once the code is warm. */
async function steady(input: WorkerInput, rounds: number): Promise<Readonly<Record<string, readonly number[]>>> {
  const names = ['stat', 'read4k', 'cold', 'rescan', 'rescanAll'];
  const times: Record<string, number[]> = {};
  for (let round = 0; round <= rounds; round += 1) {
    for (const name of names) {
      const run = await LOADERS[name]?.(input);
      const started = performance.now();
      await run?.();
      const time = performance.now() - started;
      if (round > 0) times[name] = [...(times[name] ?? []), time];
    }
  }
  return times;
}

interface Timed {
  readonly milliseconds: number;
  readonly skills: number;
}

async function time(name: string, input: WorkerInput): Promise<Timed> {
  const run = await LOADERS[name]?.(input);
  if (run === undefined) throw new Error(`no loader ${name}`);
  const started = performance.now();
  const skills = await run();
  return { milliseconds: performance.now() - started, skills };
}

// A second name after a slash is the floor: it runs just before and just after, in this same process. Its first run finds its code as
// little compiled as the loader finds its own; the faster of both is told too.
const [names = '', directory = '', peersDir = '', cacheFile = ''] = process.argv.slice(2);
const input = { directory, peersDir, cacheFile };
const [name = '', floorName] = names.split('/');
if (name === 'steady') {
  console.log(JSON.stringify(await steady(input, 15)));
} else {
  const before = floorName === undefined ? undefined : await time(floorName, input);
  const { milliseconds, skills } = await time(name, input);
  // Before anything else runs: this is the peak of the loader itself.
  const rssMb = process.resourceUsage().maxRSS / 1024;
  const after = floorName === undefined ? undefined : await time(floorName, input);
  const floorMs = Math.min(before?.milliseconds ?? Number.NaN, after?.milliseconds ?? Number.NaN);
  console.log(JSON.stringify({ milliseconds, firstFloorMs: before?.milliseconds, floorMs, skills, rssMb }));
}
