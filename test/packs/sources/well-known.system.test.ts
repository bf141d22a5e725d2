import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { verifies } from '../../conformance/verifies.ts';
import { openSite, type Site } from '../../project/network/network-world.ts';
import { isPresent } from '../../../src/platform/fs/paths.ts';
import { bring, mustBring, outcome, packAs, plantSource, skillText } from './bring-support.ts';
import { downloadBytes } from '../../../src/packs/sources/download.ts';
import { ARCHIVE_LIMITS } from '../../../src/core/config/config.ts';

const hash = (data: string | Buffer, encoding: 'hex' | 'base64' = 'hex'): string =>
  createHash('sha256').update(data).digest(encoding);

/** A site with files by their paths. */
async function siteWith(files: Readonly<Record<string, string | Buffer>>): Promise<Site> {
  return await openSite(({ url = '' }, response) => {
    const found = files[url];
    if (found === undefined) response.writeHead(404).end();
    else response.end(found);
  });
}

const INDEX = '/.well-known/agent-skills/index.json';
const OLD_INDEX = '/.well-known/skills/index.json';
const SCHEMA = 'https://schemas.agentskills.io/discovery/0.2.0/schema.json';
const listOf = (...skills: readonly unknown[]): string => JSON.stringify({ $schema: SCHEMA, skills });

describe('a site that lists its skills', () => {
  verifies('PACK-6', 'gives those whose bytes are the promised ones, whichever way the digest is spelled', async () => {
    const archive = readFileSync(packAs('csv.tgz', plantSource({ 'SKILL.md': skillText('csv'), 'scripts/x.py': 'x' })));
    const site = await siteWith({
      [INDEX]: listOf(
        {
          name: 'pdf',
          type: 'skill-md',
          description: 'd',
          url: 'pdf/SKILL.md',
          digest: `sha256:${hash(skillText('pdf'))}`,
        },
        {
          name: 'csv',
          type: 'archive',
          description: 'd',
          url: '/files/csv.tgz',
          digest: `sha256-${hash(archive, 'base64')}`,
        },
      ),
      '/.well-known/agent-skills/pdf/SKILL.md': skillText('pdf'),
      '/files/csv.tgz': archive,
    });
    const { result, to } = await bring(site.origin);
    const folder = path.join(to, 'tree');
    expect(result).toEqual({
      type: 'staged',
      resolved: { source: `well-known:${site.origin}`, kind: 'well-known' },
      folder,
      unusable: [],
      skills: [
        {
          folder: 'pdf',
          path: path.join(folder, 'pdf'),
          name: 'pdf',
          digest: expect.stringMatching(/^sha256-tree:/),
          files: { 'SKILL.md': { sha256: hash(skillText('pdf')), bytes: skillText('pdf').length } },
        },
        { folder: 'csv', path: path.join(folder, 'csv'), name: 'csv' },
      ],
      leftOut: [],
    });
    expect(await outcome(site.origin, { only: ['csv'] })).toEqual({ csv: ['SKILL.md', 'scripts/', 'scripts/x.py'] });
    expect(await outcome(site.origin, { only: ['other'] })).toBe('pack/unknown-skill');
  });

  verifies('PACK-6', 'may have its files on another origin, and only with the promised bytes', async () => {
    const archive = readFileSync(packAs('csv.tgz', plantSource({ 'SKILL.md': skillText('csv') })));
    const cdn = await siteWith({ '/v2/pdf.md': skillText('pdf'), '/v2/csv.tgz': archive, '/v2/bad.md': 'changed' });
    const entry = (name: string, file: string, bytes: string | Buffer): object => ({
      name,
      type: file.endsWith('.md') ? 'skill-md' : 'archive',
      description: 'd',
      url: `${cdn.origin}/v2/${file}`,
      digest: `sha256:${hash(bytes)}`,
    });
    const site = await siteWith({
      [INDEX]: listOf(
        entry('pdf', 'pdf.md', skillText('pdf')),
        entry('csv', 'csv.tgz', archive),
        entry('bad', 'bad.md', 'x'),
      ),
    });
    const { result } = await bring(site.origin);
    expect(result).toMatchObject({
      skills: [{ name: 'pdf' }, { name: 'csv' }],
      unusable: [{ name: 'bad', refusal: { code: 'source/digest' } }],
    });
    // A site elsewhere cannot send to this machine what only this machine can reach.
    const resolve = async (): Promise<string[]> => ['127.0.0.1'];
    const outside = { network: { allowHttp: true, resolve, allowPrivate: false } };
    const named = await downloadBytes(`${cdn.origin}/v2/pdf.md`, {
      env: {},
      maxBytes: 1_000,
      namedBy: 'https://skills.example/.well-known/agent-skills/',
      ...outside,
    });
    expect(named).toMatchObject({
      code: 'source/refused',
      message: expect.stringContaining('is not a public address'),
    });
    expect(cdn.requests.map(({ line }) => line)).toEqual(['GET /v2/pdf.md', 'GET /v2/csv.tgz', 'GET /v2/bad.md']);
  });

  test('may have archives whose address does not say what they are', async () => {
    const source = plantSource({ 'SKILL.md': skillText('csv') });
    const found: unknown[] = [];
    for (const [name, type] of [
      ['csv.tgz', 'application/gzip'],
      ['csv.zip', 'application/octet-stream'],
    ] as const) {
      const bytes = readFileSync(packAs(name, source));
      const entry = { name: 'csv', type: 'archive', url: '/download?id=1', digest: `sha256:${hash(bytes)}` };
      const site = await openSite(({ url = '' }, response) => {
        if (url === INDEX) response.end(listOf(entry));
        else if (url === '/download?id=1') response.writeHead(200, { 'content-type': type }).end(bytes);
        else response.writeHead(404).end();
      });
      found.push(await outcome(site.origin));
    }
    expect(found).toEqual([{ csv: ['SKILL.md'] }, { csv: ['SKILL.md'] }]);
  });

  verifies('PACK-6', 'is read by the version that its $schema names, and refused where that is unknown', async () => {
    const skills = [{ name: 'a', type: 'skill-md', url: '/a', digest: `sha256:${hash(skillText('a'))}`, later: 1 }];
    const outcomes = [];
    for (const $schema of [
      SCHEMA,
      undefined,
      SCHEMA.replace('0.2.0', '0.3.0'),
      'https://other.example/schema.json',
      2,
    ]) {
      const site = await siteWith({ [INDEX]: JSON.stringify({ $schema, skills }), '/a': skillText('a') });
      outcomes.push([await outcome(site.origin), site.requests.length]);
    }
    expect(outcomes).toEqual([
      [{ a: ['SKILL.md'] }, 2],
      [{ a: ['SKILL.md'] }, 2],
      ['source/failed', 1],
      ['source/failed', 1],
      ['source/failed', 1],
    ]);
  });

  test('may be of the older kind, with lists of files', async () => {
    const site = await siteWith({
      [OLD_INDEX]: listOf({ name: 'pdf', description: 'd', files: ['SKILL.md', 'references/a b.md'] }),
      '/.well-known/skills/pdf/SKILL.md': skillText('pdf'),
      '/.well-known/skills/pdf/references/a%20b.md': 'x',
    });
    expect(await outcome(site.origin)).toEqual({ pdf: ['SKILL.md', 'references/', 'references/a b.md'] });
    expect(site.requests.map(({ line }) => line).slice(0, 2)).toEqual([`GET ${INDEX}`, `GET ${OLD_INDEX}`]);
  });

  test('lists what is left out of every source in vain', async () => {
    const files = ['SKILL.md', '.mcp.json', 'a/.claude/settings.json', '.gitignore'];
    const site = await siteWith({
      [OLD_INDEX]: listOf({ name: 'pdf', files }),
      ...Object.fromEntries(files.map((file) => [`/.well-known/skills/pdf/${file}`, skillText('pdf')])),
    });
    const { result } = await bring(site.origin);
    expect(result).toMatchObject({ leftOut: ['pdf/.mcp.json: hidden file', 'pdf/a/.claude/: hidden folder'] });
    expect(await outcome(site.origin)).toEqual({ pdf: ['.gitignore', 'SKILL.md'] });
  });

  test('may lie below a path', async () => {
    const site = await siteWith({
      [`/docs${OLD_INDEX}`]: listOf({ name: 'a', files: ['SKILL.md'] }),
      '/docs/.well-known/skills/a/SKILL.md': skillText('a'),
    });
    expect(await outcome(`well-known:${site.origin}/docs`)).toEqual({ a: ['SKILL.md'] });
  });

  test('with one wrong digest gives the other skills, and nothing of that one', async () => {
    const good = { name: 'a', type: 'skill-md', url: '/a', digest: `sha256:${hash('a')}` };
    const site = await siteWith({
      [INDEX]: listOf(good, { ...good, name: 'b', url: '/b' }),
      '/a': 'a',
      '/b': 'changed',
    });
    const { result, to } = await bring(site.origin);
    expect(result).toMatchObject({
      skills: [{ name: 'a' }],
      unusable: [{ name: 'b', folder: 'b', refusal: { code: 'source/digest' } }],
    });
    expect(isPresent(path.join(to, 'tree', 'b'))).toBe(false);
    expect(await outcome(site.origin, { only: ['b'] })).toBe('source/digest');
    expect(await outcome(site.origin, { only: ['a'] })).toEqual({ a: ['SKILL.md'] });
  });

  test.each([
    ['source/digest', [{ name: 'a', type: 'skill-md', url: '/a' }]],
    ['source/digest', [{ name: 'a', type: 'skill-md', url: '/a', digest: 'md5:abc' }]],
    ['source/digest', [{ name: 'a', type: 'skill-md', url: '/a', digest: `sha256-${'A'.repeat(42)}` }]],
    ['source/failed', [{ name: 'a', type: 'program', url: '/a', digest: `sha256:${'0'.repeat(64)}` }]],
    // The address of a file on another origin is asked for, and it must be a public one.
    [
      'source/refused',
      [{ name: 'a', type: 'skill-md', url: 'https://10.0.0.1/a', digest: `sha256:${'0'.repeat(64)}` }],
    ],
    [
      'source/refused',
      [{ name: 'a', type: 'skill-md', url: 'http://cdn.example/a', digest: `sha256:${'0'.repeat(64)}` }],
    ],
    [
      'source/refused',
      [
        {
          name: 'a',
          type: 'skill-md',
          url: '/a',
          digest: `sha256:${hash('x')}`,
          signature: 'https://other.example/a.minisig',
        },
      ],
    ],
    [
      'source/refused',
      [{ name: 'a', type: 'skill-md', url: 'file:///etc/passwd', digest: `sha256:${'0'.repeat(64)}` }],
    ],
    ['pack/name', [{ name: '../../x', type: 'skill-md', url: '/a', digest: 'x' }]],
    ['pack/name', [{ name: '', files: ['SKILL.md'] }]],
    ['pack/name', [{ files: ['SKILL.md'] }]],
    ['pack/name', ['text']],
    ['archive/traversal', [{ name: 'a', files: ['SKILL.md', '../../y'] }]],
    ['archive/absolute', [{ name: 'a', files: ['SKILL.md', '/etc/x'] }]],
    ['archive/duplicate', [{ name: 'a', files: ['SKILL.md', 'SKILL.md'] }]],
    ['archive/collision', [{ name: 'a', files: ['SKILL.md', 'skill.md'] }]],
    ['archive/too-many', [{ name: 'a', files: [1] }]],
    ['pack/no-skill', [{ name: 'a', files: ['README.md'] }]],
    ['pack/no-skill', []],
    [
      'archive/too-many',
      Array.from({ length: 2001 }, (_, place) => ({ name: `a${String(place)}`, files: ['SKILL.md'] })),
    ],
  ])('is refused as %s for a hostile list', async (code, skills) => {
    const site = await siteWith({ [INDEX]: listOf(...skills), '/a': 'x' });
    const { result, to } = await bring(site.origin);
    expect(result).toMatchObject({ type: 'refused', code });
    expect(isPresent(path.join(to, 'tree', 'a', 'SKILL.md'))).toBe(false);
  });

  test('gives the valid entries of a list with hostile ones', async () => {
    const good = { name: 'a', type: 'skill-md', url: '/a', digest: `sha256:${hash('a')}` };
    const site = await siteWith({
      [INDEX]: listOf({ ...good, name: '../../x' }, good, { ...good, url: '/other' }, 'text'),
      '/a': 'a',
    });
    expect((await bring(site.origin)).result).toMatchObject({
      skills: [{ name: 'a' }],
      unusable: [
        { name: '../../x', refusal: { code: 'pack/name' } },
        { name: 'a', refusal: { code: 'pack/two-skills' } },
        { name: 'entry 4', refusal: { code: 'pack/name' } },
      ],
    });
  });

  test('names an entry that is none, or has no name, as the index has it', async () => {
    const good = { name: 'a', type: 'skill-md', url: '/a', digest: `sha256:${hash('a')}` };
    const site = await siteWith({ [INDEX]: listOf(good, null, 7, { name: null }, {}), '/a': 'a' });
    const { result } = await bring(site.origin);
    if (result.type === 'refused') throw new Error(result.message);
    expect(result.unusable.map(({ refusal }) => refusal.message)).toEqual([
      'the index of the site has "null", expected a JSON object',
      'the index of the site has "7", expected a JSON object',
      'the index of the site has the invalid skill name "null"',
      'the index of the site has an entry without a "name"',
    ]);
  });

  test('is refused without a list, with a list that is none, and with an endless one', async () => {
    expect(await outcome((await siteWith({})).origin)).toBe('source/missing');
    expect(await outcome((await siteWith({ [INDEX]: '<html>' })).origin)).toBe('source/failed');
    expect(await outcome((await siteWith({ [INDEX]: Buffer.alloc(5 * 1024 * 1024) })).origin)).toBe(
      'archive/too-large',
    );
  });

  test('brings no more bytes and files than are allowed, of all skills together', async () => {
    const site = await siteWith({
      [INDEX]: listOf({ name: 'a', files: ['SKILL.md'] }, { name: 'b', files: ['SKILL.md'] }),
      '/.well-known/agent-skills/a/SKILL.md': 'x'.repeat(60),
      '/.well-known/agent-skills/b/SKILL.md': 'x'.repeat(60),
    });
    expect(await outcome(site.origin, { limits: { ...ARCHIVE_LIMITS, maxBytes: 100 } })).toBe('archive/too-large');
    expect(await outcome(site.origin, { limits: { ...ARCHIVE_LIMITS, maxEntries: 1 } })).toBe('archive/too-many');
    expect((await mustBring(site.origin)).skills.length).toBe(2);
  });
});
