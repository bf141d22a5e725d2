/** A chat that continues another one: the skills that stayed loaded in it are loaded again. */
import { defined, isSkillError, quoted, reduceSession, type Observation, type OfType, type SessionState } from '#core';
import { readRun } from '#journal';
import type { Session } from '#runtime';

type SkillLoaded = OfType<Observation, 'skill-loaded'>;

interface RestoredSkills {
  readonly loaded: readonly SkillLoaded[];
  /** Why others are not loaded. */
  readonly problems: readonly string[];
}

/** Loads what the record of a chat had loaded for the whole session, with its documents, as the person who continues the chat may. */
export async function restoreSkills(session: Session, folder: string): Promise<RestoredSkills> {
  const loaded: SkillLoaded[] = [];
  const problems: string[] = [];
  if (session.settings.lifetime !== 'session') return { loaded, problems };
  const whole = session.vocabulary.profile?.loadsWholeFile;
  for (const { skill, documents, askedBy, lifetime } of readLoaded(folder)) {
    if (lifetime !== 'session') continue;
    const chosen = documents.length === 0 ? undefined : documents;
    const observation = await session.perform(
      { type: 'load_skill', skill: skill.id, preload: true, ...defined({ whole, documents: chosen }) },
      { askedBy: askedBy === 'model' ? 'model' : 'person' },
    );
    if (observation.type === 'skill-loaded') loaded.push(observation);
    else if (observation.type === 'failed')
      problems.push(`${quoted(skill.name)} is no longer loaded: ${observation.message}`);
  }
  return { loaded, problems };
}

/** The skills that were loaded when the record ended. */
function readLoaded(folder: string): SessionState['loaded'] {
  let state: SessionState | undefined;
  try {
    for (const { event } of readRun(folder).lines)
      if (event.type === 'session') state = reduceSession(state, event.event);
  } catch (error) {
    if (!isSkillError(error) || error.code !== 'run/invalid') throw error;
  }
  return state?.loaded ?? [];
}
