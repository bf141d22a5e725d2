import path from 'node:path';

import { EXECUTOR_NAMES } from '../../core/execution.ts';
import { CLIENT_NAMES, clientConfig } from '../../mcp/client-config.ts';
import { VOCABULARY_NAMES } from '../../tools/vocabularies.ts';
import { defineCommand } from '../command.ts';
import { EXIT } from '../exit.ts';
import { openRuntime } from '../open-runtime.ts';
import { reportWarning } from '../terminal/terminal.ts';
import { VERSION } from '../../version.ts';
import { APPROVAL_FLAGS, AUTO_FLAG, openApprover } from './approval.ts';
import { askForTrust, TRUST_FLAGS } from './consent.ts';
import { modelExecution } from './execution-options.ts';
import { SANDBOX_FLAGS, sandboxOptions } from './sandbox-flags.ts';

const flags = {
  vocabulary: {
    type: 'string',
    value: 'NAME',
    choices: VOCABULARY_NAMES,
    about: 'offer the tools of this vocabulary (default: skillwright)',
  },
  executor: {
    type: 'string',
    value: 'NAME',
    choices: ['auto', 'none', ...EXECUTOR_NAMES],
    about: 'run programs with this executor; none runs no programs (default: auto, the first that isolates)',
  },
  files: { type: 'boolean', about: 'offer tools for files of the project too; most clients have their own' },
  'print-config': {
    type: 'string',
    value: 'CLIENT',
    choices: CLIENT_NAMES,
    about: `print the configuration for a client: ${CLIENT_NAMES.join(', ')}`,
  },
  ...SANDBOX_FLAGS,
  ...AUTO_FLAG,
  ...APPROVAL_FLAGS,
  ...TRUST_FLAGS,
} as const;

export const command = defineCommand({
  usage: 'mcp [--vocabulary NAME] [--executor NAME] [--print-config CLIENT]',
  details: [
    'Serves skills to an MCP client over stdin and stdout: tools of a vocabulary, and the Skills extension (SEP-2640) with digests for every file. Policy, trust, sandbox and records apply as in run.',
    'An action that needs approval is asked about in the client if it supports elicitation. Otherwise it waits in the queue: skillwright approvals answer ID yes.',
    'The client starts this command; do not type into it. Messages go to stderr. It ends when the client closes stdin.',
  ].join('\n'),
  flags,
  examples: [
    ['skillwright mcp --print-config claude-code > .mcp.json', 'configure Claude Code for this project'],
    ['skillwright mcp --vocabulary trpc --executor none', 'offer the tools of trpc-agent-go, without programs'],
  ],
  positionals: [0, 0],
  async run(invocation) {
    const { flags: given, terminal, signal } = invocation;
    const client = CLIENT_NAMES.find((name) => name === given['print-config']);
    if (client !== undefined) {
      const { file, text } = clientConfig(client);
      terminal.out(text);
      terminal.remark(`put this into ${file}`);
      return EXIT.done;
    }
    const runtime = await openRuntime(invocation);
    await askForTrust(invocation, runtime);
    const cwd = path.resolve(given.cwd ?? '.');
    const executor = (['auto', ...EXECUTOR_NAMES] as const).find((name) => name === given.executor);
    const vocabulary = VOCABULARY_NAMES.find((name) => name === given.vocabulary) ?? 'skillwright';
    const [{ openSkillServer }, { serveStdio }] = await Promise.all([
      import('../../mcp/server.ts'),
      import('@modelcontextprotocol/server/stdio'),
    ]);
    const server = await openSkillServer({
      runtime,
      version: VERSION,
      approve: openApprover({ ...given, defer: true }, terminal),
      onWarning: (message) => reportWarning(terminal, message),
      run: {
        vocabulary,
        ...(given.files === true ? { host: {} } : {}),
        ...(given.executor === 'none'
          ? {}
          : {
              execution: {
                ...modelExecution(terminal, executor ?? 'auto'),
                ...sandboxOptions(given, { config: runtime.config, cwd, isAgent: true }),
              },
            }),
      },
    });
    try {
      const handle = serveStdio(() => server.connect(), {
        onerror: (error) => reportWarning(terminal, error.message),
      });
      await untilClosed(signal);
      await handle.close();
    } finally {
      await server.end();
    }
    return signal.aborted ? EXIT.interrupted : EXIT.done;
  },
});

/** Resolves when the client closes stdin, or the command is interrupted. */
function untilClosed(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    process.stdin.once('end', resolve).once('close', resolve);
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
