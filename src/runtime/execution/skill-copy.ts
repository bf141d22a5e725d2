import type { StagedSkill, RunResult } from '#core';
import { mayWriteFiles, writableSkill, type Workspace, type WritableSkill } from '#sandbox';

interface SkillCopyRequest {
  readonly workspace: Workspace;
  readonly staged: StagedSkill | undefined;
  readonly code: string;
  readonly run: string;
  readonly signal: AbortSignal | undefined;
}

/** Only these can mount one folder over another. */
const COVERING: ReadonlySet<RunResult['isolation']> = new Set(['bubblewrap', 'namespaces', 'container']);

/** Where skills are mounted read-only, a program that may write files gets a copy of its skill. Elsewhere skills are copies already. */
export async function skillCopyFor(request: SkillCopyRequest): Promise<WritableSkill | undefined> {
  const { workspace, staged, code, run, signal } = request;
  const { place, attached, identity } = workspace;
  const { isolation } = attached.capabilities;
  if (staged === undefined || !COVERING.has(isolation) || !mayWriteFiles(code)) return undefined;
  return await writableSkill({ place, attached, identity, skill: staged, run, signal });
}
