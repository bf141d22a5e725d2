/** The README's loop: no model and no network, a script plays the model. */
import { openSkillTools } from 'skillwright/tools';

const skills = await openSkillTools();
const messages = [{ role: 'system', content: skills.instructions }];
const script = [
  ['search_skills', { query: 'what changed between two files' }],
  ['load_skill', { skill: 'text-diff' }],
  ['read_resource', { skill: 'text-diff', path: 'references/reading-a-diff.md', section: 'Counts' }],
] as const;

for (const [tool, input] of script) {
  const { text } = await skills.call(tool, input); // with a model: whatever it asks for
  messages.push({ role: 'tool', content: text });
}
console.log(messages.map(({ role, content }) => `${role}: ${content.split('\n')[0]}`).join('\n'));
