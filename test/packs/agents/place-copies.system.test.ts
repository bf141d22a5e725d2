import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { scratch } from '../../skills/registry/support.ts';
import { needs } from '../../needs.ts';

const COMMAND = path.join(import.meta.dirname, '../../../dist/command/skillwright.js');

/** A project beside a source with the skill alpha. */
function makeProject(): { readonly project: string; readonly home: string; readonly write: (text: string) => void } {
  const top = scratch();
  const [project, home] = [path.join(top, 'project'), path.join(top, 'home')];
  for (const folder of [path.join(project, '.git'), path.join(project, '.claude/skills'), home])
    mkdirSync(folder, { recursive: true });
  const write = (text: string): void => {
    mkdirSync(path.join(top, 'source/alpha'), { recursive: true });
    writeFileSync(
      path.join(top, 'source/alpha/SKILL.md'),
      `---\nname: alpha\ndescription: Works on alpha. Use it for alpha.\n---\n\n${text}\n`,
    );
  };
  write('first');
  return { project, home, write };
}

describe('an agent folder that cannot have links to the root', () => {
  test('on another device gets whole copies, which update and uninstall follow', needs('user mounts'), () => {
    const { project, home } = makeProject();
    // The mount exists only in this process and its children, so everything is looked at from inside.
    const script = `
      set -e
      mount -t tmpfs none .claude/skills
      sw() { "$NODE" "$COMMAND" "$@" --yes --json >/dev/null; }
      sw install ../source -a claude-code --copy
      test ! -L .claude/skills/alpha; diff -r .agents/skills/alpha .claude/skills/alpha
      sed -i s/first/second/ ../source/alpha/SKILL.md
      sw update
      grep -q second .claude/skills/alpha/SKILL.md; diff -r .agents/skills/alpha .claude/skills/alpha
      grep -q '"copies"' .agents/skills/skills.lock.json
      "$NODE" "$COMMAND" verify >/dev/null
      sw uninstall alpha
      test -z "$(ls -A .claude/skills)"
    `;
    const { status, stderr } = spawnSync('unshare', ['-rm', 'sh', '-xc', script], {
      cwd: project,
      env: { PATH: process.env['PATH'], HOME: home, NODE: process.execPath, COMMAND },
      encoding: 'utf8',
    });
    expect({ status, stderr }).toMatchObject({ status: 0 });
  });

  test('gets copies if the system refuses to make links', () => {
    const { project, home } = makeProject();
    const refuseLinks = `const fs = require('node:fs');
      fs.symlinkSync = () => { throw Object.assign(new Error('EPERM: symlink'), { code: 'EPERM', errno: -1, syscall: 'symlink' }); };
      require('node:module').syncBuiltinESMExports();`;
    const preload = path.join(home, 'refuse-links.cjs');
    writeFileSync(preload, refuseLinks);
    const args = ['--require', preload, COMMAND, 'install', '../source', '-a', 'claude-code', '--yes', '--json'];
    const { status, stderr } = spawnSync(process.execPath, args, {
      cwd: project,
      env: { PATH: process.env['PATH'], HOME: home },
      encoding: 'utf8',
    });
    expect({ status, stderr }).toMatchObject({ status: 0 });
    const lock = JSON.parse(readFileSync(path.join(project, '.agents/skills/skills.lock.json'), 'utf8'));
    expect(lock.skills.alpha).toMatchObject({ copies: ['../../.claude/skills'] });
    expect(readFileSync(path.join(project, '.claude/skills/alpha/SKILL.md'))).toEqual(
      readFileSync(path.join(project, '.agents/skills/alpha/SKILL.md')),
    );
  });
});
