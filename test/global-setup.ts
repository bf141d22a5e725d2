import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { PROJECT } from './files-below.ts';

/**
 * Builds if needed, since some tests start the built command and built modules in processes of their own, and makes the cache folder that the
 * tests of this run share.
 */
export function setup(): () => void {
  if (!existsSync(path.join(PROJECT, 'dist/command/skillwright.js')))
    execFileSync('npm', ['run', '--silent', 'build'], { cwd: PROJECT, stdio: 'inherit', timeout: 300_000 });
  const cache = mkdtempSync(path.join(os.tmpdir(), 'skillwright-test-cache-'));
  // Read by test/cli/run-cli.ts.
  process.env['TEST_CACHE_DIR'] = cache;
  return () => rmSync(cache, { recursive: true, force: true });
}
