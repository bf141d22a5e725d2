import { expect, test } from 'vitest';

import { downgradeProblem } from '../../../src/packs/inspect/verdicts.ts';
import { verifies } from '../../conformance/verifies.ts';

const signed = (
  version: string,
  signedBy = 'AAAAAAAAAAAAAAAA',
): { name: string; version: string; signedBy: string } => ({
  name: 'demo',
  version,
  signedBy,
});
const unsigned = (version?: string): { name: string; version?: string } => ({
  name: 'demo',
  version,
});

verifies('PACK-4', 'a signed skill gives way to no unsigned one, no other key and no older version', () => {
  expect(downgradeProblem(signed('1.0'), unsigned('2.0'))?.code).toBe('signature/downgrade');
  expect(downgradeProblem(signed('1.0'), signed('2.0', 'BBBBBBBBBBBBBBBB'))?.code).toBe('signature/downgrade');
  expect(downgradeProblem(signed('1.10'), signed('1.9'))).toEqual({
    type: 'refused',
    allow: '--force',
    code: 'signature/rollback',
    message: '"demo" "1.10" is installed, and "1.9" is older',
    hint: 'it is older than the installed version: use --force to install it anyway',
  });
  expect(downgradeProblem(signed('1.0'), signed('main'))?.code).toBe('signature/rollback');
});

test('the same version, a newer one, and unsigned skills are accepted', () => {
  expect(downgradeProblem(signed('1.0'), signed('1.0'))).toBeUndefined();
  expect(downgradeProblem(signed('1.9'), signed('1.10'))).toBeUndefined();
  expect(downgradeProblem(unsigned('2.0'), unsigned('1.0'))).toBeUndefined();
  expect(downgradeProblem(unsigned('2.0'), signed('1.0'))).toBeUndefined();
  expect(downgradeProblem(unsigned(), signed('1.0'))).toBeUndefined();
});
