import { mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { indexSource, type IndexedSource } from '../../../src/packs/browse/index-source.ts';
import { searchSources } from '../../../src/packs/browse/search-sources.ts';
import {
  readSourceIndex,
  sourceIndexText,
  openSourceStore,
  type SourceIndex,
} from '../../../src/packs/browse/source-store.ts';
import { isRefusal, type PackRefusal } from '../../../src/packs/problems.ts';
import { verifies } from '../../conformance/verifies.ts';
import { openSite } from '../../project/network/network-world.ts';
import { scratch } from '../../skills/registry/support.ts';
import { skillText } from '../sources/bring-support.ts';
import { repository, serveSmartly } from '../sources/git-world.ts';
import { AT, packWorld, type PackWorld } from '../support.ts';

const index = (name: string, ...skills: SourceIndex['skills']): SourceIndex => ({
  name,
  source: `/sources/${name}`,
  at: AT.toISOString(),
  skills,
});

async function indexed(world: PackWorld, source: string): Promise<IndexedSource> {
  const read = await indexSource(source, { settings: world.settings, name: 'mine', now: AT });
  if (isRefusal(read)) throw new Error(`${read.code}: ${read.message}`);
  return read;
}

describe('the index of a source', () => {
  verifies('INST-4', 'has name, description, folder and digest of each skill; nothing is installed', async () => {
    const world = packWorld();
    world.skill('source/tables');
    world.skill('source/group/letters');
    const { index: made, isSame, leftOut } = await indexed(world, './source');
    expect({ isSame, leftOut }).toEqual({ isSame: false, leftOut: [] });
    expect(made).toEqual({
      name: 'mine',
      source: path.join(world.project, 'source'),
      at: AT.toISOString(),
      skills: [
        {
          name: 'letters',
          description: 'Works on letters. Use it for letters.',
          path: 'group/letters',
          digest: expect.stringMatching(/^sha256-tree:[0-9a-f]{64}$/),
        },
        {
          name: 'tables',
          description: 'Works on tables. Use it for tables.',
          path: 'tables',
          digest: expect.stringMatching(/^sha256-tree:[0-9a-f]{64}$/),
        },
      ],
    });
    expect(readdirSync(world.project).toSorted()).toEqual(['.git', 'source']);
    const installed = await world.install('./source');
    expect(installed).toMatchObject({
      plan: { skills: made.skills.map(({ name, digest }) => ({ skill: { name, digest } })) },
    });
  });

  test('of a site is read from its list; no skill is fetched', async () => {
    const digest = `sha256:${'a'.repeat(64)}`;
    const skills = [{ name: 'pdf', type: 'skill-md', description: 'Reads PDFs.', url: 'pdf/SKILL.md', digest }];
    const site = await openSite(({ url }, response) => {
      if (url === '/.well-known/agent-skills/index.json') response.end(JSON.stringify({ skills }));
      else response.writeHead(404).end();
    });
    const { index: made } = await indexed(packWorld(), site.origin);
    expect(made.source).toBe(`well-known:${site.origin}`);
    expect(made.skills).toEqual([{ name: 'pdf', description: 'Reads PDFs.', digest }]);
    expect(site.requests.map(({ line }) => line)).toEqual(['GET /.well-known/agent-skills/index.json']);
  });

  test('of a repository is read again only after a new commit', async () => {
    const repo = repository({ 'skills/pdf/SKILL.md': skillText('pdf') });
    const source = await serveSmartly(repo);
    const { settings } = packWorld();
    const read = (before?: SourceIndex): Promise<IndexedSource | PackRefusal> =>
      indexSource(`git+${source}`, { settings, name: 'mine', now: AT, before });
    const first = await read();
    if (isRefusal(first)) throw new Error(first.message);
    expect(first).toMatchObject({ isSame: false, index: { revision: repo.git('rev-parse', 'HEAD') } });
    expect(await read(first.index)).toEqual({ ...first, isSame: true });
    const commit = repo.commit({ 'skills/csv/SKILL.md': skillText('csv') });
    expect(await read(first.index)).toMatchObject({
      isSame: false,
      index: { revision: commit, skills: [{ name: 'csv' }, { name: 'pdf' }] },
    });
  });

  test('leaves out a skill that could not be installed, and says why', async () => {
    const world = packWorld();
    world.skill('source/tables');
    symlinkSync('/etc/passwd', path.join(world.skill('source/linked'), 'passwd'));
    const { index: made, leftOut } = await indexed(world, './source');
    expect(made.skills.map(({ name }) => name)).toEqual(['tables']);
    expect(leftOut).toEqual(['"linked": "passwd" is a link']);
  });

  test('of a source without skills, or that is missing, is refused', async () => {
    const world = packWorld();
    mkdirSync(path.join(world.project, 'empty'));
    const read = (source: string): Promise<unknown> => indexSource(source, { settings: world.settings, name: 'mine' });
    expect(await read('./empty')).toMatchObject({ type: 'refused', code: 'pack/no-skill' });
    expect(await read('./nowhere')).toMatchObject({ type: 'refused', code: 'source/missing' });
  });

  test('survives its file, and any damage makes it unreadable as a whole', () => {
    const made = index('a', { name: 'x', description: '\u001b[31mX', path: 'x', digest: 'sha256-tree:1' });
    const text = sourceIndexText(made);
    expect(readSourceIndex(text)).toEqual(made);
    for (const broken of [text.slice(0, -4), '{}', '[]', 'null', text.replace('"x"', '"../x"'), text.replace('1', '9')])
      expect(readSourceIndex(broken), broken).toBeUndefined();
  });
});

describe('the stored sources', () => {
  test('are private files that appear and disappear whole', async () => {
    const home = scratch();
    const store = openSourceStore({ home });
    expect(store.list()).toEqual({ sources: [], problems: [] });
    const first = index('a', { name: 'x', description: 'X' });
    await store.save(first, { isNew: true });
    await expect(store.save(first, { isNew: true })).rejects.toThrow(/a source "a" exists already/);
    await expect(store.save(index('b'), { isNew: false })).rejects.toThrow(/there is no source "b"/);
    expect(store.list()).toEqual({ sources: [first], problems: [] });
    await store.remove('a');
    expect(readdirSync(path.join(home, '.agent/sources'))).toEqual([]);
    await expect(store.remove('a')).rejects.toThrow(/there is no source "a"/);
  });

  test('refuse names that are paths', () => {
    const store = openSourceStore({ home: scratch() });
    for (const name of ['', '..', '../x', 'a/b', 'A', 'a.json', '-a', 'x'.repeat(65), 'a\u202eb'])
      expect(() => store.checkNew(name), name).toThrow(/is not a name of a source/);
    expect(() => openSourceStore({ home: undefined }).checkNew('a')).toThrow(/no home folder/);
  });

  test('name a damaged index and go on with the others', async () => {
    const home = scratch();
    const store = openSourceStore({ home });
    const good = index('good', { name: 'x', description: 'X' });
    await store.save(good, { isNew: true });
    writeFileSync(path.join(home, '.agent/sources/bad.json'), '{"schema": 1');
    const problems = ['the index of the source "bad" cannot be read; remove the source and add it again'];
    expect(store.list()).toEqual({ sources: [good], problems });
    expect(() => store.read('bad')).toThrow(problems[0]);
  });

  test('of many writers, one adds a name and the last update stays', async () => {
    const home = scratch();
    const store = openSourceStore({ home });
    const tries = await Promise.allSettled(
      Array.from({ length: 8 }, (_, at) =>
        store.save(index('a', { name: `s${String(at)}`, description: '' }), { isNew: true }),
      ),
    );
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await Promise.all(
      Array.from({ length: 8 }, (_, at) =>
        store.save(index('a', { name: `u${String(at)}`, description: '' }), { isNew: false }),
      ),
    );
    expect(store.read('a').skills[0]?.name).toMatch(/^u\d$/);
    expect(readdirSync(path.join(home, '.agent/sources'))).toEqual(['a.json']);
  });
});

describe('searching sources', () => {
  verifies(
    'INST-4',
    'finds skills that are not installed, once each, and keeps its index while the files stay',
    async () => {
      const [home, cacheDir] = [scratch(), scratch()];
      const store = openSourceStore({ home });
      const slides = { name: 'slides', description: 'Makes slide decks.', digest: 'sha256-tree:1' };
      await store.save(index('a', slides, { name: 'letters', description: 'Writes letters.' }), { isNew: true });
      await store.save(index('b', slides, { name: 'decks', description: 'Makes slide decks of cards.' }), {
        isNew: true,
      });
      const search = (query: string, installed: readonly string[] = []): readonly string[] =>
        searchSources(query, { store, cacheDir, limit: 5, installed: new Set(installed) }).results.map(
          ({ name, from }) => `${from}/${name}`,
        );
      expect(search('slide decks').toSorted()).toEqual(['a/slides', 'b/decks']);
      expect(search('slide decks', ['slides'])).toEqual(['b/decks']);
      expect(search('letters')).toEqual(['a/letters']);
      await store.remove('b');
      expect(search('slide decks')).toEqual(['a/slides']);
      rmSync(cacheDir, { recursive: true });
      expect(search('slide decks')).toEqual(['a/slides']);
      expect(readFileSync(path.join(home, '.agent/sources/a.json'), 'utf8')).toContain('"slides"');
    },
  );
});
