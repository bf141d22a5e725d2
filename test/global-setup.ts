import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';

import { PROJECT } from './files-below.ts';

/** Some tests start the built command and built modules in processes of their own: the build must be there. */
export function setup(): void {
  if (existsSync(path.join(PROJECT, 'dist/command/skillwright.cjs'))) return;
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: PROJECT, stdio: 'inherit', timeout: 300_000 });
}
