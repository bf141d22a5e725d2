import type { EventSink } from '../../journal/export/sinks.ts';
import type { SkillError } from '../../core/errors.ts';
import { policyRefusal } from './approval.ts';

export interface RefusalWatch {
  readonly sink: EventSink;
  /** What a rule or a person refused, where nothing was done after it. */
  readonly last: () => SkillError<'policy/refused'> | undefined;
}

/** Follows the actions of a run: a model may answer in good cheer after the one thing that mattered was refused. */
export function openRefusalWatch(words: readonly string[]): RefusalWatch {
  let last: SkillError<'policy/refused'> | undefined;
  return {
    sink({ event }) {
      if (event.type !== 'observation' || event.observation.action === 'final_answer') return;
      last = event.observation.type === 'failed' ? policyRefusal(event.observation, words) : undefined;
    },
    last: () => last,
  };
}
