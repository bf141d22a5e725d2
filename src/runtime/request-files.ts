/** Copies files that a person attached to a request into the workspace. */
import path from 'node:path';

import type { ActionProblem } from '#core';
import { isSecretPath } from '#policy';
import { stageInputs } from '#sandbox';
import type { Session } from './session.ts';

export interface StagedRequestFiles {
  readonly type: 'brought';
  /** `workspace://…`, in the order of the files. */
  readonly references: readonly string[];
  readonly warnings: readonly string[];
}

/** The caller guarantees that a person named these files, so no rule is checked. Returns nothing if execution is disabled. */
export async function stageRequestFiles(
  { execution }: Session,
  files: readonly string[],
  signal: AbortSignal | undefined,
): Promise<StagedRequestFiles | ActionProblem | undefined> {
  if (execution === undefined) return undefined;
  const workspace = await execution.openWorkspace();
  const requests = files.map((file) => ({ from: `host://${path.resolve(file)}` }));
  const staged = await stageInputs(
    workspace,
    requests,
    { host: () => true, isLeftOut: (folder, relative) => isSecretPath(relative, folder) },
    signal === undefined ? {} : { signal },
  );
  if (staged.type === 'failed') return staged.failure;
  return {
    type: 'brought',
    references: staged.inputs.map(({ to }) => `workspace://${to}`),
    warnings: staged.warnings,
  };
}
