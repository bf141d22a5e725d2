import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

import { describe, expect, onTestFinished, test } from 'vitest';

import { hiddenNames, isSecretPath, writeProtection } from '../../../src/policy/index.ts';
import { matchHiddenNames } from '../../../src/sandbox/mounts/hidden-names.ts';
import { mountEntries, type MountedFolder } from '../../../src/sandbox/mounts/mount-entries.ts';
import { scratch } from '../../skills/registry/support.ts';

/** A folder that a program may write, as it is before the program. */
function openFolder(prepare: (folder: string) => void = () => undefined): {
  readonly folder: string;
  readonly mounted: MountedFolder;
} {
  const top = realpathSync(scratch());
  const folder = path.join(top, 'project');
  mkdirSync(folder);
  prepare(folder);
  return { folder, mounted: mount(folder, top) };
}

function mount(folder: string, workspace: string): MountedFolder {
  const isHidden = matchHiddenNames(hiddenNames());
  const [mounted] = mountEntries([{ source: folder, access: 'write', isProject: true, inode: '', keys: [] }], () => ({
    workspace,
    root: '/nowhere',
    isIsolating: true,
    hasSockets: true,
    hidesNames: true,
    isHidden: (relative) => isHidden(relative, folder) || isSecretPath(relative, folder),
    isSecretDocument: () => false,
    isProtected: (relative) => writeProtection(relative, folder) !== 'free',
    skillRoots: [],
    records: [],
  }));
  if (mounted === undefined) throw new Error('the folder was not mounted');
  return mounted;
}

/** Makes folders within each other, each by a path of its own, because their whole path is too long for a system call. */
function makeDeep(folder: string, script: string): void {
  const name = 'd'.repeat(200);
  const step = `mkdir ${name} && cd -P ${name} || exit 1`;
  execFileSync('sh', [
    '-c',
    `cd "$1" && ${Array.from({ length: 50 }, () => step).join('; ')}; ${script}`,
    'sh',
    folder,
  ]);
  onTestFinished(() => void execFileSync('rm', ['-rf', folder]));
}

describe('after a program', () => {
  test('what it created is renamed, however much there is of it', () => {
    const { folder, mounted } = openFolder();
    mkdirSync(path.join(folder, 's'));
    for (let number = 0; number < 2_500; number += 1) writeFileSync(path.join(folder, `s/${String(number)}.env`), '');
    for (let number = 0; number < 150; number += 1) {
      mkdirSync(path.join(folder, `r${String(number)}`));
      writeFileSync(path.join(folder, `r${String(number)}/AGENTS.md`), '');
    }
    const { warnings, isLeft } = mounted.finish();
    expect(isLeft).toBe(false);
    expect(warnings).toHaveLength(101);
    expect(warnings.at(-1)).toBe(
      `50 more entries that the program created in ${folder} and that other tools run or obey were renamed: .held was added to their names`,
    );
    expect(readdirSync(path.join(folder, 's'))).toHaveLength(2_500);
    for (let number = 0; number < 150; number += 1)
      expect(readdirSync(path.join(folder, `r${String(number)}`))).toEqual(['AGENTS.md.held']);
  });

  test('a name that has no room for more keeps nothing from being renamed', () => {
    const { folder, mounted } = openFolder();
    const names = [`${'0'.repeat(240)}.code-workspace`, `x${'é'.repeat(112)}.code-workspace`];
    for (const name of [...names, 'AGENTS.md']) writeFileSync(path.join(folder, name), name);
    const { warnings, isLeft } = mounted.finish();
    expect([warnings.length, isLeft]).toEqual([3, false]);
    expect(readdirSync(folder).toSorted()).toEqual(
      [`${'0'.repeat(100)}.held`, 'AGENTS.md.held', `x${'é'.repeat(49)}.held`].toSorted(),
    );
  });

  test('entries that have the new name are kept, of every kind', () => {
    const { folder, mounted } = openFolder();
    for (const at of ['a', 'b', 'c', 'd']) {
      mkdirSync(path.join(folder, at));
      writeFileSync(path.join(folder, at, 'AGENTS.md'), 'created');
    }
    writeFileSync(path.join(folder, 'a/AGENTS.md.held'), 'file');
    mkdirSync(path.join(folder, 'b/AGENTS.md.held'));
    symlinkSync('nowhere', path.join(folder, 'c/AGENTS.md.held'));
    execFileSync('mkfifo', [path.join(folder, 'd/AGENTS.md.held')]);
    expect(mounted.finish().isLeft).toBe(false);
    for (const at of ['a', 'b', 'c', 'd'])
      expect([at, readdirSync(path.join(folder, at)).toSorted()]).toEqual([at, ['AGENTS.md.held', 'AGENTS.md.held-2']]);
    expect(readFileSync(path.join(folder, 'a/AGENTS.md.held'), 'utf8')).toBe('file');
  });

  test('folders that were closed are searched, and closed again', () => {
    const { folder, mounted } = openFolder();
    mkdirSync(path.join(folder, 'aa/bb/.git'), { recursive: true });
    mkdirSync(path.join(folder, 'cc'));
    writeFileSync(path.join(folder, 'cc/AGENTS.md'), '');
    writeFileSync(path.join(folder, 'CLAUDE.md'), '');
    for (const [name, mode] of [
      ['aa/bb', 0o000],
      ['aa', 0o000],
      ['cc', 0o555],
    ] as const)
      chmodSync(path.join(folder, name), mode);
    expect(mounted.finish().isLeft).toBe(false);
    const modes = ['aa', 'cc'].map((name) => lstatSync(path.join(folder, name)).mode & 0o777);
    chmodSync(path.join(folder, 'aa'), 0o755);
    expect([...modes, lstatSync(path.join(folder, 'aa/bb')).mode & 0o777]).toEqual([0o000, 0o555, 0o000]);
    chmodSync(path.join(folder, 'aa/bb'), 0o755);
    chmodSync(path.join(folder, 'cc'), 0o755);
    expect(['', 'aa/bb', 'cc'].map((name) => readdirSync(path.join(folder, name)).toSorted())).toEqual([
      ['CLAUDE.md.held', 'aa', 'cc'],
      ['.git.held'],
      ['AGENTS.md.held'],
    ]);
  });

  test('what is deeper than the longest path is moved up and searched', () => {
    const { folder, mounted } = openFolder();
    makeDeep(folder, 'mkdir .git && echo x > AGENTS.md && echo kept > plain.txt');
    writeFileSync(path.join(folder, 'AGENTS.md'), '');
    expect(mounted.finish().isLeft).toBe(false);
    const found = execFileSync('find', ['.', '-name', '*.held*', '-o', '-name', 'plain.txt', '-o', '-name', '.git'], {
      cwd: folder,
      encoding: 'utf8',
    });
    expect(
      found
        .split('\n')
        .map((line) => path.basename(line))
        .filter((name) => name !== '')
        .toSorted(),
    ).toEqual(
      ['.git.held', 'AGENTS.md.held', 'AGENTS.md.held', 'plain.txt', 'too-deep.held', 'too-deep.held-2'].toSorted(),
    );
  });

  test('names that are no text are renamed too', () => {
    const { folder, mounted } = openFolder();
    const file = (...names: readonly string[]): Buffer => Buffer.from([folder, ...names].join('/'), 'latin1');
    mkdirSync(file('\xff'));
    mkdirSync(file('\xff/.git'));
    mkdirSync(file('plain'));
    writeFileSync(file('plain/\xfe.code-workspace'), '');
    expect(mounted.finish()).toEqual({
      isLeft: false,
      warnings: expect.arrayContaining([
        expect.stringMatching(/^the program created .*\.git.*, which other tools run or obey; it was renamed to /),
      ]),
    });
    const names = (folderName: Buffer): readonly string[] => readdirSync(folderName, 'latin1');
    expect([names(file('\xff')), names(file('plain'))]).toEqual([['.git.held'], ['\xfe.code-workspace.held']]);
  });

  test('a folder with secrets hides nothing that git runs', () => {
    const { folder, mounted } = openFolder();
    mkdirSync(path.join(folder, '.azure/lib/.git'), { recursive: true });
    mounted.finish();
    expect(readdirSync(path.join(folder, '.azure/lib'))).toEqual(['.git.held']);
  });

  test('a link that it replaced leads where it led', () => {
    const { folder, mounted } = openFolder((at) => {
      writeFileSync(path.join(at, 'notes.txt'), 'notes');
      symlinkSync('notes.txt', path.join(at, 'CLAUDE.md'));
    });
    rmSync(path.join(folder, 'CLAUDE.md'));
    writeFileSync(path.join(folder, 'CLAUDE.md'), 'obey');
    expect(mounted.finish().isLeft).toBe(false);
    expect(readFileSync(path.join(folder, 'CLAUDE.md'), 'utf8')).toBe('notes');
    expect(readFileSync(path.join(folder, 'CLAUDE.md.held'), 'utf8')).toBe('obey');
  });

  test('what the settings of a repository name is renamed, wherever the repository is', () => {
    const { folder, mounted } = openFolder((at) => {
      for (const name of ['zz', 'tools']) mkdirSync(path.join(at, name));
      execFileSync('git', ['init', '--quiet', path.join(at, 'zz')]);
      execFileSync('git', ['-C', path.join(at, 'zz'), 'config', 'core.hooksPath', '../tools/hooks']);
    });
    mkdirSync(path.join(folder, 'tools/hooks'));
    writeFileSync(path.join(folder, 'tools/plain.txt'), '');
    expect(mounted.finish().isLeft).toBe(false);
    expect(readdirSync(path.join(folder, 'tools')).toSorted()).toEqual(['hooks.held', 'plain.txt']);
  });

  test('files of the user with names that are no text are not renamed: the folder is refused before', () => {
    for (const name of ['\xff.code-workspace', '\xff.env'])
      expect(() => openFolder((at) => writeFileSync(Buffer.from(`${at}/${name}`, 'latin1'), ''))).toThrow(
        /no mount can protect .* is not UTF-8/,
      );
  });

  test('a folder that is deeper than the longest path is refused before', () => {
    expect(() => openFolder((at) => makeDeep(at, ''))).toThrow(/cannot be listed \(ENAMETOOLONG\)/);
  });
});
