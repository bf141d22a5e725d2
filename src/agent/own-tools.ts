/** The tools that an agent adds to its vocabulary. They affect nothing but the agent itself. */
import { jsonSchema, briefSchema, type JsonSchema, type ModelTool, type ObjectSchema } from '#core';

export const UPDATE_PLAN = 'update_plan';
export const RECALL = 'recall_output';
export const CHOOSE_SKILLS = 'choose_skills';

/** Tools that never become actions. */
export const OWN_TOOLS: ReadonlySet<string> = new Set([UPDATE_PLAN, RECALL]);

/** Plans may have more: `goal`, `assumptions`, and steps that are only titles. A wrong status is answered with the known ones. */
export const updatePlanTool: ModelTool = {
  name: UPDATE_PLAN,
  description: 'Plan a long task: steps {id, title, status}.',
  inputSchema: {
    type: 'object',
    properties: { steps: { type: 'array', items: { type: 'object' } } },
    required: ['steps'],
  },
};

export const RECALL_SCHEMA: ObjectSchema = jsonSchema.section(
  'Which output.',
  {
    reference: jsonSchema.text('The reference as it was given: run://observations/….'),
    from_character: { type: 'integer', description: 'Where to begin.', minimum: 0, maximum: 100_000_000, default: 0 },
  },
  ['reference'],
);

export const recallTool: ModelTool = {
  name: RECALL,
  description: 'Read an output that was removed from the conversation, one part at a time.',
  inputSchema: briefSchema(RECALL_SCHEMA),
};

export const FINAL_SCHEMA: ObjectSchema = jsonSchema.section(
  'The answer.',
  { answer: jsonSchema.text('The text for the user.') },
  ['answer'],
);

export function finalTool(name: string): ModelTool {
  return { name, description: 'Give the final answer and end the run.', inputSchema: briefSchema(FINAL_SCHEMA) };
}

/** With forced activation the model must make this choice before anything else. */
export function chooseSchema(names: readonly string[]): ObjectSchema {
  const name: JsonSchema = { type: 'string', description: 'One of them.', enum: names };
  const list = (description: string): JsonSchema => ({
    type: 'array',
    description,
    items: name,
    maxItems: names.length,
  });
  return jsonSchema.section(
    'Every skill of the shortlist, in one of the two lists.',
    {
      accepted: list('Skills that the request needs.'),
      rejected: list('Skills that it does not need.'),
      reason: jsonSchema.text('Why.'),
    },
    ['accepted', 'rejected'],
  );
}

export function chooseTool(names: readonly string[]): ModelTool {
  return {
    name: CHOOSE_SKILLS,
    description: 'Accept or reject each skill of the shortlist. Those accepted are loaded.',
    inputSchema: briefSchema(chooseSchema(names)),
  };
}
