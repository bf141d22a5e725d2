import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { verifies } from '../conformance/verifies.ts';
import { bundleProgram } from '../bundle-program.ts';
import { has, needs, PYTHON } from '../needs.ts';
import { buildLayout, copyOriginals, runtimeLayouts } from './runtime-layouts.ts';

const ALL = (['bubblewrap', 'namespaces', 'landlock'] as const).filter((name) => has(name));
const RUN_MS = 120_000;
let folder = '';
let runner = '';

beforeAll(async () => {
  // A sandbox covers /tmp.
  folder = mkdtempSync('/var/tmp/skillwright-runtimes-');
  chmodSync(folder, 0o755);
  runner = await bundleProgram(new URL('runtime-runner.ts', import.meta.url), folder);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(node: string, args: readonly string[], uid: number | undefined): unknown {
  const { stdout, stderr } = spawnSync(node, [runner, ...args], {
    cwd: '/',
    env: { PATH: '/usr/bin:/bin', HOME: '/nonexistent' },
    encoding: 'utf8',
    timeout: RUN_MS,
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout);
}

const isRoot = process.getuid?.() === 0;
const USERS = isRoot ? [undefined, 1000] : [undefined];

describe.each(USERS)('a runtime below the home folder, as user %s', needs('linux', 'python3', 'bash'), (uid) => {
  verifies('EXEC-14', 'runs in every sandbox, and nothing around it can be read', () => {
    const python = path.basename(realpathSync(PYTHON));
    const results = run(process.execPath, [PYTHON, ...ALL], uid);
    expect(results).toEqual(
      runtimeLayouts(python).map(({ name, language, executable, library }) => ({
        layout: `${language} of ${name}`,
        lines: Object.fromEntries(
          ALL.map((executor) => [
            executor,
            language === 'node'
              ? [`~/${executable}`, 'npm', 'npx', 'done']
              : [`~/${executable}`, `~/${library}/json`, 'done'],
          ]),
        ),
        canaries: expect.any(Number) as unknown,
      })),
    );
  });

  test('is found where it runs this process', () => {
    const home = path.join(folder, `home-${String(uid)}`);
    mkdirSync(home);
    const originals = path.join(folder, `originals-${String(uid)}`);
    mkdirSync(originals);
    const layout = runtimeLayouts('python3').find(({ name }) => name === '~/.local');
    if (layout === undefined) throw new Error('no layout');
    const { executable } = buildLayout(home, layout, copyOriginals(originals, PYTHON));
    for (const name of ALL)
      expect([name, run(executable, ['self', name, home], uid)]).toEqual([
        name,
        ['~/.local/bin/node', 'npm', 'npx', 'done'],
      ]);
  });
});
