/** Random interleavings of changes by a run, its subagent and a person: undo takes back what the run did and nothing else. */
import { chmodSync, existsSync, lstatSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect } from 'vitest';

import type { Observation } from '../../src/core/observation.ts';
import { planEdit } from '../../src/project/edit-file.ts';
import { deleteFile } from '../../src/project/trash.ts';
import { writeFile } from '../../src/project/write-file.ts';
import { fileChanges } from '../../src/runtime/recorded-changes.ts';
import { undoFiles } from '../../src/runtime/undo-files.ts';
import { verifies } from '../conformance/verifies.ts';
import { placed, world, type World } from '../project/support.ts';

const FILES = ['a.txt', 'tool.sh', 'sub/new.txt'] as const;

interface Step {
  readonly who: 'run' | 'person';
  readonly what: 'write' | 'edit' | 'delete' | 'chmod';
  readonly file: (typeof FILES)[number];
  readonly text: string;
}

const STEP = fc.record<Step>({
  who: fc.constantFrom('run', 'run', 'person'),
  what: fc.constantFrom('write', 'write', 'edit', 'delete', 'chmod'),
  file: fc.constantFrom(...FILES),
  // Few texts, so that contents occur again.
  text: fc.constantFrom('one\n', 'two\n', 'three\n', ''),
});

type FileState = { readonly text: string; readonly mode: number } | undefined;

function stateOf({ places }: World, file: string): FileState {
  const place = path.join(places.project, file);
  if (!existsSync(place)) return undefined;
  return { text: readFileSync(place, 'utf8'), mode: lstatSync(place).mode & 0o777 };
}

/** Does a step of the run by the tools. Undefined if it failed: nothing was changed. */
function act(here: World, { what, file, text }: Step): Observation | undefined {
  const place = placed(here, file, 'write');
  if (what === 'delete') return deleteFile({ type: 'delete_file', path: file }, place);
  if (what === 'write') return writeFile({ type: 'write_file', path: file, content: text }, place);
  if (what !== 'edit') return undefined;
  const [first = ''] = stateOf(here, file)?.text.split('\n') ?? [];
  const plan = planEdit({ type: 'edit_file', path: file, oldText: first, newText: `${first}!` }, place);
  return 'write' in plan ? writeFile(plan.write, place, { seen: plan.preview }) : undefined;
}

/** Returns false if there was nothing to change. */
function actAsPerson(here: World, { what, file, text }: Step): boolean {
  const place = path.join(here.places.project, file);
  const before = stateOf(here, file);
  if (what !== 'write' && before === undefined) return false;
  if (what === 'delete') rmSync(place);
  else if (what === 'chmod') chmodSync(place, before?.mode === 0o755 ? 0o640 : 0o755);
  else if (existsSync(path.dirname(place)))
    writeFileSync(place, what === 'edit' ? `${before?.text ?? ''}mine\n` : text);
  else return false;
  return JSON.stringify(stateOf(here, file)) !== JSON.stringify(before);
}

/** What happened to a file since the run first touched it. */
interface History {
  /** What the run found. */
  readonly was: FileState;
  /** Who changed the content, in order. */
  readonly by: Step['who'][];
  /** The content that the run left last. */
  left?: string | undefined;
  /** The permissions that the person set last. */
  mode?: number;
}

/** Plays the steps. Returns what the tools of the run reported, and what happened to each file that the run touched. */
function play(
  here: World,
  steps: readonly Step[],
): { observations: readonly Observation[]; touched: Map<string, History> } {
  const observations: Observation[] = [];
  const touched = new Map<string, History>();
  for (const step of steps) {
    const found = stateOf(here, step.file);
    const history = touched.get(step.file);
    if (step.who === 'person') {
      if (!actAsPerson(here, step)) continue;
      const now = stateOf(here, step.file);
      if (now?.text !== found?.text) history?.by.push('person');
      else if (history !== undefined && now !== undefined) history.mode = now.mode;
      continue;
    }
    const observation = act(here, step);
    if (observation === undefined || observation.type === 'failed') continue;
    observations.push(observation);
    const { was, by, mode } = history ?? { was: found, by: [] };
    const left = stateOf(here, step.file)?.text;
    touched.set(step.file, { was, by: [...by, 'run'], left, mode });
  }
  return { observations, touched };
}

describe('undo', () => {
  verifies('UNDO-1', 'of random changes takes back what the run did, and leaves alone what a person did', () => {
    const results = new Set<string>();
    fc.assert(
      fc.property(fc.array(STEP, { maxLength: 14 }), (steps) => {
        const here = world({ 'project/a.txt': 'start\n', 'project/tool.sh': '#!/bin/sh\n' });
        const { project } = here.places;
        chmodSync(path.join(project, 'tool.sh'), 0o755);
        const { observations, touched } = play(here, steps);
        const before = new Map(FILES.map((file) => [file, stateOf(here, file)]));
        const changes = fileChanges(observations);
        const planned = undoFiles(project, changes, true);
        expect(new Map(FILES.map((file) => [file, stateOf(here, file)]))).toEqual(before);
        const undone = undoFiles(project, changes);
        expect(planned.map(({ path: file, result }) => [file, result])).toEqual(
          undone.map(({ path: file, result }) => [file, result]),
        );
        for (const file of FILES) {
          const report = undone.find((one) => one.path === file);
          const [left, now, history] = [before.get(file), stateOf(here, file), touched.get(file)];
          results.add(String(report?.result));
          if (history === undefined) {
            expect([report, now]).toEqual([undefined, left]);
            continue;
          }
          const { was, by, mode } = history;
          if (report?.result === 'conflict') {
            expect(by).toContain('person');
            expect(now).toEqual(left);
            continue;
          }
          // The content is that of before the run. If the person wrote last, it was that or what the run had left, so nothing is lost.
          expect(now?.text).toBe(was?.text);
          if (by.at(-1) === 'person') expect([was?.text, history.left]).toContain(left?.text);
          if (!by.includes('person')) expect(now?.mode).toBe(was === undefined ? undefined : (mode ?? was.mode));
          const isSame = JSON.stringify(now) === JSON.stringify(left);
          expect([isSame, report?.result]).toEqual([
            isSame,
            isSame ? 'unchanged' : was === undefined ? 'removed' : 'restored',
          ]);
        }
        // Once more: nothing is left to do.
        expect(undoFiles(project, changes).map(({ result }) => result)).toEqual(
          undone.map(({ result }) => (result === 'conflict' ? 'conflict' : 'unchanged')),
        );
      }),
      { numRuns: 60 },
    );
    expect(results).toEqual(new Set(['undefined', 'unchanged', 'restored', 'removed', 'conflict']));
  });
});
