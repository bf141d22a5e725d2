/** Chooses which skills stay in an agent's list, so that the agent shows all of them as fully as it ever does. Pure. */
import type { AgentSkill, Catalog } from '../agents/agent.ts';

interface Choice {
  /** In the order of importance. */
  readonly candidates: readonly AgentSkill[];
  /** Skills that are in the list whatever is chosen. */
  readonly fixed: readonly AgentSkill[];
  readonly list: (skills: readonly AgentSkill[]) => Catalog;
}

/** The candidates that stay: one that would take text from the list is left out, and a shorter one after it may still fit. */
export function chooseSkills({ candidates, fixed, list }: Choice): ReadonlySet<AgentSkill> {
  const alone = new Map<AgentSkill, string>();
  const wholeText = (skill: AgentSkill): string => {
    const text = alone.get(skill) ?? list([skill]).entries[0]?.text ?? '';
    alone.set(skill, text);
    return text;
  };
  const countCut = (skills: readonly AgentSkill[]): number =>
    list(skills).entries.filter(({ skill, shown, text }) => shown === 'none' || text !== wholeText(skill)).length;
  const already = countCut(fixed);
  const chosen = new Set<AgentSkill>();
  for (const skill of candidates) {
    if (countCut([...fixed, ...chosen, skill]) <= already) chosen.add(skill);
  }
  return chosen;
}
