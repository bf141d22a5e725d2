/** A run that continues another one has a new workspace: what of the old one is there, and what the model and the person are told. */
import path from 'node:path';

import { countText, isSkillError, startsProgram, type RunEvent } from '#core';
import { isRunId, readRun } from '#journal';
import type { Run } from '#runtime';
import { isCopyNote } from '../copy-note.ts';
import { restoreFiles, type RecordedStep } from './restore-files.ts';

export interface RecordedWorkspace {
  readonly steps: readonly RecordedStep[];
  /** Files were copied in that are not copied again. */
  readonly hadCopies?: boolean;
}

const SHOWN_NAMES = 20;

/** Restores the files that the record holds. Returns what is different now, or undefined if nothing is. */
export async function restoreWorkspace(
  run: Pick<Run, 'session'>,
  { steps, hadCopies = false }: RecordedWorkspace,
): Promise<string | undefined> {
  const { restored, lost } = await restoreFiles(run.session, steps);
  const hasRun = steps.some(({ action, observation }) => startsProgram(action) && observation !== undefined);
  if (!hasRun && !hadCopies && lost.length === 0) return undefined;
  return [
    'continued in a new workspace',
    ...(restored.length === 0 ? [] : [`restored from the record: ${listNames(restored)}`]),
    ...(lost.length === 0 ? [] : [`not restored: ${listNames(lost)}`]),
    `${restored.length + lost.length === 0 ? '' : 'other '}files ${hadCopies ? 'that were attached or ' : ''}that programs made or changed are gone unless they were kept as artifacts, and commands that were running have ended`,
  ].join('; ');
}

function listNames(names: readonly string[]): string {
  const more = names.length - SHOWN_NAMES;
  return [...names.slice(0, SHOWN_NAMES), ...(more > 0 ? [countText(more, 'more file')] : [])].join(', ');
}

/** The actions of a recorded chat, after those of the chats that it continued. */
export function readChatWorkspace(folder: string): RecordedWorkspace {
  const earlier: RecordedWorkspace[] = [];
  const seen = new Set<string>();
  for (let next: string | undefined = folder; next !== undefined && !seen.has(next);) {
    seen.add(next);
    const { workspace, before } = readOne(next);
    earlier.unshift(workspace);
    next = before === undefined ? undefined : path.join(path.dirname(folder), before);
  }
  return { steps: earlier.flatMap(({ steps }) => steps), hadCopies: earlier.some(({ hadCopies }) => hadCopies) };
}

interface ReadChat {
  readonly workspace: RecordedWorkspace;
  /** The id of the run that this one continues. */
  readonly before: string | undefined;
}

/** A run that was removed meanwhile had a workspace of which nothing is known. */
function readOne(folder: string): ReadChat {
  const actions = new Map<number, RecordedStep>();
  let hadCopies = false;
  let before: string | undefined;
  const follow = (event: RunEvent): void => {
    if (event.type === 'action') actions.set(event.call, { action: event.action, record: folder });
    const open = event.type === 'observation' ? actions.get(event.call) : undefined;
    if (open !== undefined && event.type === 'observation')
      actions.set(event.call, { ...open, observation: event.observation });
    if (event.type === 'note' && isCopyNote(event.message)) hadCopies = true;
    if (event.type === 'chat' && event.event.type === 'carry' && isRunId(event.event.run)) before = event.event.run;
  };
  try {
    for (const { event } of readRun(folder).lines) follow(event);
  } catch (error) {
    if (!isSkillError(error) || error.code !== 'run/invalid') throw error;
    hadCopies = true;
  }
  return { workspace: { steps: [...actions.values()], hadCopies }, before };
}
