import { describe, expect, test } from 'vitest';

import { SCAN_NOTE, type ScanFinding } from '../../src/scan/finding.ts';
import { scanSarif } from '../../src/scan/sarif.ts';

const FINDING: ScanFinding = {
  rule: 'reverse-shell',
  severity: 'critical',
  path: 'scripts/a b.sh',
  line: 2,
  column: 3,
  message: 'connects a shell to a remote host: "x"',
};

describe('scanSarif', () => {
  test('contains the rule, the location and the advice', () => {
    expect(scanSarif([FINDING], { version: '1.2.3', prefix: 'skills/x/' })).toEqual({
      $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
      version: '2.1.0',
      runs: [
        {
          tool: {
            driver: {
              name: 'skillwright',
              semanticVersion: '1.2.3',
              fullDescription: { text: SCAN_NOTE },
              rules: [
                {
                  id: 'reverse-shell',
                  shortDescription: { text: 'opens a shell to a remote host' },
                  fullDescription: { text: 'the listener at the other end controls this machine' },
                  help: { text: 'do not use the skill' },
                  defaultConfiguration: { level: 'error' },
                  properties: { 'security-severity': '9.5', tags: ['security'] },
                },
              ],
            },
          },
          columnKind: 'utf16CodeUnits',
          results: [
            {
              ruleId: 'reverse-shell',
              ruleIndex: 0,
              level: 'error',
              message: { text: 'connects a shell to a remote host: "x". do not use the skill' },
              locations: [
                {
                  physicalLocation: {
                    artifactLocation: { uri: 'skills/x/scripts/a%20b.sh', uriBaseId: '%SRCROOT%' },
                    region: { startLine: 2, startColumn: 3 },
                  },
                },
              ],
            },
          ],
        },
      ],
    });
  });

  test('is valid without findings, and encodes unusual paths', () => {
    expect(JSON.stringify(scanSarif([], { version: '1.0.0' }))).toContain('"results":[]');
    const odd = scanSarif([{ ...FINDING, path: 'a\ud800%/../"' }], { version: '1.0.0' });
    expect(JSON.stringify(odd)).toContain('"uri":"a%EF%BF%BD%25/../%22"');
  });
});
