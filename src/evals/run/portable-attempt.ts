/**
 * An attempt that another machine runs: the case with its files named by digest, and the skills by theirs. Everything that the outcome
 * depends on travels, so the result is the one of this machine.
 */
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { SkillError } from '#core';
import { namesIn, quietly, removeTree, sha256 } from '#platform';
import type { EvalCase } from '../cases/case.ts';
import { evaluateAttempt, type AttemptOptions } from '../evaluate.ts';
import type { CaseResult } from '../report/result.ts';
import { cassetteFile } from './case-model.ts';
import { makeSkillSet } from './skill-set.ts';
import type { Job } from './suite-jobs.ts';

type Attempt = Pick<Job, 'evalCase' | 'arm' | 'attempt'>;

interface PackedAttempt extends Attempt {
  /** As they are named in the case: `DIGEST/NAME`. */
  readonly files: readonly Readonly<Record<'name' | 'digest', string>>[];
}

/** Names the files of a case by their digests, and returns their bytes. Returns undefined if one cannot be read. */
export function packAttempt({ evalCase, arm, attempt }: Attempt) {
  const files = new Map<string, { readonly digest: string; readonly bytes: Buffer }>();
  const pack = (file: string, source = file): string => {
    const bytes = readFileSync(source);
    const digest = sha256(bytes);
    const name = `${digest}/${path.basename(file)}`;
    files.set(name, { digest, bytes });
    return name;
  };
  return quietly(() => {
    const portable = withFiles(evalCase, pack, (file) => pack(file, cassetteFile(file, { arm, attempt })));
    const names = [...files].map(([name, { digest }]) => ({ name, digest }));
    const packed: PackedAttempt = { evalCase: portable, arm, attempt, files: names };
    return { packed, bytes: [...files.values()] };
  }, undefined);
}

interface PackedAttemptOptions extends Omit<AttemptOptions, 'sourceOf'> {
  readonly roots: readonly { readonly source: string; readonly path: string }[];
  /** Covers the skills of all roots, as they were on the machine that packed the attempt. */
  readonly skillsDigest: string;
  /** Returns checked bytes. */
  readonly load: (digest: string) => Promise<Uint8Array>;
}

/** Runs and grades an attempt of another machine. Its record and its files are put below `directory`. */
export async function runPackedAttempt(packed: PackedAttempt, options: PackedAttemptOptions): Promise<CaseResult> {
  const { roots, skillsDigest, load, ...attempt } = options;
  const { directory, signal } = attempt;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const job = await unpackAttempt(packed, path.join(directory, 'files'), load);
  const sources = new Map(
    roots.flatMap(({ source, path: root }) =>
      namesIn(root).map((name) => [realpathSync(path.join(root, name)), source] as const),
    ),
  );
  const sourceOf = (folder: string): string | undefined => sources.get(folder);
  const to = path.join(directory, 'checked');
  const { digest } = await makeSkillSet([...sources.keys()], { to, sourceOf, signal });
  await removeTree(to);
  if (digest !== skillsDigest)
    throw new SkillError({
      code: 'skill/invalid',
      message: 'the skills of the attempt do not match their digest',
      hint: 'run the evaluation again; if it repeats, check the artifact store',
      data: { path: directory },
    });
  return evaluateAttempt({ ...job, folders: [...sources.keys()].toSorted() }, { ...attempt, sourceOf });
}

/** Writes the files of an attempt below a folder and names them in its case. `load` returns checked bytes. */
async function unpackAttempt(
  { evalCase, arm, attempt, files }: PackedAttempt,
  folder: string,
  load: (digest: string) => Promise<Uint8Array>,
): Promise<Attempt> {
  const places = new Map<string, string>();
  for (const { name, digest } of files) {
    const place = path.join(folder, digest, path.basename(name));
    mkdirSync(path.dirname(place), { recursive: true, mode: 0o700 });
    writeFileSync(place, await load(digest));
    places.set(name, place);
  }
  const placed = (name: string): string => places.get(name) ?? path.join(folder, 'missing');
  const cassette = (name: string): string => {
    const own = placed(name);
    writeFileSync(cassetteFile(own, { arm, attempt }), readFileSync(own));
    return own;
  };
  return { evalCase: withFiles(evalCase, placed, cassette), arm, attempt };
}

/** Replaces the names of all files of a case. The folders of its skills are not part of it. */
function withFiles(evalCase: EvalCase, file: (name: string) => string, cassette: (name: string) => string): EvalCase {
  const { files, answers, expect, skills } = evalCase;
  return {
    ...evalCase,
    files: files.map((name) => file(name)),
    skills: { ...skills, folders: [] },
    answers: answers?.type === 'cassette' ? { ...answers, file: cassette(answers.file) } : answers,
    expect: {
      ...expect,
      output: expect.output?.map((check) =>
        check.type === 'checker' ? { ...check, script: file(check.script) } : check,
      ),
    },
  };
}
