import type { SkillIndex } from '#skills';
import { isForModel } from '#core';

/** The index and the scan report with the field names of the skills-agent design. */
export function seedIndex({ skills, report }: SkillIndex): object {
  const { roots, durationMs, found, valid, leftOut, conflicts, indexHash } = report;
  return {
    skills: skills.map(({ id, name, description, source, dir, state, controls, meta }) => ({
      skill_id: id,
      name,
      description,
      source,
      path: dir,
      controls: {
        disable_model_invocation: controls.disableModelInvocation || !isForModel(state),
        user_invocable: controls.userInvocable,
        allowed_tools: controls.allowedTools,
      },
      meta,
    })),
    report: {
      roots: roots.map(({ source, path, priority, status, skills: count }) => ({
        source,
        path,
        priority,
        status,
        skills: count,
      })),
      duration_ms: durationMs,
      found,
      valid,
      ignored: leftOut.map(({ path, code, message }) => ({ path, code, reason: message })),
      conflicts: conflicts.map(({ name, source, version, dir, by, reason }) => ({
        name,
        source,
        version,
        path: dir,
        resolved_to: by,
        reason,
      })),
      index_hash: indexHash,
    },
  };
}
