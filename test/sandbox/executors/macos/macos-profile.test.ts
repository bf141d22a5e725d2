import { describe, expect, test } from 'vitest';

import { macosExecutor } from '../../../../src/sandbox/executors/macos/macos.ts';
import { macosProfile } from '../../../../src/sandbox/executors/macos/macos-profile.ts';
import { skipUnless } from '../../../needs.ts';

const options = {
  workspace: '/private/var/w',
  writable: ['/private/var/w/work', '/private/var/w/out', '/private/var/w/runs'],
  mounts: [],
  readable: ['/Users/u/.skills/pdf', '/opt/homebrew/Cellar/node/20'],
};

describe('the profile for macOS', () => {
  test('matches the reviewed golden file', async () => {
    await expect(macosProfile(options)).toMatchFileSnapshot('macos.sb');
  });

  test('denies first, and the network last', () => {
    const lines = macosProfile(options).split('\n');
    expect(lines.slice(0, 2)).toEqual(['(version 1)', '(deny default)']);
    expect(lines.at(-2)).toBe('(deny network*)');
  });

  test('opens folders of the user at their path, and closes parts of them afterwards', () => {
    const repository = { source: '/Users/u/app', target: '/Users/u/app', access: 'write' } as const;
    const profile = macosProfile({
      ...options,
      mounts: [
        repository,
        { source: '/Users/u/app/.git', target: '/Users/u/app/.git', access: 'read' },
        { source: '/private/var/w/.empty-file', target: '/Users/u/app/.env', access: 'read' },
      ],
    });
    const lines = profile.split('\n');
    const at = lines.indexOf('; folders of the user; the last rule for a path counts');
    expect(lines.slice(at + 1, at + 5)).toEqual([
      '(allow file-read* file-write* (subpath "/Users/u/app"))',
      '(allow file-read* (subpath "/Users/u/app/.git"))',
      '(deny file-write* (subpath "/Users/u/app/.git"))',
      '(deny file-read* file-write* (subpath "/Users/u/app/.env"))',
    ]);
  });

  test('opens one socket where a way to granted hosts is given', () => {
    const profile = macosProfile({ ...options, bridgeSocket: '/private/var/w/net.sock' });
    expect(profile.split('\n').filter((line) => line.includes('network'))).toEqual([
      '; no network but the way that was granted',
      '(deny network*)',
      '(allow network-outbound (remote unix-socket (path-literal "/private/var/w/net.sock")))',
    ]);
  });

  test('a path stays one path, whatever is in it', () => {
    const odd = '/w/a")(allow default)("\\';
    expect(macosProfile({ ...options, writable: [odd] })).toContain('(subpath "/w/a\\")(allow default)(\\"\\\\")');
    for (const broken of ['relative', '/a\nb', '/a\0b', ''])
      expect(() => macosProfile({ ...options, readable: [broken] })).toThrow('expected an absolute path');
  });

  test(
    'the executor is unavailable on other systems (not on macOS)',
    skipUnless(process.platform !== 'darwin', 'a system other than macOS'),
    async () => {
      await expect(macosExecutor().attach({ id: 'w', root: '/', skills: [] })).rejects.toMatchObject({
        code: 'executor/unavailable',
      });
    },
  );
});
