import { isFailedEnd, type Collected, type ProgramEnd } from '#core';
import { collectOutputs } from '#sandbox';
import { INPUTS_FOLDER } from './run-result.ts';
import { spanned } from './span.ts';
import type { ExecutionParts } from './parts.ts';
import { redactedChunks } from './redacted.ts';
import type { PreparedProgram } from './prepared-program.ts';

/** Collects the output files of a program and saves them as artifacts where that was requested. */
export async function collectFor(
  { workspace, outputs, redactor, startedAt }: PreparedProgram,
  end: ProgramEnd,
  { artifacts, onSpan, changedInputs }: ExecutionParts,
): Promise<Collected> {
  const { root } = workspace.place;
  const hide = (text: string): string => redactor?.text(text) ?? text;
  const collect = {
    name: 'workspace.collect',
    attributes: { patterns: outputs.globs.length },
    after: ({ files, skipped }: Collected) => ({ count: files.length, skipped: skipped.length }),
  } as const;
  const collected = await spanned(onSpan, collect, () =>
    collectOutputs(
      root,
      {
        ...outputs,
        isFailedRun: isFailedEnd(end),
        programRoot: workspace.attached.root,
        // Files that earlier runs left are not results of this one.
        changedSince: outputs.isAutomatic ? startedAt : undefined,
      },
      {
        save:
          outputs.save && artifacts !== undefined
            ? ({ name, chunks, mediaType }) =>
                artifacts.save(hide(outputs.artifactPrefix + name), redactedChunks(chunks, redactor), { mediaType })
            : undefined,
      },
    ),
  );
  if (outputs.isAutomatic)
    for (const { name } of [...collected.files, ...collected.skipped])
      if (name.startsWith(INPUTS_FOLDER)) changedInputs.add(name);
  const at = new Date().toISOString();
  const savedAs = collected.saved.map(({ name, version }) => `artifact://${name}@${String(version)}`);
  workspace.note((metadata) => ({
    ...metadata,
    outputs: [...metadata.outputs, { globs: outputs.globs, savedAs, limitsHit: collected.skipped.length > 0, at }],
  }));
  if (!outputs.save || artifacts !== undefined) return collected;
  return { ...collected, warnings: [...collected.warnings, 'artifacts are disabled, so the files are not saved'] };
}
