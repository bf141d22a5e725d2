import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import type { Observation } from '../../../src/core/observation.ts';
import type { PackageOptions } from '../../../src/sandbox/environments/packages.ts';
import { verifies } from '../../conformance/verifies.ts';
import { knownExecutor } from '../../sandbox/known-executor.ts';
import { openIndex } from './package-index.ts';
import { BASE, READER, USE, USES_BOTH, makeReader, readerRuntime } from './reader-skill.ts';

const installed = (process.env['PATH'] ?? '')
  .split(':')
  .map((folder) => path.join(folder, 'uv'))
  .find((file) => existsSync(file));
if (installed === undefined) console.log('skipped: uv itself is not installed; a stand-in records its arguments');

/** Answers as uv does for the two calls that we make, with pip, and leaves the calls in the layer. */
const STAND_IN = `#!/usr/bin/python3
import glob, hashlib, json, os, shutil, subprocess, sys, tempfile
words = sys.argv[1:]
if words == ['--version']:
    sys.exit(print('uv 0.0.0 (stand-in)'))
settings = {name: value for name, value in os.environ.items() if name.startswith('UV_')}
with open(os.environ['UV_CACHE_DIR'] + '.calls', 'a') as calls:
    calls.write(json.dumps([words, settings]) + '\\n')
place = ['--no-index', '--find-links', words[words.index('--find-links') + 1]] if '--no-index' in words else ['--index-url', settings['UV_DEFAULT_INDEX']]
pip = [sys.executable, '-I', '-m', 'pip', '--disable-pip-version-check', '--no-cache-dir', '-q']
if words[1] == 'compile':
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*pip, 'download', *place, '--only-binary', ':all:', '-d', folder, *sys.stdin.read().split()], check=True)
        for file in glob.glob(folder + '/*.whl'):
            name, version = os.path.basename(file).split('-')[:2]
            with open(file, 'rb') as data:
                print(f'{name}=={version} \\\\\\n    --hash=sha256:{hashlib.sha256(data.read()).hexdigest()}')
else:
    python, lock = words[words.index('--python') + 1], words[words.index('-r') + 1]
    subprocess.run([*pip, '--python', python, 'install', *place, '--only-binary', ':all:', '--no-deps', '--require-hashes', '-r', lock], check=True)
    shutil.copy(os.environ['UV_CACHE_DIR'] + '.calls', os.path.dirname(os.path.dirname(python)) + '/uv-calls')
`;
import { needs, skipUnless } from '../../needs.ts';

async function use(
  home: string,
  env: Readonly<Record<string, string>>,
  packages: PackageOptions,
): Promise<Observation> {
  // A project cannot choose an index.
  writeFileSync(path.join(home, 'uv.toml'), '[[index]]\nurl = "http://evil.example/simple"\ndefault = true\n');
  const session = await (
    await readerRuntime(home, env)
  ).startSession({
    execution: { executor: knownExecutor('bubblewrap', home), artifacts: false, packages },
  });
  try {
    return await session.perform(USE, { askedBy: 'person' });
  } finally {
    await session.close();
  }
}

const newHome = (): string => makeReader({ 'use.py': USES_BOTH });

/** The folder of the program. */
function putUv(home: string, program: string): string {
  const folder = path.join(home, 'bin');
  mkdirSync(folder);
  writeFileSync(path.join(folder, 'uv'), program, { mode: 0o755 });
  return folder;
}

const layers = (observation: Observation): unknown =>
  observation.type === 'program-ran' ? observation.result.packages : observation;

describe('where the user has uv', needs('bubblewrap', 'pip'), () => {
  verifies(
    'ENV-1',
    'it resolves and installs by hash from the user’s index; the lock is that of pip, which is used where the sandbox cannot run uv',
    async () => {
      const home = newHome();
      const index = await openIndex({ 'pdf-reader': [READER], 'base-lib': [BASE] });
      const other = newHome();
      const broken = { PIP_INDEX_URL: `${index.url}/simple`, PATH: putUv(other, '#!/nonexistent\n') };
      const withPip = layers(await use(other, broken, { with: ['pdf-reader'] }));
      const used = await use(
        home,
        { UV_DEFAULT_INDEX: `mine=${index.url}/simple`, PATH: putUv(home, STAND_IN) },
        { with: ['pdf-reader'] },
      );
      expect(used).toMatchObject({ result: { exit_code: 0, stdout: 'value 42\ntool 42\n' } });
      const [mine, theirs] = [layers(used), withPip].map((list) =>
        JSON.stringify(list, (key, value: unknown) => (key === 'layer_digest' ? '' : value)),
      );
      expect(mine).toBe(theirs);
      const stored = path.join(home, `skillwright-${String(process.getuid?.() ?? 0)}`, 'layers');
      const layer = readdirSync(stored).find((name) => /^[0-9a-f]{64}$/.test(name)) ?? '';
      const calls = readFileSync(path.join(stored, layer, 'tree/uv-calls'), 'utf8')
        .trim()
        .split('\n');
      const settings = {
        UV_NO_CONFIG: '1',
        UV_CACHE_DIR: '/workspace/work/uv-cache',
        UV_PYTHON_DOWNLOADS: 'never',
        UV_LINK_MODE: 'copy',
        UV_NO_PROGRESS: '1',
        UV_HTTP_TIMEOUT: '20',
        UV_DEFAULT_INDEX: `${index.url}/simple`,
      };
      const only = ['--only-binary', ':all:', '--quiet'];
      const target = '/workspace/packages/python/bin/python3';
      expect(calls.map((line): unknown => JSON.parse(line))).toEqual([
        [
          ['pip', 'compile', '--generate-hashes', '--no-header', '--no-annotate', '--python', 'python3', ...only, '-'],
          settings,
        ],
        [
          ['pip', 'install', '--require-hashes', '--no-deps', ...only, '--python', target, '-r', expect.any(String)],
          settings,
        ],
      ]);
    },
  );

  test('uv itself', skipUnless(installed !== undefined, 'uv'), async () => {
    const home = newHome();
    const index = await openIndex({ 'pdf-reader': [READER], 'base-lib': [BASE] });
    const env = { PIP_INDEX_URL: `${index.url}/simple`, PATH: path.dirname(installed ?? '') };
    const used = await use(home, env, { with: ['pdf-reader'] });
    expect(used).toMatchObject({ result: { exit_code: 0, stdout: 'value 42\ntool 42\n' } });
    const bad = await openIndex({ 'pdf-reader': [{ ...READER, hash: '0'.repeat(64) }], 'base-lib': [BASE] });
    expect(
      await use(newHome(), { ...env, PIP_INDEX_URL: `${bad.url}/simple` }, { with: ['pdf-reader'] }),
    ).toMatchObject({
      code: 'packages/unavailable',
    });
  });
});
