import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { pageText } from '../../../scripts/build-page.js';
import { PROJECT } from '../../files-below.ts';

test('page-text.ts is up to date (run npm run page)', async () => {
  expect(readFileSync(path.join(PROJECT, 'src/evals/page/page-text.ts'), 'utf8')).toBe(await pageText());
});
