import type { ModelTool } from '../../src/core/model.ts';

/** Tools as a session of skills-agent offers them, without what no test needs. */
export const TOOLS: readonly ModelTool[] = [
  {
    name: 'select_skills',
    description: 'Select skills.',
    inputSchema: {
      type: 'object',
      description: 'Which skills.',
      properties: {
        skills: { type: 'array', description: 'The skills.', items: { type: 'string', description: 'One.' } },
        reason: { type: 'string', description: 'Why.' },
      },
      required: ['skills'],
      additionalProperties: false,
    },
  },
  {
    name: 'list_skills',
    description: 'List them.',
    inputSchema: { type: 'object', description: 'Nothing.', properties: {}, additionalProperties: false },
  },
  {
    name: 'final_answer',
    description: 'Answer.',
    inputSchema: {
      type: 'object',
      description: 'The answer.',
      properties: { answer: { type: 'string', description: 'The text for the user.' } },
      required: ['answer'],
      additionalProperties: false,
    },
  },
];
