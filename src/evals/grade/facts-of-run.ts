/** A run folder to its facts. Only a folder that is exactly what was recorded is graded; everything else is named for what it is. */
import { readRun } from '../../journal/journal-reader.ts';
import { verifyRun } from '../../journal/verify.ts';
import type { Verification, VerifyOptions } from '../../journal/verify.ts';
import { isSkillError } from '../../core/errors.ts';
import { factsOfLines } from './facts-of-lines.ts';
import type { RunFacts } from './run-facts.ts';

export type FactsReading =
  | { readonly type: 'facts'; readonly facts: RunFacts }
  /** `reason` names what is wrong and where. */
  | { readonly type: 'unusable'; readonly reason: string };

/** Verifies the chain, with a key also the seal, and only then reads. Never throws for what a folder holds. */
export function factsOfRun(folder: string, options: VerifyOptions = {}): FactsReading {
  try {
    const checked = verifyRun(folder, options);
    if (checked.status !== 'intact') return unusable(problemText(checked));
    return { type: 'facts', facts: factsOfLines([...readRun(folder).lines]) };
  } catch (error) {
    if (isSkillError(error)) return unusable(error.message);
    throw error;
  }
}

function unusable(reason: string): FactsReading {
  return { type: 'unusable', reason };
}

function problemText({ status, problems }: Verification): string {
  const [first] = problems;
  if (first === undefined) return STATUS_TEXT[status];
  const line = first.line === undefined ? '' : `:${String(first.line)}`;
  const more = problems.length === 1 ? '' : `, and ${String(problems.length - 1)} more`;
  return `${STATUS_TEXT[status]}: ${first.path}${line}: ${first.message} (${first.code})${more}`;
}

const STATUS_TEXT: Readonly<Record<Verification['status'], string>> = {
  intact: 'the run is intact',
  torn: 'the run was killed before its end: its record is torn',
  running: 'the run is still being written',
  tampered: 'the record of the run was changed',
  unreadable: 'there is no run that can be read',
};
