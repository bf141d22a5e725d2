import { describe, expect, test } from 'vitest';

import { missingTerminal } from '../cli/pseudo-terminal.ts';
import { filesBelow } from '../files-below.ts';
import { hasBubblewrap } from '../sandbox/sandbox.ts';
import { wrongCommands } from './run-page.ts';

const missing = missingTerminal() ?? (hasBubblewrap() ? undefined : 'bubblewrap does not isolate programs here');
if (missing !== undefined) console.log(`skipped: runs of the how-to pages, because ${missing}`);

describe.skipIf(missing !== undefined)('how-to pages: each command prints what the page shows', () => {
  test.each(filesBelow('docs/how-to', /\.md$/))(
    '%s',
    async (page) => expect(await wrongCommands(page, page.replace('docs/', 'docs/zh/'))).toEqual([]),
    600_000,
  );
});
