/** A search tool for any agent loop: a JSON Schema and a function. */
import { createRuntime, isSkillError } from 'skillwright';

const skills = await createRuntime();

const searchTool = {
  name: 'search_skills',
  description: 'Find skills by what they are for.',
  parameters: {
    type: 'object',
    properties: { query: { type: 'string' }, n: { type: 'integer' } },
    required: ['query'],
  },
  execute: ({ query, n = 5 }: { query: string; n?: number }) => skills.searchSkills(query, n),
};

console.log(JSON.stringify(await searchTool.execute({ query: 'what changed between two files', n: 1 }), undefined, 2));

try {
  skills.find('csv-reprot');
} catch (error) {
  if (!isSkillError(error)) throw error;
  console.log(error.message, '-', error.hint);
}
