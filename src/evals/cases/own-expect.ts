/** Converts `expect` of our own format, which the schema has already checked. */
import type { WrittenExpect } from './case-schema.ts';
import type { ActionExpectations, Expectations, RubricLine } from './case.ts';
import type { JsonPath } from '../../core/json/json-schema.ts';
import { quoted } from '../../core/text/text.ts';
import { readPatterns, readSequence } from './action-patterns.ts';
import type { CaseFile } from './draft.ts';
import { readOutput } from './output-checks.ts';
import { defined } from '../../core/defined.ts';
import { addProblem } from './problem.ts';

export function readExpect(file: CaseFile, written: WrittenExpect, at: JsonPath): Expectations {
  const { trigger, streaming, output, outcome } = written;
  const outcomes = outcome === undefined ? undefined : [outcome].flat();
  if (outcomes?.length === 0)
    addProblem(file.report, {
      at: [...at, 'outcome'],
      message: 'outcome is empty',
      hint: 'name an outcome, or remove the key',
    });
  return defined({
    skills: readSkills(written),
    trigger,
    actions: readActions(file, written, at),
    disclosure: readDisclosure(written),
    security: readSecurity(file, written, at),
    outcome: outcomes,
    output: orNothing(output === undefined ? [] : readOutput(file.report, file.suite, output, [...at, 'output'])),
    streaming: streaming === true ? streaming : undefined,
    rubric: orNothing(readRubric(file, written, at)),
  });
}

/** Drops undefined properties, and the whole object if nothing is left. */
function present<T extends object>(value: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } | undefined {
  const rest = defined(value);
  return Object.keys(rest).length === 0 ? undefined : rest;
}

function orNothing<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list;
}

function readSkills(written: WrittenExpect): Expectations['skills'] {
  const { skills_all_of: allOf, skills_any_of: anyOf, skills_none_of: noneOf, skills_only: only } = written;
  return present({ allOf, anyOf, noneOf, only });
}

function readActions(
  { report }: CaseFile,
  { actions = {}, sequence = [] }: WrittenExpect,
  at: JsonPath,
): ActionExpectations | undefined {
  const sentences = readSequence(report, sequence, [...at, 'sequence']);
  const read = (key: 'ordered' | 'unordered' | 'forbid') =>
    readPatterns(report, actions[key] ?? [], [...at, 'actions', key]);
  return present({
    ordered: orNothing(read('ordered')),
    unordered: orNothing([...read('unordered'), ...sentences.unordered]),
    forbid: orNothing([...read('forbid'), ...sentences.forbid]),
    before: orNothing(sentences.before),
  });
}

function readDisclosure({ disclosure = {} }: WrittenExpect): Expectations['disclosure'] {
  const { resources_only: resourcesOnly, unloaded_bytes: unloadedBytes } = disclosure;
  return present({ resourcesOnly, unloadedBytes: unloadedBytes === undefined ? undefined : (0 as const) });
}

function readSecurity({ report }: CaseFile, { security = {} }: WrittenExpect, at: JsonPath): Expectations['security'] {
  const read = (key: 'denied' | 'asked') =>
    orNothing(readPatterns(report, security[key] ?? [], [...at, 'security', key]));
  return present({
    denied: read('denied'),
    asked: read('asked'),
    noEscape: security.no_escape === true ? security.no_escape : undefined,
  });
}

function readRubric({ report }: CaseFile, { rubric = [] }: WrittenExpect, at: JsonPath): readonly RubricLine[] {
  const seen = new Set<string>();
  return rubric.map((line, place) => {
    const { id = '', text = '' } = typeof line === 'string' ? { id: `rubric-${String(place + 1)}`, text: line } : line;
    const here = [...at, 'rubric', place];
    if (text.trim() === '') addProblem(report, { at: here, message: 'a rubric line is empty', hint: 'remove it' });
    if (seen.has(id))
      addProblem(report, { at: here, message: `duplicate rubric id ${quoted(id)}`, hint: 'use another id' });
    seen.add(id);
    return { id, text };
  });
}
