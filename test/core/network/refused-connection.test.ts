import { expect, test } from 'vitest';

import { refusedText } from '../../../src/core/network/refused-connection.ts';

test.each([
  [{ host: 'example.org', port: 443, reason: 'not-granted' }, '--allow example.org'],
  [{ host: 'example.org', port: 8443, reason: 'not-granted' }, '--allow example.org:8443'],
  [{ host: '10.0.0.1', port: 99, reason: 'not-granted' }, '--allow private://10.0.0.1:99'],
  [{ host: '127.0.0.1', port: 3000, reason: 'not-granted' }, '--allow 127.0.0.1:3000'],
  [{ host: '::1', port: 3000, reason: 'not-granted' }, '--allow [::1]:3000'],
  [{ host: 'db.intranet', port: 5432, reason: 'not-public' }, '--allow private://db.intranet:5432'],
  [{ host: 'gone.example', port: 80, reason: 'unresolved' }, 'failed: unresolved'],
])('a refused connection is shown with the flag that allows it: %o', (refused, end) => {
  expect(refusedText(refused).endsWith(end)).toBe(true);
});
