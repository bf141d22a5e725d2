import { spawn } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { OWNER_FILE, readFolderOwner, writeFolderOwner } from '../../../src/sandbox/workspace/folder-owner.ts';
import { ownerName, ownerOfName, ownerState, thisProcess } from '../../../src/platform/fs/lock-owner.ts';
import { scratch } from '../../skills/registry/support.ts';
import { needs } from '../../needs.ts';

describe('a lock owner', () => {
  test('is alive while its process runs', () => {
    expect(ownerState(thisProcess())).toBe('alive');
  });

  test('is dead once its process has exited, reaped or not', async () => {
    const child = spawn('sleep', ['60'], { stdio: 'ignore' });
    const { pid = 0 } = child;
    const self = thisProcess();
    expect(ownerState({ ...self, pid, start: '' })).toBe('alive');
    const ended = new Promise((resolve) => {
      child.once('exit', resolve);
    });
    child.kill('SIGKILL');
    await ended;
    expect(ownerState({ ...self, pid, start: '' })).toBe('dead');
  });

  test('is dead if its pid was reused or the machine was rebooted', needs('linux'), () => {
    const self = thisProcess();
    expect(ownerState({ ...self, start: `${self.start}1` })).toBe('dead');
    expect(ownerState({ ...self, boot: '0123456789ab' })).toBe('dead');
    expect(ownerState({ ...self, pid: 0 })).toBe('dead');
    expect(ownerState({ ...self, pid: 1, start: '' })).toBe('alive');
  });

  test('is unknown from another container', () => {
    expect(ownerState({ ...thisProcess(), space: '17' })).toBe('unknown');
  });

  test('is parsed from its name', () => {
    const self = thisProcess();
    expect(ownerOfName(ownerName(self))).toEqual(self);
    expect(ownerOfName(`${ownerName(self)}.k3j2`)).toEqual(self);
    for (const wrong of ['', 'x', '..', '12', '12.', '-1.2.3.4', '1.x.3.4', `${'9'.repeat(20)}.1.2.3`])
      expect(ownerOfName(wrong)).toBeUndefined();
  });
});

describe('the owner file of a folder', () => {
  test('names the owner, or that the folder is kept', () => {
    const folder = scratch();
    expect(readFolderOwner(folder)).toEqual({ type: 'absent' });
    writeFolderOwner(folder, thisProcess());
    expect(readFolderOwner(folder)).toEqual({ type: 'owned', owner: thisProcess() });
    writeFolderOwner(folder, 'kept');
    expect(readFolderOwner(folder)).toEqual({ type: 'kept' });
  });

  test('is unreadable if it is truncated, huge or a link', () => {
    const folder = scratch();
    const file = path.join(folder, OWNER_FILE);
    for (const text of ['', 'garbage', '{"pid":1}', 'x'.repeat(10_000)]) {
      writeFileSync(file, text);
      expect(readFolderOwner(folder)).toEqual({ type: 'unreadable' });
    }
    const linked = scratch();
    symlinkSync(file, path.join(linked, OWNER_FILE));
    expect(readFolderOwner(linked)).toEqual({ type: 'unreadable' });
  });
});
