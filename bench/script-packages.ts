import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { strToU8, zipSync } from 'fflate';

import type { PackageOptions } from '../src/sandbox/environments/packages.ts';
import { createRuntime, type Runtime } from '../src/runtime/runtime.ts';
import { median } from './median.ts';
import type { BenchRow } from './row.ts';

const ROUNDS = 15;

/** What packages cost: a run with an installed layer against the same run without one, and building a layer of two wheels. */
export async function benchScriptPackages({ workDir }: { readonly workDir: string }): Promise<readonly BenchRow[]> {
  const home = path.join(workDir, 'script-packages');
  const wheels = path.join(home, 'wheels');
  const scripts = path.join(home, 'skills/reader/scripts');
  for (const folder of [wheels, scripts]) mkdirSync(folder, { recursive: true });
  for (const folder of [workDir, home, wheels]) chmodSync(folder, 0o755);
  writeFileSync(path.join(home, 'skills/reader/SKILL.md'), '---\nname: reader\ndescription: Reads.\n---\n# reader\n');
  writeFileSync(path.join(scripts, 'plain.py'), 'print("plain")\n');
  for (const name of ['one_lib', 'two_lib'])
    writeFileSync(path.join(wheels, `${name}-1.0-py3-none-any.whl`), wheel(name));
  const runtime = await createRuntime({
    cwd: home,
    home: undefined,
    env: { TMPDIR: home },
    roots: [path.join(home, 'skills')],
    onlyRoots: true,
    cache: false,
    vouched: [path.join(home, 'skills')],
  });
  const packages = { with: ['one-lib', 'two-lib'], wheels };
  const build = await timed(runtime, { packages });
  if (build === undefined)
    return [{ name: 'packages', value: Number.NaN, unit: '', note: 'not measured: pip or a sandbox is missing' }];
  const differences: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const plain = (await timed(runtime, {})) ?? Number.NaN;
    const layered = (await timed(runtime, { packages })) ?? Number.NaN;
    differences.push(layered - plain);
  }
  const more = median(differences);
  return [
    { name: 'first run with two small wheels', value: build / 1000, unit: 's', bound: '< 3', ok: build < 3_000 },
    {
      name: 'a run with an installed layer, more than without',
      value: more,
      unit: 'ms',
      bound: '<= 50',
      ok: more <= 50,
    },
  ];
}

/** Milliseconds of one run in a session of its own; undefined where it failed. */
async function timed(
  runtime: Runtime,
  { packages }: { readonly packages?: PackageOptions },
): Promise<number | undefined> {
  const session = await runtime.startSession({ execution: packages === undefined ? {} : { packages } });
  try {
    const started = performance.now();
    const action = { type: 'run_script', skill: 'reader', script: 'plain.py', args: [] } as const;
    const ran = await session.perform(action, { askedBy: 'person' });
    return ran.type === 'program-ran' && ran.result.exit_code === 0 ? performance.now() - started : undefined;
  } finally {
    await session.close();
  }
}

function wheel(name: string): Uint8Array {
  const info = `${name}-1.0.dist-info`;
  return zipSync({
    [`${name}.py`]: strToU8('VALUE = 1\n'),
    [`${info}/METADATA`]: strToU8(`Metadata-Version: 2.1\nName: ${name}\nVersion: 1.0\n`),
    [`${info}/WHEEL`]: strToU8('Wheel-Version: 1.0\nGenerator: bench\nRoot-Is-Purelib: true\nTag: py3-none-any\n'),
    [`${info}/RECORD`]: strToU8(''),
  });
}
