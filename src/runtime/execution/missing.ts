import type { StagedSkill } from '../../core/execution.ts';
import type { SkillEntry } from '../../core/skill.ts';
import { preflight } from '../../executor/preflight.ts';
import { openConfined } from '../../platform/confined-directory.ts';
import type { ProgramAction } from './execution-action.ts';
import type { ExecutionParts, Missing } from './parts.ts';

export interface MissingNow extends Missing {
  /** This very program cannot work without it. */
  readonly isNeeded: boolean;
}

/** What is missing for a skill, looked at before its first program runs (EXEC-10) and remembered. */
export async function missingFor(
  skill: SkillEntry,
  { digest, snapshot }: StagedSkill,
  action: ProgramAction,
  parts: ExecutionParts,
): Promise<readonly MissingNow[]> {
  const known = parts.examined.get(digest);
  const missing = known ?? (await examine(skill, snapshot, parts));
  parts.examined.set(digest, missing);
  const script = action.type === 'run_script' ? scriptPath(action.script) : undefined;
  return missing.map((thing) => ({ ...thing, isNeeded: thing.neededBy === script }));
}

async function examine(
  { controls, compatibility }: SkillEntry,
  snapshot: string,
  { env, network, inspect }: ExecutionParts,
): Promise<readonly Missing[]> {
  const opening = openConfined(snapshot);
  if (opening.type === 'failed') return [];
  try {
    return await preflight({
      directory: opening.directory,
      variables: Object.keys(env),
      hasNetwork: network.length > 0,
      ...(controls.requires === undefined ? {} : { requires: controls.requires }),
      ...(compatibility === undefined ? {} : { compatibility }),
      ...(inspect === undefined ? {} : { inspect }),
    });
  } finally {
    opening.directory.close();
  }
}

/** As the skill's list of files has it. */
export function scriptPath(script: string): string {
  const bare = script.replace(/^(?:\.\/+)+/, '');
  return bare.startsWith('scripts/') ? bare : `scripts/${bare}`;
}
