import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';

import { PROJECT } from './files-below.ts';

/** Some tests start the built command and built modules in processes of their own, so the build must exist. */
export function setup(): void {
  if (existsSync(path.join(PROJECT, 'dist/command/skillwright.js'))) return;
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: PROJECT, stdio: 'inherit', timeout: 300_000 });
}
