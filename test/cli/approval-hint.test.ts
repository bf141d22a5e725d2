import { expect, onTestFinished, test, vi } from 'vitest';

import { withNextTicket } from '../../src/cli/agent/approval.ts';
import { openUsedApprovals } from '../../src/policy/approval/used-approvals.ts';
import { temporaryFolder } from './run-cli.ts';

test('a hint names the approval that is accepted next', async () => {
  const home = temporaryFolder();
  vi.stubEnv('HOME', home);
  onTestFinished(() => void vi.unstubAllEnvs());
  const id = 'ab'.repeat(32);
  const hint = `approve it with --approve ${id}, or choose another folder`;
  expect(withNextTicket(hint)).toBe(hint);
  await openUsedApprovals(home).use(`sha256:${id}`, id);
  expect(withNextTicket(hint)).toBe(`approve it with --approve ${id}-1, or choose another folder`);
  expect(withNextTicket(withNextTicket(hint))).toBe(withNextTicket(hint));
  expect(withNextTicket('choose another folder')).toBe('choose another folder');
});
