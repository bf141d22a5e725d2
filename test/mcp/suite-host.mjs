// Our host as the client that the conformance suite starts: node suite-host.mjs list|load FOLDER URL
import { createRuntime } from '../../dist/lib/index.js';
import { openToolServers } from '../../dist/lib/mcp.js';
import { openSkillTools } from '../../dist/lib/tools.js';

const [, , what, home, url] = process.argv;
const config = { mcp_servers: { suite: { url } } };
const runtime = await createRuntime({
  cwd: home,
  home,
  env: { SKILLWRIGHT_CACHE_DIR: `${home}/cache` },
  builtin: false,
  config,
});
const servers = await openToolServers(runtime);
const [state] = await servers.check({ secrets: async () => ({ values: {} }) });
await runtime.refresh();
console.log(JSON.stringify(state));
runtime.vouch(runtime.index.all);
const tools = await openSkillTools({ runtime, servers });
console.log(tools.instructions);
if (what === 'load') {
  const loaded = await tools.call('load_skill', { skill: 'pdf-processing' });
  console.log(loaded.text);
  // As an agent does it: nothing is read of a skill that was not loaded.
  if (!loaded.isError)
    console.log((await tools.call('read_resource', { skill: 'pdf-processing', path: 'references/FORMS.md' })).text);
}
await servers.close();
