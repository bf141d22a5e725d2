import { expect, test } from 'vitest';

import { workingDirectory } from '../../../src/sandbox/execution/working-directory.ts';
import { verifies } from '../../conformance/verifies.ts';

const ROOT = '/workspace';
const directory = (asked: string | undefined, skillName?: string): string => {
  const found = workingDirectory(asked, { root: ROOT, skillName });
  return found.type === 'directory' ? found.path : `refused: ${found.failure.code}`;
};

verifies('EXEC-2', 'a program starts in the folder of its skill, or below it, or in a folder of the workspace', () => {
  expect(directory(undefined, 'pdf')).toBe('skills/pdf');
  expect(directory('', 'pdf')).toBe('skills/pdf');
  expect(directory('./', 'pdf')).toBe('skills/pdf');
  expect(directory(undefined)).toBe('work');
  expect(directory('assets/x', 'pdf')).toBe('skills/pdf/assets/x');
  expect(directory('$WORK_DIR', 'pdf')).toBe('work');
  expect(directory('${OUTPUT_DIR}/a', 'pdf')).toBe('out/a');
  expect(directory('$SKILL_DIR/scripts', 'pdf')).toBe('skills/pdf/scripts');
  expect(directory('$WORKSPACE_DIR', 'pdf')).toBe('.');
  expect(directory('$WORKSPACE_DIR/.', 'pdf')).toBe('.');
  expect(directory('$WORKSPACE_DIR/./work/', 'pdf')).toBe('work');
  expect(directory('/workspace', 'pdf')).toBe('.');
  expect(directory('/workspace/out', 'pdf')).toBe('out');
  expect(directory('/work/inputs', 'pdf')).toBe('work/inputs');
});

test.each([
  ['..', 'path/parent'],
  ['a/../../..', 'path/parent'],
  ['/etc', 'path/absolute'],
  ['/workspacex/out', 'path/absolute'],
  ['/workspace/../etc', 'path/parent'],
  ['$WORK_DIR/../../etc', 'path/parent'],
  ['C:\\x', 'path/backslash'],
  ['a\0b', 'path/control-character'],
])('%j is refused: nothing outside, and nothing is guessed', (asked, code) => {
  expect(directory(asked, 'pdf')).toBe(`refused: ${code}`);
});
