/** Files that the user gives with a request: copied into the workspace, or referenced as project files if execution is disabled. */
import type { Failure } from '../core/failure-codes.ts';
import { printable } from '../core/text/text.ts';
import { bringGivenFiles } from '../runtime/given-files.ts';
import type { Run } from '../runtime/start-run.ts';

export interface GivenFiles {
  readonly type: 'given';
  /** The paths as the model sees them. */
  readonly references: readonly string[];
}

/** The caller named exactly these files, so the policy is not consulted. */
export async function bringFiles(
  run: Run,
  files: readonly string[],
  signal: AbortSignal,
): Promise<GivenFiles | Failure> {
  if (files.length === 0) return { type: 'given', references: [] };
  const brought = await bringGivenFiles(run.session, files, signal);
  if (brought === undefined) return { type: 'given', references: files };
  if ('code' in brought) return brought;
  const { references, warnings } = brought;
  for (const message of warnings) run.record({ type: 'note', message });
  for (const [place, reference] of references.entries())
    run.record({ type: 'note', message: `${files[place] ?? ''} was copied to ${reference}` });
  return { type: 'given', references };
}

/** A list without a heading, so that the request can be recovered by removing the list. */
export function filesText(references: readonly string[]): string {
  return references.map((reference) => `- ${printable(reference)} (given file)`).join('\n');
}
