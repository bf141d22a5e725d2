import { expect, test } from 'vitest';

import { expectedInput } from '../../../src/sandbox/interaction/prompt.ts';

const kindOf = (text: string): string | undefined => expectedInput(text.split('\n'))?.kind;

test.each([
  'Name: ',
  'Name:',
  'Continue? ',
  '>>> ',
  '> ',
  'mysql> ',
  'user@host:~$ ',
  'Overwrite the file (y/n) ',
  'Overwrite? [Y/n]',
  'Proceed [yes/no]: ',
  'Press Enter to continue...',
  'press any key\n',
  'Password: ',
  "Enter passphrase for key '/x': ",
  'What is your name?\n',
  'Please enter your email:\n',
])('%j waits for an answer', (text) => {
  expect(kindOf(`some output\n${text}`)).toBe('prompt');
});

test.each([
  '1) apple\n2) pear\n#? ',
  '1. apple\n2. pear\nEnter a number: ',
  '[1] apple\n[2] pear\nYour choice: ',
  '  1 - apple\n  2 - pear\n> ',
  'Choose a colour: ',
  'Select an option\n',
])('%j waits for a choice', (text) => {
  expect(kindOf(text)).toBe('selection');
});

test.each([
  '',
  'working',
  'working...',
  '50%',
  'Results:\n',
  'a: 1\nb: 2\n',
  '1. first\n2. second\n',
  'done.\n',
  '<html>\n',
  'total 12\n',
  'Downloading (3 MB)\n',
])('%j waits for nothing', (text) => {
  expect(expectedInput(text.split('\n'))).toBeUndefined();
});

test('the hint quotes the question and says when it is for a secret', () => {
  expect(expectedInput(['x', 'Name: '])).toEqual({
    needsInput: true,
    kind: 'prompt',
    hint: 'waits for input: "Name:"',
  });
  expect(expectedInput(['Password: '])?.hint).toBe('asks for a secret: "Password:"');
  expect(expectedInput([`${'a'.repeat(100_000)}?`])?.hint.length).toBeLessThan(250);
});
