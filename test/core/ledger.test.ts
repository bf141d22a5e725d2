import { expect, test } from 'vitest';

import { buildLedger } from '../../src/core/ledger.ts';
import { ledgerFromLines } from '../../src/cli/skills/cost.ts';
import type { ShownContent } from '../../src/core/text/shown.ts';
import { verifies } from '../conformance/verifies.ts';

const shown = (skill: string, path: string, tokens: number, reason: ShownContent['reason'] = 'load'): ShownContent => ({
  skill,
  path,
  digest: `sha256:${path}`,
  characters: tokens * 4,
  tokens,
  reason,
});

verifies('DISC-5', 'the ledger adds up what was shown, once for each content and as often as it was sent', () => {
  const body = shown('t/a', 'SKILL.md', 100);
  const catalog = { ...shown('', '', 30, 'catalog'), digest: 'sha256:catalog' };
  const ledger = buildLedger([
    { type: 'turn-start' },
    { type: 'request-start', shown: [catalog, body] },
    { type: 'content-show', shown: shown('t/a', 'references/x.md', 10, 'resource') },
    { type: 'request-start', shown: [catalog, body] },
  ]);
  expect(ledger).toEqual({
    rows: [
      { ...catalog, times: 2, totalTokens: 60 },
      { ...body, times: 2, totalTokens: 200 },
      { ...shown('t/a', 'references/x.md', 10, 'resource'), times: 1, totalTokens: 10 },
    ],
    characters: 560,
    tokens: 140,
    totalTokens: 270,
  });
});

test('a ledger is read back from lines; other events and empty lines are passed over', () => {
  const events = [
    { type: 'run-start', anything: 1 },
    { type: 'content-show', shown: shown('t/a', 'SKILL.md', 5) },
    { type: 'request-start', shown: [shown('t/a', 'SKILL.md', 5)] },
  ];
  const lines = `${events.map((event) => JSON.stringify(event)).join('\n\n')}\n`;
  expect(ledgerFromLines(lines).rows).toEqual([{ ...shown('t/a', 'SKILL.md', 5), times: 2, totalTokens: 10 }]);
});

test.each([
  ['{"type":"content-show"', 'line 1 is not a session event: it is not JSON'],
  ['\n[]', 'line 2 is not a session event: expected an object with a "type"'],
  ['{"type":"request-start"}', 'line 1 is not a session event: expected a list named "shown"'],
  [
    JSON.stringify({ type: 'content-show', shown: { ...shown('a', 'b', 1), tokens: -1 } }),
    'line 1 is not a session event: tokens: expected a whole number from 0 to 9007199254740991',
  ],
])('events that are none are named with their line: %s', (lines, message) => {
  expect(() => ledgerFromLines(lines)).toThrow(message);
});
