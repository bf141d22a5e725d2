import { describe, expect, test } from 'vitest';

import { macosExecutor } from '../../../../src/sandbox/executors/macos/macos.ts';
import { macosProfile } from '../../../../src/sandbox/executors/macos/macos-profile.ts';

const options = {
  workspace: '/private/var/w',
  writable: ['/private/var/w/work', '/private/var/w/out', '/private/var/w/runs'],
  readable: ['/Users/u/.skills/pdf', '/opt/homebrew/Cellar/node/20'],
};

describe('the profile for macOS', () => {
  test('is the one that was looked at', async () => {
    await expect(macosProfile(options)).toMatchFileSnapshot('macos.sb');
  });

  test('denies first, and the network last', () => {
    const lines = macosProfile(options).split('\n');
    expect(lines.slice(0, 2)).toEqual(['(version 1)', '(deny default)']);
    expect(lines.at(-2)).toBe('(deny network*)');
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

  test.skipIf(process.platform === 'darwin')('the executor is refused elsewhere (not on macOS)', async () => {
    await expect(macosExecutor().attach({ id: 'w', root: '/', skills: [] })).rejects.toMatchObject({
      code: 'executor/unavailable',
    });
  });
});
