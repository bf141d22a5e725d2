/** What a case asks, before it runs, to find cases that ask the same. */
import { readFileSync } from 'node:fs';

import { stableJson } from '#core';
import { quietly, sha256 } from '#platform';
import type { AskedCase } from '../report/same-requests.ts';
import type { EvalCase } from './case.ts';

/** A file with another name and the same content is the same file. */
export function toAskedRequest({ id, input, files, expect, skills, config = {} }: EvalCase): AskedCase {
  const contents = files.map((file) => quietly(() => sha256(readFileSync(file)), file));
  const surroundings = stableJson([contents, skills.target ?? '', config]);
  return { case: id, input, surroundings, expectations: stableJson(expect), hasFixedAnswer: hasFixedAnswer(expect) };
}

/** Whether texts of the answer decide: no judge and no program looks at what else the request says. */
export function hasFixedAnswer({ output = [], rubric = [] }: EvalCase['expect']): boolean {
  const isText = output.some(({ type }) => type === 'contains' || type === 'matches');
  return isText && rubric.length === 0 && output.every(({ type }) => type !== 'checker');
}
