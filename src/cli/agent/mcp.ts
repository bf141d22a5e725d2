import { quoted } from '#core';
import type { SkillServer } from '#mcp';
import { defineCommand, option, toggle, type Invocation } from '../command.ts';
import { EXIT, usageError } from '../exit.ts';
import { lineJson } from '../json.ts';
import { openRuntime, warnAboutConfig } from '../open-runtime.ts';
import { portInUse, untilStopped } from '../serving.ts';
import { reportWarning } from '../terminal/terminal.ts';
import { VERSION } from '../../version.ts';
import { VOCABULARY_FLAG } from './agent-flags.ts';
import { APPROVAL_FLAGS, AUTO_FLAG, openApprover } from './approval.ts';
import { askForTrust, TRUST_FLAGS } from './consent.ts';
import { CLIENT_NAMES, clientConfig, TOKEN_VARIABLE } from './mcp-clients.ts';
import { checkServers } from './mcp-servers.ts';
import { EXECUTOR_FLAG, SANDBOX_FLAGS, agentExecution } from './programs.ts';
import { wholeNumber } from '../arguments.ts';

const flags = {
  ...VOCABULARY_FLAG,
  ...EXECUTOR_FLAG,
  files: toggle('offer tools for files of the project too; most clients have their own'),
  'print-config': option('CLIENT', `print the configuration for a client: ${CLIENT_NAMES.join(', ')}`, {
    choices: CLIENT_NAMES,
  }),
  http: toggle(
    `serve streamable HTTP on 127.0.0.1 instead of stdin and stdout; clients need the token (${TOKEN_VARIABLE}, or a random one that is printed)`,
  ),
  port: option('N', 'listen on this port, with --http (default: any free port)'),
  ...SANDBOX_FLAGS,
  ...AUTO_FLAG,
  ...APPROVAL_FLAGS,
  ...TRUST_FLAGS,
} as const;

export const command = defineCommand({
  usage: 'mcp [check [SERVER]] [--vocabulary NAME] [--executor NAME] [--http [--port N]] [--print-config CLIENT]',
  details: [
    'Serves skills to an MCP client over stdin and stdout: tools of a vocabulary, and the Skills extension (SEP-2640) with digests for every file. Policy, trust, sandbox and records apply as in run.',
    'An action that needs approval is asked about in the client if it supports elicitation. Otherwise it waits in the queue: skillwright approvals answer ID yes.',
    'The client starts this command; do not type into it. Messages go to stderr. It ends when the client closes stdin. With --http it prints its address and runs until it is interrupted.',
    'Clients are told when skills change on disk.',
    'mcp check connects to the servers in mcp_servers of your configuration, which run and chat use, and prints their tools; exit code 1 if one cannot be used.',
  ].join('\n'),
  flags,
  examples: [
    ['skillwright mcp --print-config claude-code > .mcp.json', 'configure Claude Code for this project'],
    ['skillwright mcp --http --port 4100', 'serve several clients of this machine at http://127.0.0.1:4100/mcp'],
    ['skillwright mcp check', 'show the tools of the configured MCP servers'],
    ['skillwright mcp --vocabulary trpc --executor none', 'offer the tools of trpc-agent-go, without programs'],
  ],
  positionals: [0, 2],
  async run(invocation) {
    const { flags: options, positionals, terminal, signal } = invocation;
    const port = parsePort(options);
    const client = options['print-config'];
    if (client !== undefined) {
      if (options.http === true && port === undefined)
        throw usageError('the address needs a port', 'add --port N to both commands, such as --port 4100');
      const { file, text } = clientConfig(
        client,
        options.http === true ? `http://127.0.0.1:${String(port)}/mcp` : undefined,
      );
      terminal.out(text);
      terminal.remark(`put this into ${file}`);
      return EXIT.done;
    }
    const [word, name] = positionals;
    if (word !== undefined && word !== 'check')
      throw usageError(`unknown word ${quoted(word)}`, 'write mcp, or mcp check [SERVER]');
    const runtime = await openRuntime(invocation);
    if (word === 'check') return checkServers(runtime, name, terminal);
    warnAboutConfig(runtime, terminal);
    await askForTrust(invocation, runtime);
    const { executor } = options;
    const { openSkillServer } = await import('#mcp/server');
    const server = await openSkillServer({
      runtime,
      version: VERSION,
      approve: openApprover({ ...invocation, flags: { ...options, defer: true } }),
      onWarning: (message) => reportWarning(terminal, message),
      run: {
        host: options.files === true ? {} : undefined,
        execution: executor === 'none' ? undefined : agentExecution(invocation, runtime, executor),
      },
    });
    const closed = new AbortController();
    try {
      server.watch(AbortSignal.any([signal, closed.signal]));
      if (options.http === true) await serveUntilInterrupted(invocation, server, port);
      else if (!(await serveUntilClosed(invocation, server))) return EXIT.failed;
    } finally {
      // Otherwise the watchers keep the process alive after the client has closed the connection.
      closed.abort();
      await server.end();
    }
    return signal.aborted ? EXIT.interrupted : EXIT.done;
  },
});

type McpInvocation = Invocation<typeof flags>;

function parsePort({ port, http }: McpInvocation['flags']): number | undefined {
  if (port === undefined) return undefined;
  if (http !== true) throw usageError('--port needs --http', 'add --http, or leave out --port');
  return wholeNumber(port, '--port', { least: 1, most: 65_535 });
}

/** False if the connection broke, such as after a message that is too long. */
async function serveUntilClosed({ terminal, signal }: McpInvocation, server: SkillServer): Promise<boolean> {
  const { serveStdio, StdioServerTransport } = await import('@modelcontextprotocol/server/stdio');
  const transport = new StdioServerTransport(process.stdin, process.stdout, { maxBufferSize: MAX_MESSAGE });
  const onerror = ({ message }: Error): void => {
    const isTooLong = message.includes('maximum size');
    reportWarning(terminal, isTooLong ? TOO_LONG : message);
  };
  const handle = serveStdio(() => server.connect(), { transport, onerror });
  const isWhole = await new Promise<boolean>((resolve) => {
    process.stdin.once('end', () => resolve(true)).once('close', () => resolve(true));
    signal.addEventListener('abort', () => resolve(true), { once: true });
    const { onclose } = transport;
    transport.onclose = () => {
      onclose?.();
      // The transport also closes when stdin ends.
      resolve(process.stdin.readableEnded);
    };
  });
  await handle.close();
  // Otherwise the open pipe keeps the process alive.
  if (!isWhole) process.stdin.destroy();
  return isWhole;
}

const MAX_MESSAGE = 10 * 1024 * 1024;
const TOO_LONG = `the client sent a message of more than ${String(MAX_MESSAGE)} bytes: the connection is closed`;

async function serveUntilInterrupted(
  { terminal, signal }: McpInvocation,
  server: SkillServer,
  port: number | undefined,
): Promise<void> {
  const { serveHttp } = await import('#mcp/serve-http');
  const fixed = process.env[TOKEN_VARIABLE];
  const http = await serveHttp(server, {
    port,
    token: fixed === '' ? undefined : fixed,
    onWarning: (message) => reportWarning(terminal, message),
  }).catch(portInUse(port, 'choose another --port, or omit it'));
  const { url, token } = http;
  if (terminal.isJson) terminal.out(lineJson({ url, token }));
  else {
    terminal.out(url);
    terminal.remark(
      fixed === token ? `the token is in ${TOKEN_VARIABLE}` : `send this header: Authorization: Bearer ${token}`,
    );
  }
  await untilStopped(signal);
  await http.close();
}
