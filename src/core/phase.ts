import type { RunEvent } from './run-events.ts';

/** The states of the agent loop, by the names of its design. */
const PHASES = ['Init', 'IndexSkills', 'Decide', 'LoadSkillBody', 'Act', 'Observe', 'Final'] as const;
export type Phase = (typeof PHASES)[number];

/** Returns the phase that an event enters; undefined if it stays in the current one. */
export function toPhase(event: RunEvent): Phase | undefined {
  switch (event.type) {
    case 'run-start':
      return 'Init';
    case 'scan':
      return 'IndexSkills';
    case 'turn':
      return 'Decide';
    case 'action':
      if (event.action.type === 'final_answer') return 'Final';
      return event.action.type === 'load_skill' ? 'LoadSkillBody' : 'Act';
    case 'observation':
      // A loaded body is not observed: it is a part of the next request.
      return event.observation.action === 'load_skill' || event.observation.action === 'final_answer'
        ? undefined
        : 'Observe';
    case 'run-end':
      return 'Final';
    default:
      return undefined;
  }
}
