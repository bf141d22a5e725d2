/** `expect` of our own format, checked by the schema, as expectations. */
import type { WrittenExpect } from './case-schema.ts';
import type { ActionExpectations, Expectations, RubricLine } from './case.ts';
import type { JsonPath } from '../../core/json/json-schema.ts';
import { quoted } from '../../core/text/text.ts';
import { readPatterns, readSequence } from './action-patterns.ts';
import type { CaseFile } from './draft.ts';
import { readOutput } from './output-checks.ts';
import { tell } from './problem.ts';

export function readExpect(file: CaseFile, written: WrittenExpect, at: JsonPath): Expectations {
  const { trigger, streaming, output, outcome } = written;
  const skills = readSkills(written);
  const actions = readActions(file, written, at);
  const disclosure = readDisclosure(written);
  const security = readSecurity(file, written, at);
  const rubric = readRubric(file, written, at);
  const checks = output === undefined ? [] : readOutput(file.report, file.suite, output, [...at, 'output']);
  const outcomes = outcome === undefined ? undefined : [outcome].flat();
  if (outcomes?.length === 0)
    tell(file.report, {
      at: [...at, 'outcome'],
      message: 'outcome is an empty list',
      hint: 'name one, or take it out',
    });
  return {
    ...(skills === undefined ? {} : { skills }),
    ...(trigger === undefined ? {} : { trigger }),
    ...(actions === undefined ? {} : { actions }),
    ...(disclosure === undefined ? {} : { disclosure }),
    ...(security === undefined ? {} : { security }),
    ...(outcomes === undefined ? {} : { outcome: outcomes }),
    ...(checks.length === 0 ? {} : { output: checks }),
    ...(streaming === true ? { streaming } : {}),
    ...(rubric.length === 0 ? {} : { rubric }),
  };
}

/** An object without what is absent; nothing where nothing is left. */
function present<T extends object>(value: T): T | undefined {
  return Object.keys(value).length === 0 ? undefined : value;
}

function readSkills(written: WrittenExpect): Expectations['skills'] {
  const { skills_all_of: allOf, skills_any_of: anyOf, skills_none_of: noneOf, skills_only: only } = written;
  return present({
    ...(allOf === undefined ? {} : { allOf }),
    ...(anyOf === undefined ? {} : { anyOf }),
    ...(noneOf === undefined ? {} : { noneOf }),
    ...(only === undefined ? {} : { only }),
  });
}

function readActions(
  { report }: CaseFile,
  { actions = {}, sequence = [] }: WrittenExpect,
  at: JsonPath,
): ActionExpectations | undefined {
  const told = readSequence(report, sequence, [...at, 'sequence']);
  const read = (key: 'ordered' | 'unordered' | 'forbid') =>
    readPatterns(report, actions[key] ?? [], [...at, 'actions', key]);
  const ordered = read('ordered');
  const unordered = [...read('unordered'), ...(told.unordered ?? [])];
  const forbid = [...read('forbid'), ...(told.forbid ?? [])];
  const before = told.before ?? [];
  return present({
    ...(ordered.length === 0 ? {} : { ordered }),
    ...(unordered.length === 0 ? {} : { unordered }),
    ...(forbid.length === 0 ? {} : { forbid }),
    ...(before.length === 0 ? {} : { before }),
  });
}

function readDisclosure({ disclosure = {} }: WrittenExpect): Expectations['disclosure'] {
  const { resources_only: resourcesOnly, unloaded_bytes: unloadedBytes } = disclosure;
  return present({
    ...(resourcesOnly === undefined ? {} : { resourcesOnly }),
    ...(unloadedBytes === undefined ? {} : { unloadedBytes: 0 as const }),
  });
}

function readSecurity({ report }: CaseFile, { security = {} }: WrittenExpect, at: JsonPath): Expectations['security'] {
  const denied = readPatterns(report, security.denied ?? [], [...at, 'security', 'denied']);
  const asked = readPatterns(report, security.asked ?? [], [...at, 'security', 'asked']);
  return present({
    ...(denied.length === 0 ? {} : { denied }),
    ...(asked.length === 0 ? {} : { asked }),
    ...(security.no_escape === true ? { noEscape: security.no_escape } : {}),
  });
}

function readRubric({ report }: CaseFile, { rubric = [] }: WrittenExpect, at: JsonPath): readonly RubricLine[] {
  const seen = new Set<string>();
  return rubric.map((line, place) => {
    const { id = '', text = '' } = typeof line === 'string' ? { id: `rubric-${String(place + 1)}`, text: line } : line;
    const here = [...at, 'rubric', place];
    if (text.trim() === '')
      tell(report, { at: here, message: 'a sentence for the judge is empty', hint: 'take it out' });
    if (seen.has(id))
      tell(report, { at: here, message: `the id ${quoted(id)} stands here twice`, hint: 'use another' });
    seen.add(id);
    return { id, text };
  });
}
