import { spawn } from 'node:child_process';
import { closeSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';

import { collectOutputs } from '../../src/sandbox/outputs/collect.ts';
import { openFolders } from '../../src/sandbox/outputs/collect-folders.ts';
import { verifies } from '../conformance/verifies.ts';
import { SECRET, makeWorkspace } from './collect-support.ts';
import { needs } from '../needs.ts';
import { isSystemError } from '../../src/platform/system-error.ts';

const RIGHT = 'what the program made';
const READS = 10_000;
/** Fewer: listing a folder waits for the process that renames in it. */
const COLLECTIONS = 100;

/** Swaps a file and a folder with links to the secret, until it is killed or 50 seconds have passed. */
const SWAP = `
  import { renameSync, symlinkSync, writeFileSync } from 'node:fs';
  const [out, outside, kind] = process.argv.slice(1);
  const end = Date.now() + 50_000;
  process.stdout.write('ready');
  while (Date.now() < end) {
    if (kind === 'leaf') {
      symlinkSync(outside + '/secret.txt', out + '/.link');
      renameSync(out + '/.link', out + '/leaf.txt');
      writeFileSync(out + '/.file', ${JSON.stringify(RIGHT)});
      renameSync(out + '/.file', out + '/leaf.txt');
    } else {
      renameSync(out + '/sub', out + '/.folder');
      renameSync(out + '/.other', out + '/sub');
      renameSync(out + '/sub', out + '/.other');
      renameSync(out + '/.folder', out + '/sub');
    }
  }`;

async function startSwapping(out: string, outside: string, kind: string): Promise<void> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', SWAP, out, outside, kind], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(async () => {
    if (child.exitCode !== null) return;
    const isOver = new Promise((resolve) => {
      child.once('exit', resolve);
    });
    child.kill('SIGKILL');
    await isOver;
  });
  await new Promise((resolve) => {
    child.stdout.once('data', resolve);
  });
}

function leaks(file: string): boolean {
  for (let count = 0; count < READS * 20; count += 1) {
    try {
      if (readFileSync(file, 'utf8') === SECRET) return true;
    } catch (error) {
      if (!isSystemError(error)) throw error;
    }
  }
  return false;
}

describe('a program that exchanges its outputs for links while they are collected', needs('linux'), () => {
  verifies('EXEC-5', 'gets no secret out in ten thousand reads, where a plain reader leaks', async () => {
    const { root, outside } = makeWorkspace({ 'out/leaf.txt': RIGHT, 'out/sub/secret.txt': RIGHT });
    const out = path.join(root, 'out');
    symlinkSync(outside, path.join(out, '.other'));
    await Promise.all(['leaf', 'folder'].map((kind) => startSwapping(out, outside, kind)));
    const files = ['out/leaf.txt', 'out/sub/secret.txt'];
    // Without this the race would not be run at all, and nothing shown.
    expect(files.map((file) => leaks(path.join(root, file)))).toEqual([true, true]);

    const seen = new Set<string>();
    const folders = openFolders(root);
    onTestFinished(() => folders.close());
    for (let count = 0; count < READS; count += 1) {
      const name = files[count % files.length] ?? '';
      const opened = folders.openFile(name);
      // As for a collection that starts anew: no folder is held from the last time.
      folders.enter('');
      if (opened.type !== 'open') seen.add(`${name}: ${opened.type === 'gone' ? 'changed' : opened.reason}`);
      else {
        seen.add(`${name}: ${readFileSync(opened.descriptor, 'utf8')}`);
        closeSync(opened.descriptor);
      }
    }
    expect([...seen].filter((outcome) => outcome.includes(SECRET))).toEqual([]);
    for (let count = 0; count < COLLECTIONS; count += 1) {
      const collected = await collectOutputs(root, { globs: files, inline: true, isAutomatic: true });
      for (const { name, content = '' } of collected.files) seen.add(`${name}: ${content}`);
      for (const { name, reason } of collected.skipped) seen.add(`${name}: ${reason}`);
    }
    const possible = files.flatMap((name) => [
      `${name}: ${RIGHT}`,
      `${name}: link-outside`,
      `${name}: link`,
      `${name}: changed`,
    ]);
    possible.push('out/sub: link', 'out/sub: link-outside');
    expect([...seen].filter((outcome) => !possible.includes(outcome))).toEqual([]);
    expect([...seen]).toEqual(expect.arrayContaining(files.map((name) => `${name}: ${RIGHT}`)));
    expect([...seen]).toEqual(expect.arrayContaining(files.map((name) => `${name}: link`)));
  });
});
