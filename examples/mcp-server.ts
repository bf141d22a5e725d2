/**
 * An MCP server in your own program: the skills of a folder, with your rules and your log. Needs `npm install @modelcontextprotocol/server@2`.
 *
 *     node mcp-server.js [FOLDER]      then name this command in the configuration of an MCP client
 */
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createRuntime } from 'skillwright';
import { openSkillServer } from 'skillwright/mcp';

const [folder] = process.argv.slice(2);
const runtime = await createRuntime({
  roots: folder === undefined ? [] : [{ source: 'mine', path: folder }],
  onlyRoots: folder !== undefined,
});
// stdout belongs to the protocol.
const log = (text: string): void => console.error(`[skills] ${text}`);
const server = await openSkillServer({
  runtime,
  version: '1.0.0',
  onWarning: log,
  run: {
    policy: { deny: ['run_command'] },
    sinks: [({ event }) => void (event.type === 'action' && log(event.action.type))],
  },
});

const closed = new AbortController();
server.watch(closed.signal);
const connection = serveStdio(() => server.connect(), { onerror: (error) => log(error.message) });
process.stdin.once('close', () => {
  closed.abort();
  void connection.close().then(() => server.end());
});
