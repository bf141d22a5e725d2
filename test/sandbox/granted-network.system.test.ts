import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { transformWithEsbuild } from 'vite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { DEFAULT_LIMITS, type ProgramEnd, type ProgramSpec } from '../../src/core/execution.ts';
import { openBridge } from '../../src/sandbox/network/bridge.ts';
import { openInteractions } from '../../src/sandbox/interaction/interactions.ts';
import { verifies } from '../conformance/verifies.ts';
import { PROJECT } from '../files-below.ts';
import { openSite, type Site } from '../platform/net/proxy-world.ts';
import { SANDBOXES, openWorkspace, type OpenWorkspace } from './sandbox.ts';

/** The executor that a user gets, with the bridge that a user gets. */
describe.each(SANDBOXES)('%s with granted hosts', (_name, makeExecutor) => {
  let site: Site;
  let folder = '';
  let opened: OpenWorkspace;
  beforeAll(async () => {
    site = await openSite();
    folder = mkdtempSync(path.join(tmpdir(), 'granted-'));
    chmodSync(folder, 0o711);
    const forwarder = path.join(folder, 'forwarder.mjs');
    const source = readFileSync(path.join(PROJECT, 'src/sandbox/network/forwarder.ts'), 'utf8');
    writeFileSync(forwarder, (await transformWithEsbuild(source, 'forwarder.ts', { target: 'node20' })).code);
    const { identity } = makeExecutor();
    opened = await openWorkspace(
      makeExecutor({
        bridge: async (hosts) =>
          await openBridge({
            hosts,
            folder,
            forwarder,
            resolve: async () => ['127.0.0.1'],
            identity,
          }),
      }),
    );
  });
  afterAll(async () => {
    await opened.close();
    await site.close();
    rmSync(folder, { recursive: true });
  });

  const spec = (argv: readonly string[], network: readonly string[]): ProgramSpec => ({
    argv,
    cwd: 'work',
    env: {},
    stdin: new Uint8Array(),
    limits: { ...DEFAULT_LIMITS, wallMs: 30_000 },
    network,
  });
  const run = async (argv: readonly string[], network: readonly string[]): Promise<[ProgramEnd, string]> => {
    let text = '';
    const sink = {
      write: (chunk: Uint8Array): boolean => {
        text += Buffer.from(chunk).toString();
        return true;
      },
    };
    return [await opened.workspace.run(spec(argv, network), { stdout: sink, stderr: sink }), text];
  };
  const grant = (): string => `private://site.example:${String(site.port)}`;
  const ask = `const { request } = require('node:http');
    request({ host: '127.0.0.1', port: 3128, path: process.argv[1] }, (answer) => {
      let text = '';
      answer.on('data', (chunk) => (text += chunk)).on('end', () => { console.log(answer.statusCode, text); process.exitCode = 4; });
    }).on('error', (error) => console.log(error.code)).end();`;

  verifies(
    'EXEC-7',
    'a granted host is reached, another is not, and the exit status is that of the program',
    async () => {
      const before = site.connections();
      const granted = await run([process.execPath, '-e', ask, `http://site.example:${String(site.port)}/`], [grant()]);
      expect(granted[1]).toBe(`200 hello from site.example:${String(site.port)}\n`);
      expect(granted[0]).toMatchObject({ reason: 'exited', exitCode: 4 });
      const [, other] = await run([process.execPath, '-e', ask, 'http://other.example/'], [grant()]);
      expect(other).toContain('403 skillwright: other.example:80 is not granted');
      expect(site.connections()).toBe(before + 1);
    },
  );

  verifies('EXEC-7', 'a program without a grant has no network to talk to', async () => {
    const before = site.connections();
    const [, text] = await run([process.execPath, '-e', ask, `http://site.example:${String(site.port)}/`], []);
    expect(text).toBe('ECONNREFUSED\n');
    expect(site.connections()).toBe(before);
  });

  test('an interactive program has its granted network and a terminal', async () => {
    const interactions = openInteractions({ now: () => 0, newId: () => 'one' });
    const script = `printf 'Path: '; read path; exec ${process.execPath} -e "$0" "http://site.example:${String(site.port)}/$path"`;
    const view = await interactions.start(opened.workspace, spec(['sh', '-c', script, ask], [grant()]), {
      terminal: true,
      yieldMs: 20_000,
    });
    expect(view).toMatchObject({ status: 'running', output: 'Path: ', interaction: { kind: 'prompt' } });
    let { output, end } = await interactions.write('one', { chars: 'typed', submit: true, yieldMs: 20_000 });
    for (let tries = 0; end === undefined && tries < 20; tries += 1) {
      const next = await interactions.write('one', { yieldMs: 2000 });
      output += next.output;
      end = next.end;
    }
    expect(output).toContain(`200 hello from site.example:${String(site.port)}\n`);
    expect(end).toMatchObject({ reason: 'exited', exitCode: 4 });
    expect(site.requests.at(-1)?.split('\n')[0]).toBe('GET /typed');
    await interactions.close();
  });
});
