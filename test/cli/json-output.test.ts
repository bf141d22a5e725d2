import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { cli, skillText, temporaryFolder, writeFiles } from './run-cli.ts';

/** Acts on terminals (U+202E, U+009B) or ends a line for some readers (U+2028, U+0085). */
const HOSTILE = '\u202eevil\u009b2J\u2028\u0085\u200b';

describe('every command with --json', () => {
  const folder = path.join(temporaryFolder(), `project-${HOSTILE}`);
  writeFiles(folder, {
    // Otherwise a `.git` above the temporary folder makes that one the project, and `trust` reads all of it.
    '.git/HEAD': '',
    [`skills/notes-${HOSTILE}/SKILL.md`]: skillText('notes', `Writes notes.${HOSTILE}`),
    'skills/fine/SKILL.md': skillText('fine', 'Writes fine notes.'),
    [`skills/fine/references/${HOSTILE}.md`]: HOSTILE,
    '.agent/config.json': JSON.stringify({ runs: { directory: `runs-${HOSTILE}` } }),
  });
  const only = ['--root', 'skills', '--only-root', '--no-cache'];

  test.each([
    ['list', '--json', ...only],
    ['inspect', 'fine', '--json', ...only],
    ['check', 'skills', '--json'],
    ['check', 'skills', '--format', 'sarif'],
    ['refresh', '--json', ...only],
    ['config', 'explain', '--json'],
    ['config'],
    ['policy', `read_file(${HOSTILE})`, '--json'],
    ['trust', '--json'],
    ['runs', 'list', '--json'],
    ['runs', 'verify', HOSTILE, '--json'],
    ['verify', '--json', '--to', 'skills'],
    ['sbom', '--to', 'skills'],
  ])('%s %s escapes characters that act on terminals', async (...words) => {
    const { out } = await cli(folder, words, { env: { HOME: path.join(folder, 'home') } });
    expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b\u2028\u2029\u202a-\u202e]/);
    if (out !== '') expect(() => JSON.parse(out) as unknown).not.toThrow();
  });
});
