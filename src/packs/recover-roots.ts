/** Roots that a killed install left in the middle are brought to rest before anybody reads them. */
import { diagnose } from '../core/diagnostic.ts';
import type { Diagnostic } from '../core/diagnostic.ts';
import { isRefusal } from './problems.ts';
import { recoverRoot } from './root/open-root.ts';

/** How long a reader waits for somebody who is at work: they are done in a moment, or hold a root for a download. */
const WAIT_MS = 5_000;

/** What could not be brought to rest is told, and read as it is. */
export async function recoverRoots(roots: readonly string[], signal?: AbortSignal): Promise<readonly Diagnostic[]> {
  const diagnostics: Diagnostic[] = [];
  for (const path of roots) {
    const recovered = await recoverRoot(path, { timeoutMs: WAIT_MS, ...(signal === undefined ? {} : { signal }) });
    if (isRefusal(recovered))
      diagnostics.push(diagnose({ code: 'root/interrupted', path, message: recovered.message }, 'lenient'));
  }
  return diagnostics;
}
