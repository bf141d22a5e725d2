import { test } from 'vitest';

import type { RequirementId } from './requirements.ts';

/** A test that shows a requirement to hold. The ids stand in its title, and docs/conformance.md lists it under each of them. */
export function verifies(
  ids: RequirementId | readonly RequirementId[],
  behaviour: string,
  run: () => void | Promise<void>,
  timeoutMs?: number,
): void {
  test(`${[ids].flat().join(' ')}: ${behaviour}`, run, timeoutMs);
}
