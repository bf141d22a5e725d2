// What of the library needs files of its package: skills in folders and in memory, the built-in skills, a thread, an optional package.
import { createRuntime, memorySkills, openSkills } from 'skillwright';
import { openSkillServer } from 'skillwright/mcp';

export async function report() {
  const rules = memorySkills([{ name: 'rules', description: 'How we write.', body: 'Short sentences.' }]);
  const library = await openSkills({ from: ['./skills', rules] });
  const chat = await library.conversation();
  const loaded = [
    await chat.call('load_skill', { skill: 'text-diff' }),
    await chat.call('load_skill', { skill: 'rules' }),
  ];
  await library.close();

  const runtime = await createRuntime({ cache: false });
  const session = await runtime.startSession({ host: { network: false } });
  const found = await session.perform({ type: 'grep', pattern: 'private', path: 'package.json' });
  await session.close();
  const server = openSkillServer({ runtime, version: '1', onWarning: console.error });
  return {
    library: library.skills.map(({ name }) => name).join(' '),
    loaded: loaded.map(({ text, isError }) => isError !== true && /scripts\/diff|Short/.test(text)),
    builtIn: runtime.index.skills.map(({ name }) => name).join(' '),
    grep: found.matches?.length ?? found,
    optional: await server.catch(({ code }) => code),
  };
}
