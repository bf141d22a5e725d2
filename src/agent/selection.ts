/** Which skills a turn gets, and in which order (AGT-5). */
import type { Action } from '../core/action.ts';
import type { SkillIndex } from '../registry/index-skills.ts';
import type { ModelToolCall } from '../core/model.ts';
import { resolveSkill } from '../registry/resolve-skill.ts';
import type { SkillEntry } from '../core/skill.ts';
import type { Offer, ToolRow, Vocabulary } from '../core/tool.ts';
import { isFailure } from '../tools/parameters.ts';
import { readInput } from '../tools/read-input.ts';

/** Bodies that one turn may load: what is read together should be used together. */
export const BODIES_A_TURN = 2;

/** The skill that a load means. */
export function loadedBy(action: Action, index: SkillIndex): SkillEntry | undefined {
  return action.type === 'load_skill' ? resolveSkill(index, action.skill, action.source) : undefined;
}

/** A skill that says how to go about a task, before those that say how to do a part of it: `metadata: {kind: workflow}`. */
function isWorkflow(skill: SkillEntry | undefined): boolean {
  return skill?.meta['kind'] === 'workflow';
}

/** The vocabulary with tools that load several skills loading workflow skills first. */
export function workflowFirst(vocabulary: Vocabulary, index: SkillIndex): Vocabulary {
  const rank = (action: Action): number => (isWorkflow(loadedBy(action, index)) ? 0 : 1);
  const inOrder = (row: ToolRow): ToolRow => ({
    ...row,
    toActions(input, offer) {
      const actions = row.toActions(input, offer);
      if (isFailure(actions) || actions.length < 2 || !actions.every(({ type }) => type === 'load_skill'))
        return actions;
      return actions.toSorted((a, b) => rank(a) - rank(b));
    },
  });
  return { ...vocabulary, tools: vocabulary.tools.map(inOrder) };
}

/** What a call would do, without doing it; nothing where its input cannot be read. */
export function plannedActions(call: ModelToolCall, vocabulary: Vocabulary, offer: Offer): readonly Action[] {
  const row = vocabulary.tools.find(({ name }) => name === call.name);
  if (row === undefined || !row.isOffered(offer)) return [];
  const reading = readInput(row.schema(offer), call.input);
  if (reading.type === 'refused') return [];
  const actions = row.toActions(reading.input, offer);
  return isFailure(actions) ? [] : actions;
}

/** The calls of one answer in the order in which they are done: as given, but loads side by side begin with workflow skills. */
export function orderCalls(
  calls: readonly ModelToolCall[],
  planned: (call: ModelToolCall) => readonly Action[],
  index: SkillIndex,
): readonly ModelToolCall[] {
  if (calls.length < 2) return calls;
  const judged = calls.map((call) => {
    const actions = planned(call);
    const isLoad = actions.length > 0 && actions.every(({ type }) => type === 'load_skill');
    return { call, isLoad, rank: actions.some((action) => isWorkflow(loadedBy(action, index))) ? 0 : 1 };
  });
  const ordered: ModelToolCall[] = [];
  for (let at = 0; at < judged.length;) {
    const end = judged.findIndex(({ isLoad }, place) => place >= at && !isLoad);
    const loads = judged.slice(at, end === -1 ? judged.length : end);
    const next = end === -1 ? undefined : judged[end];
    ordered.push(...loads.toSorted((a, b) => a.rank - b.rank).map(({ call }) => call));
    if (next !== undefined) ordered.push(next.call);
    at = end === -1 ? judged.length : end + 1;
  }
  return ordered;
}
