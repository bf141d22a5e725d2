/** An MCP server over one recorded session: the tools of a vocabulary, and the Skills extension (SEP-2640). */
import { McpServer } from '@modelcontextprotocol/server';
import type { CallToolResult, ServerContext, Tool } from '@modelcontextprotocol/server';
import { SkillsExtension, skillEntry } from '@modelcontextprotocol/server/ext/skills';

import type { Approve } from '../core/approval.ts';
import { isObject } from '../core/json/json-schema.ts';
import type { Run, RunOptions } from '../runtime/start-run.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { skillToolsOf } from '../runtime/skill-tools.ts';
import type { SkillTools } from '../runtime/skill-tools.ts';
import { openElicitation } from './elicitation.ts';
import { openSkillSource } from './skill-source.ts';

export interface McpOptions {
  readonly runtime: Runtime;
  readonly version: string;
  /** Options of the session: vocabulary, execution, project files, sinks. */
  readonly run?: Omit<RunOptions, 'request' | 'approve'>;
  /** Asked where the client cannot ask its user (default: nobody). */
  readonly approve?: Approve;
  /** Receives one line for each problem; stdout belongs to the protocol. */
  readonly onWarning: (message: string) => void;
}

export interface SkillServer {
  /** Makes a server for one connection. All of them share the session. */
  readonly connect: () => McpServer;
  /** Tells clients that skills changed; a new session has them. */
  readonly refresh: () => Promise<void>;
  /** Ends all programs and closes the record. */
  readonly end: () => Promise<void>;
}

/** Starts the recorded session that all connections share. */
export async function openSkillServer(options: McpOptions): Promise<SkillServer> {
  const { runtime, version, onWarning } = options;
  const elicitation = openElicitation(options.approve);
  let open = await startTools(options, elicitation.approve);
  const servers = new Set<McpServer>();
  const extension = new SkillsExtension({
    source: openSkillSource({
      session: () => open.run.session,
      buildEntry: (path, files) => skillEntry(path, files),
      onWarning,
    }),
    onWarning: ({ path, message }) => onWarning(`${path}: ${message}`),
  });
  const connect = (): McpServer => {
    const mcp = new McpServer(
      { name: 'skillwright', version },
      {
        capabilities: { tools: { listChanged: true }, resources: { listChanged: true } },
        instructions: open.tools.instructions,
      },
    );
    mcp.server.setRequestHandler('tools/list', () => ({ tools: listed(open.tools) }));
    mcp.server.setRequestHandler('tools/call', ({ params }, context) =>
      elicitation.during(mcp, context, () => call(open.tools, params.name, params.arguments ?? {}, context)),
    );
    extension.attach(mcp);
    servers.add(mcp);
    mcp.server.onclose = () => void servers.delete(mcp);
    return mcp;
  };
  return {
    connect,
    async refresh() {
      await runtime.refresh();
      const before = open;
      open = await startTools(options, elicitation.approve);
      await before.run.end('done');
      for (const mcp of servers) {
        mcp.sendToolListChanged();
        mcp.sendResourceListChanged();
      }
    },
    end: () => open.run.end('done'),
  };
}

interface OpenTools {
  readonly run: Run;
  readonly tools: SkillTools;
}

async function startTools({ runtime, run: given = {} }: McpOptions, approve: Approve): Promise<OpenTools> {
  const run = await runtime.startRun({ ...given, request: 'mcp', approve });
  return { run, tools: skillToolsOf(run.session, runtime) };
}

function listed({ tools }: SkillTools): Tool[] {
  return tools.map(({ name, description, inputSchema }) => ({
    name,
    description,
    // The same JSON; the protocol's type has an index signature that ours lacks.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    inputSchema: inputSchema as unknown as Tool['inputSchema'],
  }));
}

async function call(
  tools: SkillTools,
  name: string,
  input: unknown,
  { mcpReq }: ServerContext,
): Promise<CallToolResult> {
  const { text, value, isError } = await tools.call(name, input, { signal: mcpReq.signal });
  return {
    content: [{ type: 'text', text }],
    ...(isObject(value) && !isError ? { structuredContent: { ...value } } : {}),
    ...(isError ? { isError } : {}),
  };
}
