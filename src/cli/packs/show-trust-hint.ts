/** After an install: whether a model can use it yet. */
import path from 'node:path';

import { printable } from '../../core/text/text.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { GlobalInvocation } from '../command.ts';

/** Skills of a project are not used before a person trusts it; who has just installed one should hear that. */
export async function trustHint({ terminal }: GlobalInvocation, runtime: Runtime, root: string): Promise<void> {
  const below = runtime.index.skills.filter(({ dir }) =>
    path.resolve(dir).startsWith(`${path.resolve(root)}${path.sep}`),
  );
  const distrusted = await runtime.distrust(below);
  if (distrusted.size > 0)
    terminal.remark(
      `${String(distrusted.size)} of ${printable(root)} are not used before you trust the project: skillwright trust`,
    );
}
