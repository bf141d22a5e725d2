/** What is told about an MCP server: the end of its stderr, and why a tool is left out. */
import { expect, test } from 'vitest';

import { withPrinted } from '../../src/mcp/program-transport.ts';
import { readTool } from '../../src/mcp/tool-schema.ts';

test('the last three lines are shown, or the last error and what follows it', () => {
  expect(withPrinted('it ended', 'one\ntwo\nthree\nfour\n')).toBe('it ended: two; three; four');
  expect(withPrinted('it ended', 'Error: old\nError: no key\ndetail\n')).toBe('it ended: Error: no key; detail');
  expect(withPrinted('it ended', '')).toBe('it ended');
});

test('of a long line the end is shown, of a long error the start', () => {
  expect(withPrinted('it ended', `${'a'.repeat(2_000)} the cause\n`)).toBe(`it ended: ${'a'.repeat(590)} the cause`);
  expect(withPrinted('it ended', `Error: no key ${'a'.repeat(2_000)}\n`)).toBe(
    `it ended: Error: no key ${'a'.repeat(586)}`,
  );
});

test('a tool with a long name is left out for its length', () => {
  expect(readTool('demo', { name: 'a'.repeat(200), inputSchema: { type: 'object' } })).toEqual({
    problem: expect.stringMatching(/is left out: its name has 200 characters, more than 128$/) as string,
  });
  expect(readTool('demo', { name: 'a b', inputSchema: { type: 'object' } })).toEqual({
    problem: 'the tool "a b" is left out: its name has characters other than A-Z a-z 0-9 _ - . /',
  });
});
