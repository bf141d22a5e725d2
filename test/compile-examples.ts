import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll } from 'vitest';

import { PROJECT } from './files-below.ts';

/**
 * The examples, compiled into a folder of the test's own, where they import `skillwright` as a stranger would: by name, through the
 * published doors, from the built package.
 */
export function compileExamples(): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'skillwright-examples-'));
  beforeAll(() => {
    const tsc = path.join(PROJECT, 'node_modules/typescript/bin/tsc');
    const flags = [
      '--outDir',
      folder,
      '--rootDir',
      path.join(PROJECT, 'examples'),
      '--noEmit',
      'false',
      '--checkers',
      '1',
    ];
    execFileSync(process.execPath, [tsc, '-p', path.join(PROJECT, 'examples/tsconfig.json'), ...flags], {
      timeout: 120_000,
    });
    writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}');
    const modules = path.join(folder, 'node_modules');
    mkdirSync(modules);
    symlinkSync(PROJECT, path.join(modules, 'skillwright'));
    for (const name of readdirSync(path.join(PROJECT, 'node_modules')))
      if (name !== 'skillwright' && !name.startsWith('.'))
        symlinkSync(path.join(PROJECT, 'node_modules', name), path.join(modules, name));
  });
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}
