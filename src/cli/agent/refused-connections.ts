import { refusedText } from '#core';
import type { EventSink } from '#journal';

export interface ConnectionWatch {
  readonly sink: EventSink;
  /** The connections that were refused since the last call, with the flag that allows each. */
  readonly take: () => readonly string[];
}

/** Collects the refused connections of all programs, so that a person sees them after the answer. */
export function openConnectionWatch(): ConnectionWatch {
  const lines = new Set<string>();
  return {
    sink({ event }) {
      if (event.type !== 'observation' || event.observation.type !== 'program-ran') return;
      for (const refused of event.observation.result.refused_connections ?? []) lines.add(refusedText(refused));
    },
    take() {
      const taken = [...lines];
      lines.clear();
      return taken;
    },
  };
}
