import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { checkMounts, type MountRequest, type MountRules } from '../../../src/sandbox/mounts/check-mount.ts';
import { scratch } from '../../skills/registry/support.ts';

interface World {
  readonly folder: string;
  readonly rules: MountRules;
}

function writeWorld(): World {
  const folder = scratch();
  chmodSync(folder, 0o755);
  for (const name of [
    'home/.ssh',
    'home/.config/gcloud/x',
    'home/.agent/approvals',
    'home/project/sub',
    'skills/pdf',
    'cache/index',
  ])
    mkdirSync(path.join(folder, name), { recursive: true });
  writeFileSync(path.join(folder, 'home/project/file'), '');
  symlinkSync('home/.ssh', path.join(folder, 'link-to-keys'));
  symlinkSync('home/project', path.join(folder, 'link-to-project'));
  return {
    folder,
    rules: {
      home: path.join(folder, 'home'),
      stateFolders: [path.join(folder, 'home/.agent'), path.join(folder, 'cache')],
      skillRoots: [path.join(folder, 'skills')],
      identity: undefined,
      needsPath: true,
    },
  };
}

const reading = (folder: string): MountRequest => ({ folder, access: 'read' });

describe('a mount is refused for', () => {
  test.each([
    ['the root', '/', 'it contains unrelated files of the system'],
    ['a folder of the system', '/etc', '/etc belongs to the system'],
    ['a folder below /proc', '/proc/self', '/proc belongs to the system'],
    ['a folder of keys', 'home/.ssh', '.ssh holds keys or credentials'],
    ['credentials in a folder of settings', 'home/.config/gcloud/x', 'gcloud holds keys or credentials'],
    ['a link to keys', 'link-to-keys', '.ssh holds keys or credentials'],
    ['the home folder', 'home', 'it contains your home folder with its keys'],
    ['a folder around the home folder', '.', 'it contains your home folder with its keys'],
    ['the state of skillwright', 'home/.agent/approvals', 'it belongs to the state of skillwright'],
    ['a folder of the cache', 'cache/index', 'it belongs to the state of skillwright'],
    ['a skill', 'skills/pdf', 'it is in the skill folder'],
    ['a file', 'home/project/file', 'it is not a folder'],
    ['what is missing', 'gone', 'it does not exist'],
    ['what no file can be called', 'a\0b', 'it does not exist'],
  ])('%s', (_, name, reason) => {
    const { folder, rules } = writeWorld();
    const request = reading(path.resolve(folder, name));
    expect(() => checkMounts([request], rules)).toThrow(reason);
    // A default is left out instead.
    expect(checkMounts([{ ...request, isOptional: true }], rules)).toEqual([]);
  });

  test('a folder around the state of skillwright', () => {
    const { folder, rules } = writeWorld();
    const request = [reading(folder)];
    expect(() => checkMounts(request, { ...rules, home: undefined })).toThrow('where skillwright keeps its state');
  });

  test('a folder that the user of programs cannot use', () => {
    const { folder, rules } = writeWorld();
    const identity = { uid: 4711, gid: 4711 };
    const project = path.join(folder, 'home/project');
    const check = (access: 'read' | 'write', more: Partial<MountRules> = {}): unknown =>
      checkMounts([{ folder: project, access }], { ...rules, identity, ...more });
    chmodSync(project, 0o755);
    chmodSync(path.join(folder, 'home'), 0o755);
    expect(check('read')).toHaveLength(1);
    expect(() => check('write')).toThrow('programs run as user 4711 under root, who cannot write it');
    chmodSync(project, 0o700);
    expect(() => check('read')).toThrow('who cannot read it');
    chmodSync(project, 0o755);
    chmodSync(path.join(folder, 'home'), 0o700);
    expect(() => check('read')).toThrow('who cannot enter');
    // An engine mounts by itself.
    expect(check('read', { needsPath: false })).toHaveLength(1);
  });
});

test('links are resolved, an outer folder comes first, and the last request for a folder counts', () => {
  const { folder, rules } = writeWorld();
  const mounts = checkMounts(
    [
      reading(path.join(folder, 'home/project/sub')),
      reading(path.join(folder, 'link-to-project')),
      { folder: path.join(folder, 'home/project'), access: 'write', isProject: true },
    ],
    rules,
  );
  expect(mounts.map(({ source, access, isProject }) => [path.relative(folder, source), access, isProject])).toEqual([
    ['home/project', 'write', true],
    ['home/project/sub', 'read', false],
  ]);
});
