import { chmodSync, mkdirSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { VERSION } from '../../src/version.ts';
import { verifies } from '../conformance/verifies.ts';
import { cli, skillText, temporaryFolder, writeFiles } from './run-cli.ts';

const folder = temporaryFolder();
const BROKEN =
  '---\r\nname: broken\r\ndescription: Use when: a colon is not quoted\r\nmetadata:\r\n  version: 1.10\r\n---\r\n\r\nSee `scripts/gone.py`.\r\n';

writeFiles(folder, {
  'skills/broken/SKILL.md': BROKEN,
  'skills/good/SKILL.md': skillText('good', 'Does good. Use when good is asked for.'),
  'skills/none/SKILL.md': '# nothing\n',
});

const codes = (out: string): readonly string[] =>
  (JSON.parse(out) as { diagnostics: { code: string }[] }).diagnostics.map(({ code }) => code);

describe('check', () => {
  verifies(
    ['FMT-5', 'CLI-1'],
    'is strict, names file, line, column, code and repair, and exits 1 on errors',
    async () => {
      const { status, out } = await cli(folder, ['check', 'skills', '--json']);
      expect(status).toBe(1);
      const value = JSON.parse(out) as {
        ok: boolean;
        checked: number;
        diagnostics: { path: string; code: string; severity: string; line: number; column: number }[];
      };
      expect({ ok: value.ok, checked: value.checked }).toEqual({ ok: false, checked: 2 });
      expect(
        value.diagnostics.map(({ path: file, code, severity, line, column }) => [
          path.relative(folder, file),
          code,
          severity,
          line,
          column,
        ]),
      ).toEqual([
        ['skills/broken/SKILL.md', 'frontmatter/crlf', 'warning', 1, 4],
        ['skills/broken/SKILL.md', 'frontmatter/unquoted-colon', 'error', 3, 22],
        ['skills/broken/SKILL.md', 'metadata/unquoted', 'warning', 5, 12],
        ['skills/broken/SKILL.md', 'body/missing-file', 'warning', 8, 6],
        ['skills/none/SKILL.md', 'frontmatter/missing', 'error', 1, 1],
      ]);
    },
  );

  test('a lone skill.md is found in its folder, as list finds it, and its name is the error', async () => {
    const lone = path.join(temporaryFolder(), 'lone');
    writeFiles(lone, { 'skill.md': skillText('lone', 'Does lone things.') });
    const words = [
      ['check', lone],
      ['check', path.join(lone, 'skill.md')],
      ['check', path.dirname(lone)],
    ];
    for (const each of [...words, ['check']]) {
      const { out } = await cli(lone, [...each, '--json']);
      expect(codes(out)).toEqual(['file/case']);
    }
  });

  test.each([
    ['a path that does not exist', './gone', 1, 'path not found: "./gone"'],
    ['a file that is no SKILL.md', './file.txt', 1, 'neither a folder nor a SKILL.md: "./file.txt"'],
    ['a folder without a SKILL.md', './empty', 1, '1 error'],
    ['SKILL.md beside skill.md, which is not read', './both', 0, 'no violations'],
  ])('judges as the reference validator does: %s', async (_, word, status, message) => {
    const here = temporaryFolder();
    writeFiles(here, {
      'file.txt': 'test',
      'empty/readme.md': 'x',
      'both/SKILL.md': skillText('both', 'Does both. Use when both are asked for.'),
      'both/skill.md': 'lower case',
    });
    expect(await cli(here, ['check', word])).toMatchObject({ status, err: expect.stringContaining(message) });
  });

  test('passes what is right, by path, by file, by name and by its alias', async () => {
    for (const words of [
      ['check', 'skills/good'],
      ['validate', 'skills/good/SKILL.md'],
      ['check', 'good', '--root', 'skills', '--only-root', '--no-cache'],
    ]) {
      expect(await cli(folder, words)).toEqual({
        status: 0,
        out: '',
        err: '1 checked, no violations\n',
      });
    }
  });

  test('with nothing named it checks the skill in this folder or, if there is none, those of the project', async () => {
    writeFiles(folder, {
      'project/.agent/skills/fine/SKILL.md': skillText('fine', 'Does fine. Use when fine is asked for.'),
      'project/.agent/skills/bare/SKILL.md': '# nothing\n',
    });
    const project = await cli(path.join(folder, 'project'), ['check', '--json', '--no-cache']);
    expect({ status: project.status, codes: codes(project.out) }).toEqual({
      status: 1,
      codes: ['frontmatter/missing'],
    });
    expect(JSON.parse(project.out)).toMatchObject({ checked: 1 });
    expect(await cli(path.join(folder, 'skills/good'), ['check'])).toEqual({
      status: 0,
      out: '',
      err: '1 checked, no violations\n',
    });
  });

  test('--lenient judges as a loader does; warnings can be errors', async () => {
    expect((await cli(folder, ['check', 'skills/broken', '--lenient'])).status).toBe(0);
    expect((await cli(folder, ['check', 'skills/broken', '--lenient', '--warnings-as-errors'])).status).toBe(1);
  });

  test('--fix --dry-run shows and writes nothing; --fix mends in one step, keeps the mode and what it cannot mend', async () => {
    const file = path.join(folder, 'fix/broken/SKILL.md');
    writeFiles(folder, { 'fix/broken/SKILL.md': BROKEN });
    chmodSync(file, 0o640);
    const dry = await cli(folder, ['check', 'fix/broken', '--fix', '--dry-run']);
    expect(dry.out).toContain('+ description: "Use when: a colon is not quoted"');
    expect(readFileSync(file, 'utf8')).toBe(BROKEN);

    const fixed = await cli(folder, ['check', 'fix/broken', '--fix', '--json']);
    expect({ status: fixed.status, left: codes(fixed.out) }).toEqual({ status: 0, left: ['body/missing-file'] });
    expect(readFileSync(file, 'utf8')).toBe(
      '---\nname: broken\ndescription: "Use when: a colon is not quoted"\nmetadata:\n  version: "1.10"\n---\n\nSee `scripts/gone.py`.\n',
    );
    expect(statSync(file).mode & 0o777).toBe(0o640);
    expect(readdirSync(path.dirname(file))).toEqual(['SKILL.md']);
    expect(codes((await cli(folder, ['check', 'fix/broken', '--fix', '--json'])).out)).toEqual(['body/missing-file']);
  });

  test('--fix leaves a file alone whose bytes are not UTF-8, in the frontmatter or in the body', async () => {
    const texts = [
      '---\nname: bytes\ndescription: Use when: caf\u00E9\n---\nHi\n',
      '---\nname: bytes\ndescription: Use when: x\n---\nHi caf\u00E9\n',
    ];
    const file = path.join(folder, 'fix/bytes/SKILL.md');
    mkdirSync(path.dirname(file), { recursive: true });
    for (const text of texts) {
      const bytes = Buffer.from(text, 'latin1');
      writeFileSync(file, bytes);
      const { status, out } = await cli(folder, ['check', 'fix/bytes', '--fix', '--json']);
      expect({ status, codes: codes(out), fixed: (JSON.parse(out) as { fixed: unknown }).fixed }).toEqual({
        status: 1,
        codes: ['frontmatter/unquoted-colon', 'file/not-utf8'],
        fixed: [],
      });
      expect(readFileSync(file)).toEqual(bytes);
      expect((await cli(folder, ['check', 'fix/bytes'])).err).toBe('1 checked: 2 errors\n');
    }
  });

  test('a SKILL.md that is no file of the skill has the same code by its folder as by the folder above', async () => {
    writeFiles(folder, {
      'no-file/elsewhere.md': skillText('outside', 'Lies outside. Use when asked.'),
      'no-file/notes/a.md': '',
    });
    for (const name of ['outside', 'nothing', 'circle', 'directory'])
      mkdirSync(path.join(folder, 'no-file/skills', name), { recursive: true });
    symlinkSync('../../elsewhere.md', path.join(folder, 'no-file/skills/outside/SKILL.md'));
    symlinkSync('nowhere.md', path.join(folder, 'no-file/skills/nothing/SKILL.md'));
    symlinkSync('SKILL.md', path.join(folder, 'no-file/skills/circle/SKILL.md'));
    mkdirSync(path.join(folder, 'no-file/skills/directory/SKILL.md'));
    const expected = {
      circle: 'file/broken-link',
      directory: 'file/not-regular',
      nothing: 'file/broken-link',
      outside: 'file/link-escapes',
    };
    expect(codes((await cli(folder, ['check', 'no-file/skills', '--json'])).out)).toEqual(Object.values(expected));
    for (const [name, code] of Object.entries(expected)) {
      const { status, out } = await cli(folder, ['check', `no-file/skills/${name}`, '--json']);
      expect({ name, status, codes: codes(out) }).toEqual({ name, status: 1, codes: [code] });
    }
  });

  test('a folder that is named and holds no skill does not pass', async () => {
    writeFiles(folder, { 'empty/notes/a.md': '# Notes\n' });
    const { status, out } = await cli(folder, ['check', 'empty', '--json']);
    expect({ status, codes: codes(out) }).toEqual({ status: 1, codes: ['file/missing'] });
  });

  test('SARIF has a rule for each code, and places that are relative to the working directory', async () => {
    const { out } = await cli(folder, ['check', 'skills/none', '--format', 'sarif']);
    expect(JSON.parse(out)).toEqual({
      $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
      version: '2.1.0',
      runs: [
        {
          tool: {
            driver: {
              name: 'skillwright',
              semanticVersion: VERSION,
              rules: [
                {
                  id: 'frontmatter/missing',
                  shortDescription: { text: 'the file does not start with a --- line' },
                  help: { text: 'start the file with a --- line, name: and description:, and another --- line' },
                  defaultConfiguration: { level: 'error' },
                },
              ],
            },
          },
          columnKind: 'utf16CodeUnits',
          results: [
            {
              ruleId: 'frontmatter/missing',
              ruleIndex: 0,
              level: 'error',
              message: {
                text: 'the file starts with "# nothing", expected ---. start the file with a --- line, name: and description:, and another --- line',
              },
              locations: [
                {
                  physicalLocation: {
                    artifactLocation: { uri: 'skills/none/SKILL.md', uriBaseId: '%SRCROOT%' },
                    region: { startLine: 1, startColumn: 1 },
                  },
                },
              ],
            },
          ],
        },
      ],
    });
  });

  test('annotations of a workflow cannot be broken out of by a name', async () => {
    writeFiles(folder, { 'odd/a%0A::error::b,c:d/SKILL.md': '# nothing\n' });
    const { out } = await cli(folder, ['check', 'odd', '--format', 'github']);
    expect(out.trimEnd().split('\n')).toHaveLength(1);
    expect(out).toContain('a%250A%3A%3Aerror%3A%3Ab%2Cc%3Ad/SKILL.md,line=1,col=1,title=frontmatter/missing::');
  });

  test('a path with nothing there is said so', async () => {
    expect(await cli(folder, ['check', './no/such'])).toMatchObject({
      status: 1,
      err: 'error: path not found: "./no/such"\nhint: name a skill folder, its SKILL.md, or a folder of skills\n',
    });
  });

  test('a SKILL.md that is a link out of its skill is not read', async () => {
    mkdirSync(path.join(folder, 'leak/x'), { recursive: true });
    writeFiles(folder, { 'secret.txt': '---\nname: x\ndescription: TOPSECRET\n---\n' });
    symlinkSync(path.join(folder, 'secret.txt'), path.join(folder, 'leak/x/SKILL.md'));
    for (const target of ['leak', 'leak/x', 'leak/x/SKILL.md']) {
      const { status, out, err } = await cli(folder, ['check', target]);
      expect({ target, status, leaks: (out + err).includes('TOPSECRET') }).toEqual({ target, status: 1, leaks: false });
    }
    expect((await cli(folder, ['inspect', './leak/x', '--body'])).out).not.toContain('TOPSECRET');
  });
});
