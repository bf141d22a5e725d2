/** What `run`, `chat` and `runs resume` set up alike, from the runtime to what is told after the answer. */
import type { AgentOptions, AgentResult } from '#agent';
import { printable, refusedText, type Budget } from '#core';
import type { EventSink } from '#journal';
import type { AgentModel } from '#model';
import { projectText } from '#project';
import { refuseReserved, type Run, type Runtime, type RuntimeOptions } from '#runtime';
import type { Invocation } from '../command.ts';
import { lineJson } from '../json.ts';
import { openRuntime } from '../open-runtime.ts';
import { reportWarning } from '../terminal/terminal.ts';
import { parseBudget, type AGENT_FLAGS } from './agent-flags.ts';
import { announceModel, toExitCode } from './agent-model.ts';
import {
  isAttended,
  openApprover,
  openRefusalWatch,
  printRefusalHint,
  type ApprovingCommand,
  type KEEP_GOING_FLAG,
} from './approval.ts';
import { openEditMode, type EditMode } from './edit-mode.ts';
import { askForTrust, type HiddenSkill } from './consent.ts';
import { deliverOutputs, type Delivery } from './deliver-outputs.ts';
import { takeSteps } from './interrupts.ts';
import { serversFor } from './mcp-servers.ts';
import { withPrograms } from './programs.ts';
import { displayFor, type AgentDisplay } from './show-agent.ts';
import type { TypeAhead } from './type-ahead.ts';

type AgentInvocation = Invocation<typeof AGENT_FLAGS & typeof KEEP_GOING_FLAG>;

export interface OpenAgentOptions {
  /** With --json: one value instead of one event per line. */
  readonly isOneValue?: boolean;
  /** Takes what the user types while the agent works. */
  readonly typeAhead?: TypeAhead;
  /** The vocabulary of the run that is resumed. */
  readonly recordedVocabulary?: RuntimeOptions['recordedVocabulary'];
  /** Opens the model and tells the user which it is. */
  readonly announce?: (invocation: AgentInvocation, runtime: Runtime) => Promise<AgentModel>;
}

export interface OpenAgent {
  readonly runtime: Runtime;
  readonly chosen: AgentModel;
  /** What is done without asking. */
  readonly mode: EditMode;
  readonly display: AgentDisplay;
  /** Skills that stay hidden, because they are untrusted. */
  readonly untrusted: readonly HiddenSkill[];
  /** Everything but the request. The files that programs leave are delivered before the end. */
  readonly options: Omit<AgentOptions, 'request'> & Required<Pick<AgentOptions, 'run'>>;
  readonly deliver: (run: Run) => Promise<Delivery>;
  /** Works with steps that the user can stop one by one. */
  readonly work: <T>(act: (steps: AgentOptions['steps']) => Promise<T>) => Promise<T>;
  /** The exit code, and a function that prints what the user should know after the answer. */
  readonly judge: (
    result: AgentResult,
    command: ApprovingCommand,
  ) => { readonly status: number; readonly showRest: () => void };
  readonly close: () => Promise<void>;
}

/** A person at the terminal sees what is done and stops it with Ctrl-C, so that only a runaway model meets a limit. */
const ATTENDED_BUDGET: Partial<Budget> = {
  turns: 200,
  toolCalls: 500,
  scriptRuns: 200,
  tokens: 5_000_000,
  wallMs: 3_600_000,
};

export async function openAgent(
  invocation: AgentInvocation,
  { isOneValue = false, typeAhead, recordedVocabulary, announce = announceModel }: OpenAgentOptions = {},
): Promise<OpenAgent> {
  const { flags, terminal, signal, surroundings } = invocation;
  const budget = { ...(isAttended() ? ATTENDED_BUDGET : {}), ...parseBudget(flags.budget) };
  const runtime = await openRuntime(invocation, { recordedVocabulary });
  refuseReserved(runtime.index, flags.skill);
  const servers = await serversFor(runtime, terminal);
  const untrusted = await askForTrust(invocation, runtime);
  if (terminal.isJson && !isOneValue && untrusted.length > 0) terminal.out(lineJson({ untrusted }));
  const chosen = await announce(invocation, runtime);
  // Where the system takes each write for high risk, no flag answers for one.
  const asksForEdits = runtime.profile.writesAreHighRisk === true;
  if (asksForEdits && flags.accept !== undefined)
    reportWarning(terminal, '--accept edits has no effect: this vocabulary asks about every write to the project');
  if (!isAttended() && flags.defer !== true) terminal.remark(terminal.wrap(refusedAhead(flags, asksForEdits), 2));
  const display = displayFor(flags, terminal, { isOneValue, typeAhead });
  const refusals = openRefusalWatch();
  const connections = new Set<string>();
  const sinks: readonly EventSink[] = [
    display.sink,
    refusals.sink,
    ({ event }) => {
      if (event.type !== 'observation' || event.observation.type !== 'program-ran') return;
      for (const refused of event.observation.result.refused_connections ?? []) connections.add(refusedText(refused));
    },
  ];
  const deliver = (run: Run): Promise<Delivery> => deliverOutputs(run, invocation);
  const mode = openEditMode(asksForEdits ? {} : flags);
  const run = { host: {}, approve: openApprover(invocation, mode), sinks, servers };
  const isContinued = isAttended() || flags.defer === true || flags['keep-going'] === true;
  return {
    runtime,
    chosen,
    mode,
    display,
    untrusted,
    deliver,
    options: withPrograms(
      {
        runtime,
        model: chosen.model,
        protocol: flags.protocol,
        budget,
        signal,
        run,
        projectInstructions: projectText(surroundings.cwd, {
          ...surroundings,
          hasInstructions: flags['no-agents-md'] !== true,
        }),
        refuse: (action) => mode.refuse(action),
        unapproved: isContinued ? 'continue' : 'stop',
        beforeEnd: async (_session, recorded) => {
          const { copied, lines, problem } = await deliver(recorded);
          terminal.remark([...copied.map((name) => `wrote ${printable(name)}`), ...lines]);
          if (problem !== undefined) throw problem;
        },
      },
      invocation,
      { onOutput: display.output },
    ),
    async work(act) {
      const interrupts = isAttended() && !terminal.isJson ? takeSteps(process, signal) : undefined;
      try {
        return await act(interrupts?.steps);
      } finally {
        interrupts?.release();
        await servers?.close();
      }
    },
    judge(result, command) {
      const refused = refusals.last(command);
      return {
        status: toExitCode(result, refused !== undefined),
        showRest() {
          for (const line of connections) reportWarning(terminal, line);
          connections.clear();
          printRefusalHint(terminal, refused);
        },
      };
    },
    close: async () => servers?.close(),
  };
}

/** Said before the first action where no person can be asked. */
function refusedAhead({ yes, accept, auto }: AgentInvocation['flags'], asksForEdits: boolean): string {
  const approved = [
    ...(yes === true ? [`--yes approves programs${asksForEdits ? '' : ' and edits of files that git tracks'}`] : []),
    ...(yes !== true && accept !== undefined && !asksForEdits
      ? ['--accept edits approves edits of files that git tracks']
      : []),
    ...(yes !== true && auto === true ? ['--auto approves contained programs'] : []),
  ];
  const rest =
    approved.length === 0
      ? 'programs, edits and network requests are refused unless a rule allows them'
      : 'what else needs approval is refused';
  return `no terminal: ${[...approved, rest].join('; ')}`;
}
