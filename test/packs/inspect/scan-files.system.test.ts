import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { scanSkill } from '../../../src/scan/scan.ts';
import { readScanFiles } from '../../../src/packs/inspect/scan-files.ts';
import { verifies } from '../../conformance/verifies.ts';
import { PROJECT } from '../../files-below.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'scan-files-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const write = (name: string, content: string | Uint8Array): void => {
  const target = path.join(folder, name);
  mkdirSync(path.dirname(target), { recursive: true });
  writeFileSync(target, content);
};
const kindOf = (name: string, content: string | Uint8Array): unknown => {
  write(name, content);
  const files = readScanFiles(folder);
  return 'length' in files ? files.find((file) => file.path === name)?.binary : files;
};
const latin = (text: string): Uint8Array => Buffer.from(text, 'latin1');

describe('readScanFiles', () => {
  test('returns text files sorted by path, with the executable bit', () => {
    write('SKILL.md', '# A\n');
    write('scripts/b.sh', 'true\n');
    chmodSync(path.join(folder, 'scripts/b.sh'), 0o755);
    write('.hidden/c.md', 'ü');
    expect(readScanFiles(folder)).toEqual([
      { path: '.hidden/c.md', text: 'ü', isExecutable: false },
      { path: 'SKILL.md', text: '# A\n', isExecutable: false },
      { path: 'scripts/b.sh', text: 'true\n', isExecutable: true },
    ]);
  });

  test.each([
    ['a.bin', latin('PK\x03\x04\0\0'), 'archive'],
    ['a.txt', latin('\x1f\x8b\x08\0'), 'archive'],
    ['a.dat', latin(`${'\0'.repeat(257)}ustar`), 'archive'],
    ['tool', latin('\x7fELF\x02\x01'), 'program'],
    ['tool.md', latin('MZ\x90\0\x03'), 'program'],
    ['a.pyc', latin('\xcb\r\r\n\0\0\0\0'), 'program'],
    ['a.wasm', latin('\0asm\x01\0\0\0'), 'program'],
    ['a.jar', latin('PK\x03\x04\0\0'), 'program'],
    ['a.docx', latin('PK\x03\x04\0\0'), 'other'],
    ['a.png', latin('\x89PNG\r\n\x1a\n\0\0'), 'other'],
    ['a.exe', 'only a text\n', undefined],
    ['MZ.md', 'MZ is how programs begin\n', undefined],
    ['empty.so', '', undefined],
  ])('classifies %s by its bytes before its name', (name, content, kind) => {
    expect(kindOf(name, content)).toBe(kind);
  });

  test('decodes UTF-16 and Latin-1', () => {
    write('a.sh', Buffer.from('\ufeffrm -rf ~/\n', 'utf16le'));
    write('b.sh', latin('# caf\xe9\nrm -rf ~/\n'));
    const files = readScanFiles(folder);
    expect('length' in files ? scanSkill(files).map(({ path: at, line, rule }) => [at, line, rule]) : files).toEqual([
      ['a.sh', 1, 'destructive-command'],
      ['b.sh', 2, 'destructive-command'],
    ]);
  });

  test('truncates long files and marks them', () => {
    write('a.txt', 'abcdefgh'.repeat(512 * 1024));
    const files = readScanFiles(folder);
    expect('length' in files ? files.map(({ text, isCut }) => [text.length, isCut]) : files).toEqual([
      [2 * 1024 * 1024, true],
    ]);
  });

  test('does not follow links', () => {
    write('SKILL.md', 'a');
    symlinkSync('/etc/passwd', path.join(folder, 'link.md'));
    expect(readScanFiles(folder)).toEqual([{ path: 'SKILL.md', text: 'a', isExecutable: false }]);
  });

  test('refuses a missing folder and one over the limits', () => {
    expect(readScanFiles(path.join(folder, 'none'))).toEqual({
      type: 'refused',
      code: 'source/missing',
      path: '',
      message: 'there is no such folder',
      hint: 'check the path or the address',
    });
    write('a', 'a');
    write('b', 'b');
    const limits = { maxEntries: 1, maxBytes: 100, maxDepth: 2 };
    expect(readScanFiles(folder, { limits })).toMatchObject({ code: 'archive/too-many' });
    expect(readScanFiles(folder, { limits: { ...limits, maxEntries: 9, maxBytes: 1 } })).toMatchObject({
      code: 'archive/too-large',
    });
  });

  test('stops when the signal aborts', () => {
    write('a', 'a');
    expect(() => readScanFiles(folder, { signal: AbortSignal.abort() })).toThrow('aborted');
  });

  verifies('PACK-7', 'finds nothing in the bundled skills', () => {
    for (const name of ['csv-report', 'skill-author', 'text-diff']) {
      const files = readScanFiles(path.join(PROJECT, 'skills', name));
      expect('length' in files ? scanSkill(files) : files).toEqual([]);
    }
  });
});
