/**
 * An agent loop of your own: the instructions go into the system prompt, each tool call to `skills.call`. A script plays the model here, so
 * it needs no key and no network; with a model, use whatever it asks for.
 */
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
// What the model was shown, and what it cost.
for (const { skill, path, tokens } of skills.session.ledger.rows)
  console.error(`${String(tokens).padStart(5)} tokens  ${skill} ${path}`);
console.log(messages.map(({ role, content }) => `${role}: ${content.split('\n')[0]}`).join('\n'));
