import { linkSync, mkdirSync, readFileSync, readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { compareDiagnostics, type Diagnostic, type Mode } from '../../../src/core/diagnostic.ts';
import { readHeadAsYaml } from '../../../src/skills/format/read-head.ts';
import { readSimpleHead } from '../../../src/skills/format/simple-head.ts';
import { buildIndex, openRegistry } from '../../../src/skills/registry/registry.ts';
import { rootsOf, scratch, writeSkill } from './support.ts';

test('a scan without a cache resolves duplicates like a scan with one', async () => {
  const directory = scratch();
  const root = path.join(directory, 'root');
  writeSkill(path.join(root, 'old'), { name: 'twin', mtime: 1_000 });
  writeSkill(path.join(root, 'new'), { name: 'twin', mtime: 2_000 });
  writeSkill(path.join(root, 'group', 'third'), { name: 'twin', mtime: 1_500 });
  const file = writeSkill(path.join(root, 'hard'));
  mkdirSync(path.join(root, 'linked-file'));
  linkSync(file, path.join(root, 'linked-file', 'SKILL.md'));
  symlinkSync('hard', path.join(root, 'linked-folder'));
  writeSkill(path.join(root, 'spelled'), { file: 'skill.md' });
  const roots = rootsOf(['a', root], ['b', path.join(root, 'group')]);
  const once = await buildIndex({ roots, explain: true });
  const kept = await buildIndex({ roots, explain: true, cacheFile: path.join(directory, 'cache') });
  expect(once.all.filter(({ name }) => name === 'twin').map(({ dir }) => path.basename(dir))).toEqual([
    'new',
    'third',
    'old',
    'third',
  ]);
  const { durationMs: _, cache: __, ...report } = once.report;
  expect(once).toMatchObject({ ...kept, report });
  expect(kept.report).toMatchObject(report);
});

test('diagnostics equal those of the YAML parser and do not depend on later changes on disk', async () => {
  const directory = scratch();
  const root = path.join(directory, 'root');
  writeSkill(path.join(root, 'plain'), { fields: ['colour: red', 'version: 1'] });
  writeSkill(path.join(root, 'differs'), { name: 'other', fields: ['allowed-tools: Read, Write'] });
  writeSkill(path.join(root, 'colon'), { description: 'Use when: asked' });
  writeSkill(path.join(root, 'tagged'), { fields: ['x: !tag y'] });
  writeSkill(path.join(root, 'spelled'), { file: 'skill.md', fields: ['colour: red'] });
  const written = {
    'colon-tools': '---\nname: a\ndescription: Use when: asked\nallowed-tools: Read, Write\nx: y\n---\n',
    'colon-doubt': '---\nname: a\ndescription: Use when: asked\nx:\n  - paths: y\n---\n',
    crlf: '---\r\nname: crlf\r\ndescription: |\r\n  One.\r\n  Two.\r\nx: y\r\n---\r\n',
    mark: '\uFEFF---\nname: mark\ndescription: b\nx: y\n---\n',
    bare: '---\nname: bare\nx: y\n---\n',
    'bare-crlf': '\uFEFF---\r\nname: bare-crlf\r\nallowed-tools: Read, Write\r\n---\r\n',
    unsafe: '---\nname: unsafe\nconstructor: y\n---\n',
  };
  for (const [folder, text] of Object.entries(written)) {
    mkdirSync(path.join(root, folder));
    writeFileSync(path.join(root, folder, 'SKILL.md'), text);
  }
  symlinkSync('plain', path.join(root, 'linked'));
  symlinkSync('bare', path.join(root, 'linked-bare'));
  for (const mode of ['lenient', 'strict'] as const) {
    const settings = { roots: rootsOf(['a', root]), mode };
    const cacheFile = path.join(directory, `${mode}.cache`);
    const whole = await buildIndex({ ...settings, cacheFile });
    const atOnce = JSON.stringify(whole.diagnostics);
    expect(whole.diagnostics).toEqual(diagnosticsOfParser(root, mode));
    const later = await buildIndex(settings);
    expect(later.all).toEqual(whole.all);
    expect(later.report.leftOut).toEqual(whole.report.leftOut);
    expect(later.diagnostics.filter(({ code }) => code === 'description/missing')).toHaveLength(3);
    const registry = await openRegistry(settings);
    const refreshed = await registry.refresh();
    const moved = path.join(directory, 'moved');
    renameSync(root, moved);
    expect(JSON.stringify(later.diagnostics)).toBe(atOnce);
    expect(JSON.stringify(refreshed.diagnostics)).toBe(atOnce);
    expect(later.diagnostics).toBe(later.diagnostics);
    renameSync(moved, root);
  }
});

/** The diagnostics of the YAML parser for every skill folder that is not a link. */
function diagnosticsOfParser(root: string, mode: Mode): readonly Diagnostic[] {
  const folders = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const told = folders.flatMap(({ name }) => {
    const fileName = readdirSync(path.join(root, name))[0] ?? '';
    const file = path.join(root, name, fileName);
    const text = readFileSync(file, 'utf8');
    return readHeadAsYaml({ path: file, directory: name, fileName, text, validUtf8: true }, { mode }).diagnostics;
  });
  return told.toSorted(compareDiagnostics);
}

test('a file without frontmatter is reported without the YAML library, with the same message', async () => {
  const texts = [
    '',
    '# Title\n',
    '\uFEFFname: a\n',
    '\n\n  text',
    '---',
    '---\nname: a\n\n# Title\n',
    '---\nname: a\ndescription: b\n',
    '--- yaml\nname: a\n',
  ];
  for (const text of texts) {
    for (const validUtf8 of [true, false]) {
      const source = { path: '/a/SKILL.md', directory: 'a', fileName: 'skill.md', text, validUtf8 };
      expect(readSimpleHead(source, { mode: 'strict' })).toEqual(readHeadAsYaml(source, { mode: 'strict' }));
    }
  }
  const root = scratch();
  mkdirSync(path.join(root, 'bare'));
  writeFileSync(path.join(root, 'bare', 'SKILL.md'), '# Title\n');
  const { report } = await buildIndex({ roots: rootsOf(['a', root]) });
  expect(report.leftOut).toEqual([
    {
      path: path.join(root, 'bare', 'SKILL.md'),
      code: 'frontmatter/missing',
      message: 'the file starts with "# Title", expected ---',
    },
  ]);
});
