import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { isRefusal } from '../../../src/packs/problems.ts';
import { readSource, sourceText } from '../../../src/packs/sources/source-text.ts';
import type { PackSource } from '../../../src/packs/sources/source.ts';
import { verifies } from '../../conformance/verifies.ts';
import { runs } from '../../property-runs.ts';

const FOLDERS: ReadonlySet<string> = new Set([
  './x',
  '../x',
  '/x',
  '~/x',
  '.',
  '..',
  '~',
  'here',
  './here',
  'own/er',
  './own/er',
  '/a b',
]);
const FILES: ReadonlySet<string> = new Set([
  './p.zip',
  'p.zip',
  '/x.SKILL',
  './t.tar.gz',
  './t.tgz',
  './s/SKILL.md',
  './SKILL.md',
  '/SKILL.md',
  './notes.txt',
]);

const looksLikeFolder = (path: string): 'folder' | 'file' | 'absent' =>
  FOLDERS.has(path) ? 'folder' : FILES.has(path) ? 'file' : 'absent';

function read(text: string, allowHttp = false): PackSource | string {
  const source = readSource(text, { looksLikeFolder, allowHttp });
  return isRefusal(source) ? source.code : source;
}

const git = (url: string, ref?: string, folder?: string): PackSource => ({
  type: 'git',
  url,
  ref,
  folder,
});

const READ: Readonly<Record<string, PackSource>> = {
  './x': { type: 'folder', path: './x' },
  '../x': { type: 'folder', path: '../x' },
  '/x': { type: 'folder', path: '/x' },
  '~/x': { type: 'folder', path: '~/x' },
  '.': { type: 'folder', path: '.' },
  here: { type: 'folder', path: './here' },
  'own/er': { type: 'folder', path: './own/er' },
  'file:///x': { type: 'folder', path: '/x' },
  'file:///a%20b': { type: 'folder', path: '/a b' },
  'file:/x': { type: 'folder', path: '/x' },
  './s/SKILL.md': { type: 'folder', path: './s' },
  '/SKILL.md': { type: 'folder', path: '/' },
  './p.zip': { type: 'archive', path: './p.zip' },
  'p.zip': { type: 'archive', path: './p.zip' },
  '/x.SKILL': { type: 'archive', path: '/x.SKILL' },
  './t.tar.gz': { type: 'archive', path: './t.tar.gz' },
  './t.tgz': { type: 'archive', path: './t.tgz' },
  'https://site.example/a/b/pdf.zip': { type: 'url', url: 'https://site.example/a/b/pdf.zip' },
  'https://SITE.example/a.skill?x=1': { type: 'url', url: 'https://site.example/a.skill?x=1' },
  'https://site.example/skills/pdf/SKILL.md': { type: 'url', url: 'https://site.example/skills/pdf/SKILL.md' },
  'http://127.0.0.1:8080/a.tgz': { type: 'url', url: 'http://127.0.0.1:8080/a.tgz' },
  'http://localhost/a.tgz': { type: 'url', url: 'http://localhost/a.tgz' },
  'owner/repo': git('https://github.com/owner/repo'),
  'owner/repo#v1.0': git('https://github.com/owner/repo', 'v1.0'),
  'owner/repo#feature/x:skills/pdf': git('https://github.com/owner/repo', 'feature/x', 'skills/pdf'),
  'owner/repo#:skills': git('https://github.com/owner/repo', undefined, 'skills'),
  'github:owner/repo': git('https://github.com/owner/repo'),
  'gitlab:owner/repo#main': git('https://gitlab.com/owner/repo', 'main'),
  'https://github.com/owner/repo': git('https://github.com/owner/repo'),
  'https://github.com/owner/repo/': git('https://github.com/owner/repo'),
  'https://github.com/owner/repo.git#main': git('https://github.com/owner/repo.git', 'main'),
  'https://github.com/owner/repo/tree/main/skills/pdf': git('https://github.com/owner/repo', 'main', 'skills/pdf'),
  'https://github.com/owner/repo/tree/feature%2Fx': git('https://github.com/owner/repo', 'feature/x'),
  'https://github.com/owner/repo/blob/main/skills/pdf/SKILL.md': git(
    'https://github.com/owner/repo',
    'main',
    'skills/pdf',
  ),
  'https://github.com/owner/repo/blob/main/SKILL.md': git('https://github.com/owner/repo', 'main'),
  'https://github.com/owner/repo/archive/refs/tags/v1.zip': {
    type: 'url',
    url: 'https://github.com/owner/repo/archive/refs/tags/v1.zip',
  },
  'https://gitlab.com/group/sub/repo': git('https://gitlab.com/group/sub/repo'),
  'https://gitlab.com/group/sub/repo/-/tree/main/skills': git('https://gitlab.com/group/sub/repo', 'main', 'skills'),
  'https://bitbucket.org/o/r/src/main/skills/': git('https://bitbucket.org/o/r', 'main', 'skills'),
  'https://codeberg.org/o/r/src/branch/main/skills': git('https://codeberg.org/o/r', 'main', 'skills'),
  'https://git.example/owner/repo': git('https://git.example/owner/repo'),
  'https://git.example/deep/er/repo.git': git('https://git.example/deep/er/repo.git'),
  'git+https://git.example/repo#v1': git('https://git.example/repo', 'v1'),
  'git@git.example:owner/repo.git': git('git@git.example:owner/repo.git'),
  'git@git.example:owner/repo#main:a/b': git('git@git.example:owner/repo', 'main', 'a/b'),
  'ssh://git@git.example:2222/owner/repo': git('ssh://git@git.example:2222/owner/repo'),
  'git+ssh://git.example/owner/repo': git('ssh://git.example/owner/repo'),
  'git+file:///srv/repo.git#main': git('file:///srv/repo.git', 'main'),
  'git://127.0.0.1:9418/repo': git('git://127.0.0.1:9418/repo'),
  'npm:skills-pdf': { type: 'npm', name: 'skills-pdf' },
  'npm:@scope/pdf@^1.2.0': { type: 'npm', name: '@scope/pdf', range: '^1.2.0' },
  'npm:pdf@>=1 <2': { type: 'npm', name: 'pdf', range: '>=1 <2' },
  'npm:pdf@next': { type: 'npm', name: 'pdf', range: 'next' },
  'https://site.example': { type: 'well-known', url: 'https://site.example' },
  'https://site.example/': { type: 'well-known', url: 'https://site.example' },
  'https://site.example/.well-known/agent-skills/index.json': { type: 'well-known', url: 'https://site.example' },
  'well-known:https://site.example/docs/': { type: 'well-known', url: 'https://site.example/docs' },
};

const REFUSED: Readonly<Record<string, string>> = {
  '': 'source/unknown',
  ' ./x': 'source/unknown',
  './x\u0000': 'source/unknown',
  './x\u202e': 'source/unknown',
  'a\nb': 'source/unknown',
  nothing: 'source/unknown',
  './nothing': 'source/missing',
  'nothing.zip': 'source/missing',
  'a/b/c': 'source/missing',
  './notes.txt': 'archive/format',
  '-u': 'source/refused',
  '--upload-pack=touch x': 'source/refused',
  'ext::sh -c touch% x': 'source/refused',
  'fd::17': 'source/refused',
  'git+ext::sh -c x': 'source/refused',
  'https://user:secret@host.example/a.zip': 'source/refused',
  'https://token@github.com/o/r': 'source/refused',
  'git+https://u:p@host.example/o/r': 'source/refused',
  'ssh://git:pw@host.example/o/r': 'source/refused',
  'https://host.example/a.zip?token=abc': 'source/refused',
  'https://host.example/a.zip?X-Amz-Signature=abc': 'source/refused',
  'http://host.example/a.zip': 'source/refused',
  'git://host.example/repo': 'source/refused',
  'http://127.1/a.zip': 'source/unknown',
  'https://host.example\\@evil.example/a.zip': 'source/unknown',
  'https://host.example/a/b/c': 'source/unknown',
  'https://host.example/a.zip#x': 'source/unknown',
  'owner/repo#-u': 'source/revision',
  'owner/repo#--upload-pack=x': 'source/revision',
  'owner/repo#+main': 'source/revision',
  'owner/repo#a..b': 'source/revision',
  'owner/repo#main^{tree}': 'source/revision',
  'owner/repo#refs/heads/*': 'source/revision',
  'owner/repo#main:../x': 'source/refused',
  'owner/repo#main:/etc': 'source/refused',
  'owner/repo#main:-x': 'source/refused',
  'https://github.com/o/r/tree/-u/x': 'source/revision',
  'https://github.com/o/r/tree/main/..%2fx': 'source/refused',
  'git@-oProxyCommand=x:y': 'source/unknown',
  'git@host.example:-x': 'source/unknown',
  'ssh://-oProxyCommand=x/y': 'source/unknown',
  'ssh://host.example/-x': 'source/unknown',
  'npm:': 'source/unknown',
  'npm:../x': 'source/unknown',
  'npm:-g': 'source/unknown',
  'npm:pdf@file:../x': 'source/unknown',
  'npm:pdf@npm:other': 'source/unknown',
  'npm:pdf@-x': 'source/unknown',
  'npm:pdf@https://host.example/x.tgz': 'source/unknown',
  'javascript:alert(1)': 'source/unknown',
  'data:text/plain,x': 'source/unknown',
  'file:///nothing': 'source/missing',
  'file://host/x': 'source/unknown',
  'file:///x%00': 'source/unknown',
  'github:owner': 'source/unknown',
};

describe('what a person types', () => {
  verifies('PACK-6', 'is read as the source it means', () => {
    expect(Object.fromEntries(Object.keys(READ).map((text) => [text, read(text)]))).toEqual(READ);
  });

  test('is refused where it is unclear, missing, an option, a program or a secret', () => {
    expect(Object.fromEntries(Object.keys(REFUSED).map((text) => [text, read(text)]))).toEqual(REFUSED);
  });

  test('may be open to everybody on the way only where that is allowed', () => {
    expect(read('http://host.example/a.zip', true)).toEqual({ type: 'url', url: 'http://host.example/a.zip' });
    expect(read('git://host.example/repo', true)).toEqual(git('git://host.example/repo'));
  });

  test('never comes back with its secret', () => {
    for (const text of [
      'https://u:hunter2@h.example/a.zip',
      'ssh://u:hunter2@h.example/r',
      'https://h.example/a.zip?token=hunter2',
    ])
      expect(JSON.stringify(readSource(text, { looksLikeFolder }))).not.toContain('hunter2');
  });
});

describe('the one spelling of a source', () => {
  test('of everything that can be typed is read as the same source', () => {
    for (const [text, source] of Object.entries(READ)) {
      const found = source.type === 'folder' ? 'folder' : 'file';
      expect([text, readSource(sourceText(source), { looksLikeFolder: () => found })]).toEqual([text, source]);
    }
  });

  test('is read as the same source whatever its parts are', () => {
    const word = fc.stringMatching(/^[a-z0-9_][a-z0-9_]{0,8}$/);
    const path = fc.array(word, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
    const host = word.map((name) => `${name.replaceAll('_', 'a')}.example`);
    const sources: fc.Arbitrary<PackSource> = fc.oneof(
      path.map((below) => ({ type: 'folder' as const, path: `./${below}` })),
      path.map((below) => ({ type: 'archive' as const, path: `/${below}.zip` })),
      fc.tuple(host, path).map(([name, below]) => ({ type: 'url' as const, url: `https://${name}/${below}.tar.gz` })),
      fc
        .record({
          name: host,
          below: path,
          ref: fc.option(path),
          folder: fc.option(path),
          kind: fc.constantFrom('https://', 'ssh://git@', 'scp'),
        })
        .map(({ name, below, ref, folder, kind }) =>
          git(
            kind === 'scp' ? `git@${name}:${below}` : `${kind}${name}/${below}`,
            ref ?? undefined,
            folder ?? undefined,
          ),
        ),
      fc.tuple(word, fc.option(fc.constantFrom('1.0.0', '^2', '>=1 <3', 'latest'))).map(([name, range]) => ({
        type: 'npm' as const,
        name: name.replaceAll('_', '-').replace(/^-/, 'a'),
        ...(range === null ? {} : { range }),
      })),
      host.map((name) => ({ type: 'well-known' as const, url: `https://${name}` })),
    );
    fc.assert(
      fc.property(sources, (source) => {
        const found = source.type === 'folder' ? 'folder' : 'file';
        expect(readSource(sourceText(source), { looksLikeFolder: () => found })).toEqual(source);
      }),
    );
  });

  test('whatever is typed, reading never throws, and what is read is read again as the same', () => {
    const piece = fc.constantFrom(
      'https://',
      'git@',
      'a.b',
      '/',
      '#',
      ':',
      '..',
      '-',
      '.zip',
      'x',
      '@',
      '?',
      'npm:',
      '%2e',
      '~',
      ' ',
      '\\',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), fc.string({ maxLength: 6 }), (pieces, end) => {
        const first = readSource(pieces.join('') + end, { looksLikeFolder: () => 'absent' });
        if (!isRefusal(first))
          expect(readSource(sourceText(first), { looksLikeFolder: () => 'absent' })).toEqual(first);
      }),
      { numRuns: runs(500) },
    );
  });
});
