import { describe, expect, it } from 'vitest';

import { parseSkillMd } from '../../../src/skills/format/skill-md.ts';
import { escapeXml } from '../../../src/core/text/text.ts';
import { sourceOf } from '../../core/skill-source.ts';

/** The cases of the reference library's public tests (agentskills/agentskills, skills-ref), in our words, judged by strict mode. */
function errorsOf(directory: string, text: string, fileName = 'SKILL.md'): readonly string[] {
  const { diagnostics } = parseSkillMd(sourceOf(text, { directory, fileName }), { mode: 'strict' });
  return diagnostics.filter((each) => each.severity === 'error').map((each) => each.code);
}

const file = (...lines: readonly string[]): string => `---\n${lines.join('\n')}\n---\nBody\n`;
const named = (name: string, ...more: readonly string[]): string =>
  file(`name: ${name}`, 'description: A test skill', ...more);

describe('the reference validator and we agree that', () => {
  it.each([
    ['a name and a description are enough', 'my-skill', named('my-skill')],
    ['license and metadata may be there', 'my-skill', named('my-skill', 'license: MIT', 'metadata:', '  author: Test')],
    ['allowed-tools may be there', 'my-skill', named('my-skill', 'allowed-tools: Bash(jq:*) Bash(git:*)')],
    ['compatibility may be there', 'my-skill', named('my-skill', 'compatibility: Requires Python 3.11+')],
    [
      'an unquoted number under metadata is text',
      'my-skill',
      named('my-skill', 'metadata:', '  author: Test Author', '  version: 1.0'),
    ],
    ['a Chinese name is a name', '技能', named('技能')],
    ['a Russian name with hyphens is a name', 'мой-навык', named('мой-навык')],
    ['a Russian name in lower case is a name', 'навык', named('навык')],
    ['a name is compared after NFKC', 'caf\u00e9', named('cafe\u0301')],
  ])('%s', (_, directory, text) => {
    expect(errorsOf(directory, text)).toEqual([]);
  });

  it.each([
    ['a file without frontmatter is not a skill', 'my-skill', '# No frontmatter here', ['frontmatter/missing']],
    [
      'frontmatter must be closed',
      'my-skill',
      '---\nname: my-skill\ndescription: A test skill\n',
      ['frontmatter/unterminated'],
    ],
    [
      'an open bracket is not YAML',
      'my-skill',
      file('name: [invalid', 'description: broken'),
      ['frontmatter/unquoted', 'name/directory-mismatch', 'name/invalid'],
    ],
    ['a list is not a map of fields', 'my-skill', file('- just', '- a', '- list'), ['frontmatter/not-fields']],
    ['a name is required', 'my-skill', file('description: A test skill'), ['name/missing']],
    ['a description is required', 'my-skill', file('name: my-skill'), ['description/missing']],
    ['upper case is wrong in a name', 'MySkill', named('MySkill'), ['name/invalid']],
    ['so it is in Russian', 'НАВЫК', named('НАВЫК'), ['name/invalid']],
    ['70 characters are too many for a name', 'a'.repeat(70), named('a'.repeat(70)), ['name/too-long']],
    ['a name does not start with a hyphen', '-my-skill', named('-my-skill'), ['name/invalid']],
    ['a name has no two hyphens in a row', 'my--skill', named('my--skill'), ['name/invalid']],
    ['a name has no underscore', 'my_skill', named('my_skill'), ['name/invalid']],
    ['a name is its folder’s', 'wrong-name', named('correct-name'), ['name/directory-mismatch']],
    ['unknown fields are wrong', 'my-skill', named('my-skill', 'unknown_field: should not be here'), ['field/unknown']],
    ['fields of other agents are wrong', 'my-skill', named('my-skill', 'argument-hint: x'), ['field/other-agent']],
    ['fields of ours are wrong at the top level', 'my-skill', named('my-skill', 'version: 1.0.0'), ['field/extension']],
    [
      '550 characters are too many for compatibility',
      'my-skill',
      named('my-skill', 'compatibility: >-', ...Array.from({ length: 11 }, () => `  ${'x'.repeat(49)}`)),
      ['compatibility/too-long'],
    ],
  ])('%s', (_, directory, text, codes) => {
    expect(errorsOf(directory, text)).toEqual(codes);
  });

  it('1,100 characters are too many for a description', () => {
    const text = file('name: my-skill', `description: ${'x'.repeat(1100)}`);
    expect(errorsOf('my-skill', text)).toEqual(['description/too-long']);
  });

  it.each([
    ['a description of 1,024 characters on its line', [`description: ${'x'.repeat(1024)}`]],
    ['a description in quotes, with escapes', [`description: "${'\\u00e9'.repeat(1024)}"`]],
    ['a description of 1,024 characters outside the basic plane', [`description: ${'𝒳'.repeat(1024)}`]],
    ['a description as a block with one line', ['description: >-', `  ${'x'.repeat(1024)}`]],
    ['a description over two lines', ['description: ' + 'x'.repeat(600), `  ${'y'.repeat(400)}`]],
    ['a license of 600 characters', ['description: x', `license: ${'x'.repeat(600)}`]],
    ['a value of metadata of 600 characters', ['description: x', 'metadata:', `  note: ${'x'.repeat(600)}`]],
    ['allowed-tools of 600 characters', ['description: x', `allowed-tools: ${'Read '.repeat(120).trim()}`]],
    ['a compatibility of 500 characters', ['description: x', `compatibility: ${'x'.repeat(500)}`]],
  ])('%s has no line that is too long, in any mode', (_, lines) => {
    const text = file('name: my-skill', ...lines);
    for (const mode of ['strict', 'lenient'] as const)
      expect(parseSkillMd(sourceOf(text, { directory: 'my-skill' }), { mode }).diagnostics).toEqual([]);
    const windows = parseSkillMd(sourceOf(text.replaceAll('\n', '\r\n'), { directory: 'my-skill' }), {
      mode: 'strict',
    });
    expect(windows.diagnostics.map(({ code }) => code)).toEqual(['frontmatter/crlf']);
  });

  it.each([
    ['a comment after the description', [`description: x # ${'x'.repeat(500)}`]],
    ['a comment below a block', ['description: >-', '  x', `# ${'x'.repeat(500)}`]],
    ['a comment above the description', [`# ${'x'.repeat(500)}`, 'description: x']],
    ['another field', ['description: x', `author: ${'x'.repeat(500)}`]],
  ])('%s keeps the bound of 500 characters a line', (_, lines) => {
    expect(errorsOf('my-skill', file('name: my-skill', ...lines))).toContain('frontmatter/line-too-long');
  });

  it('a lower-case skill.md is read (stricter than the reference: strict mode wants it renamed)', () => {
    const text = named('my-skill');
    const { head } = parseSkillMd(sourceOf(text, { directory: 'my-skill', fileName: 'skill.md' }), { mode: 'strict' });
    expect(head).toMatchObject({ name: 'my-skill', description: 'A test skill' });
    expect(errorsOf('my-skill', text, 'skill.md')).toEqual(['file/case']);
  });

  it('what is read is what the file says', () => {
    const text = file(
      'name: my-skill',
      'description: A test skill',
      'license: MIT',
      'metadata:',
      '  author: Test Author',
      '  version: 1.0',
      'allowed-tools: Bash(jq:*) Bash(git:*)',
    );
    const { head, body } = parseSkillMd(sourceOf(text, { directory: 'my-skill' }), { mode: 'strict' });
    expect(head).toEqual({
      name: 'my-skill',
      description: 'A test skill',
      license: 'MIT',
      controls: {
        disableModelInvocation: false,
        userInvocable: true,
        runMode: 'inline',
        allowedTools: ['Bash(jq:*)', 'Bash(git:*)'],
      },
      meta: { author: 'Test Author', version: '1.0' },
    });
    expect(body).toBe('Body\n');
  });

  it('special characters of a description are escaped before they reach a prompt', () => {
    expect(escapeXml('Use <foo> & <bar> tags')).toBe('Use &lt;foo&gt; &amp; &lt;bar&gt; tags');
  });
});

describe('we are deliberately stricter than the reference in strict mode where', () => {
  it.each([
    [
      'angle brackets stand in the description',
      named('my-skill').replace('A test', 'A <b>test</b>'),
      ['text/angle-brackets'],
    ],
    ['allowed-tools is a list', named('my-skill', 'allowed-tools:', '  - Read', '  - Grep'), ['allowed-tools/list']],
    ['a value under metadata is nested', named('my-skill', 'metadata:', '  a:', '    b: c'), ['metadata/not-text']],
    [
      'a fence has spaces after it',
      named('my-skill').replace('---\nBody', '---  \nBody'),
      ['frontmatter/fence-spaces'],
    ],
    ['compatibility is empty', named('my-skill', 'compatibility: ""'), ['compatibility/empty']],
    ['a tool pattern is none', named('my-skill', 'allowed-tools: Bash('), ['allowed-tools/invalid']],
    [
      'hidden characters stand in the frontmatter',
      named('my-skill').replace('test', 'te\u200bst'),
      ['text/hidden-characters'],
    ],
  ])('%s', (_, text, codes) => {
    expect(errorsOf('my-skill', text)).toEqual(codes);
  });
});
