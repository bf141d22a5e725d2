import { chmodSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { FAILURES } from '../../../src/core/failure-codes.ts';
import { findScript } from '../../../src/skills/loader/script-path.ts';
import { makeSkill } from './support.ts';

test('a script is found with and without its folder named, with its exec bit', () => {
  const skill = makeSkill({ 'scripts/run.py': '', 'scripts/deep/go.sh': '' });
  chmodSync(path.join(skill.dir, 'scripts/deep/go.sh'), 0o755);
  const run = { type: 'found', path: `${skill.dir}/scripts/run.py`, isExecutable: false };
  expect(['run.py', 'scripts/run.py', './scripts//run.py'].map((name) => findScript(skill, name))).toEqual([
    run,
    run,
    run,
  ]);
  expect(findScript(skill, 'deep/go.sh')).toEqual({
    type: 'found',
    path: `${skill.dir}/scripts/deep/go.sh`,
    isExecutable: true,
  });
});

test('below scripts/, a name that starts like a home folder or an address is a name', () => {
  const skill = makeSkill({ 'scripts/~x.py': '', 'scripts/ab:c.py': '', 'scripts/file:x.sh': '' });
  const places = ['~x.py', 'ab:c.py', 'file:x.sh', './ab:c.py', 'scripts/ab:c.py'].map((name) =>
    findScript(skill, name),
  );
  expect(places.map((found) => (found.type === 'found' ? path.basename(found.path) : found.failure.code))).toEqual([
    '~x.py',
    'ab:c.py',
    'file:x.sh',
    'ab:c.py',
    'ab:c.py',
  ]);
  const elsewhere = ['~/x.py', '~root/x.py', 'file:///x.py', 'C:/x.py', 'ab:c/x.py'].map((name) =>
    findScript(skill, name),
  );
  expect(elsewhere.map((found) => found.type === 'failed' && found.failure.code)).toEqual(
    Array<string>(5).fill('path/absolute'),
  );
  expect(findScript(skill, String.raw`C:\x.py`)).toMatchObject({ failure: { code: 'path/backslash' } });
});

test('one that is not there is answered with those that are most like it', () => {
  const skill = makeSkill({ 'scripts/extract.py': '', 'references/extrakt.md': '' });
  expect(findScript(skill, 'extrakt.py')).toEqual({
    type: 'failed',
    failure: {
      code: 'script/unknown',
      message: 'the skill "demo" has no script "extrakt.py"',
      hint: FAILURES['script/unknown'],
      nearest: ['scripts/extract.py'],
    },
  });
});

test('nothing but a file of scripts/ is one', () => {
  const skill = makeSkill({ 'run.sh': '', 'scripts/x': '' });
  mkdirSync(path.join(skill.dir, 'scripts/folder'));
  symlinkSync('/bin/sh', path.join(skill.dir, 'scripts/sh'));
  symlinkSync('../run.sh', path.join(skill.dir, 'scripts/inside'));
  const code = (script: string): string => {
    const found = findScript(skill, script);
    return found.type === 'failed' ? found.failure.code : found.path;
  };
  const asked = ['../run.sh', '/bin/sh', 'scripts/../run.sh', '', 'run.sh', 'folder', 'sh', 'inside', 'scripts'];
  expect(asked.map(code)).toEqual([
    'path/parent',
    'path/absolute',
    'path/parent',
    'path/empty',
    'script/unknown',
    'file/directory',
    'path/link-outside',
    `${skill.dir}/scripts/inside`,
    'script/unknown',
  ]);
  rmSync(skill.dir, { recursive: true });
  expect(code('x')).toBe('skill/gone');
});
