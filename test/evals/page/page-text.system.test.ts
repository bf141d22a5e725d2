import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { pageText } from '../../../scripts/build-page.js';
import { PROJECT } from '../../files-below.ts';

test('the script in the package is made from the sources beside it; npm run page writes it anew', async () => {
  expect(readFileSync(path.join(PROJECT, 'src/evals/page/page-text.ts'), 'utf8')).toBe(await pageText());
});
