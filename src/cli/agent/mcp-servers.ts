/** The configured MCP servers for commands that open a session, and their state for `mcp check`. */
import { configProblem, docsPage, nearest, quoted, type ToolServers } from '#core';
import { openSecrets, type Runtime } from '#runtime';
import { EXIT, usageError } from '../exit.ts';
import { warnAboutConfig } from '../open-runtime.ts';
import { diagnosticText } from '../skills/show-diagnostics.ts';
import { openProgress } from '../terminal/progress.ts';
import { reportWarning, type Terminal } from '../terminal/terminal.ts';

/**
 * The servers for a session, with warnings and progress at the terminal. Undefined if none is configured. Skills of servers whose offer is
 * not known yet are fetched, so that the user can be asked about them.
 */
export async function serversFor(runtime: Runtime, terminal: Terminal): Promise<ToolServers | undefined> {
  warnAboutConfig(runtime, terminal);
  const isConfigured = Object.keys(runtime.config.mcp_servers ?? {}).length > 0;
  if (!isConfigured && !runtime.plugins().some(({ servers }) => servers.length > 0)) return undefined;
  const { openToolServers, pluginServers } = await import('#mcp/tool-servers');
  const plugins = await pluginServers(runtime);
  terminal.remark(unusedLines(plugins));
  if (!isConfigured && plugins.every(({ unused }) => unused !== undefined)) return undefined;
  const progress = openProgress(terminal);
  let isConnected = false;
  const servers = openToolServers(runtime, {
    plugins,
    onConnect(name) {
      isConnected = true;
      progress.show(`connecting to MCP server ${name}`);
    },
  });
  const { problems } = await servers.open(openServices(runtime)).finally(() => progress.end());
  for (const problem of problems) reportWarning(terminal, problem);
  if (isConnected) {
    // Until a tool is called, no program of a server runs.
    await servers.close();
    await runtime.refresh();
  }
  return servers;
}

function openServices({ config, executionPlaces: { user, project } }: Runtime): Parameters<ToolServers['open']>[0] {
  return { secrets: openSecrets(config.secrets ?? {}, { ...user, cwd: project }).values };
}

export async function checkServers(runtime: Runtime, server: string | undefined, terminal: Terminal): Promise<number> {
  for (const diagnostic of runtime.diagnostics)
    if (diagnostic.code.startsWith('config/')) terminal.err(diagnosticText(diagnostic, terminal));
  const configured = runtime.config.mcp_servers ?? {};
  const { describeServer, openToolServers, pluginServers } = await import('#mcp/tool-servers');
  const plugins = await pluginServers(runtime);
  const names = [...Object.keys(configured), ...plugins.map(({ name }) => name)];
  if (server !== undefined && !names.includes(server)) {
    const near = nearest(server, names);
    throw usageError(
      `no MCP server is called ${quoted(server)}`,
      near.length > 0 ? `did you mean ${near.join(', ')}?` : 'add it to mcp_servers in ~/.agent/config.json',
    );
  }
  const problem = configProblem(runtime.diagnostics);
  const servers = openToolServers(runtime, { only: server, plugins });
  try {
    const states = await servers.check(openServices(runtime));
    const off = names.filter((name) => server === undefined && configured[name]?.enabled === false);
    const offered = plugins.filter(
      ({ unused, name }) => unused !== undefined && (server === undefined || name === server),
    );
    const unused = offered.map(({ name, plugin, unused: reason }) => ({ name, plugin, reason }));
    if (!terminal.printJson({ servers: states, disabled: off, offered: unused })) {
      if (states.length + off.length + offered.length === 0 && problem === undefined)
        terminal.out(
          `No MCP server is configured. Add one to mcp_servers in ~/.agent/config.json; see ${docsPage('mcp')}`,
        );
      for (const state of states) terminal.out(stateLines(state, describeServer(state)));
      for (const name of off) terminal.out(`${name}: disabled`);
      terminal.out(unusedLines(offered));
    }
    return problem === undefined && states.every(({ isConnected }) => isConnected) ? EXIT.done : EXIT.failed;
  } finally {
    await servers.close();
  }
}

/** Servers of plugins wait for the user. */
function unusedLines(offered: readonly { readonly name: string; readonly unused?: string }[]): readonly string[] {
  return offered.flatMap(({ name, unused }) =>
    unused === undefined ? [] : [`${name}: offered by a plugin, not used: ${unused}`],
  );
}

interface ShownState {
  readonly name: string;
  readonly tools: readonly { readonly name: string }[];
  readonly skills: readonly string[];
  readonly problems: readonly string[];
}

function stateLines(state: ShownState, description: string): readonly string[] {
  const { name, tools, skills, problems } = state;
  return [
    `${name}: ${description}`,
    ...tools.map((tool) => `  ${tool.name}`),
    ...skills.map((skill) => `  skill mcp:${name}/${skill}`),
    ...problems.map((problem) => `  ${problem}`),
  ];
}
