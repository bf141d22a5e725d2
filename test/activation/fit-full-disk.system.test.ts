import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';

import { PROJECT } from '../files-below.ts';
import { needs } from '../needs.ts';

/** Fits sixty skills on a full disk, then with room for a part of what a fit writes, then with room for all, and undoes it. */
const SCRIPT = `
set -e
mount -t tmpfs -o size=2m tmpfs "$HOME"
mkdir -p "$HOME/.claude/skills"
i=0
while [ $i -lt 60 ]; do
  mkdir "$HOME/.claude/skills/skill-$i"
  printf -- '---\\nname: skill-%s\\ndescription: Makes %s\\n---\\n' $i "$LONG" > "$HOME/.claude/skills/skill-$i/SKILL.md"
  i=$((i + 1))
done
list() { (cd "$HOME/.claude/skills" && find . -mindepth 1 | sort | cksum); }
fit() { "$NODE" "$PROJECT/dist/command/skillwright.js" fit --agent claude-code "$@" --yes >/dev/null 2>"$TMP/err" && echo done || echo "exit $? $(grep -o 'ENOSPC' "$TMP/err" | head -1)"; }
list > "$TMP/before"
cat /dev/zero > "$HOME/full" 2>/dev/null || true
fit
list | cmp - "$TMP/before" && echo unchanged
rm "$HOME/full"
head -c $(( $(df --output=avail -B1 "$HOME" | tail -1) - 8192 )) /dev/zero > "$HOME/full"
fit
list | cmp - "$TMP/before" && echo unchanged
rm "$HOME/full"
fit
list | cmp -s - "$TMP/before" || echo fitted
fit --undo
list | cmp - "$TMP/before" && echo restored
`;

test('a full disk leaves the skills in their folder, and the next fit and its undo work', needs('mounts'), () => {
  const top = mkdtempSync(path.join(os.tmpdir(), 'fit-full-'));
  const home = path.join(top, 'home');
  mkdirSync(home);
  const { stdout, stderr } = spawnSync('unshare', ['--mount', 'sh', '-c', SCRIPT], {
    cwd: top,
    encoding: 'utf8',
    env: {
      PATH: process.env['PATH'],
      HOME: home,
      TMP: top,
      LONG: 'lanterns '.repeat(50).trim(),
      PROJECT,
      NODE: process.execPath,
    },
  });
  rmSync(top, { recursive: true, force: true });
  expect({ lines: stdout.trim().split('\n'), stderr }).toEqual({
    lines: ['exit 1 ENOSPC', 'unchanged', 'exit 1 ENOSPC', 'unchanged', 'done', 'fitted', 'done', 'restored'],
    stderr: '',
  });
});
