/** Reads samples of Inspect, `{input, target}`. Their scorer is in a program, so that the target decides how they are graded. */
import { isObject, readField, type JsonPath } from '#core';
import type { CaseFile } from '../draft.ts';
import { escapeRegex, ForeignExpectations, toTexts, type ForeignCase } from './foreign-case.ts';

type Fields = Readonly<Record<string, unknown>>;

export function isInspectSample(value: unknown): value is Fields {
  if (!isObject(value) || ['expect', 'expected', 'expected_output'].some((key) => Object.hasOwn(value, key)))
    return false;
  return readInput(value) !== undefined && toTexts(value['target']).length > 0;
}

/** A target that is longer is an explanation, which a judge compares. */
const MAX_LITERAL = 80;
const EDGE = String.raw`[^\p{L}\p{N}]`;

export function readInspectSample(file: CaseFile, sample: Fields, at: JsonPath): ForeignCase {
  const expected = new ForeignExpectations(file, at);
  const targets = toTexts(sample['target']);
  const choices = toTexts(sample['choices']);
  const letters = choices.map((choice, place) => `${String.fromCodePoint(65 + place)}) ${choice}`);
  if (choices.length > 0)
    expected.rubric(
      `The answer chooses ${targets.map((target) => letters.find((one) => one.startsWith(`${target})`)) ?? target).join(' and ')}`,
    );
  else if (targets.every((target) => target.length <= MAX_LITERAL && !target.includes('\n')))
    expected.matches([`(?i)(?:^|${EDGE})(?:${targets.map(escapeRegex).join('|')})(?:$|${EDGE})`]);
  else expected.rubric(`The answer agrees with: ${targets.join('\nor with: ')}`);
  for (const key of ['sandbox', 'setup', 'files'])
    if (readField(sample, key) !== undefined) expected.unread(`${key} of a sample is not read`, [...at, key]);
  return {
    file,
    at,
    id: toTexts(sample['id'])[0],
    written: {
      input: [readInput(sample) ?? '', ...(letters.length === 0 ? [] : [letters.join('\n')])].join('\n\n'),
      ...expected.write(),
    },
    ungraded: expected.ungraded,
  };
}

/** A text, or chat messages, of which the answers of a model are left out. */
function readInput({ input }: Fields): string | undefined {
  if (typeof input === 'string') return input.trim() === '' ? undefined : input;
  if (!Array.isArray(input) || input.length === 0) return undefined;
  const texts = input.flatMap((message) =>
    isObject(message) && message['role'] !== 'assistant' && typeof message['content'] === 'string'
      ? [message['content']]
      : [],
  );
  return texts.length === 0 ? undefined : texts.join('\n\n');
}
