import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';

import { PROJECT } from '../../files-below.ts';
import { needs } from '../../needs.ts';

/** Prints what `activate` says on a full disk, the settings then, and after it worked and was removed. */
const SCRIPT = `
set -e
mount -t tmpfs -o size=64k tmpfs "$HOME"
mkdir "$HOME/.claude"
printf '{ "a": 1 }\n' > "$HOME/.claude/settings.json"
cat /dev/zero > "$HOME/full" 2>/dev/null || true
activate() { "$NODE" "$PROJECT/dist/command/skillwright.js" activate "$@" --yes 2>&1 | grep -o 'cannot be written (ENOSPC)\\|hook active\\|hook removed' || true; }
activate --agent claude-code
cat "$HOME/.claude/settings.json"
ls -A "$HOME/.claude"
rm "$HOME/full"
activate --agent claude-code
activate --remove
cat "$HOME/.claude/settings.json"
cd "$HOME" && find . -type f
`;

test('a full disk leaves the settings as they were, and says so', needs('mounts'), () => {
  const top = mkdtempSync(path.join(os.tmpdir(), 'full-'));
  const home = path.join(top, 'home');
  mkdirSync(home);
  const { stdout, stderr } = spawnSync('unshare', ['--mount', 'sh', '-c', SCRIPT], {
    cwd: top,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: home, PROJECT, NODE: process.execPath },
  });
  rmSync(top, { recursive: true, force: true });
  expect({ stdout, stderr }).toEqual({
    stdout: [
      'cannot be written (ENOSPC)',
      '{ "a": 1 }',
      'settings.json',
      'hook active',
      'hook removed',
      '{ "a": 1 }',
      // Compiled code did not fit either, and left nothing half-written.
      './.claude/settings.json\n',
    ].join('\n'),
    stderr: '',
  });
});
