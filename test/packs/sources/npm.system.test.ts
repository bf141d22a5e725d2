import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, test } from 'vitest';

import type { StageOptions } from '../../../src/packs/sources/source.ts';
import { isPresent } from '../../../src/platform/fs/paths.ts';
import { verifies } from '../../conformance/verifies.ts';
import { openPort, openSite, type Site } from '../../project/network/network-world.ts';
import { scratch } from '../../skills/registry/support.ts';
import { bring, mustBring, outcome, packAs, plantSource, skillText } from './bring-support.ts';

interface Published {
  readonly version: string;
  readonly tarball: Buffer;
  /** What the registry promises; the truth where nothing is said. */
  readonly integrity?: string;
}

/** A registry on loopback with one package. */
async function registry(name: string, versions: readonly Published[]): Promise<Site> {
  return await openSite((request, response) => {
    const url = decodeURIComponent(request.url ?? '');
    const origin = `http://${request.headers.host ?? ''}`;
    const tarball = versions.find(({ version }) => url === `/${name}/-/${version}.tgz`)?.tarball;
    if (tarball !== undefined) response.end(tarball);
    else if (url !== `/${name}`) response.writeHead(404).end('{}');
    else
      response.writeHead(200, { 'content-type': 'application/json' }).end(
        JSON.stringify({
          name,
          'dist-tags': { latest: versions.at(-1)?.version },
          versions: Object.fromEntries(
            versions.map(({ version, tarball: bytes, integrity = sha512(bytes) }) => [
              version,
              { name, version, dist: { tarball: `${origin}/${name}/-/${version}.tgz`, integrity } },
            ]),
          ),
        }),
      );
  });
}

const sha512 = (bytes: Buffer): string => `sha512-${createHash('sha512').update(bytes).digest('base64')}`;

function publish(name: string, version: string): Published {
  const mark = path.join(scratch(), 'ran');
  const source = plantSource({
    'package/package.json': JSON.stringify({
      name,
      version,
      scripts: { prepare: `touch ${mark}`, postinstall: `touch ${mark}` },
    }),
    'package/skills/pdf/SKILL.md': skillText('pdf'),
    'package/skills/pdf/version.txt': version,
    'package/docs/example/SKILL.md': skillText('example'),
  });
  return { version, tarball: readFileSync(packAs('package.tgz', source)) };
}

function from(origin: string): Partial<StageOptions> {
  const { PATH } = process.env;
  const home = scratch();
  return {
    env: {
      PATH,
      HOME: home,
      npm_config_cache: path.join(home, 'cache'),
      npm_config_registry: origin,
      npm_config_fetch_retries: '0',
    },
  };
}

describe('an npm package as a source', () => {
  verifies('PACK-6', 'gives the skills below skills/, with the exact version', async () => {
    const versions = [
      publish('@scope/skills', '1.0.0'),
      publish('@scope/skills', '1.2.0'),
      publish('@scope/skills', '2.0.0'),
    ];
    const { origin } = await registry('@scope/skills', versions);
    const { result, to } = await bring('npm:@scope/skills@^1', from(origin));
    const folder = path.join(to, 'tree', 'package');
    expect(result).toEqual({
      type: 'staged',
      resolved: {
        source: 'npm:@scope/skills@^1',
        kind: 'npm',
        revision: '1.2.0',
        archive: `sha256:${createHash('sha256')
          .update(versions[1]?.tarball ?? '')
          .digest('hex')}`,
      },
      folder,
      skills: [{ folder: 'skills/pdf', path: path.join(folder, 'skills/pdf'), name: 'pdf' }],
      unusable: [],
      leftOut: [],
    });
    expect((await mustBring('npm:@scope/skills', from(origin))).resolved.revision).toBe('2.0.0');
    const locked = await mustBring('npm:@scope/skills', { ...from(origin), expect: { revision: '1.0.0' } });
    expect(locked.resolved).toMatchObject({ source: 'npm:@scope/skills', revision: '1.0.0' });
  });

  test('is refused where the package, the version or the bytes are not there', async () => {
    const honest = publish('pdf', '1.0.0');
    const { origin } = await registry('pdf', [honest]);
    const lying = await registry('pdf', [{ ...honest, integrity: sha512(Buffer.from('other')) }]);
    expect([
      await outcome('npm:other', from(origin)),
      await outcome('npm:pdf@^9', from(origin)),
      await outcome('npm:pdf', { ...from(origin), expect: { revision: 'file:../x' } }),
      await outcome('npm:pdf', from(lying.origin)),
      await outcome('npm:pdf', { ...from(origin), network: { npm: '/no/such/npm' } }),
    ]).toEqual(['source/missing', 'source/revision', 'source/revision', 'source/digest', 'source/failed']);
  });

  test('takes no settings from the project at hand', async () => {
    const { origin } = await registry('pdf', [publish('pdf', '1.0.0')]);
    const stranger = await registry('pdf', [publish('pdf', '6.6.6')]);
    const project = scratch();
    writeFileSync(path.join(project, 'package.json'), '{}');
    writeFileSync(path.join(project, '.npmrc'), `registry=${stranger.origin}\n//x/:_authToken=\${HOME}\n`);
    const to = path.join(project, '.agents/skills/.skillwright/staging/1');
    mkdirSync(to, { recursive: true });
    const { PATH } = process.env;
    const home = scratch();
    writeFileSync(path.join(home, '.npmrc'), `registry=${origin}\nfetch-retries=0\ncache=${home}/cache\n`);
    const { resolved } = await mustBring('npm:pdf', { cwd: project, to, env: { PATH, HOME: home } });
    expect([resolved.revision, stranger.requests, isPresent(path.join(project, 'pdf-1.0.0.tgz'))]).toEqual([
      '1.0.0',
      [],
      false,
    ]);
  });

  test('ends when nobody waits any more', async () => {
    const stop = new AbortController();
    const reason = new Error('enough');
    const silent = await openPort(() => stop.abort(reason));
    await expect(bring('npm:pdf', { ...from(silent.origin), signal: stop.signal })).rejects.toBe(reason);
  });
});
