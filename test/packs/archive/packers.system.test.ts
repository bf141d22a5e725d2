import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { openArchive } from '../../../src/packs/archive/archive.ts';
import { scratch } from '../../skills/registry/support.ts';
import { harvest, plant } from '../../platform/fs/tree-support.ts';
import { has } from '../../needs.ts';

const TREE = {
  'sample/SKILL.md': '---\nname: sample\ndescription: Packed by programs.\n---\n\n# Sample\n',
  'sample/scripts/run.sh': { program: '#!/bin/sh\necho hello\n' },
  'sample/assets/logo.png': Buffer.from(Array.from({ length: 70_000 }, (_, at) => Math.imul(at, 2654435761) >>> 24)),
  'sample/references/数据-é.md': '# 数据\n',
  'sample/references/with space.md': 'x'.repeat(10_000),
  'sample/empty.txt': '',
  'sample/notes/': { folder: true },
} as const;

const DEEP = `sample/${'a-long-name-of-a-folder/'.repeat(8)}file.md`;

interface Packer {
  readonly name: string;
  readonly program: string;
  readonly arguments: readonly string[];
  /** Has names too long for the oldest headers. */
  readonly isDeep?: boolean;
  readonly hasNoModes?: boolean;
  readonly script?: string;
}

const PYTHON_ZIP = `
import os, sys, zipfile
kind = sys.argv[2]
stream = kind == 'stream'
class Pipe:
    def __init__(self, file): self.file = file
    def write(self, data): return self.file.write(data)
    def flush(self): self.file.flush()
target = Pipe(open(sys.argv[1], 'wb')) if stream else sys.argv[1]
method = zipfile.ZIP_STORED if kind == 'stored' else zipfile.ZIP_DEFLATED
with zipfile.ZipFile(target, 'w', method) as made:
    for folder, folders, files in os.walk('sample'):
        made.write(folder)
        for name in files:
            if kind == 'wide':
                info = zipfile.ZipInfo.from_file(os.path.join(folder, name))
                with made.open(info, 'w', force_zip64=True) as out: out.write(open(os.path.join(folder, name), 'rb').read())
            else: made.write(os.path.join(folder, name))
`;
const PYTHON_TAR = `
import sys, tarfile
formats = {'ustar': tarfile.USTAR_FORMAT, 'gnu': tarfile.GNU_FORMAT, 'pax': tarfile.PAX_FORMAT}
with tarfile.open(sys.argv[1], 'w:gz', format=formats[sys.argv[2]]) as made: made.add('sample')
`;

const PACKERS: readonly Packer[] = [
  { name: 'zip', program: 'zip', arguments: ['-qr', 'OUT', 'sample'] },
  { name: 'zip without folders', program: 'zip', arguments: ['-qrD', 'OUT', 'sample'] },
  { name: 'zip, stored', program: 'zip', arguments: ['-qr0', 'OUT', 'sample'] },
  { name: 'zip without extra fields', program: 'zip', arguments: ['-qrX', 'OUT', 'sample'] },
  { name: 'zip with 64-bit sizes', program: 'zip', arguments: ['-qr', '-fz', 'OUT', 'sample'] },
  { name: 'zip through a pipe', program: 'sh', arguments: ['-c', 'zip -qr - sample | cat > OUT'] },
  { name: "Python's zipfile", program: 'python3', script: PYTHON_ZIP, arguments: ['SCRIPT', 'OUT', 'deflated'] },
  { name: "Python's zipfile, stored", program: 'python3', script: PYTHON_ZIP, arguments: ['SCRIPT', 'OUT', 'stored'] },
  {
    name: "Python's zipfile, a stream",
    program: 'python3',
    script: PYTHON_ZIP,
    arguments: ['SCRIPT', 'OUT', 'stream'],
  },
  { name: "Python's zipfile, wide", program: 'python3', script: PYTHON_ZIP, arguments: ['SCRIPT', 'OUT', 'wide'] },
  { name: 'jar', program: 'jar', arguments: ['cMf', 'OUT', 'sample'], hasNoModes: true },
  { name: 'tar', program: 'tar', arguments: ['-czf', 'OUT', 'sample'], isDeep: true },
  { name: 'tar of the folder it is in', program: 'tar', arguments: ['-czf', 'OUT', '.'], isDeep: true },
  { name: 'tar, POSIX', program: 'tar', arguments: ['--format=pax', '-czf', 'OUT', 'sample'], isDeep: true },
  { name: 'tar, ustar', program: 'tar', arguments: ['--format=ustar', '-czf', 'OUT', 'sample'] },
  { name: 'tar, old', program: 'tar', arguments: ['--format=v7', '-czf', 'OUT', 'sample'] },
  {
    name: "Python's tarfile",
    program: 'python3',
    script: PYTHON_TAR,
    arguments: ['SCRIPT', 'OUT', 'pax'],
    isDeep: true,
  },
  {
    name: "Python's tarfile, GNU",
    program: 'python3',
    script: PYTHON_TAR,
    arguments: ['SCRIPT', 'OUT', 'gnu'],
    isDeep: true,
  },
  { name: 'git archive, zip', program: 'sh', arguments: ['-c', gitArchive('zip')] },
  { name: 'git archive, tar.gz', program: 'sh', arguments: ['-c', gitArchive('tar.gz')], isDeep: true },
];

function gitArchive(format: string): string {
  const as = '-c user.name=x -c user.email=x@example.com';
  // git keeps no empty folders.
  return `touch sample/notes/.gitkeep && git init -q && git add -A && git ${as} commit -qm x && git archive --format=${format} -o OUT HEAD `;
}

describe('what common programs pack comes out as it went in', () => {
  test.for(PACKERS)('$name', async ({ name, program, arguments: given, ...rest }, { skip }) => {
    const { isDeep = false, hasNoModes = false, script } = rest;
    if (name === 'zip through a pipe' && !has('zip')) skip('zip');
    const base = scratch();
    const from = plant(path.join(base, 'from'), { ...TREE, ...(isDeep ? { [DEEP]: 'deep' } : {}) });
    const before = harvest(from);
    const out = path.join(base, 'packed.bin');
    if (script !== undefined) writeFileSync(path.join(base, 'pack.py'), script);
    const words = given.map((word) => word.replace('OUT', out).replace('SCRIPT', path.join(base, 'pack.py')));
    try {
      execFileSync(program, words, { cwd: from, stdio: 'pipe', timeout: 170_000 });
    } catch (error) {
      if (!(error instanceof Error) || !('code' in error) || error.code !== 'ENOENT') throw error;
      skip(program);
    }
    const opened = await openArchive(out);
    const extracted = opened.type === 'refused' ? opened : await opened.extract(path.join(base, 'to'));
    expect(extracted).toEqual({ type: 'extracted', files: expect.any(Number), bytes: expect.any(Number) });
    expect(normal(harvest(path.join(base, 'to')))).toEqual(normal(before, hasNoModes));
  });
});

/** Packers differ in what they do with folders; git needs a file in each. */
function normal(tree: Readonly<Record<string, string>>, hasNoModes = false): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(tree)
      .filter(([name]) => !name.endsWith('/') && !name.endsWith('.gitkeep'))
      .map(([name, content]) => [name.normalize('NFC'), hasNoModes ? content.replace(/^x /, '') : content]),
  );
}
