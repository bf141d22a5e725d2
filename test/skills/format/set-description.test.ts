import { describe, expect, test } from 'vitest';

import { setDescription } from '../../../src/skills/format/set-description.ts';

const TEXT = 'It reads: "tables" and more.';

describe('another description', () => {
  test.each([
    ['plain', '---\nname: a\ndescription: Old. # why\nlicense: MIT\n---\nBody\n'],
    ['quoted over two lines', '---\ndescription: "Old\n  text."\nname: a\nlicense: MIT\n---\nBody\n'],
    ['a block, last', '---\nname: a\nlicense: MIT\ndescription: |\n  Old\n\n  text.\n---\nBody\n'],
    ['with CR LF', '---\r\nname: a\r\ndescription: Old.\r\nlicense: MIT\r\n---\r\nBody\r\n'],
  ])('replaces one that is %s, and nothing else', (_, text) => {
    const changed = setDescription(text, TEXT) ?? expect.fail('not replaced');
    const newline = text.includes('\r\n') ? '\r\n' : '\n';
    expect(changed).toContain(`description: >-${newline}  ${TEXT}${newline}`);
    expect(changed).not.toContain('Old');
    expect(setDescription(changed, 'Old.')).toContain('license: MIT');
    expect(changed.endsWith(`---${newline}Body${newline}`)).toBe(true);
  });

  test('keeps comments above the next key', () => {
    const text = '---\ndescription: Old.\n\n# the name\nname: a\n---\n';
    const changed = '---\ndescription: >-\n  New.\n\n# the name\nname: a\n---\n';
    expect([setDescription(text, 'New.'), setDescription(changed, 'New.')]).toEqual([changed, changed]);
  });

  test.each([
    'no frontmatter',
    '---\n{description: x}\n---\n',
    '---\nname: a\n---\n',
    '---\ndescription: a: b: c\n---\n',
    '---\ndescription',
  ])('is refused for %j', (text) => {
    expect(setDescription(text, TEXT)).toBeUndefined();
  });
});
