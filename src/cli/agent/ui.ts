import { spawn } from 'node:child_process';

import { runAgent } from '#agent';
import { projectText } from '#project';
import { printable, type Approve } from '#core';
import { storedEvaluations } from '#evals';
import { packageFile } from '#platform';
import { openApprovals } from '#policy';
import { runsDirectory } from '#journal';
import { wholeNumber } from '../arguments.ts';
import { defineCommand, option, toggle, type Invocation } from '../command.ts';
import { EXIT } from '../exit.ts';
import { lineJson } from '../json.ts';
import { openRuntime } from '../open-runtime.ts';
import { portInUse, untilStopped } from '../serving.ts';
import { reportWarning } from '../terminal/terminal.ts';
import { AGENT_FLAGS, parseBudget } from './agent-flags.ts';
import { announceModel, chooseModel } from './agent-model.ts';
import { ACCEPT_FLAG } from './approval.ts';
import { askForTrust } from './consent.ts';
import { openEditMode } from './edit-mode.ts';
import { priceAnswers } from './price-answers.ts';
import { agentExecution, sandboxOptions, withPrograms } from './programs.ts';

const { model, budget, executor, project, mount, allow, auto, with: withFlag, environment } = AGENT_FLAGS;
const { 'trust-project': trustProject, 'no-agents-md': noAgentsMd } = AGENT_FLAGS;

const flags = {
  port: option('N', 'listen on this port (default: any free port)'),
  'no-open': toggle('print the address and open no browser'),
  model,
  budget,
  executor,
  project,
  mount,
  allow,
  auto,
  ...ACCEPT_FLAG,
  with: withFlag,
  environment,
  'no-agents-md': noAgentsMd,
  'trust-project': trustProject,
} as const;

/** A run waits this long for an answer to its question. */
const WAIT_MS = 24 * 60 * 60 * 1_000;

export const command = defineCommand({
  usage: 'ui [--port N] [--no-open] [--model NAME] [--executor NAME]',
  details: [
    'Opens the console in a browser: skills, catalog and cost, runs, approvals, evaluations and policy of this project. The page is served from this machine only, and needs no network.',
    'The printed address works once. Runs that the page starts have the rules, the executor and the model of this command. Questions of runs in a terminal can be answered on the page too.',
    'It ends with Ctrl-C. Exit code 1: the port is in use.',
  ].join('\n'),
  flags,
  examples: [
    ['skillwright ui', 'open the console of this project'],
    ['skillwright ui --port 4173 --no-open', 'use a fixed port; a page that stays open reconnects after a restart'],
  ],
  positionals: [0, 0],
  async run(invocation) {
    const { flags: flagValues, terminal, signal, surroundings } = invocation;
    const port = wholeNumber(flagValues.port, '--port', { least: 1, most: 65_535 });
    const runtime = await openRuntime(invocation);
    await askForTrust(invocation, runtime);
    const chosen = await announceModel(invocation, runtime);
    const { mounts = [], network } = sandboxOptions(invocation, runtime.config, true);
    const hasInstructions = flagValues['no-agents-md'] !== true;
    const instructions = projectText(surroundings.cwd, { ...surroundings, hasInstructions });
    const { executor, accept } = flagValues;
    const mode = openEditMode({ accept });
    // Answers for a run are of that run, so each has its own.
    const approveRun = (): Approve => {
      const approve = approver(surroundings.home, invocation);
      return (request, asked) => mode.answer(request) ?? approve(request, asked);
    };
    const { createRunServer } = await import('#server/run-server');
    const server = await createRunServer({
      runtime,
      model: chosen.model,
      reasonForModel: chosen.reason,
      directory: runsDirectory(surroundings.cwd, runtime.config.runs?.directory),
      surroundings,
      console: packageFile('dist/console'),
      mode,
      price: priceAnswers(runtime),
      evaluations: storedEvaluations(surroundings.cwd),
      openModel: async (name, ending) => (await chooseModel({ ...invocation, signal: ending }, runtime, name)).model,
      agent: {
        projectInstructions: instructions,
        budget: flagValues.budget === undefined ? undefined : parseBudget(flagValues.budget),
        run: { host: {} },
      },
      runAgent: (options, live) =>
        runAgent(withPrograms({ ...options, run: { ...options.run, approve: approveRun() } }, invocation, live)),
      resumed: (live) => ({
        approve: approveRun(),
        ...(executor === 'none' ? {} : { execution: { ...agentExecution(invocation, runtime, executor), ...live } }),
      }),
      reach: {
        executor: flagValues.executor,
        writes: mounts.flatMap(({ folder, access }) => (access === 'write' ? [folder] : [])),
        hosts: network ?? runtime.config.execution?.network ?? [],
      },
      port,
    }).catch(portInUse(port, 'choose another --port, or omit it'));
    try {
      const link = server.newLink();
      if (terminal.isJson) terminal.out(lineJson({ url: server.url, link, token: server.token }));
      else terminal.out(link);
      terminal.remark('the console is open; press Ctrl-C to end it');
      if (flagValues['no-open'] !== true) openBrowser(link, terminal.isInteractive);
      await untilStopped(signal);
    } finally {
      await server.close();
    }
    return EXIT.interrupted;
  },
});

/** Questions wait in the queue, where the page, `skillwright approvals` and other consoles see them. */
function approver(
  home: string | undefined,
  { terminal }: Invocation<typeof flags>,
): ReturnType<typeof openApprovals>['approve'] {
  return openApprovals({
    home,
    pending: home === undefined ? undefined : { waitMs: WAIT_MS },
    onWarning: (message) => reportWarning(terminal, printable(message)),
  }).approve;
}

/** Opens the default browser, where there is a screen. What it prints is dropped. */
function openBrowser(address: string, isInteractive: boolean): void {
  const { env, platform } = process;
  const hasScreen = platform !== 'linux' || env['DISPLAY'] !== undefined || env['WAYLAND_DISPLAY'] !== undefined;
  if (!isInteractive || !hasScreen) return;
  const [program, ...words] =
    platform === 'darwin' ? ['open'] : platform === 'win32' ? ['cmd', '/c', 'start', '""'] : ['xdg-open'];
  // The address has no character that a shell would read: it is base64url after a fixed start.
  spawn(program ?? '', [...words, address], { stdio: 'ignore', detached: true })
    .on('error', () => undefined)
    .unref();
}
