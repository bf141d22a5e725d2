/** `dependencies` with `all` and `any`, as agentskills/agentskills#485 proposes it, and what other systems write under the same name. */
import { describe, expect, test } from 'vitest';

import { readHead } from '../../../src/skills/format/read-head.ts';
import { sourceOf } from '../../core/skill-source.ts';
import { verifies } from '../../conformance/verifies.ts';

const read = (...lines: readonly string[]) => {
  const text = `---\nname: a\ndescription: d\n${lines.join('\n')}\n---\nbody\n`;
  const { head, diagnostics } = readHead(sourceOf(text, { directory: 'a' }), { mode: 'lenient' });
  return { needs: head?.controls.dependencies, codes: diagnostics.map(({ code }) => code) };
};

describe('dependencies', () => {
  verifies('FMT-3', 'dependencies are read with all and any, for tools, servers and programs', () => {
    const both = [['tool:get_order'], ['tool:update_order'], ['tool:mail', 'tool:chat']];
    for (const lines of [
      ['dependencies:', '  all: [get_order, update_order]', '  any: [mail, chat]'],
      ['dependencies:', '  tools:', '    all: [get_order, update_order]', '    any: [mail, chat]'],
      ['dependencies:', '  all:', '    - get_order', '    - tool: update_order', '    - any: [mail, {tool: chat}]'],
      ['metadata:', '  dependencies:', '    all: [get_order, update_order]', '    any: [mail, chat]'],
      ['metadata:', '  dependencies: "tool:get_order, tool:update_order, tool:mail | tool:chat"'],
    ])
      expect(read(...lines).needs, lines.join('\n')).toEqual(both);
    expect(
      read('dependencies:', '  mcp_servers: [github]', '  any: [{mcp: gitlab}, "bin:gh"]', '  prompts: [review]').needs,
    ).toEqual([['mcp:github'], ['mcp:gitlab', 'bin:gh']]);
    expect(read('dependencies:', '  all: [mcp__github__create_issue]')).toEqual({
      needs: [['tool:mcp__github__create_issue']],
      codes: ['field/extension'],
    });
  });

  test.each([
    ['packages of Claude', 'dependencies: python>=3.8, pandas>=1.5.0', 'field/other-agent'],
    ['names of skills', 'dependencies: [adexmo]', 'field/other-agent'],
    ['versions of packages', 'dependencies: {eslint: ">=8"}', 'field/other-agent'],
    ['skills by their strength', 'dependencies: {hard: [copywriting]}', 'field/other-agent'],
    ['nothing', 'dependencies:', 'field/other-agent'],
  ])('%s under the same name are not needs', (_, line, code) => {
    expect(read(line)).toEqual({ needs: undefined, codes: [code] });
  });

  test.each([
    ['a kind of its own', ['  hard: [copywriting]']],
    ['a choice between groups', ['  any: [{all: [a, b]}, c]']],
    ['a name that is a sentence', ['  all: ["the tool that sends mail"]']],
  ])('%s is reported, and the rest is read', (_, lines) => {
    const { needs, codes } = read('dependencies:', ...lines, '  tools: [x]');
    expect(needs).toEqual([['tool:x']]);
    expect(codes).toEqual(['field/extension', 'field/type']);
  });

  test('packages under metadata are not understood as tools', () => {
    expect(read('metadata:', '  dependencies: pandas, numpy')).toEqual({ needs: undefined, codes: [] });
    expect(read('metadata:', '  dependencies: {eslint: ">=8"}')).toEqual({
      needs: undefined,
      codes: ['metadata/not-text'],
    });
  });

  test('another kind is kept, so that it is named as missing', () => {
    expect(
      read('metadata:', '  dependencies: "foo:bar, tool:x | npm:react, prompt:review, https://a.example"'),
    ).toEqual({
      needs: [['foo:bar'], ['tool:x', 'npm:react']],
      codes: [],
    });
  });

  describe('a map at the top level', () => {
    const fix = (...lines: readonly string[]) => {
      const text = `---\nname: a\ndescription: d\n${lines.join('\n')}\n---\nbody\n`;
      const { diagnostics } = readHead(sourceOf(text, { directory: 'a' }), { mode: 'strict' });
      const edit = diagnostics.find(({ code }) => code === 'field/extension')?.edit;
      if (edit === undefined) return undefined;
      const fixed = text.slice(0, edit.offset) + edit.text + text.slice(edit.offset + edit.length);
      expect(readHead(sourceOf(fixed, { directory: 'a' }), { mode: 'strict' }).diagnostics).toEqual([]);
      return fixed.split('\n').slice(3, -3);
    };

    test.each([
      [
        'without metadata',
        ['dependencies:', '  mcp: [github]', '  bins: [sh, jq]', '  any: [x, {bin: y}]', 'license: MIT'],
        ['metadata:', '  dependencies: mcp:github, bin:sh, bin:jq, tool:x | bin:y', 'license: MIT'],
      ],
      [
        'before metadata',
        ['dependencies:', '  all:', '    - mcp:github', '', 'metadata:', '  team: a'],
        ['', 'metadata:', '  dependencies: mcp:github', '  team: a'],
      ],
      [
        'after metadata, in braces',
        ['metadata:', '  team: a', 'dependencies: {bins: [jq]}'],
        ['metadata:', '  dependencies: bin:jq', '  team: a'],
      ],
    ])('is moved under metadata as text, %s', (_, lines, expected) => {
      expect(fix(...lines)).toEqual(expected);
    });

    test.each([
      ['a comment', ['  bins: [jq] # for reports']],
      ['a prompt', ['  bins: [jq]', '  prompts: [review]']],
      ['a kind of its own', ['  bins: [jq]', '  hard: [x]']],
      ['a name that does not fit', [`  bins: [${'x'.repeat(126)}]`]],
    ])('stays with %s, which the text would lose', (_, lines) => {
      expect(fix('dependencies:', ...lines)).toBeUndefined();
    });
  });

  test('more than 200 needs, and nesting that never ends, are cut', () => {
    const many = Array.from({ length: 300 }, (_, at) => `t${String(at)}`).join(', ');
    expect(read('dependencies:', `  all: [${many}]`).needs).toHaveLength(200);
    expect(read('dependencies:', `  ${'{all: '.repeat(12)}[x]${'}'.repeat(12)}`).needs).toBeUndefined();
  });
});
