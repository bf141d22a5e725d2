/** What filled the room of each request, told from what was shown before it and from how much it grew. */
import type { RunEvent } from '../../core/run-events.ts';
import type { ShownContent, ShownReason } from '../../core/text/shown.ts';
import type { ContextSection } from './view.ts';

export interface ContextTracker {
  /** Every event of a run, in order. */
  see(event: RunEvent): void;
  /** How a request of so many tokens is filled. The sections add up to it. */
  sections(tokens: number): Readonly<Record<ContextSection, number>>;
}

const SECTION_OF = {
  catalog: 'catalog',
  load: 'bodies',
  document: 'bodies',
  invocation: 'bodies',
  compaction: 'bodies',
  resource: 'resources',
  list: 'resources',
  search: 'resources',
} as const satisfies Record<ShownReason, ContextSection>;

export function contextTracker(): ContextTracker {
  const shown = { catalog: 0, bodies: 0, resources: 0 };
  /** Of the first request: instructions, tools and what was asked. It stays in each one. */
  let base: number | undefined;
  const add = ({ reason, tokens }: ShownContent): void => {
    const section = SECTION_OF[reason];
    // A catalog takes the place of the one before.
    shown[section] = section === 'catalog' ? tokens : shown[section] + tokens;
  };
  return {
    see(event) {
      if (event.type === 'session' && event.event.type === 'content-show') add(event.event.shown);
      if (event.type === 'session' && event.event.type === 'request-start')
        event.event.shown.filter(({ reason }) => reason === 'catalog').forEach(add);
      // What a compaction took away is not said by section: what is left of the skills is shown anew.
      if (event.type === 'context-compact') Object.assign(shown, { bodies: 0, resources: 0 });
    },
    sections(tokens) {
      let left = Math.max(0, tokens);
      const take = (wanted: number): number => {
        const taken = Math.min(left, Math.max(0, wanted));
        left -= taken;
        return taken;
      };
      const [catalog, bodies, resources] = [take(shown.catalog), take(shown.bodies), take(shown.resources)];
      base ??= left;
      const rest = take(base);
      return { catalog, bodies, resources, rest, observations: left };
    },
  };
}
