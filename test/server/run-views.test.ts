import { expect, test } from 'vitest';

import { createRun } from '../../src/journal/journal-writer.ts';
import { alignedSteps } from '../../src/server/run-views.ts';
import { scratch } from '../skills/registry/support.ts';

test('a comparison of two runs says when one has more steps than are compared', () => {
  const recorded = (steps: number): string => {
    const start = { request: 'x', version: '1', indexHash: '', policyHash: '', index: {} };
    const record = createRun(scratch(), start);
    for (let call = 1; call <= steps; call += 1)
      record.hold({ type: 'call-invalid', turn: call, tool: 'x', reason: String(call) });
    record.flush();
    return record.path;
  };
  const [exact, more] = [recorded(1_000), recorded(1_001)];
  const compared = alignedSteps(exact, more);
  expect([compared.steps.length, compared.steps.every(({ isSame }) => isSame), compared.isCut]).toEqual([
    1_000,
    true,
    true,
  ]);
  expect(alignedSteps(exact, exact).isCut).toBe(false);
});
