import { describe, expect, test } from 'vitest';

import { addHookEntry, hookCommands, removeHookEntry } from '../../../src/activation/activate/hook-entry.ts';
import { parseTree, plainValue } from '../../../src/activation/activate/json-tree.ts';

const ENTRY = { event: 'UserPromptSubmit', command: "sh '/home/u/hook.sh' claude-code || :", timeout: 2 };
const OURS = { hooks: [{ type: 'command', command: ENTRY.command, timeout: 2 }] };

const valueOf = (text: string): unknown => {
  const root = parseTree(text);
  return root === undefined ? undefined : plainValue(root);
};
const without = (text: string, inserted: string): string => {
  const parts = text.split(inserted);
  expect(parts).toHaveLength(2);
  return parts.join('');
};

describe('adding a hook to settings', () => {
  test('keeps comments, order, tabs and the hooks of others', () => {
    const before =
      '{\r\n\t// mine\r\n\t"hooks": {\r\n\t\t"UserPromptSubmit": [\r\n\t\t\t{ "hooks": [] }, // theirs\r\n\t\t],\r\n\t},\r\n\t"z": 1,\r\n\t"a": 2\r\n}\r\n';
    const { text, inserted } = addHookEntry(before, ENTRY);
    expect(text).toBe(
      before.replace(
        '{ "hooks": [] }',
        `{ "hooks": [] },\r\n\t\t\t{\r\n\t\t\t\t"hooks": [\r\n\t\t\t\t\t{\r\n\t\t\t\t\t\t"type": "command",\r\n\t\t\t\t\t\t"command": "sh '/home/u/hook.sh' claude-code || :",\r\n\t\t\t\t\t\t"timeout": 2\r\n\t\t\t\t\t}\r\n\t\t\t\t]\r\n\t\t\t}`,
      ),
    );
    expect(without(text, inserted)).toBe(before);
  });

  test.each([
    ['', '{"hooks":{"UserPromptSubmit":[OURS]}}'],
    ['// nothing yet\n', '{"hooks":{"UserPromptSubmit":[OURS]}}'],
    ['{}', '{"hooks":{"UserPromptSubmit":[OURS]}}'],
    ['\uFEFF{"a":1}', '{"a":1,"hooks":{"UserPromptSubmit":[OURS]}}'],
    ['{"hooks":{}}', '{"hooks":{"UserPromptSubmit":[OURS]}}'],
    ['{"hooks":{"UserPromptSubmit":[ // none\n ]}}', '{"hooks":{"UserPromptSubmit":[OURS]}}'],
    ['{"hooks":{"Stop":[1]},"hooks":{"Stop":[2]}}', '{"hooks":{"Stop":[2],"UserPromptSubmit":[OURS]}}'],
  ])('adds to %j', (before, after) => {
    const { text, inserted } = addHookEntry(before, ENTRY);
    expect(valueOf(text)).toEqual(JSON.parse(after.replace('OURS', JSON.stringify(OURS))));
    expect(without(text, inserted)).toBe(before);
    expect(hookCommands(text, 'UserPromptSubmit')).toEqual([ENTRY.command]);
  });

  test.each([
    ['[]', 'the settings must be an object'],
    ['{"hooks":[]}', 'hooks must be an object'],
    ['{"hooks":{"UserPromptSubmit":{}}}', 'hooks.UserPromptSubmit must be an array'],
    ['{"a":1\n"b":2}', 'unexpected "\\"" in line 2'],
    ['{"a":[1,}', 'unexpected "}" in line 1'],
    ['{"a":"x', 'unexpected "\\"" in line 1'],
    ['{} {}', 'unexpected "{" in line 1'],
  ])('refuses %j', (text, message) => {
    expect(() => addHookEntry(text, ENTRY)).toThrow(new SyntaxError(message));
  });

  test('refuses settings that are nested too deeply', () => {
    expect(() => addHookEntry('['.repeat(5000), ENTRY)).toThrow(new SyntaxError('more than 200 levels'));
  });

  test('gives back the bytes of random settings, and their other values', () => {
    const random = openRandom(38);
    for (let round = 0; round < 3000; round += 1) {
      const before = randomSettings(random);
      const { text, inserted } = addHookEntry(before, ENTRY);
      expect(without(text, inserted)).toBe(before);
      const value = valueOf(text) as { hooks: Record<string, unknown[]> };
      expect(value.hooks['UserPromptSubmit']?.at(-1)).toEqual(OURS);
      const isOurs = (command: string): boolean => command === ENTRY.command;
      const rest = valueOf(removeHookEntry(text, { event: ENTRY.event, isOurs })) as typeof value;
      value.hooks['UserPromptSubmit']?.pop();
      expect(rest).toEqual(value);
    }
  });

  test('removes an entry from settings that were formatted again or extended since', () => {
    const theirs = { hooks: [{ type: 'command', command: 'theirs' }] };
    const isOurs = (command: string): boolean => command === ENTRY.command;
    for (const list of [
      [OURS, theirs],
      [theirs, OURS],
      [theirs, OURS, theirs],
      [OURS],
      [OURS, OURS],
      [OURS, OURS, theirs, OURS],
    ]) {
      const text = JSON.stringify({ hooks: { UserPromptSubmit: list } }, undefined, 3);
      expect(valueOf(removeHookEntry(text, { event: 'UserPromptSubmit', isOurs }))).toEqual({
        hooks: { UserPromptSubmit: list.filter((one) => one !== OURS) },
      });
    }
  });
});

function openRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

function randomSettings(random: () => number): string {
  const pick = <T>(...all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
  const end = pick('\n', '\r\n');
  const space = (): string =>
    pick('', ' ', '\t', end, `${end}  `, `/* } ] " , */`, `// "x": [ {${end}`, `${end}\t// note${end}\t`);
  const list = (open: string, close: string, entries: readonly string[]): string => {
    const rest = entries.length > 0 && random() < 0.3 ? `,${space()}` : '';
    return `${open}${space()}${entries.join(`${space()},${space()}`)}${space()}${rest}${close}`;
  };
  const value = (depth: number): string => {
    const kind = depth > 3 ? 0 : Math.floor(random() * 4);
    const count = Math.floor(random() * 3);
    if (kind === 1)
      return list(
        '[',
        ']',
        Array.from({ length: count }, () => value(depth + 1)),
      );
    if (kind === 2)
      return list(
        '{',
        '}',
        Array.from({ length: count }, (_, at) => member(`k${String(at)}`, value(depth + 1))),
      );
    return pick('1', '-2.5e3', 'true', 'null', '"//"', String.raw`"\" /* \\"`, '"中文 }"');
  };
  const member = (key: string, text: string): string => `${JSON.stringify(key)}${space()}:${space()}${text}`;
  const events = list('{', '}', [
    ...(random() < 0.5 ? [member('Stop', list('[', ']', [value(2)]))] : []),
    ...(random() < 0.5
      ? [member('UserPromptSubmit', list('[', ']', random() < 0.5 ? [] : ['{"hooks":[{"command":"theirs"}]}', '7']))]
      : []),
  ]);
  const members = [
    ...(random() < 0.7 ? [member('a', value(0))] : []),
    ...(random() < 0.6 ? [member('hooks', events)] : []),
    ...(random() < 0.7 ? [member('z', value(0))] : []),
  ];
  return `${pick('', '\uFEFF')}${space()}${list('{', '}', members)}${space()}`;
}
