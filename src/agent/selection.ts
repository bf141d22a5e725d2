/** Decides which skills a turn loads, and in which order (AGT-5). */
import {
  isProblem,
  type Action,
  type ModelToolCall,
  type Offer,
  type SkillEntry,
  type ToolRow,
  type Vocabulary,
} from '#core';
import { resolveSkill, type SkillIndex } from '#skills';
import { readInput } from '#tools';

export const BODIES_A_TURN = 2;

export function loadedBy(action: Action, index: SkillIndex): SkillEntry | undefined {
  return action.type === 'load_skill' ? resolveSkill(index, action.skill, action.source) : undefined;
}

/** A workflow skill (`metadata: {kind: workflow}`) describes a whole task and is loaded before skills for its parts. */
function isWorkflow(skill: SkillEntry | undefined): boolean {
  return skill?.meta['kind'] === 'workflow';
}

/** Makes tools that load several skills load workflow skills first. */
export function workflowFirst(vocabulary: Vocabulary, index: SkillIndex): Vocabulary {
  const rank = (action: Action): number => (isWorkflow(loadedBy(action, index)) ? 0 : 1);
  const inOrder = (row: ToolRow): ToolRow => ({
    ...row,
    toActions(input, offer) {
      const actions = row.toActions(input, offer);
      if (isProblem(actions) || actions.length < 2 || !actions.every(({ type }) => type === 'load_skill'))
        return actions;
      return actions.toSorted((a, b) => rank(a) - rank(b));
    },
  });
  return { ...vocabulary, tools: vocabulary.tools.map(inOrder) };
}

/** Returns the actions of a call without performing them; empty if its input is invalid. */
export function plannedActions(call: ModelToolCall, vocabulary: Vocabulary, offer: Offer): readonly Action[] {
  const row = vocabulary.tools.find(({ name }) => name === call.name);
  if (row === undefined || !row.isOffered(offer)) return [];
  const reading = readInput(row.schema(offer), call.input);
  if (reading.type === 'refused') return [];
  const actions = row.toActions(reading.input, offer);
  return isProblem(actions) ? [] : actions;
}

/** Returns the calls of one answer in the order of execution: as given, but adjacent loads start with workflow skills. */
export function orderCalls(
  calls: readonly ModelToolCall[],
  plan: (call: ModelToolCall) => readonly Action[],
  index: SkillIndex,
): readonly ModelToolCall[] {
  if (calls.length < 2) return calls;
  const planned = calls.map((call) => {
    const actions = plan(call);
    const isLoad = actions.length > 0 && actions.every(({ type }) => type === 'load_skill');
    return { call, isLoad, rank: actions.some((action) => isWorkflow(loadedBy(action, index))) ? 0 : 1 };
  });
  const ordered: ModelToolCall[] = [];
  for (let at = 0; at < planned.length;) {
    const end = planned.findIndex(({ isLoad }, place) => place >= at && !isLoad);
    const loads = planned.slice(at, end === -1 ? planned.length : end);
    const next = end === -1 ? undefined : planned[end];
    ordered.push(...loads.toSorted((a, b) => a.rank - b.rank).map(({ call }) => call));
    if (next !== undefined) ordered.push(next.call);
    at = end === -1 ? planned.length : end + 1;
  }
  return ordered;
}
