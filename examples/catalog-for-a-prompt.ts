/** Puts the catalog of a project's skills into a system prompt, under a budget, and says what the model does not see. */
import { createRuntime } from 'skillwright';

const skills = await createRuntime({ cwd: process.cwd() });
const catalog = skills.catalog({ budget: 1_000, format: 'markdown' });

const system = ['You are a careful assistant.', catalog.text, 'Ask for a skill by its name before you use it.'].join(
  '\n\n',
);
console.log(system);
console.error(
  `${String(catalog.tokens)} tokens; ${String(catalog.omitted.length)} skills can only be found by searching`,
);
