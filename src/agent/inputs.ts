/** Files that a person gives with a request: brought to the workspace, or named as files of the project where nothing can run. */
import type { Failure } from '../core/failure-codes.ts';
import { printable } from '../core/text/text.ts';
import { stageRequestFiles } from '../runtime/request-files.ts';
import type { Run } from '../runtime/start-run.ts';

export interface GivenFiles {
  readonly type: 'given';
  /** As the model is told of them. */
  readonly references: readonly string[];
}

/** Whoever calls has named these very files, so that no rule is asked. */
export async function bringFiles(
  run: Run,
  files: readonly string[],
  signal: AbortSignal,
): Promise<GivenFiles | Failure> {
  if (files.length === 0) return { type: 'given', references: [] };
  const brought = await stageRequestFiles(run.session, files, signal);
  if (brought === undefined) return { type: 'given', references: files };
  if ('code' in brought) return brought;
  const { references, warnings } = brought;
  for (const message of warnings) run.record({ type: 'note', message });
  for (const [place, reference] of references.entries())
    run.record({ type: 'note', message: `${files[place] ?? ''} was brought to ${reference}` });
  return { type: 'given', references };
}

/** A list without a heading: whoever cuts it off has the request as it was asked. */
export function filesText(references: readonly string[]): string {
  return references.map((reference) => `- ${printable(reference)} (given file)`).join('\n');
}
