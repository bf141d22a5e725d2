/** What a worker counts while it works. The counts are written to the database with its heartbeats, and every server shows them. */
import { REFUSALS, type RunEvent } from '#core';
import { openReplayFilter, type EventSink } from '#journal';

export type Sample = readonly [name: string, labels: Readonly<Record<string, string>>, value: number];

interface ProjectCounters {
  openSink(): EventSink;
  countWait(seconds: number): void;
}

export interface Counters {
  of(project: string): ProjectCounters;
  /** Every sample has the label `project`: a key sees only those of its own. */
  samples(): readonly Sample[];
}

/** Upper bounds in seconds: from a short program to a run of half an hour. The trigger `runs_end` counts by the same ones. */
export const BOUNDS = [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 1_800];

export function openCounters(): Counters {
  const counts = new Map<string, Sample>();
  return { of: (project) => projectCounters(project, counts), samples: () => [...counts.values()] };
}

function projectCounters(project: string, counts: Map<string, Sample>): ProjectCounters {
  const add = (name: string, more: Readonly<Record<string, string>>, value: number): void => {
    const labels = { project, ...more };
    const key = `${name} ${JSON.stringify(labels)}`;
    counts.set(key, [name, labels, (counts.get(key)?.[2] ?? 0) + value]);
  };
  const observe = (name: string, labels: Readonly<Record<string, string>>, seconds: number): void => {
    for (const bound of BOUNDS) add(`${name}_bucket`, { ...labels, le: String(bound) }, seconds <= bound ? 1 : 0);
    add(`${name}_bucket`, { ...labels, le: '+Inf' }, 1);
    add(`${name}_sum`, labels, seconds);
    add(`${name}_count`, labels, 1);
  };
  const countStep = (event: RunEvent, seconds: number): void => {
    if (event.type === 'model-answer') {
      observe('skillwright_step_seconds', { kind: 'model' }, seconds);
      add('skillwright_tokens_total', { kind: 'input' }, event.usage.inputTokens ?? 0);
      add('skillwright_tokens_total', { kind: 'output' }, event.usage.outputTokens ?? 0);
    }
    if (event.type !== 'observation') return;
    const { observation } = event;
    observe('skillwright_step_seconds', { kind: 'action' }, seconds);
    if (observation.type !== 'failed') return;
    const { code } = observation;
    if (REFUSALS.has(code)) add('skillwright_refusals_total', { code }, 1);
    if (SANDBOX_FAILURES.has(code)) add('skillwright_sandbox_failures_total', { code }, 1);
  };
  return {
    openSink() {
      const isReplayed = openReplayFilter();
      const begun = new Map<number | 'model', number>();
      return ({ event, elapsed }) => {
        if (event.type === 'model-call') begun.set('model', elapsed);
        if (event.type === 'action') begun.set(event.call, elapsed);
        const start = event.type === 'model-answer' ? 'model' : event.type === 'observation' ? event.call : undefined;
        if (isReplayed(event) || start === undefined) return;
        countStep(event, (elapsed - (begun.get(start) ?? elapsed)) / 1_000);
        begun.delete(start);
      };
    },
    countWait: (seconds) => observe('skillwright_run_wait_seconds', {}, seconds),
  };
}

const SANDBOX_FAILURES: ReadonlySet<string> = new Set([
  'execution/unavailable',
  'execution/missing',
  'execution/failed',
  'packages/unavailable',
]);
