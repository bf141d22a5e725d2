/**
 * Grades which content of skills was shown to the model. The session records each piece of a skill before it is shown, and each
 * observation holds its result. Program output is not covered: a body that a program prints looks like any other text.
 */
import type { EvalCase } from '../cases/case.ts';
import type { CheckResult } from '../report/result.ts';
import { compileGlob, countText, type ShownContent } from '#core';
import { checked, listText } from './check.ts';
import { withoutSubject } from './subject-step.ts';
import type { RunFacts, StepFact } from './run-facts.ts';

export function gradeDisclosure({ expect: { disclosure } }: EvalCase, facts: RunFacts): readonly CheckResult[] {
  return withoutSubject(facts, [
    ...(disclosure?.resourcesOnly === undefined ? [] : [gradeResources(disclosure.resourcesOnly, facts)]),
    ...(disclosure?.unloadedBytes === undefined ? [] : [gradeUnloaded(facts)]),
  ]);
}

function gradeResources(patterns: readonly string[], { steps }: RunFacts): CheckResult {
  const globs = patterns.map((pattern) => compileGlob(pattern, { hidden: true }));
  const read = steps.flatMap(listShownFiles).filter(({ name }) => !BODY_OF_SKILL.test(name));
  const wrong = read.filter(({ name }) => !globs.some((glob) => glob.matches(name)));
  const asked = patterns.length === 0 ? 'no resource is read' : `no resource but ${listText(patterns)} is read`;
  const found = wrong.length === 0 ? '' : `read: ${listText([...new Set(wrong.map(({ name }) => name))])}`;
  const events = (wrong.length === 0 ? read : wrong).map(({ seq }) => seq);
  return checked({ id: 'disclosure.resources_only', kind: 'disclosure', asked }, found, events);
}

const SKILL = 'skill://';
const BODY_OF_SKILL = /^[^/]+\/SKILL\.md$/i;

/** Their names are `skill/path`. */
function listShownFiles({ seq, observation }: StepFact): readonly { readonly name: string; readonly seq: number }[] {
  switch (observation?.type) {
    case 'resource-read':
      return [{ seq, name: `${observation.skill.name}/${observation.report.path}` }];
    case 'skill-loaded':
    case 'documents-selected':
      return observation.documents.map(({ report }) => ({ seq, name: `${observation.skill.name}/${report.path}` }));
    case 'file-read':
      return observation.path.startsWith(SKILL) ? [{ seq, name: observation.path.slice(SKILL.length) }] : [];
    case 'lines-found':
      return [...new Set(observation.matches.map(({ path }) => path))]
        .filter((path) => path.startsWith(SKILL))
        .map((path) => ({ seq, name: path.slice(SKILL.length) }));
    default:
      return [];
  }
}

/** Content that only loaded skills may show. */
const BEYOND_LEVEL_1: ReadonlySet<ShownContent['reason']> = new Set([
  'load',
  'document',
  'resource',
  'invocation',
  'compaction',
]);

function gradeUnloaded({ shown, steps }: RunFacts): CheckResult {
  const inLedger = shown
    .filter((one) => BEYOND_LEVEL_1.has(one.shown.reason) && one.shown.skill !== '' && !one.isOfLoaded)
    .map((one) => ({ seq: one.seq, name: `${one.shown.skill}/${one.shown.path}`, bytes: one.shown.characters }));
  const asFiles = steps.flatMap((step) => bodiesReadAsFiles(step, loadedBefore(step, steps)));
  const wrong = [...inLedger, ...asFiles].filter(({ bytes }) => bytes > 0);
  const bytes = wrong.reduce((sum, one) => sum + one.bytes, 0);
  const head = {
    id: 'disclosure.unloaded_bytes',
    kind: 'disclosure',
    asked: 'no content of an unloaded skill is shown',
  } as const;
  const names = listText([...new Set(wrong.map(({ name }) => name))]);
  const events = wrong.map(({ seq }) => seq);
  return checked(head, bytes === 0 ? '' : `${countText(bytes, 'byte')} of ${names}`, events);
}

function loadedBefore({ seq }: StepFact, steps: readonly StepFact[]): ReadonlySet<string> {
  return new Set(
    steps.flatMap(({ seq: before, observation }) =>
      before < seq && observation?.type === 'skill-loaded' ? [observation.report.digest] : [],
    ),
  );
}

const BODY = /(?:^|\/)SKILL\.md$/i;

/** Bodies that were read by file path instead of the skill tools. */
function bodiesReadAsFiles(
  { seq, observation }: StepFact,
  known: ReadonlySet<string>,
): readonly { readonly seq: number; readonly name: string; readonly bytes: number }[] {
  if (observation?.type === 'file-read' && BODY.test(observation.path) && !known.has(observation.digest))
    return [{ seq, name: observation.path, bytes: Buffer.byteLength(observation.text) }];
  if (observation?.type !== 'lines-found') return [];
  return observation.matches
    .filter(({ path }) => BODY.test(path) && !path.startsWith(SKILL))
    .map(({ path, text }) => ({ seq, name: path, bytes: Buffer.byteLength(text) }));
}
