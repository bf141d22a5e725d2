import { describe, expect, test } from 'vitest';

import { filesBelow } from '../files-below.ts';
import { wrongCommands } from './run-page.ts';
import { needs } from '../needs.ts';
describe('how-to pages: each command prints what the page shows', needs('python3 with pty', 'bubblewrap'), () => {
  test.each(filesBelow('docs/how-to', /\.md$/))(
    '%s',
    async (page) => expect(await wrongCommands(page, page.replace('docs/', 'docs/zh/'))).toEqual([]),
    600_000,
  );
});
