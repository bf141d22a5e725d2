import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import { type Collected, collectOutputs } from '../../src/sandbox/outputs/collect.ts';
import type { Confinement } from '../../src/platform/fs/directory-handle.ts';
import { verifies } from '../conformance/verifies.ts';
import { SECRET, makeWorkspace } from './collect-support.ts';
import { needs } from '../needs.ts';

const isRoot = process.getuid?.() === 0;

/** What was said of each name. */
function told({ files, skipped }: Collected): Readonly<Record<string, string>> {
  return Object.fromEntries([
    ...files.map(({ name, content }) => [name, content ?? 'binary']),
    ...skipped.map(({ name, reason }) => [name, reason]),
  ]);
}

describe.each<Confinement>(['descriptors', 'paths'])('what is no plain file (by %s)', (confinement) => {
  verifies('EXEC-5', 'is listed and never opened or followed', async () => {
    const { root, outside } = makeWorkspace({ 'out/plain': 'plain', 'out/sub/inner': 'inner', 'work/w': 'w' });
    const out = path.join(root, 'out');
    const links = {
      'to-plain': 'plain',
      'to-work': '../work/w',
      'to-folder': 'sub',
      'as-seen-inside': '/workspace/out/plain',
      'by-host-path': path.join(root, 'out/plain'),
      outside: '../../outside/secret.txt',
      'outside-absolute': path.join(outside, 'secret.txt'),
      'outside-folder': outside,
      'outside-proc': '/proc/self/root/etc/passwd',
      'outside-sneaky': '/workspace/../../etc/passwd',
      'to-missing': 'nothing',
      loop: 'loop',
    };
    for (const [name, target] of Object.entries(links)) symlinkSync(target, path.join(out, name));
    linkSync(path.join(outside, 'secret.txt'), path.join(out, 'hard'));
    execFileSync('mkfifo', [path.join(out, 'pipe')]);
    writeFileSync(path.join(out, 'setuid'), 'x');
    chmodSync(path.join(out, 'setuid'), 0o4755);
    writeFileSync(path.join(out, 'setgid'), 'x');
    chmodSync(path.join(out, 'setgid'), 0o2755);
    const server = createServer().listen(path.join(out, 'socket'));
    onTestFinished(() => void server.close());
    await new Promise((resolve) => {
      server.once('listening', resolve);
    });

    const spec = { globs: ['out/**'], inline: true, programRoot: '/workspace' };
    const collected = await collectOutputs(root, spec, { confinement });
    expect(told(collected)).toEqual({
      'out/plain': 'plain',
      'out/sub/inner': 'inner',
      'out/to-plain': 'link',
      'out/to-work': 'link',
      'out/to-folder': 'link',
      'out/as-seen-inside': 'link',
      'out/by-host-path': 'link',
      'out/outside': 'link-outside',
      'out/outside-absolute': 'link-outside',
      'out/outside-folder': 'link-outside',
      'out/outside-proc': 'link-outside',
      'out/outside-sneaky': 'link-outside',
      'out/to-missing': 'link',
      'out/loop': 'link',
      'out/hard': 'hard-link',
      'out/pipe': 'not-regular',
      'out/setuid': 'set-id',
      'out/setgid': 'set-id',
      'out/socket': 'not-regular',
    });
    expect(JSON.stringify(collected)).not.toContain(SECRET);
    expect(collected.warnings).toEqual([
      'not collected (links are not followed): "out/as-seen-inside", "out/by-host-path", "out/loop" and 4 more',
      'not collected (a link that leaves the workspace): "out/outside", "out/outside-absolute", "out/outside-folder" and 2 more',
      'not collected (the file has further hard links): "out/hard"',
      'not collected (the file has set-user-id or set-group-id bits): "out/setgid", "out/setuid"',
      'not collected (a pipe, socket or device): "out/pipe", "out/socket"',
    ]);
  });

  test('a folder of the workspace that became a link is not entered', async () => {
    const { root, outside } = makeWorkspace();
    renameSync(path.join(root, 'out'), path.join(root, 'moved'));
    symlinkSync(outside, path.join(root, 'out'));
    mkdirSync(path.join(root, 'work/deep'));
    symlinkSync(outside, path.join(root, 'work/deep/link'));
    const globs = ['out/**', 'out/secret.txt', 'work/deep/link/*', 'work/deep/link/secret.txt'];
    expect(told(await collectOutputs(root, { globs, inline: true }, { confinement }))).toEqual({
      out: 'link-outside',
      'work/deep/link': 'link-outside',
    });
  });

  test('unreadable files are reported', async () => {
    const { root } = makeWorkspace({ 'out/closed/x': 'x', 'out/file': 'f', 'out/open': 'o' });
    chmodSync(path.join(root, 'out/closed'), 0);
    chmodSync(path.join(root, 'out/file'), 0);
    onTestFinished(() => chmodSync(path.join(root, 'out/closed'), 0o700));
    const expected = isRoot
      ? { 'out/closed/x': 'x', 'out/file': 'f', 'out/open': 'o' }
      : { 'out/closed': 'unreadable', 'out/file': 'unreadable', 'out/open': 'o' };
    expect(told(await collectOutputs(root, { globs: ['out/**'], inline: true }, { confinement }))).toEqual(expected);
  });
});

test('a device is not opened', needs('root'), async () => {
  const { root } = makeWorkspace({ 'out/a': 'a' });
  try {
    execFileSync('mknod', [path.join(root, 'out/null'), 'c', '1', '3'], { stdio: 'pipe' });
    execFileSync('mknod', [path.join(root, 'out/disk'), 'b', '7', '0'], { stdio: 'pipe' });
  } catch (error) {
    console.log(`skipped: devices cannot be made here (${String(error)})`);
    return;
  }
  expect(told(await collectOutputs(root, { globs: ['out/**'], inline: true }))).toEqual({
    'out/a': 'a',
    'out/disk': 'not-regular',
    'out/null': 'not-regular',
  });
});

test('names that do not show are listed written out, and what they name is left alone', async () => {
  const { root } = makeWorkspace({ 'out/plain': 'p', [`out/${'n'.repeat(255)}`]: 'long', 'out/ü 日本 (1).txt': 'u' });
  const odd = ['new\nline', 'red\u001b[31m', 'bidi\u202etxt.exe', 'zero\u200bwidth', 'back\\slash', '%2e%2e', 'tab\t'];
  for (const name of odd) writeFileSync(path.join(root, 'out', name), 'x');
  mkdirSync(path.join(root, 'out/fold\ner'));
  writeFileSync(path.join(root, 'out/fold\ner/file'), 'x');
  const raw = (bytes: Buffer): Buffer => Buffer.concat([Buffer.from(path.join(root, 'out/')), bytes]);
  writeFileSync(raw(Buffer.of(0x62, 0xff, 0x61)), 'x');
  writeFileSync(raw(Buffer.from('\uFFFD-is-a-name')), 'x');
  writeFileSync(raw(Buffer.of(0xff, ...Buffer.from('-is-a-name'))), 'x');

  const collected = await collectOutputs(root, { globs: ['out/**'], inline: true });
  expect(told(collected)).toEqual({
    'out/plain': 'p',
    [`out/${'n'.repeat(255)}`]: 'long',
    'out/ü 日本 (1).txt': 'u',
    'out/\uFFFD-is-a-name': 'x',
    'out/new\\nline': 'name',
    'out/red\\x1b[31m': 'name',
    'out/bidi\\u{202e}txt.exe': 'name',
    'out/zero\\u{200b}width': 'name',
    'out/back\\slash': 'name',
    'out/%2e%2e': 'name',
    'out/tab\\t': 'name',
    'out/fold\\ner': 'name',
    'out/b\\xffa': 'name',
    'out/\\xff-is-a-name': 'name',
  });
  expect(JSON.stringify(collected)).not.toMatch(/\u001b|\u202e|\u200b/);
});

describe('very much of it', needs('python3'), () => {
  const make = (text: string, root: string): void =>
    void execFileSync('python3', ['-c', text, root], { stdio: 'pipe', timeout: 170_000 });

  test('twenty thousand files are counted, and the first by name are collected', async () => {
    const { root } = makeWorkspace();
    make('import sys,os\nfor i in range(20000): os.mknod(sys.argv[1]+"/out/%06d" % i)', root);
    const collected = await collectOutputs(root, { globs: ['out/**'], maxFiles: 3 });
    expect(collected.files.map(({ name }) => name)).toEqual(['out/000000', 'out/000001', 'out/000002']);
    expect(collected.skipped.map(({ name }) => name)).toEqual(
      Array.from({ length: 100 }, (_, place) => `out/${String(place + 3).padStart(6, '0')}`),
    );
    expect(collected.warnings.at(-1)).toBe(
      'not collected (the limit on the number of files is reached): 19897 more files that match',
    );
    const odd = makeWorkspace();
    make('import sys,os\nfor i in range(1000): os.symlink("/x", sys.argv[1]+"/out/%06d" % i)', odd.root);
    writeFileSync(path.join(odd.root, 'out/z'), 'z');
    const behind = await collectOutputs(odd.root, { globs: ['out/**'] });
    expect(behind.files.map(({ name }) => name)).toEqual(['out/z']);
    expect(behind.skipped.length).toBe(100);
    expect(behind.warnings.at(-1)).toBe('900 more links, pipes, devices or invalid names match and are not listed');
  });

  test('folders nested beyond PATH_MAX are left at the sixty-fourth, with no descriptor kept open', async () => {
    const { root } = makeWorkspace({ 'out/a': 'a' });
    const descend = 'import sys,os\nos.chdir(sys.argv[1]+"/out")\n';
    make(`${descend}for i in range(2100):\n os.mkdir("d")\n os.chdir("d")\nopen("leaf","w").close()`, root);
    // No tool takes such a path: it is moved up level by level.
    onTestFinished(() =>
      make(
        `${descend}import shutil\nwhile os.path.isdir("d"):\n os.rename("d","e")\n if os.path.isdir("e/d"): os.rename("e/d","d")\n shutil.rmtree("e")`,
        root,
      ),
    );
    const before = readdirSync('/proc/self/fd').length;
    const collected = await collectOutputs(root, { globs: ['out/**'], inline: true });
    expect(told(collected)).toEqual({ 'out/a': 'a', [`out/${'d/'.repeat(63)}d`]: 'too-deep' });
    expect(readdirSync('/proc/self/fd').length).toBe(before);
  });

  test('a cancelled walk ends', async () => {
    const { root } = makeWorkspace();
    make('import sys,os\nfor i in range(2000): os.mknod(sys.argv[1]+"/out/%06d" % i)', root);
    const controller = new AbortController();
    const collecting = collectOutputs(root, { globs: ['out/**'], maxFiles: 5_000 }, { signal: controller.signal });
    setImmediate(() => controller.abort());
    await expect(collecting).rejects.toThrow('abort');
  });
});

test('a pipe with a writer does not hold the collection', async () => {
  const { root } = makeWorkspace({ 'out/a': 'a' });
  const pipe = path.join(root, 'out/pipe');
  execFileSync('mkfifo', [pipe]);
  const descriptor = openSync(pipe, 'r+');
  onTestFinished(() => closeSync(descriptor));
  expect(told(await collectOutputs(root, { globs: ['out/pipe', 'out/a'], inline: true }))).toEqual({
    'out/a': 'a',
    'out/pipe': 'not-regular',
  });
});

test('a log that is still being written is reported instead of returned in part', async () => {
  const { root } = makeWorkspace({ 'out/a': 'a', 'out/log': '' });
  const text = `
    import { appendFileSync } from 'node:fs';
    const end = Date.now() + 30_000;
    appendFileSync(process.argv[1], 'x'.repeat(1 << 24));
    process.stdout.write('ready');
    while (Date.now() < end) appendFileSync(process.argv[1], 'line');`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', text, path.join(root, 'out/log')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await new Promise((resolve) => {
    child.stdout.once('data', resolve);
  });
  // On a busy machine the writer may be asleep for the whole of one look.
  for (let look = 0; look < 200; look += 1) {
    const limits = { maxFileBytes: 2 ** 30, maxTotalBytes: 2 ** 30 };
    const collected = await collectOutputs(root, { globs: ['out/*'], ...limits });
    if (collected.files.length === 2) continue;
    expect(collected.files.map(({ name }) => name)).toEqual(['out/a']);
    expect(collected.skipped).toMatchObject([{ name: 'out/log', reason: 'changed' }]);
    return;
  }
  throw new Error('the file was never seen to grow');
});
