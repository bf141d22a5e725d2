import { AGENTS, SHARED_FOLDER } from '#packs';

/** Where an agent reads the skills of a project, by its id in the table that `install --agent` uses. */
export function findProjectFolder(id: string): string {
  return AGENTS.find((agent) => agent.id === id)?.project ?? SHARED_FOLDER;
}
