import { STOP_CHARACTERS, STOP_PHRASES, STOP_WORDS } from '../src/skills/search/stop-words.ts';
import { pairCharacters, scanRuns, toTerm, splitWords } from '../src/skills/search/tokenize.ts';
import { importPeer } from './peers.ts';
import type { BenchSkill } from './search-data.ts';
import type { Searcher } from './search-figures.ts';

/** A search library with one way to use it. */
export interface Peer {
  readonly name: string;
  /** Fuse needs seconds for a query; such a peer is asked one in so many. */
  readonly everyNth?: number;
  readonly build: (skills: readonly BenchSkill[]) => Searcher;
}

const STOP_PHRASE_PATTERN = new RegExp(STOP_PHRASES.join('|'), 'gu');

/** Our own words, stems, stop words and pairs, for peers that let a tokenizer be given: they shall not lose by theirs. */
function ownTerms(text: string, isQuery: boolean): string[] {
  return scanRuns(text).flatMap((run) => {
    if (run.type === 'break') return [];
    if (run.type === 'word')
      return splitWords(run.text)
        .filter((word) => !STOP_WORDS.has(word))
        .map(toTerm);
    const pieces = isQuery ? run.text.split(STOP_PHRASE_PATTERN).filter((piece) => piece !== '') : [run.text];
    const pairs = pieces.flatMap((piece) => pairCharacters(piece));
    return isQuery
      ? pairs.filter((pair) => !Array.from(pair).some((character) => STOP_CHARACTERS.has(character)))
      : pairs;
  });
}

/** Installs all peers and gives the ways to use them: as they come, and with our tokenizer at the best settings found. */
export async function loadSearchPeers(peersDir: string): Promise<readonly Peer[]> {
  return [
    ...(await miniSearch(peersDir)),
    ...(await wink(peersDir)),
    ...(await fts5(peersDir)),
    ...(await lunr(peersDir)),
    ...(await flexSearch(peersDir)),
    ...(await orama(peersDir)),
    ...(await fuse(peersDir)),
  ];
}

interface MiniSearchIndex {
  addAll(documents: readonly object[]): void;
  search(query: string): readonly { readonly id: number }[];
}

async function miniSearch(peersDir: string): Promise<readonly Peer[]> {
  const module = (await importPeer(peersDir, 'minisearch@7.2.0', 'minisearch')) as {
    readonly default: new (options: object) => MiniSearchIndex;
  };
  const peer = (name: string, options: object): Peer => ({
    name: `minisearch, ${name}`,
    build(skills) {
      const index = new module.default({ fields: ['name', 'description'], idField: 'position', ...options });
      index.addAll(skills.map(({ name: title, description }, position) => ({ position, name: title, description })));
      return (query, limit) =>
        index
          .search(query)
          .slice(0, limit)
          .map(({ id }) => id);
    },
  });
  const own = (searchOptions: object): object => ({
    tokenize: (text: string) => ownTerms(text, false),
    processTerm: (term: string) => term,
    searchOptions: {
      tokenize: (text: string) => ownTerms(text, true),
      processTerm: (term: string) => term,
      ...searchOptions,
    },
  });
  return [
    peer('as it comes', {}),
    peer('prefix, fuzzy', { searchOptions: { prefix: true, fuzzy: 0.2, boost: { name: 2 } } }),
    peer('our tokenizer', own({ boost: { name: 2 } })),
    peer('our tokenizer, tuned', own({ boost: { name: 2 }, bm25: { k: 0.8, b: 0.4, d: 0 } })),
    peer('our tokenizer, tuned otherwise', own({ boost: { name: 3 }, bm25: { k: 1.2, b: 0.5, d: 0 } })),
  ];
}

interface WinkEngine {
  defineConfig(config: object): void;
  definePrepTasks(tasks: readonly ((text: string) => readonly string[])[]): void;
  addDoc(document: object, id: number): void;
  consolidate(): void;
  search(query: string, limit: number): readonly (readonly [string, number])[];
}

async function wink(peersDir: string): Promise<readonly Peer[]> {
  const module = (await importPeer(peersDir, 'wink-bm25-text-search@3.1.2', 'wink-bm25-text-search')) as {
    readonly default: () => WinkEngine;
  };
  return [
    {
      name: 'wink, our tokenizer, tuned',
      build(skills) {
        const engine = module.default();
        let isQuery = false;
        engine.defineConfig({ fldWeights: { name: 3, description: 1 }, bm25Params: { k1: 1.2, b: 0.5, k: 1 } });
        engine.definePrepTasks([(text) => ownTerms(text, isQuery)]);
        for (const [position, { name, description }] of skills.entries())
          engine.addDoc({ name, description }, position);
        engine.consolidate();
        isQuery = true;
        return (query, limit) => engine.search(query, limit).map(([id]) => Number(id));
      },
    },
  ];
}

interface SqliteDatabase {
  exec(sql: string): void;
  run(sql: string, values: readonly unknown[]): void;
  all(sql: string, values: readonly unknown[]): readonly { readonly id: number }[];
}

async function fts5(peersDir: string): Promise<readonly Peer[]> {
  const { default: sqlite } = (await importPeer(peersDir, 'node-sqlite3-wasm@0.8.60', 'node-sqlite3-wasm')) as {
    readonly default: { readonly Database: new (file: string) => SqliteDatabase };
  };
  // Our terms hold characters that SQLite's tokenizer would split, so they go in as hexadecimal words.
  const hexadecimal = (term: string): string => `x${Buffer.from(term).toString('hex')}`;
  const peer = (
    name: string,
    tokenizer: string,
    words: (text: string, isQuery: boolean) => readonly string[],
  ): Peer => ({
    name: `SQLite FTS5, ${name}`,
    build(skills) {
      const database = new sqlite.Database(':memory:');
      database.exec(`create virtual table t using fts5(name, description, tokenize='${tokenizer}')`);
      database.exec('begin');
      for (const [position, skill] of skills.entries()) {
        database.run('insert into t(rowid, name, description) values(?, ?, ?)', [
          position + 1,
          words(skill.name, false).join(' '),
          words(skill.description, false).join(' '),
        ]);
      }
      database.exec('commit');
      return (query, limit) => {
        const terms = words(query, true);
        if (terms.length === 0) return [];
        const match = terms.map((term) => `"${term}"`).join(' OR ');
        return database
          .all('select rowid - 1 as id from t where t match ? order by bm25(t, 5, 1) limit ?', [match, limit])
          .map(({ id }) => id);
      };
    },
  });
  const plain = (text: string): readonly string[] => text.match(/[\p{L}\p{N}]+/gu) ?? [];
  return [
    peer('porter', 'porter unicode61', plain),
    peer('our tokenizer', 'unicode61', (text, isQuery) => ownTerms(text, isQuery).map(hexadecimal)),
  ];
}

async function lunr(peersDir: string): Promise<readonly Peer[]> {
  interface Builder {
    ref(name: string): void;
    field(name: string, options?: object): void;
    add(document: object): void;
  }
  interface Index {
    query(
      build: (query: { term(terms: readonly string[], options: object): void }) => void,
    ): readonly { readonly ref: string }[];
  }
  const module = (await importPeer(peersDir, 'lunr@2.3.9', 'lunr')) as {
    readonly default: {
      (configure: (this: Builder) => void): Index;
      tokenizer(text: string): readonly { toString(): string }[];
    };
  };
  return [
    {
      name: 'lunr, as it comes',
      build(skills) {
        const index = module.default(function configure() {
          this.ref('position');
          this.field('name', { boost: 2 });
          this.field('description');
          for (const [position, { name, description }] of skills.entries()) this.add({ position, name, description });
        });
        return (query, limit) =>
          index
            .query((builder) => builder.term(module.default.tokenizer(query).map(String), {}))
            .slice(0, limit)
            .map(({ ref }) => Number(ref));
      },
    },
  ];
}

async function flexSearch(peersDir: string): Promise<readonly Peer[]> {
  interface Index {
    add(id: number, text: string): void;
    search(query: string, options: object): readonly number[];
  }
  const { default: flexsearch } = (await importPeer(peersDir, 'flexsearch@0.8.212', 'flexsearch')) as {
    readonly default: { readonly Index: new (options: object) => Index };
  };
  return [
    {
      name: 'flexsearch, with suggestions',
      build(skills) {
        const index = new flexsearch.Index({ tokenize: 'forward' });
        for (const [position, { name, description }] of skills.entries()) index.add(position, `${name} ${description}`);
        return (query, limit) => index.search(query, { limit, suggest: true });
      },
    },
  ];
}

async function orama(peersDir: string): Promise<readonly Peer[]> {
  const module = (await importPeer(peersDir, '@orama/orama@3.1.18', '@orama/orama')) as {
    create(options: object): unknown;
    insertMultiple(index: unknown, documents: readonly object[]): unknown;
    search(
      index: unknown,
      options: object,
    ): { readonly hits: readonly { readonly document: { readonly position: number } }[] };
  };
  return [
    {
      name: 'orama, as it comes',
      build(skills) {
        const index = module.create({ schema: { name: 'string', description: 'string', position: 'number' } });
        for (const [position, { name, description }] of skills.entries())
          module.insertMultiple(index, [{ name, description, position }]);
        return (query, limit) =>
          module
            .search(index, { term: query, properties: ['name', 'description'], boost: { name: 2 }, limit })
            .hits.map(({ document }) => document.position);
      },
    },
  ];
}

async function fuse(peersDir: string): Promise<readonly Peer[]> {
  const { default: Fuse } = (await importPeer(peersDir, 'fuse.js@7.5.0', 'fuse.js')) as {
    readonly default: new (
      list: readonly object[],
      options: object,
    ) => { search(query: string, options: object): readonly { readonly refIndex: number }[] };
  };
  return [
    {
      name: 'fuse.js, ignoring location',
      everyNth: 65,
      build(skills) {
        const index = new Fuse(skills, { keys: ['name', 'description'], ignoreLocation: true });
        return (query, limit) => index.search(query.slice(0, 200), { limit }).map(({ refIndex }) => refIndex);
      },
    },
  ];
}
