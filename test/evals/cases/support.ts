import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';

import type { ActionPattern, EvalCase } from '../../../src/evals/cases/case.ts';
import { readCases, type ReadCases, type ReadCasesOptions } from '../../../src/evals/cases/read-cases.ts';
import { scratch } from '../../skills/registry/support.ts';

/** Writes files below a new folder and returns it. Values that are not strings are written as JSON. */
export function folderOf(files: Readonly<Record<string, unknown>>): string {
  const root = scratch();
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(root, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content, undefined, 2));
  }
  return root;
}

export const skillMd = (name: string): string =>
  `---\nname: ${name}\ndescription: Does things. Use when asked.\n---\n\n# Body\n`;

/** Writes a case file into a skill named `target`. */
export function inSkill(content: unknown, name = 'evals.json', more: Readonly<Record<string, unknown>> = {}) {
  const root = folderOf({ 'target/SKILL.md': skillMd('target'), [`target/evals/${name}`]: content, ...more });
  const file = path.join(root, 'target/evals', name);
  return { root, file, dir: path.join(root, 'target') };
}

export function readIn(content: unknown, name?: string, options?: ReadCasesOptions): ReadCases {
  return readCases([inSkill(content, name).file], options);
}

/** A case with default values for everything that a test does not set. */
export function caseLike(given: Partial<EvalCase>): EvalCase {
  return {
    id: 'target-1',
    name: 'Do it',
    place: expect.anything(),
    input: 'Do it',
    files: [],
    skills: { target: 'target', folders: [expect.stringMatching(/target$/)] },
    expect: {},
    limits: {},
    forbidTools: [],
    approve: 'no',
    repeat: 1,
    tags: [],
    ...given,
  };
}

/** `must_occur FIRST before THEN`. */
export function inOrder(first: ActionPattern, then: ActionPattern) {
  // The key of the format; the object is never awaited.
  // oxlint-disable-next-line unicorn/no-thenable
  return { first, then };
}

/** What a test compares: each case without its place and skills, and each problem with its file and line. */
export function shown({ cases, problems, passedOver }: ReadCases) {
  return {
    cases: cases.map(({ id, input, expect: expected, limits, tags, repeat, timeoutMs, files }) => ({
      id,
      input,
      expect: expected,
      ...(Object.keys(limits).length === 0 ? {} : { limits }),
      ...(tags.length === 0 ? {} : { tags }),
      ...(repeat === 1 ? {} : { repeat }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(files.length === 0 ? {} : { files: files.map((file) => path.basename(file)) }),
    })),
    problems: problems.map(
      ({ file, line, severity, message }) => `${path.basename(file)}:${String(line)} ${severity}: ${message}`,
    ),
    passedOver: passedOver.map(({ file, reason }) => `${path.basename(file)}: ${reason}`),
  };
}

/** Rubric lines with any ids. */
export const lines = (...texts: readonly string[]) => texts.map((text) => ({ id: expect.any(String), text }));
