import { readFileSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';

import { VERSION } from '../../src/version.ts';
import { createRun, type RunRecord, type RunRecordOptions } from '../../src/journal/journal-writer.ts';
import type { RunEvent, RunStart } from '../../src/core/run-events.ts';

export const START: RunStart = {
  request: 'fill in the form',
  version: VERSION,
  indexHash: 'sha256:index',
  index: { skills: [{ id: 'project/pdf', description: 'Fills in forms.' }] },
  policyHash: 'sha256:policy',
  executor: { name: 'bubblewrap', isolation: 'bubblewrap' },
  budgets: { turns: 12 },
};

export const PDF = { id: 'project/pdf', name: 'pdf', source: 'project', digest: 'sha256:aa' };
export const NOW = new Date('2026-01-02T03:04:05.678Z');
export const ANSWER = `Done.\n${'It is filled in. '.repeat(400)}`;

const identity = { id: PDF.id, name: PDF.name, source: PDF.source, dir: '/skills/pdf' };

/** A run in which something of every kind happens. */
export const EVENTS: readonly RunEvent[] = [
  {
    type: 'session',
    event: {
      type: 'session-start',
      settings: { lifetime: 'session', maxLoaded: 2, placement: 'tool-results' },
      indexHash: 'sha256:index',
    },
  },
  { type: 'action', call: 1, action: { type: 'load_skill', skill: 'pdf' }, askedBy: 'model' },
  {
    type: 'decision',
    call: 1,
    decision: {
      effect: 'ask',
      tool: 'load_skill',
      risk: 'low',
      rule: 'by risk',
      origin: { layer: 'built-in', where: '' },
      reason: 'nobody said anything about it',
    },
  },
  {
    type: 'approval-ask',
    call: 1,
    request: {
      id: 'sha256:question',
      tool: 'load_skill',
      risk: 'low',
      action: { type: 'load_skill', skill: 'pdf' },
      rule: 'by risk',
      origin: { layer: 'built-in', where: '' },
      detail: { kind: 'other', summary: 'loads pdf' },
      affects: [],
      scopes: ['once'],
      coverage: 'pdf',
    },
  },
  {
    type: 'approval-answer',
    call: 1,
    request: 'sha256:question',
    answer: { verdict: 'yes', scope: 'once', by: 'terminal' },
  },
  { type: 'skill-use', call: 1, skill: PDF },
  {
    type: 'session',
    event: { type: 'skill-load', skill: identity, digest: 'sha256:md', askedBy: 'model', lifetime: 'session' },
  },
  {
    type: 'observation',
    call: 1,
    observation: {
      type: 'failed',
      action: 'load_skill',
      code: 'file/missing',
      message: 'broken\n\u001B[31m{"seq":9}\u202E\u2028',
      hint: 'x'.repeat(5000),
      nearest: [],
      isTerminal: false,
    },
  },
  { type: 'note', message: 'naïve — 漢字 👩‍👩‍👧 \uD800' },
  { type: 'observation', call: 2, observation: { type: 'answered', action: 'final_answer', answer: ANSWER } },
];

export function startRun(directory: string, options: RunRecordOptions = {}): RunRecord {
  return createRun(directory, START, { now: () => NOW, ...options });
}

/** A whole run, ended. */
export function writeRun(directory: string, options: RunRecordOptions = {}): RunRecord {
  const run = startRun(directory, options);
  for (const event of EVENTS) run.append(event);
  run.keep(Buffer.from('an input'), 'inputs');
  run.end('done', 'answered');
  return run;
}

export function linesOf(run: string): readonly string[] {
  return readFileSync(path.join(run, 'events.jsonl'), 'utf8').split('\n').slice(0, -1);
}

/** Relative paths of all files, in order. */
export function filesOf(run: string): readonly string[] {
  return readdirSync(run, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(path.join(run, name)).isFile())
    .toSorted();
}
