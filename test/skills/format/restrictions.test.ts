import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { findLineRestrictions } from '../../../src/skills/format/restrictions.ts';
import { readHead } from '../../../src/skills/format/read-head.ts';
import type { SkillControls } from '../../../src/core/skill.ts';
import { verifies } from '../../conformance/verifies.ts';
import { codesOf, fenced, placesOf, read, sourceOf } from '../../core/skill-source.ts';
import { runs } from '../../property-runs.ts';

const HEAD = ['name: pdf-forms', 'description: Fills forms.'];

function controlsOf(...lines: readonly string[]): SkillControls | undefined {
  return read(fenced(...HEAD, ...lines)).head?.controls;
}

const OPEN: SkillControls = { disableModelInvocation: false, userInvocable: true, runMode: 'inline' };

describe('fields that restrict', () => {
  it.each([
    [['allowed-tools: Read'], { allowedTools: ['Read'] }],
    [['allowed-tools: Read Bash(git add *)'], { allowedTools: ['Read', 'Bash(git add *)'] }],
    [['allowed-tools: Bash(git add *), Read'], { allowedTools: ['Bash(git add *)', 'Read'] }],
    [['allowed-tools: [Read, "Write"]'], { allowedTools: ['Read', 'Write'] }],
    [['allowed-tools:', '- Read', '- Bash(git:*)'], { allowedTools: ['Read', 'Bash(git:*)'] }],
    [['allowed-tools: []'], { allowedTools: [] }],
    [['allowed-tools: ""'], { allowedTools: [] }],
    [['allowed-tools:'], {}],
    [['allowed-tools: ~'], {}],
    [['disallowed-tools: Bash(rm:*), Write'], { disallowedTools: ['Bash(rm:*)', 'Write'] }],
    [['disallowed-tools:', '  - Write', '  - "Write"'], { disallowedTools: ['Write'] }],
    [['disallowed-tools: []'], { disallowedTools: [] }],
    [['disallowed-tools:'], {}],
    [['disallowedTools: Write'], { disallowedTools: ['Write'] }],
    [['metadata:', '  disallowed-tools: Write'], { disallowedTools: ['Write'] }],
    [['x: y: z', 'disallowed-tools: Write'], { disallowedTools: ['Write'] }],
    [['disable-model-invocation: true'], { disableModelInvocation: true }],
    [['disable-model-invocation: "TRUE"'], { disableModelInvocation: true }],
    [['disable-model-invocation: false'], {}],
    [['disable-model-invocation:'], {}],
    [['user-invocable: off'], { userInvocable: false }],
    [['user-invocable: Yes'], {}],
    [['paths: "src/**/*.{ts,js}, docs/*"'], { paths: ['src/**/*.{ts,js}', 'docs/*'] }],
    [['paths:', '  - "*.ts"'], { paths: ['*.ts'] }],
    [['paths: *.ts'], { paths: ['*.ts'] }],
    [['paths: *.ts, *.js'], { paths: ['*.ts', '*.js'] }],
    [['paths: **/*.{ts,tsx}'], { paths: ['**/*.{ts,tsx}'] }],
    [['run-mode: subagent'], { runMode: 'subagent' as const }],
    [['context: fork'], { runMode: 'subagent' as const }],
    [['requires: [python3, ffmpeg]'], { requires: ['python3', 'ffmpeg'] }],
    [['requires: python3, ffmpeg'], { requires: ['python3', 'ffmpeg'] }],
    [['metadata:', '  disable-model-invocation: "true"'], { disableModelInvocation: true }],
    [['metadata:', '  paths: docs/*'], { paths: ['docs/*'] }],
  ])('%j gives %j', (lines, expected) => {
    expect(controlsOf(...lines)).toEqual({ ...OPEN, ...expected });
  });

  it.each([
    ['a map', ['allowed-tools: {Read: true}'], { allowedTools: [] }],
    ['a nested map', ['allowed-tools:', '  Bash:', '    git: true'], { allowedTools: [] }],
    ['an open bracket', ['allowed-tools: [Read, Write'], { allowedTools: [] }],
    ['a colon that breaks YAML', ['allowed-tools: Bash(git: *), Read'], { allowedTools: [] }],
    ['an open quote', ['allowed-tools: "Read'], { allowedTools: [] }],
    ['a missing colon', ['allowed-tools Read'], { allowedTools: [] }],
    ['one space too many', [' allowed-tools: Read'], { allowedTools: [] }],
    ['a stray line below it', ['allowed-tools: Read', 'and nothing else'], { allowedTools: [] }],
    ['an open quote above it', ['license: "MIT', 'allowed-tools: Read', ' x: "'], { allowedTools: [] }],
    ['text below it in a broken file', ['x: y: z', 'allowed-tools: Read', '  Write'], { allowedTools: [] }],
    [
      'a broken line below metadata',
      ['metadata:', '  a: "b', '   allowed-tools: Read', '  c: d'],
      { allowedTools: [] },
    ],
    ['another spelling in a broken file', ['x: y: z', ' "Allowed Tools" : Read'], { allowedTools: [] }],
    ['no boolean', ['disable-model-invocation: maybe'], { disableModelInvocation: true }],
    ['a list for a boolean', ['disable-model-invocation: [false]'], { disableModelInvocation: true }],
    ['a number', ['user-invocable: 1'], { userInvocable: false }],
    ['a map of paths', ['paths: {a: b}'], { paths: [], disableModelInvocation: true }],
    ['a list of lists', ['paths: [[a]]'], { paths: [], disableModelInvocation: true }],
    ['no tools forbidden legibly', ['disallowed-tools: {Bash: true}'], { allowedTools: [], disallowedTools: ['*'] }],
    ['an open list of what is forbidden', ['disallowed-tools: [Bash'], { allowedTools: [], disallowedTools: ['*'] }],
    [
      'an entry of what is forbidden that is no pattern',
      ['allowed-tools: Read', 'disallowed-tools: Write 9lives'],
      { allowedTools: [], disallowedTools: ['*'] },
    ],
    [
      'one of two lists of what is forbidden',
      ['disallowed-tools: Write', 'metadata:', '  disallowed-tools: {Bash: true}'],
      { allowedTools: [], disallowedTools: ['*'] },
    ],
    ['a restriction in a second document', ['--- # more', 'user-invocable: false'], { userInvocable: false }],
    ['a field that takes no map above it', ['requires:', '  user-invocable: false'], { userInvocable: false }],
    ['metadata that is a list', ['metadata:', '- user-invocable: false'], { userInvocable: false }],
    ['metadata that is text', ['metadata: "user-invocable: false"'], { userInvocable: false }],
    ['metadata that is JSON in quotes', [`metadata: '{"user-invocable": false}'`], { userInvocable: false }],
    ['a broken flow map', ['metadata: {a: b, "user-invocable": false'], { userInvocable: false }],
  ])('close when they cannot be read: %s', (_, lines, expected) => {
    const reading = read(fenced(...HEAD, ...lines));
    expect(reading.head?.controls).toEqual({ ...OPEN, ...expected });
  });

  it('say so once, where they stand, and nothing else', () => {
    expect(placesOf(read(fenced(...HEAD, 'allowed-tools: [Read')))).toEqual(['field/unreadable-restriction@4:1']);
    expect(placesOf(read(fenced(...HEAD, 'paths: {a: b}')))).toEqual([
      'field/extension@4:1',
      'field/unreadable-restriction@4:8',
    ]);
    expect(placesOf(read(fenced(...HEAD, 'disable-model-invocation: maybe')))).toEqual([
      'field/extension@4:1',
      'field/unreadable-restriction@4:27',
    ]);
  });

  it.each([
    [['allowed-tools: Read Write', 'allowed-tools: Read Bash'], { allowedTools: ['Read'] }],
    [['allowed-tools: Bash', 'allowed-tools: Bash(git:*)'], { allowedTools: ['Bash(git:*)'] }],
    [['allowed-tools: Read', 'metadata:', '  allowed-tools: Write'], { allowedTools: [] }],
    [['disable-model-invocation: true', 'disable-model-invocation: false'], { disableModelInvocation: true }],
    [['user-invocable: true', 'metadata:', '  user-invocable: "false"'], { userInvocable: false }],
    [
      ['allowed-tools: Read Bash Write', 'disallowed-tools: Bash(rm:*) Write'],
      { allowedTools: ['Read', 'Bash'], disallowedTools: ['Bash(rm:*)', 'Write'] },
    ],
    [
      ['disallowed-tools: Bash', 'disallowed-tools: Write', 'metadata:', '  disallowed-tools: Bash'],
      { disallowedTools: ['Bash', 'Write'] },
    ],
    [['Allowed_Tools: Read'], { allowedTools: ['Read'] }],
    [['disableModelInvocation: true'], { disableModelInvocation: true }],
  ])('count twice when given twice, the stricter one wins: %j', (lines, expected) => {
    expect(controlsOf(...lines)).toEqual({ ...OPEN, ...expected });
  });

  verifies('FMT-4', 'an entry of allowed-tools that is not a tool pattern is ignored and reported', () => {
    const reading = read(fenced(...HEAD, 'allowed-tools: Read 9lives Bash(open'));
    expect(reading.head?.controls.allowedTools).toEqual(['Read']);
    expect(placesOf(reading)).toEqual(['allowed-tools/invalid@4:21', 'allowed-tools/invalid@4:28']);
  });

  it('an entry of disallowed-tools that is not a tool pattern forbids all tools, and is reported', () => {
    const { diagnostics } = read(fenced(...HEAD, 'disallowed-tools: 9lives'));
    expect(diagnostics.map(({ code, message }) => [code, message])).toEqual([
      ['field/other-agent', '"disallowed-tools" is not a field of the specification; Claude Code reads it'],
      ['allowed-tools/invalid', 'disallowed-tools: "9lives" is not a tool pattern; no tool may be used'],
    ]);
  });

  it('are seen in the text of every spelling of metadata, however short it folds from or whatever stands in it', () => {
    for (const key of ['metadata', 'METADATA', 'meta-data', 'meta\u3372ta', '"meta\\ndata"', '\uff4detadata']) {
      const text = `---\nname: x\ndescription: Does x.\n${key}: "allowed-tools: Read"\n---\n`;
      const { head } = readHead({ ...sourceOf(text), directory: 'x' }, { mode: 'lenient' });
      expect([key, head?.controls.allowedTools]).toEqual([key, []]);
    }
  });

  it('a comment is no restriction', () => {
    expect(controlsOf('# allowed-tools: Read')).toEqual(OPEN);
    expect(controlsOf('license: a: b', '# allowed-tools: Read')).toEqual(OPEN);
  });
});

/** What was stated may be kept or closed, never lifted. */
function isNoWider(controls: SkillControls): boolean {
  const tools = controls.allowedTools;
  return (
    controls.disableModelInvocation &&
    !controls.userInvocable &&
    tools !== undefined &&
    tools.every((tool) => tool === 'Read') &&
    controls.disallowedTools?.some((tool) => tool === 'Bash' || tool === '*') === true &&
    controls.paths !== undefined &&
    controls.paths.every((path) => path === 'docs/*')
  );
}

const RESTRICTIONS = [
  'allowed-tools: Read',
  'disallowed-tools: Bash',
  'disable-model-invocation: true',
  'user-invocable: false',
  'paths: docs/*',
];
const OTHERS = [
  'license: MIT',
  'metadata:',
  '  author: me',
  '  version: "1"',
  'compatibility: >',
  '  any',
  'requires:',
  '  - x',
];
const BREAKAGE = [
  'x: y: z',
  'license: "open',
  "license: 'open",
  'junk',
  '  junk',
  '\tjunk',
  '- a',
  '}',
  ']',
  '{',
  '[a',
  'a: [b',
  'a: {b',
  '? ',
  ': c',
  '@x',
  '`',
  'a: |',
  'b: >x',
  'k: "a" b',
  '%d',
  'description: again',
  '- - -',
  '"',
  "'",
];

const brokenFile = fc
  .tuple(
    fc.shuffledSubarray(
      RESTRICTIONS.map((_, index) => index),
      { minLength: 5, maxLength: 5 },
    ),
    fc.array(fc.tuple(fc.constantFrom(...BREAKAGE, ...OTHERS), fc.nat(12)), { minLength: 1, maxLength: 5 }),
    fc.array(fc.tuple(fc.constantFrom(' ', '  ', '\t', '"', '- '), fc.nat(4)), { maxLength: 2 }),
  )
  .map(([order, extra, changes]) => {
    const restrictions = order.map((index) => RESTRICTIONS[index] ?? '');
    for (const [prefix, at] of changes)
      restrictions[at] =
        prefix === '"' ? (restrictions[at] ?? '').replace(/^([\w-]+):/, '"$1":') : prefix + restrictions[at];
    const lines = ['name: pdf-forms', 'description: Fills forms.', ...restrictions];
    for (const [line, at] of extra) lines.splice(Math.min(at, lines.length), 0, line);
    return lines;
  });

describe('a mistake anywhere', () => {
  verifies('FMT-5', 'a mistake never lifts a restriction that stands in the file', () => {
    fc.assert(
      fc.property(brokenFile, (lines) => {
        const reading = read(fenced(...lines));
        const { head } = reading;
        // A file left out has no rights at all.
        if (head === undefined) return;
        // Valid YAML says what it says: only what could not be read is closed.
        const told = codesOf(reading);
        const broken = told.some((code) => code.startsWith('frontmatter/') && code !== 'frontmatter/duplicate-key');
        if (broken && !isNoWider(head.controls))
          throw new Error(JSON.stringify({ lines, controls: head.controls, told }, undefined, 1));
      }),
      { numRuns: runs(1000) },
    );
    expect(true).toBe(true);
  });

  it('never lifts one whose own line is whole, whatever characters come or go elsewhere', () => {
    const lines = [
      'name: pdf-forms',
      'description: Fills forms.',
      ...RESTRICTIONS,
      'license: MIT',
      'metadata:',
      '  author: me',
    ];
    const change = fc.tuple(
      fc.constantFrom(0, 1, 7, 8, 9),
      fc.nat(30),
      fc.nat(3),
      fc.constantFrom(
        '',
        '"',
        "'",
        ': ',
        ':',
        '[',
        '{',
        '}',
        '|',
        '>',
        '- ',
        '*',
        '&a',
        '!',
        '\t',
        ' ',
        '\n',
        '#',
        ' #',
        '\\',
        '---',
      ),
    );
    fc.assert(
      fc.property(
        fc.array(change, { minLength: 1, maxLength: 4 }),
        fc.shuffledSubarray(lines, { minLength: 10 }),
        (changes, order) => {
          const text = [...order];
          for (const [which, at, length, insert] of changes) {
            const index = text.indexOf(lines[which] ?? '');
            const line = text[index];
            if (line !== undefined) text[index] = line.slice(0, at) + insert + line.slice(at + length);
          }
          const written = fenced(...text).split('\n');
          const { head } = read(fenced(...text));
          if (head === undefined) return;
          for (const restriction of RESTRICTIONS) {
            const at = written.indexOf(restriction);
            // What is indented below a restriction is part of it; a fence above it takes it out of the frontmatter.
            if (at === -1 || written.indexOf('---', 1) < at || /^[ \t]/.test(written[at + 1] ?? '')) continue;
            const { allowedTools, disallowedTools, disableModelInvocation, userInvocable, paths } = head.controls;
            if (restriction.startsWith('allowed')) expect(allowedTools?.every((tool) => tool === 'Read')).toBe(true);
            if (restriction.startsWith('disallowed'))
              expect(disallowedTools?.some((tool) => tool === 'Bash' || tool === '*')).toBe(true);
            if (restriction.startsWith('disable')) expect(disableModelInvocation).toBe(true);
            if (restriction.startsWith('user')) expect(userInvocable).toBe(false);
            if (restriction.startsWith('paths')) expect(paths?.every((path) => path === 'docs/*')).toBe(true);
          }
        },
      ),
      { numRuns: runs(1000) },
    );
  });
});

describe('restrictions in text that no reader understood', () => {
  const words = 'allowed Disallowed disable USER paths tool tools Model invocation invocable s a d'.split(' ');
  const signs = ['-', '_', ' ', '.', ':', '=', '"', "'", '`', '*', '#', '{', '1', '\t', '\r'];
  const beyond = ['\u200b', '\u0301', '：', 'é', 'ſ', '\u212a'];
  const pieces = fc.constantFrom(...words, ...signs, ...beyond);

  it('are found alike in a line of ASCII and in one with a letter beyond it at its end', () => {
    const found = new Set<string>();
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 9 }), (parts) => {
        const line = parts.join('');
        const fields = findLineRestrictions(line, 0, line.length).map(({ field }) => field);
        // Not a letter of the word itself: a space stands between.
        const wider = `${line} 技`;
        expect(findLineRestrictions(wider, 0, wider.length).map(({ field }) => field)).toEqual(fields);
        for (const field of fields) found.add(field);
      }),
      { numRuns: runs(20_000) },
    );
    expect(found.size).toBeGreaterThan(2);
  });

  it.each([
    ['a\u200bllowed-tools: Read', ['allowed-tools']],
    ['\0d\0isallowed tools', ['disallowed-tools']],
    ['  - "User_Invocable": no', ['user-invocable']],
    ['技 allowed-tools: Read', []],
    ['describe: allowed-tools', []],
    ['# paths: x', []],
    ['paths x', []],
    ['p', []],
  ])('of %j are %j', (line, fields) => {
    expect(findLineRestrictions(line, 0, line.length).map(({ field }) => field)).toEqual(fields);
  });
});
