/** `runs resume`: continues an interrupted run at this terminal. */
import path from 'node:path';

import { defined, describeAction, printable } from '#core';
import { projectInstructions } from '#project';
import { projectOfRun, readRun } from '#journal';
import { isInside, readSealKey, realPath, tryRealPath } from '#platform';
import { parseBudget, type RESUME_FLAGS } from '../agent/agent-flags.ts';
import { announceModel, endLines, toExitCode } from '../agent/agent-model.ts';
import { isAttended, openApprover, openRefusalWatch } from '../agent/approval.ts';
import { resumingCommand } from '../agent/resume-command.ts';
import { askForTrust } from '../agent/consent.ts';
import type { Invocation } from '../command.ts';
import { deliverOutputs } from '../agent/deliver-outputs.ts';
import { EXIT } from '../exit.ts';
import { surroundingsFor } from '../surroundings.ts';
import { jsonText } from '../json.ts';
import { sandboxOptions } from '../agent/sandbox-flags.ts';
import { openRuntime } from '../open-runtime.ts';
import { serversFor } from '../agent/mcp-servers.ts';
import { modelExecution } from '../agent/execution-options.ts';
import { takeSteps } from '../agent/interrupts.ts';
import { openConnectionWatch } from '../agent/refused-connections.ts';
import { displayFor } from '../agent/show-agent.ts';
import { reportWarning } from '../terminal/terminal.ts';

type ResumeInvocation = Invocation<typeof RESUME_FLAGS>;

/** `directory` is where the current project records its runs. */
export async function resumeRun(invocation: ResumeInvocation, place: string, directory: string): Promise<number> {
  const { flags: given, terminal, signal } = invocation;
  const { cwd, home } = surroundingsFor(given);
  const sealKey = readSealKey(home);
  const { info } = readRun(place, { content: 'start' });
  const { executor = 'auto' } = given;
  // A run that worked in another project must not go on with the files of this one.
  const project = projectOfRun(info, { folder: place, cwd, directory, isSealed: true });
  if (project !== undefined && project !== realPath(cwd)) {
    const problem = `the run worked in ${printable(project)}: resume it there, or pass --cwd`;
    if (!terminal.printJson({ path: place, type: 'impossible', problems: [problem] }))
      terminal.err(`impossible: ${problem}`);
    return EXIT.impossible;
  }
  const named = new Set((given.in ?? []).map((file) => path.resolve(cwd, file)));
  const runtime = await openRuntime(invocation);
  const servers = await serversFor(runtime, terminal);
  await askForTrust(invocation, runtime);
  const refusals = openRefusalWatch();
  const connections = openConnectionWatch();
  const { model } = await announceModel({ name: given.model, runtime, signal, cwd: given.cwd }, terminal);
  const { resumeAgent } = await import('#agent/resume');
  const display = given.json === true ? undefined : displayFor({}, terminal);
  const interrupts = isAttended() && given.json !== true ? takeSteps(process, signal) : undefined;
  const resumed = await resumeAgent({
    runtime,
    path: place,
    model,
    budget: parseBudget(given.budget),
    mayBring: (file) => named.has(file) || isInProject(file, cwd),
    signal,
    again: given.again,
    onRepeat: (actions) => {
      reportWarning(terminal, `run ${info.run} was resumed before; these actions may happen again:`);
      terminal.err(actions.map((action) => `  ${printable(describeAction(action))}`));
    },
    steps: interrupts?.steps,
    projectInstructions: given['no-agents-md'] === true ? undefined : projectInstructions(cwd),
    unapproved: isAttended() || given.defer === true || given['keep-going'] === true ? 'continue' : 'stop',
    beforeEnd: async (_session, recorded) => {
      const approve = openApprover(given, terminal);
      const delivered = await deliverOutputs(recorded, {
        given,
        cwd,
        terminal,
        approve,
        signal,
        words: invocation.words,
      });
      terminal.remark([...delivered.copied.map((name) => `wrote ${printable(name)}`), ...delivered.lines]);
      if (delivered.problem !== undefined) throw delivered.problem;
    },
    sealKey,
    run: {
      host: {},
      directory: path.dirname(place),
      approve: openApprover(given, terminal),
      ...(info.executor === null
        ? {}
        : {
            execution: {
              ...modelExecution(terminal, executor),
              ...defined({ onOutput: display?.output }),
              ...sandboxOptions(given, { config: runtime.config, cwd, isAgent: true }),
            },
          }),
      sinks: [refusals.sink, connections.sink, ...(display === undefined ? [] : [display.sink])],
      servers,
    },
  }).finally(() => {
    interrupts?.release();
    return servers?.close();
  });
  if (resumed.type === 'impossible') {
    if (!terminal.printJson({ path: place, ...resumed }))
      terminal.err(resumed.problems.map((problem) => `impossible: ${printable(problem)}`));
    return EXIT.impossible;
  }
  const { result } = resumed;
  if (display === undefined) terminal.out(jsonText({ resumes: info.run, ...result }));
  else {
    display.end(result.answer);
    terminal.remark(endLines(result).map((line) => terminal.wrap(line, 2)));
  }
  for (const line of connections.take()) reportWarning(terminal, line);
  const refused = refusals.last(resumingCommand(result.run ?? info.run, given));
  if (refused !== undefined) terminal.err(terminal.style('dim', `hint: ${refused.hint}`));
  return toExitCode(result, refused !== undefined);
}

/** Resolves links: a path inside the project that leads outside does not count. */
function isInProject(file: string, cwd: string): boolean {
  const [real, project] = [tryRealPath(file), tryRealPath(cwd)];
  return real !== undefined && project !== undefined && isInside(real, project);
}
