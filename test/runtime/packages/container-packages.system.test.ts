import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import type { PackageOptions } from '../../../src/sandbox/environments/packages.ts';
import { executorCandidates } from '../../../src/sandbox/executors/find-executor.ts';
import type { Session } from '../../../src/runtime/session.ts';
import { verifies } from '../../conformance/verifies.ts';
import { sharedDockerEngine } from '../../sandbox/docker-engine.ts';
import { PIP } from '../../sandbox/root-file-system.ts';
import { openIndex } from './package-index.ts';
import { BASE, USE, USES_BASE, makeReader, readerRuntime } from './reader-skill.ts';
import { skipUnless } from '../../needs.ts';

const engine = existsSync(PIP) ? await sharedDockerEngine() : 'python3-pip is not installed';
if (typeof engine === 'string') console.log(`skipped: ${engine}`);

async function open(home: string, index: string, packages: PackageOptions): Promise<Session> {
  if (typeof engine === 'string') throw new TypeError(engine);
  const { socket, rootFileSystem } = engine;
  const made = executorCandidates({ bridgeFolder: home, container: { socket, rootFileSystem } });
  const env = { PIP_INDEX_URL: `${index}/simple` };
  const runtime = await readerRuntime(home, env, { home: path.join(home, 'home') });
  const executor = made.find(({ name }) => name === 'container')?.make() ?? 'container';
  return runtime.startSession({ execution: { executor, artifacts: false, packages } });
}

describe('packages in a container', skipUnless(typeof engine !== 'string', 'dockerd'), () => {
  verifies('ENV-1', 'are built with network to the index only, and an image without npm is named', async () => {
    const home = makeReader({ 'use.py': USES_BASE });
    const index = await openIndex({ 'base-lib': [BASE] });
    const other = await openIndex({ 'far-lib': [BASE] });
    const session = await open(home, index.url, { with: ['base-lib'] });
    expect(await session.perform(USE, { askedBy: 'person' })).toMatchObject({
      result: {
        exit_code: 0,
        stdout: 'value 42\n',
        isolation: 'container',
        packages: [{ packages: ['base-lib 1.4'] }],
      },
    });
    const reach = `python3 -c "import urllib.request as u; u.urlopen('${other.url}/simple/far-lib/')"`;
    const tried = await session.perform(
      { type: 'run_command', skill: 'reader', command: reach },
      { askedBy: 'person' },
    );
    expect(tried).toMatchObject({ result: { exit_code: 1 } });
    expect(other.requests).toEqual([]);
    const npm = await session.perform({ ...USE, packages: ['npm:docx'] }, { askedBy: 'person' });
    expect(npm).toMatchObject({
      type: 'failed',
      code: 'packages/unavailable',
      hint: expect.stringContaining('choose one with --image or execution.image'),
    });
    await session.close();
  });

  test('come from a folder of wheels without a network', async () => {
    const home = makeReader({ 'use.py': USES_BASE });
    const wheels = path.join(home, 'wheels');
    mkdirSync(wheels);
    writeFileSync(path.join(wheels, BASE.file), BASE.bytes);
    const session = await open(home, 'http://127.0.0.1:9', { with: ['base-lib'], wheels });
    expect(await session.perform(USE, { askedBy: 'person' })).toMatchObject({ result: { stdout: 'value 42\n' } });
    await session.close();
  });
});
