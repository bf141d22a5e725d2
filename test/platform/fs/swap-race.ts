import { spawn } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { onTestFinished } from 'vitest';

import { scratch } from '../../skills/registry/support.ts';

export const RIGHT = 'what lies in the skill';
export const SECRET = 'what lies outside';

/** Ends after three minutes if the test does not kill it. */
const UNTIL = 'const end = Date.now() + 180_000; process.stdout.write("ready"); while (Date.now() < end)';

/** Swaps a file and a link to the secret, each by one rename. */
const SWAP_LEAF = `
  import { renameSync, symlinkSync, writeFileSync } from 'node:fs';
  const [root, outside] = process.argv.slice(1);
  ${UNTIL} {
    symlinkSync(outside + '/x.md', root + '/link');
    renameSync(root + '/link', root + '/leaf.md');
    writeFileSync(root + '/file', ${JSON.stringify(RIGHT)});
    renameSync(root + '/file', root + '/leaf.md');
  }`;

/** Swaps a folder and a link to a folder outside; in between neither exists for a moment. */
const SWAP_FOLDER = `
  import { renameSync } from 'node:fs';
  const [root] = process.argv.slice(1);
  ${UNTIL} {
    renameSync(root + '/sub', root + '/folder');
    renameSync(root + '/other', root + '/sub');
    renameSync(root + '/sub', root + '/other');
    renameSync(root + '/folder', root + '/sub');
  }`;

/** A skill in which `leaf.md` and the folder of `sub/x.md` are swapped with links to a secret until the test ends. */
export async function startSwapping(): Promise<string> {
  const base = scratch();
  const root = path.join(base, 'skill');
  const outside = path.join(base, 'outside');
  mkdirSync(path.join(root, 'sub'), { recursive: true });
  mkdirSync(outside);
  writeFileSync(path.join(outside, 'x.md'), SECRET);
  writeFileSync(path.join(root, 'leaf.md'), RIGHT);
  writeFileSync(path.join(root, 'sub/x.md'), RIGHT);
  symlinkSync('../outside', path.join(root, 'other'));
  await Promise.all([SWAP_LEAF, SWAP_FOLDER].map((text) => start(text, [root, outside])));
  return root;
}

async function start(text: string, args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', text, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  // Registered now: on a slow machine the child exits by itself before the test ends.
  const exited = new Promise((resolve) => {
    child.once('exit', resolve);
  });
  // Runs before the folder is removed, because hooks run in reverse order.
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  await new Promise((resolve) => {
    child.stdout.once('data', resolve);
  });
}
