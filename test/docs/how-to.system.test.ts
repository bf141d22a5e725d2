import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { missingTerminal } from '../cli/pseudo-terminal.ts';
import { PROJECT, filesBelow } from '../files-below.ts';
import { hasBubblewrap } from '../sandbox/sandbox.ts';
import { runSteps } from './run-page.ts';
import { readSteps, rewritten, withFences, wrongOutputs } from './shown-commands.ts';

const missing = missingTerminal() ?? (hasBubblewrap() ? undefined : 'bubblewrap does not isolate programs here');
if (missing !== undefined) console.log(`skipped: runs of the how-to pages, because ${missing}`);

describe.skipIf(missing !== undefined)('how-to pages: each command prints what the page shows', () => {
  test.each(filesBelow('docs/how-to', /\.md$/))(
    '%s',
    async (name) => {
      const file = path.join(PROJECT, name);
      const page = readFileSync(file, 'utf8');
      const steps = readSteps(page);
      const results = await runSteps(steps);
      if (process.env['UPDATE_DOCS'] === '1') {
        const today = rewritten(page, steps, results);
        const translation = file.replace('how-to', 'zh/how-to');
        writeFileSync(file, today);
        writeFileSync(translation, withFences(readFileSync(translation, 'utf8'), today));
      }
      expect(wrongOutputs(readSteps(readFileSync(file, 'utf8')), results)).toEqual([]);
    },
    300_000,
  );
});
