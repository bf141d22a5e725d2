import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';

import { verifies } from '../conformance/verifies.ts';
import { PROJECT } from '../files-below.ts';
import { EXPECTED, matrixTable, measureMatrix } from './policy-matrix.ts';

const PAGE = path.join(PROJECT, 'docs/policy.md');
const [START, END] = ['<!-- Measured by test/runtime/policy-matrix.system.test.ts: -->\n', '\n<!-- end -->'] as const;

verifies(
  ['POL-1', 'POL-2', 'POL-3', 'POL-5'],
  'each kind of action, for each one who may answer, in a trusted folder and in another one, is really done or really refused; the page says so',
  async () => {
    const measured = await measureMatrix();
    expect(measured).toEqual(EXPECTED);
    const page = readFileSync(PAGE, 'utf8');
    const [before = '', rest = ''] = page.split(START);
    const after = rest.slice(rest.indexOf(END));
    const wanted = `${before}${START}${matrixTable(measured)}${after}`;
    if (process.env['UPDATE_DOCS'] === '1') writeFileSync(PAGE, wanted);
    expect(readFileSync(PAGE, 'utf8'), 'docs/policy.md is out of step: npm run docs').toBe(wanted);
  },
);
