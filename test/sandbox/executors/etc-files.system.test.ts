import { existsSync, lstatSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { landlockExecutor } from '../../../src/sandbox/executors/landlock/executor.ts';
import { readableEtcFiles } from '../../../src/sandbox/executors/linux/mounts.ts';
import { spawnCli } from '../../cli/run-cli.ts';
import { verifies } from '../../conformance/verifies.ts';
import { has, needs } from '../../needs.ts';
import { scratch } from '../../skills/registry/support.ts';
import { SANDBOXES, collected, openWorkspace } from '../sandbox.ts';

/** Credentials and settings that may hold them. */
const WITHHELD = [
  ['shadow', 'gshadow', 'sudoers', 'ssl/private', 'ssh', 'docker', 'containerd', 'kubernetes', 'NetworkManager'],
  ['gitconfig', 'npmrc', 'pip.conf', 'wgetrc', 'maven/settings.xml', 'R/Renviron.site', 'environment', 'profile'],
  ['machine-id', 'resolv.conf', 'postgresql', 'cron.d', 'security', 'pam.d', 'apt', 'krb5.keytab'],
]
  .flat()
  .map((name) => `/etc/${name}`);

/** Prints each path whose content or entries can be read. */
const READ =
  'for f; do if [ -d "$f" ]; then ls "$f" > /dev/null; else head -c 1 "$f" > /dev/null; fi && echo "$f"; done';

describe.each([...SANDBOXES, ...(has('landlock') ? [['landlock', landlockExecutor] as const] : [])])(
  'programs under %s',
  (_, make) => {
    verifies('EXEC-7', 'read every listed part of /etc that exists, and no credentials', async () => {
      const listed = readableEtcFiles().filter((file) => existsSync(file));
      expect(listed).not.toEqual([]);
      const { workspace, close } = await openWorkspace(make());
      try {
        const words = [...listed, ...WITHHELD, '/etc/passwd', '/etc/group', '/etc/hosts', '/etc/nsswitch.conf'];
        const { stdout } = await collected(workspace, ['sh', '-c', READ, 'sh', ...words]);
        const machine = ['/etc/passwd', '/etc/group', '/etc/hosts', '/etc/nsswitch.conf'];
        // A minimal machine has no nsswitch.conf, and Landlock shows the files of the machine.
        const expected = [...listed, ...machine.filter((file) => existsSync(file))];
        expect(
          stdout
            .trim()
            .split('\n')
            .filter((file) => expected.includes(file)),
        ).toEqual(expected);
        expect(
          stdout
            .trim()
            .split('\n')
            .filter((file) => WITHHELD.includes(file)),
        ).toEqual([]);
      } finally {
        await close();
      }
    });
  },
);

test('a version in a name is digits and dots', () => {
  const names = readableEtcFiles().map((file) => file.slice('/etc/'.length));
  expect(names.filter((name) => name.includes('*'))).toEqual([]);
  for (const name of names.filter((each) => each.startsWith('python3'))) expect(name).toMatch(/^python3(?:\.\d+)?$/);
});

/** A machine whose /etc has settings with credentials that every user may read. */
const WITH_SETTINGS = String.raw`
mount -t tmpfs -o mode=755 tmpfs /mnt && cp -a /etc /mnt/etc && cd /mnt/etc && mkdir -p ssl/private maven &&
for f in npmrc pip.conf wgetrc ssl/private/key.pem maven/settings.xml environment sudoers shadow; do
  rm -f $f; echo SECRET-4711 > $f; chmod 644 $f
done && chmod 755 ssl/private &&
printf '[url "https://SECRET-4711@example.com/"]\n\tinsteadOf = https://example.com/\n[init]\n\tdefaultBranch = trunk\n' > gitconfig &&
chmod 644 gitconfig && mount -t tmpfs -o mode=755 tmpfs /usr/local/etc && echo SECRET-4711 > /usr/local/etc/npmrc &&
echo plain > /usr/local/etc/plain.conf && chmod 644 /usr/local/etc/* && mount --bind /mnt/etc /etc && cd "$1" && shift && exec "$@"`;

const USE_GIT = String.raw`cd "$HOME" && git init -q r && cd r && echo a > a && git add a &&
git -c user.name=a -c user.email=a@example.com commit -qm first && git log --format=%s
git config --list | grep -c SECRET
cat /etc/gitconfig /etc/npmrc /etc/pip.conf /etc/wgetrc /etc/ssl/private/key.pem /etc/maven/settings.xml /etc/environment \
  /etc/sudoers /etc/shadow /usr/local/etc/npmrc 2> /dev/null | grep -c SECRET; cat /usr/local/etc/plain.conf`;

const NAMES = ['bubblewrap', 'namespaces', 'landlock'] as const;

describe.each(NAMES)('where /etc has settings with credentials, under %s', (executor) => {
  test('git works, and nothing shows them', needs('mounts', executor), async () => {
    const folder = scratch();
    writeFileSync(path.join(folder, 'mark'), '');
    const words = ['exec', 'text-diff', USE_GIT, '--command', '--yes', '--executor', executor];
    const { status, out, err } = await spawnCli(folder, words, {}, (argv) => [
      'unshare',
      '--mount',
      '--propagation',
      'private',
      'sh',
      '-c',
      WITH_SETTINGS,
      'sh',
      folder,
      ...argv,
    ]);
    expect([status, out, err.includes('denied')]).toEqual([0, 'first\n0\n0\nplain\n', false]);
    // The mounts were those of the command alone.
    expect(lstatSync('/mnt').isDirectory() && !existsSync('/mnt/etc')).toBe(true);
  });
});
