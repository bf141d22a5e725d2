/**
 * The structured actions of skills-agent (AGT-2), for models without tool calls: an answer is one object `{action: {type, payload},
 * plan_update?, diagnostics?}`. The flat form of its documents, `{type, ...fields}`, and a plan alone are accepted too. Parsing has no
 * effects; the payload is validated later, like the input of any tool.
 */
import {
  jsonSchema,
  cleanText,
  describeValue,
  failure,
  invalidInput,
  isObject,
  nearest,
  quoted,
  schemaText,
  type ActionProblem,
  type JsonSchema,
  type ModelTool,
  type ObjectSchema,
  type SkillError,
} from '#core';
import { PLAN_UPDATE_SCHEMA, readPlanUpdate } from './plan-update.ts';
import type { PlanUpdate } from './plan.ts';

export type DecisionReading =
  | {
      readonly type: 'decision';
      /** Absent where the answer is a plan alone. */
      readonly call?: DecidedCall;
      readonly planUpdate?: PlanUpdate;
      /** What of the plan was not understood, for the model. */
      readonly planProblems?: readonly string[];
      /** Remarks of the model about its own answer. They are only displayed. */
      readonly diagnostics: readonly string[];
      /** The parts of the answer that were ignored, and why. */
      readonly notes: readonly string[];
    }
  | { readonly type: 'refused'; readonly problem: ActionProblem };

/** The input is not validated yet; the tool does that. */
interface DecidedCall {
  readonly name: string;
  readonly input: Fields;
}

export const FINAL_ANSWER = 'final_answer';

/** The keys of an answer that are no part of its action. */
const BESIDE = ['plan_update', 'plan', 'diagnostics'];
const KEYS = ['action', ...BESIDE];
export const SHAPE = '{"action": {"type": "...", "payload": {...}}}';
const MAX_NAMED = 40;
const MAX_REMARKS = 20;
const MAX_REMARK = 500;

type Fields = Readonly<Record<string, unknown>>;
type Refused = Extract<DecisionReading, { readonly type: 'refused' }>;

/** The JSON Schema of an answer with these tools, for models that support structured output. */
export function actionSchema(tools: readonly ModelTool[]): ObjectSchema {
  const [first, ...more] = tools.map(toolAction);
  if (first === undefined) throw noTools();
  const action: JsonSchema = more.length === 0 ? first : { description: 'The next action.', anyOf: [first, ...more] };
  return jsonSchema.section(
    'One decision: the next action and, if it has changed, the plan.',
    {
      action,
      plan_update: PLAN_UPDATE_SCHEMA,
      diagnostics: jsonSchema.list('Doubts and remarks for the user.', jsonSchema.text('One of them.')),
    },
    ['action'],
  );
}

/** The actions with their payloads, one per line, for models that are not shown the schema. */
export function actionTable(tools: readonly ModelTool[]): string {
  return [
    'Actions and their payloads (? marks optional fields):',
    ...tools.map(({ name, description, inputSchema }) => `- ${name} ${schemaText(inputSchema)}: ${description}`),
  ].join('\n');
}

/** An answer with this action, with the types of its payload in place of values. */
function describeActionShape({ name, inputSchema }: ModelTool): string {
  return `{"action": {"type": "${name}", "payload": ${schemaText(inputSchema)}}}`;
}

function noTools(): SkillError {
  return invalidInput(
    'no tools are offered, so the model has no action to choose from',
    'at least one tool',
    `offer at least ${FINAL_ANSWER}`,
  );
}

function toolAction({ name, description, inputSchema }: ModelTool): ObjectSchema {
  return jsonSchema.section(
    description,
    {
      type: jsonSchema.choice('The action.', [name]),
      payload: inputSchema,
    },
    ['type', 'payload'],
  );
}

/** Parses an answer into a decision, or into an error that a model can act on. Never throws. */
export function readDecision(value: unknown, tools: readonly ModelTool[]): DecisionReading {
  if (!isObject(value)) return refused(`the answer must be an object, not ${describeValue(value)}`);
  const isFlat = !Object.hasOwn(value, 'action') && typeof value['type'] === 'string';
  const action = isFlat ? omitKeys(value, BESIDE) : value['action'];
  const common = {
    diagnostics: readRemarks(value['diagnostics']),
    ...readPlan(action === undefined && isBarePlan(value) ? value : (value['plan_update'] ?? value['plan'])),
  };
  if (action === undefined && common.planUpdate !== undefined) return { type: 'decision', ...common, notes: [] };
  if (!isObject(action)) return refusedAction(value, action);
  const type = action['type'];
  if (typeof type !== 'string')
    return refused(`action.type must be the name of an action, not ${describeValue(type)}`, { hint: namesText(tools) });
  const tool = tools.find(({ name }) => name === type);
  if (tool === undefined) return refusedName(type, tools);
  const input = readPayload(action, tool);
  if (isRefused(input)) return input;
  const known = isGiven(action['payload']) ? ['type', 'payload'] : Object.keys(action);
  return {
    type: 'decision',
    call: { name: type, input: input.payload },
    ...common,
    notes: [
      ...(isFlat ? [] : unusedKeys(value, KEYS, 'the answer')),
      ...unusedKeys(action, known, isFlat ? 'the answer' : 'action'),
    ],
  };
}

function readPlan(value: unknown): Pick<Extract<DecisionReading, { type: 'decision' }>, 'planUpdate' | 'planProblems'> {
  if (!isGiven(value)) return {};
  const { update, problems } = readPlanUpdate(value);
  return { planUpdate: update, planProblems: problems.length === 0 ? undefined : problems };
}

function isBarePlan(answer: Fields): boolean {
  return typeof answer['goal'] === 'string' && Array.isArray(answer['steps']);
}

/** The action that an answer names, in either form, whatever else is wrong with it. */
export function findWrittenAction(answer: Fields): { readonly name: string; readonly input: unknown } | undefined {
  const action = answer['action'] ?? omitKeys(answer, BESIDE);
  if (!isObject(action) || typeof action['type'] !== 'string') return undefined;
  return { name: action['type'], input: action['payload'] ?? omitKeys(action, ['type', 'payload']) };
}

function omitKeys(fields: Fields, keys: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([key]) => !keys.includes(key)));
}

function refusedAction(answer: Fields, action: unknown): Refused {
  if (Array.isArray(action))
    return refused(`action must be one object, not ${describeValue(action)}: one action at a time`);
  if (action !== undefined) return refused(`action must be an object, not ${describeValue(action)}`);
  const [like] = nearest('action', Object.keys(answer).slice(0, MAX_NAMED), 1);
  return like === undefined
    ? refused('action is missing')
    : refused(`action is missing: found the key ${quoted(like)} instead`, { nearest: ['action'] });
}

function refusedName(type: string, tools: readonly ModelTool[]): Refused {
  return refused(`unknown action ${quoted(type)}`, {
    hint: namesText(tools),
    nearest: nearest(
      type,
      tools.map(({ name }) => name),
    ),
  });
}

function namesText(tools: readonly ModelTool[]): string {
  const names = tools.map(({ name }) => name);
  const more = names.length - MAX_NAMED;
  return `the actions are ${names.slice(0, MAX_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** The payload, or the fields beside the type. Checks only that something is there; the tool validates its contents. */
function readPayload(action: Fields, tool: ModelTool): { readonly payload: Fields } | Refused {
  const payload = action['payload'] ?? omitKeys(action, ['type', 'payload']);
  const hint = `answer with ${describeActionShape(tool)}`;
  if (!isObject(payload)) return refused(`action.payload must be an object, not ${describeValue(payload)}`, { hint });
  if (tool.name === FINAL_ANSWER) return isSomeAnswer(payload) ? { payload } : emptyAnswer();
  const needed = listRequired(tool.inputSchema);
  if (Object.keys(payload).length > 0 || isGiven(action['payload']) || needed.length === 0) return { payload };
  return refused(`action.payload of ${tool.name} is missing: required: ${needed.join(', ')}`, { hint });
}

function isRefused(reading: object): reading is Refused {
  return 'type' in reading;
}

/** Checks only that the answer is not empty; the tool reports a wrong name or type. */
function isSomeAnswer(payload: Fields): boolean {
  const answer = Object.hasOwn(payload, 'answer') ? payload['answer'] : payload;
  if (typeof answer === 'string') return /\S/.test(answer);
  return isGiven(answer) && !(isObject(answer) && Object.keys(answer).length === 0);
}

function emptyAnswer(): Refused {
  return refused('the final answer is empty: action.payload.answer must contain the text for the user', {
    hint: `write ${SHAPE.replace('"..."', `"${FINAL_ANSWER}"`).replace('{...}', '{"answer": "..."}')}`,
  });
}

function listRequired(schema: JsonSchema): readonly string[] {
  return 'properties' in schema ? (schema.required ?? []) : [];
}

function unusedKeys(fields: Fields, known: readonly string[], where: string): readonly string[] {
  const unused = Object.keys(fields).filter((key) => !known.includes(key));
  if (unused.length === 0) return [];
  const named = unused.slice(0, 3).map((key) => quoted(key));
  return [
    `not used of ${where}: ${[...named, ...(unused.length > 3 ? [`${unused.length - 3} more`] : [])].join(', ')}`,
  ];
}

/** Models write diagnostics as a string, a list, or an object of short values. */
function readRemarks(value: unknown): readonly string[] {
  const remarks: readonly unknown[] = Array.isArray(value) ? value : isGiven(value) ? [value] : [];
  return remarks
    .slice(0, MAX_REMARKS)
    .flatMap((remark) => (isObject(remark) ? Object.entries(remark).slice(0, MAX_REMARKS).map(pairText) : [remark]))
    .slice(0, MAX_REMARKS)
    .map(remarkText)
    .filter((remark) => remark !== '');
}

function pairText([key, value]: readonly [string, unknown]): string {
  return `${key}: ${remarkText(value)}`;
}

function remarkText(remark: unknown): string {
  const text = typeof remark === 'string' ? remark : describeValue(remark);
  const start = cleanText(text.slice(0, MAX_REMARK)).replaceAll(/\s+/g, ' ').trim();
  return text.length > MAX_REMARK ? `${start}…` : start;
}

/** Models write null for omitted fields. */
function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function refused(
  message: string,
  more: { readonly hint?: string; readonly nearest?: readonly string[] } = {},
): Refused {
  return { type: 'refused', problem: failure('input/invalid', message, { hint: `answer with ${SHAPE}`, ...more }) };
}
