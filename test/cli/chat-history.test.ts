import { chmodSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { openChatHistory } from '../../src/cli/agent/chat-input.ts';
import { scratch } from '../skills/registry/support.ts';

/** The lines of a history whose file holds this text. */
function reopened(text: string, mode = 0o600): readonly string[] {
  const cache = scratch();
  openChatHistory(cache, '/project').add('x');
  const [name = ''] = readdirSync(path.join(cache, 'chat'));
  const file = path.join(cache, 'chat', name);
  writeFileSync(file, text);
  chmodSync(file, mode);
  return openChatHistory(cache, '/project').lines();
}

test('is kept for each project, the newest first, each message once and on one line', () => {
  const cache = scratch();
  const history = openChatHistory(cache, '/project');
  for (const message of ['one', 'two\nlines', 'one', ' ', 'x'.repeat(2_001)]) history.add(message);
  expect(history.lines()).toEqual(['one', 'two␤lines']);
  expect(openChatHistory(cache, '/project').lines()).toEqual(['one', 'two␤lines']);
  expect(openChatHistory(cache, '/other').lines()).toEqual([]);
});

test.each([
  ['no JSON', '[', 0o600, []],
  ['no list', '{"0":"a"}', 0o600, []],
  ['other values and keys of a terminal', '["a\\u001b[2J\\r", 7, null]', 0o600, ['a[2J␤']],
  ['a file that others may read', '["a"]', 0o644, []],
])('%s: as much as can be used', (_, text, mode, lines) => {
  expect(reopened(text, mode)).toEqual(lines);
});

test('without a place, or where it cannot be written, it lasts as long as the chat', () => {
  const blocked = scratch();
  writeFileSync(path.join(blocked, 'chat'), '');
  for (const cache of [undefined, blocked]) {
    const history = openChatHistory(cache, '/project');
    history.add('one');
    expect(history.lines()).toEqual(['one']);
  }
});
