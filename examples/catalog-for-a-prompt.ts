/**
 * Puts the skill list of a project into a system prompt within a token budget, and reports what the model does not see.
 *
 *     node catalog-for-a-prompt.js [BUDGET]
 */
import { createRuntime } from 'skillwright';

const budget = Number(process.argv[2] ?? 1_000);
const skills = await createRuntime({ cwd: process.cwd() });
const catalog = skills.catalog({ budget, format: 'markdown' });

const system = ['You are a careful assistant.', catalog.text, 'Ask for a skill by its name before you use it.'];
console.log(system.join('\n\n'));

// For the log of your program, not for the model. A skill that does not fit can still be found by searching:
// offer `search_skills` beside the catalog (search-as-a-tool.ts).
console.error(`${String(catalog.tokens)} of ${String(budget)} tokens`);
for (const name of catalog.omitted) console.error(`not in the prompt: ${name}`);
for (const { severity, path, message } of skills.diagnostics) console.error(`${severity}: ${path}: ${message}`);
if (catalog.tokens > budget) process.exitCode = 1;
