import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { run, SKILLS, withFolder } from './support.ts';

const OUTLINE = join(SKILLS, 'skill-author/scripts/outline.mjs');
const Outline = z.object({
  frontmatter: z.object({ found: z.boolean(), name: z.string().nullable(), name_ok: z.boolean() }),
  description: z.object({
    chars: z.int(),
    words: z.int(),
    says_when: z.boolean(),
    angle_brackets: z.boolean(),
    first_person: z.boolean(),
  }),
  body: z.object({
    words: z.int(),
    headings: z.array(z.object({ level: z.int(), text: z.string(), line: z.int() })),
  }),
  links: z.array(z.object({ from: z.string(), line: z.int(), target: z.string(), status: z.string() })),
  scripts: z.array(z.object({ path: z.string(), shebang: z.boolean(), executable: z.boolean().nullable() })),
  unlinked_references: z.array(z.string()),
  problems: z.array(z.string()),
});

async function outline(files: Readonly<Record<string, string>>, prepare?: (root: string) => void) {
  return withFolder(async (folder) => {
    const root = join(folder, 'demo');
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(join(root, path, '..'), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    prepare?.(root);
    const { code, text, stderr } = await run(process.execPath, [OUTLINE, root]);
    expect(stderr).toBe('');
    expect(code).toBe(0);
    return Outline.parse(JSON.parse(text));
  });
}

const skill = (description: string, body = '') => `---\nname: demo\ndescription: ${description}\n---\n${body}`;

describe('outline.mjs', () => {
  test('lists headings, links and scripts, and skips fenced blocks', async () => {
    const body =
      '# One\n\n```sh\n# not a heading [x](gone.md)\n```\n\n## Two\n[a](references/a.md#top) [b](references/b.md) [w](https://example.org) `scripts/run.mjs`\n';
    const result = await outline(
      {
        'SKILL.md': skill('Counts words. Use it when the user asks for counts.', body),
        'references/a.md': 'See [c](c.md) and [out](../../x.md).\n',
        'references/c.md': 'c\n',
        'references/lost.md': 'lost\n',
        'scripts/run.mjs': '#!/usr/bin/env node\n',
        'scripts/plain.txt': 'no shebang\n',
        'scripts/lib/part.mjs': 'export {};\n',
      },
      (root) => {
        chmodSync(join(root, 'scripts/run.mjs'), 0o755);
      },
    );
    expect(result.body.headings).toEqual([
      { level: 1, text: 'One', line: 5 },
      { level: 2, text: 'Two', line: 11 },
    ]);
    expect(result.links.map(({ from, target, status }) => [from, target, status])).toEqual([
      ['SKILL.md', 'references/a.md#top', 'ok'],
      ['SKILL.md', 'references/b.md', 'missing'],
      ['SKILL.md', 'scripts/run.mjs', 'ok'],
      ['references/a.md', 'c.md', 'ok'],
      ['references/a.md', '../../x.md', 'outside'],
    ]);
    expect(result.scripts.map(({ path, shebang }) => [path, shebang])).toEqual([
      ['scripts/plain.txt', false],
      ['scripts/run.mjs', true],
    ]);
    expect(result.unlinked_references).toEqual(['references/lost.md']);
    expect(result.problems.length).toBeGreaterThanOrEqual(4);
  });

  test.each([
    ['plain over two lines', 'Reads files.\n  Use it when asked.', 'Reads files. Use it when asked.'],
    ['folded', '>-\n  Reads files.\n  Use it when asked.', 'Reads files. Use it when asked.'],
    ['double quotes', '"Reads \\"files\\". Use it when asked."', 'Reads "files". Use it when asked.'],
    ['single quotes', "'It''s for files. Use it when asked.'", "It's for files. Use it when asked."],
    ['Chinese', '读取文件。当用户需要统计时使用。', '读取文件。当用户需要统计时使用。'],
  ])('measures a description: %s', async (_, written, meant) => {
    const { description } = await outline({ 'SKILL.md': skill(written) });
    expect(description).toMatchObject({ chars: meant.length, says_when: true, angle_brackets: false });
  });

  test('names what is wrong with a poor skill', async () => {
    const text = `---\nname: Demo Skill\ndescription: I am <great>\n---\n${'line\n'.repeat(600)}`;
    const { problems, frontmatter, description } = await outline({ 'SKILL.md': text });
    expect(frontmatter.name_ok).toBe(false);
    expect(description).toMatchObject({ angle_brackets: true, first_person: true, says_when: false });
    expect(problems).toHaveLength(4);
    expect((await outline({ 'SKILL.md': 'no frontmatter' })).problems).toContain('SKILL.md has no frontmatter');
    expect((await outline({ 'SKILL.md': '---\nname: demo\nnever closed' })).frontmatter.found).toBe(false);
  });

  test('does not follow a link out of the folder', async () => {
    const result = await outline({ 'SKILL.md': skill('x', '[p](p.md) [bad](%E0%A4%A.md)\n') }, (root) => {
      symlinkSync(OUTLINE, join(root, 'p.md'));
    });
    expect(result.links.map((link) => link.status)).toEqual(['outside', 'missing']);
  });

  test('stays quick on hostile text', async () => {
    const body = `${'['.repeat(50_000)}](${'a'.repeat(50_000)}\n${'`scripts/'.repeat(20_000)}\n${'#'.repeat(50_000)}\n`;
    await outline({ 'SKILL.md': `\uFEFF${skill('Use it when asked', body).replaceAll('\n', '\r\n')}` });
  });

  test('errors are short and have their exit code', async () => {
    await withFolder(async (folder) => {
      writeFileSync(join(folder, 'file'), 'x');
      for (const target of [folder, join(folder, 'none'), join(folder, 'file')]) {
        const { code, text, stderr } = await run(process.execPath, [OUTLINE, target]);
        expect([code, text]).toEqual([1, '']);
        expect(stderr).toMatch(/^outline: cannot read [^\n]+\n$/);
      }
      expect((await run(process.execPath, [OUTLINE])).code).toBe(2);
      mkdirSync(join(folder, 'big'));
      writeFileSync(join(folder, 'big/SKILL.md'), 'x'.repeat(1_100_000));
      expect((await run(process.execPath, [OUTLINE, join(folder, 'big')])).stderr).toContain('larger than 1 MiB');
    });
  });
});
