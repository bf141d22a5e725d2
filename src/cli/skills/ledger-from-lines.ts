import { SkillError } from '../../core/errors.ts';
import { checkJson, isObject } from '../../core/json/json-schema.ts';
import { parseJson } from '../../core/json/parse-json.ts';
import type { ObjectSchema } from '../../core/json/json-schema.ts';
import { ledgerOf } from '../../core/ledger.ts';
import type { Ledger } from '../../core/ledger.ts';
import { SHOWN_REASONS } from '../../core/text/shown.ts';
import type { ShownContent } from '../../core/text/shown.ts';

const count = { type: 'integer', description: 'A count.', minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const;
const text = { type: 'string', description: 'Text.' } as const;
const SHOWN = {
  type: 'object',
  description: 'Skill content that was shown to the model.',
  additionalProperties: false,
  required: ['skill', 'path', 'digest', 'characters', 'tokens', 'reason'],
  properties: {
    skill: text,
    path: text,
    digest: text,
    characters: count,
    tokens: count,
    reason: { ...text, enum: SHOWN_REASONS },
  },
} as const satisfies ObjectSchema;

/** The ledger of a run from its events, one JSON value a line. Events of other kinds are passed over. */
export function ledgerFromLines(lines: string): Ledger {
  const events = lines.split('\n').flatMap((line, place) => (line.trim() === '' ? [] : shownOn(line, place + 1)));
  return ledgerOf(events.map((shown) => ({ type: 'content-show', shown })));
}

function shownOn(line: string, number: number): readonly ShownContent[] {
  const event = parsed(line, number);
  if (event['type'] === 'content-show') return [checked(event['shown'], number)];
  if (event['type'] !== 'request-start') return [];
  const shown = event['shown'];
  if (!Array.isArray(shown)) throw invalid(number, 'expected a list named "shown"');
  return shown.map((item: unknown) => checked(item, number));
}

function parsed(line: string, number: number): Readonly<Record<string, unknown>> {
  const value = parseJson(line);
  if (value === undefined) throw invalid(number, 'it is not JSON');
  if (!isObject(value) || typeof value['type'] !== 'string') throw invalid(number, 'expected an object with a "type"');
  return value;
}

function checked(value: unknown, number: number): ShownContent {
  if (isShown(value)) return value;
  const [problem] = checkJson(value, SHOWN);
  throw invalid(number, `${problem?.path.join('.') ?? 'it'}: expected ${problem?.expected ?? 'shown content'}`);
}

function isShown(value: unknown): value is ShownContent {
  return checkJson(value, SHOWN).length === 0;
}

function invalid(line: number, why: string): SkillError {
  return new SkillError({
    code: 'input/invalid',
    message: `line ${String(line)} is not a session event: ${why}`,
    hint: 'pass the events.jsonl of a run',
    data: { expected: 'one JSON event per line' },
  });
}
