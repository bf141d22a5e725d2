/** Skills in an agent of the OpenAI Agents SDK. */
import { Agent, run, setTracingDisabled } from '@openai/agents';
import { openSkills } from 'skillwright';

setTracingDisabled(true);
const library = await openSkills({ from: './skills' });
const chat = await library.conversation();
const agent = new Agent({ name: 'helper', model: 'gpt-5-mini', ...chat.forAgents() });
const { finalOutput } = await run(agent, 'Which lines differ between two text files?');
console.log(finalOutput);
await library.close();
