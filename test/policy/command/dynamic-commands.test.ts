import * as fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';

import { findDynamicCommands, refuseDynamicCommands } from '../../../src/policy/command/dynamic-commands.ts';
import { runs } from '../../property-runs.ts';

const REASON = 'commands are off';
const NOTE = `[not run: ${REASON}]`;
const commandsIn = (body: string): readonly string[] => findDynamicCommands(body).map(({ command }) => command);

describe('commands in the text of a skill', () => {
  test('are found in lines and in blocks, with their places', () => {
    const body = 'Status: !`git status`\n\n```!\nnode --version\nnpm --version\n```\nEnd.';
    expect(findDynamicCommands(body)).toEqual([
      { start: 8, end: 21, command: 'git status' },
      { start: 23, end: body.indexOf('\nEnd'), command: 'node --version\nnpm --version' },
    ]);
  });

  it.each([
    ['!`a`', ['a']],
    ['- !`a` and !`b`', ['a', 'b']],
    ['!``echo `x` ``', ['echo `x`']],
    ['\t!` a `', ['a']],
    ['````!\n```\ninner\n```\n````', ['```\ninner\n```']],
    ['```!\nnever closed', ['never closed']],
    ['```! bash\r\na\r\n```\r\n!`b`', ['a', 'b']],
    ['1. x\n   ```!\n   a\n   ```', ['a']],
    ['```\ncode\n```\n!`a`', ['a']],
  ])('%j has %j', (body, commands) => {
    expect(commandsIn(body)).toEqual(commands);
  });

  it.each([
    '![image](x.png)',
    '\\!`a`',
    'x!`a`',
    '!!`a`',
    '!`never closed',
    '!`over\ntwo lines`',
    '!` `',
    '! `a`',
    '`a` !',
    'wow!',
    'write `` !`command` `` for it',
    '```\n!`a`\n```',
    '~~~md\n```!\na\n```\n~~~',
    '````\n```!\na\n```\n````',
    '~~~!\na\n~~~',
    '```js !\na\n```',
    '@file.md and @~/.ssh/id_rsa',
  ])('%j has none and stays as it is', (body) => {
    expect(findDynamicCommands(body)).toEqual([]);
    expect(refuseDynamicCommands(body, REASON)).toEqual({ text: body, commands: [] });
  });
});

describe('refused commands', () => {
  it.each([
    ['Now: !`git status`, then', `Now: \`git status\` ${NOTE}, then`],
    ['```!\na\nb\n```\nEnd', `\`\`\`\na\nb\n\`\`\`\n${NOTE}\nEnd`],
    ['  ```!bash\n  a\n  ```', `  \`\`\`bash\n  a\n  \`\`\`\n  ${NOTE}`],
    ['```!\na', `\`\`\`\na\n\`\`\`\n${NOTE}`],
    ['```!\na\n', `\`\`\`\na\n\`\`\`\n${NOTE}`],
    ['```!', `\`\`\`\n\`\`\`\n${NOTE}`],
  ])('%j becomes %j', (body, text) => {
    expect(refuseDynamicCommands(body, REASON)).toEqual({ text, commands: commandsIn(body) });
  });

  test('leave nothing behind that could run', () => {
    const piece = fc.constantFrom(
      '!',
      '`',
      '``',
      '```',
      '```!',
      '!`a`',
      'x',
      ' ',
      '\n',
      '~~~',
      '\t',
      '\r\n',
      '[',
      '\\',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const body = pieces.join('');
        const { text, commands } = refuseDynamicCommands(body, REASON);
        expect(findDynamicCommands(text)).toEqual([]);
        expect(text.split(NOTE).length - 1).toBe(commands.length);
        for (const command of commandsIn(body)) expect(text).toContain(command);
      }),
      { numRuns: runs(2000) },
    );
  });

  it.each(['!`a` ', '!`', '`', '!', '```!\n', ' !` ` `` ', '```!\n```\n'])('a megabyte of %j is read', (piece) => {
    const { commands } = refuseDynamicCommands(piece.repeat(1_000_000 / piece.length), REASON);
    expect(commands.length).toBeLessThan(1_000_000);
  });

  test('a line of unlike runs of backticks is read once', () => {
    const line = Array.from({ length: 1400 }, (_, index) => ` !${'`'.repeat(index + 1)}`).join('');
    expect(findDynamicCommands(line)).toEqual([]);
  });
});
