/** Finds out from their schemas which of the offered tools does what, and which input each takes. */
import {
  checkJson,
  isObject,
  shellWord,
  type JsonSchema,
  type ModelRequest,
  type ModelTool,
  type ObjectSchema,
} from '#core';

export type Role = 'search' | 'load' | 'run' | 'answer';

export type RuleDecision =
  | { readonly type: 'call'; readonly role: Role; readonly name: string; readonly input: ToolInput }
  | { readonly type: 'answer'; readonly text: string };

type ToolInput = Readonly<Record<string, unknown>>;

/** The tool names of all vocabularies; if several have the same role, the first is used. */
const NAMES: Readonly<Record<Role, readonly string[]>> = {
  search: ['search_skills'],
  load: ['load_skill', 'select_skills', 'skill_load', 'skill_request'],
  run: ['run_script', 'skill_run', 'run_command'],
  answer: ['final_answer'],
};

export function findRole(name: string): Role | undefined {
  return (['search', 'load', 'run', 'answer'] as const).find((role) => NAMES[role].includes(name));
}

function toolFor(role: Role, tools: readonly ModelTool[]): ModelTool | undefined {
  return NAMES[role].flatMap((name) => tools.filter((tool) => tool.name === name))[0];
}

/**
 * Returns the tools of a request. Without tools it returns the actions of the action protocol, from its schema or as skills-agent
 * defines them.
 */
export function offeredTools({ tools, answerSchema }: ModelRequest): readonly ModelTool[] {
  if (tools.length > 0) return tools;
  const found = answerSchema === undefined ? [] : toolsInSchema(answerSchema);
  return found.length > 0 ? found : Object.entries(ACTIONS).map(([name, inputSchema]) => action(name, inputSchema));
}

export function listChoices({ inputSchema }: ModelTool): readonly string[] {
  const list = findProperty(inputSchema, 'accepted');
  const item = list !== undefined && 'items' in list ? list.items : undefined;
  return item !== undefined && 'enum' in item ? (item.enum ?? []).filter((name) => typeof name === 'string') : [];
}

function action(name: string, inputSchema: JsonSchema): ModelTool {
  return { name, description: '', inputSchema };
}

/** Each option of `action`, by its `type`. */
function toolsInSchema(schema: JsonSchema): readonly ModelTool[] {
  const choice = findProperty(schema, 'action');
  if (choice === undefined) return [];
  const options = 'anyOf' in choice ? choice.anyOf : [choice];
  return options.flatMap((option) => {
    const type = findProperty(option, 'type');
    const names = type !== undefined && 'type' in type && type.type === 'string' ? (type.enum ?? []) : [];
    const payload = findProperty(option, 'payload');
    return names.map((name) => action(name, (hasShape(payload) ? payload : ACTIONS[name]) ?? ANYTHING));
  });
}

function findProperty(schema: JsonSchema, key: string): JsonSchema | undefined {
  if ('anyOf' in schema || schema.type !== 'object' || !('properties' in schema)) return undefined;
  return Object.hasOwn(schema.properties, key) ? schema.properties[key] : undefined;
}

function hasShape(schema: JsonSchema | undefined): schema is ObjectSchema {
  return schema !== undefined && !('anyOf' in schema) && schema.type === 'object' && 'properties' in schema;
}

const TEXT: JsonSchema = { type: 'string', description: '' };
const ANYTHING: JsonSchema = { type: 'object', description: '', additionalProperties: true };
const SKILL: JsonSchema = object({ name: TEXT, source: TEXT });

/** The inputs of skills-agent's actions, for requests without a schema. */
const ACTIONS: Readonly<Record<string, JsonSchema>> = {
  select_skills: object({ skills: { type: 'array', description: '', items: SKILL }, reason: TEXT }),
  run_script: object({
    skill: SKILL,
    relative_path: TEXT,
    args: { type: 'array', description: '', items: TEXT },
  }),
  final_answer: object({ answer: TEXT }),
};

function object(properties: Readonly<Record<string, JsonSchema>>): ObjectSchema {
  return { type: 'object', description: '', properties, additionalProperties: false };
}

export function searchInput(tool: ModelTool, query: string): ToolInput | undefined {
  return firstValid(tool, [{ query }]);
}

export function loadInput(tool: ModelTool, skill: string): ToolInput | undefined {
  return firstValid(tool, [{ skill }, { skill_name: skill }, { skills: [{ name: skill }] }, { skills: [skill] }]);
}

export function answerInput(tool: ModelTool, answer: string): ToolInput | undefined {
  return firstValid(tool, [{ answer }]);
}

export function runInput(
  tool: ModelTool,
  { skill, script, args }: { readonly skill: string; readonly script: string; readonly args: readonly string[] },
): ToolInput | undefined {
  const command = [...starter(script), script, ...args].map((word) => shellWord(word)).join(' ');
  return firstValid(tool, [
    { skill, script, args },
    { skill: { name: skill }, relative_path: script, args },
    { skill, command },
    { skill: { name: skill }, command },
  ]);
}

const STARTERS: readonly (readonly [RegExp, string])[] = [
  [/\.[cm]?js$/, 'node'],
  [/\.py$/, 'python3'],
  [/\.sh$/, 'bash'],
];

/** A tool that takes a command line needs the interpreter of the script in it. */
function starter(script: string): readonly string[] {
  const found = STARTERS.find(([pattern]) => pattern.test(script));
  return found === undefined ? [] : [found[1]];
}

export function buildCall(
  role: Role,
  tools: readonly ModelTool[],
  inputFor: (tool: ModelTool) => ToolInput | undefined,
): RuleDecision | undefined {
  const tool = toolFor(role, tools);
  const input = tool === undefined ? undefined : inputFor(tool);
  return tool === undefined || input === undefined ? undefined : { type: 'call', role, name: tool.name, input };
}

function firstValid({ inputSchema }: ModelTool, inputs: readonly ToolInput[]): ToolInput | undefined {
  return inputs.find((input) => checkJson(input, inputSchema).length === 0);
}

/** Returns the skill that a loading call named. */
export function skillOfLoad(input: unknown): string | undefined {
  if (!isObject(input)) return undefined;
  const list: unknown = input['skills'];
  const named = input['skill'] ?? input['skill_name'] ?? (Array.isArray(list) ? (list[0] as unknown) : list);
  if (typeof named === 'string') return named;
  return isObject(named) && typeof named['name'] === 'string' ? named['name'] : undefined;
}
