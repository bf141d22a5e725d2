/** A chat: the messages of a user in one conversation, one session and one record. Each message has its own budget. */
import {
  defined,
  invalidInput,
  type Action,
  type Budget,
  type Model,
  type Observation,
  type Plan,
  type RunEvent,
  type SkillError,
  type OfType,
  type buildLedger,
} from '#core';
import { fileChanges, undoFiles, type Run } from '#runtime';
import { FINAL_ANSWER } from './action-protocol.ts';
import { isPlanDone, startPlan } from './plan.ts';
import { NOTHING_USED, mapBudget, wholeBudget } from './count-budget.ts';
import { endQuietly, giveAnswer, isRecordFailure, openParts, startRecorded, runTurns, withProtocol } from './agent.ts';
import type { AgentOptions, AgentResult } from './agent-options.ts';
import type { Opening } from './agent-parts.ts';
import { skillsInUse, startConversation, withExchange, withRemark, type Conversation } from './conversation.ts';
import { keepOutputs, type KeptOutputs } from './outputs.ts';
import { compactConversation } from './request.ts';
import { openClaim } from './resume/resume-gate.ts';
import { loadedText } from './activation.ts';
import { restoreSkills } from './resume/restore-skills.ts';
import { readChatWorkspace, restoreWorkspace } from './resume/restore-workspace.ts';
import { FIRST_STATE, reduceAgent, type AgentState } from './state.ts';
import { openStop } from './stop.ts';
import { firstAncestry } from './subagent.ts';
import type { ProtocolName } from './system-prompt.ts';
import { type Said, reduceChat } from './reduce-chat.ts';

export interface ChatOptions extends Omit<AgentOptions, 'request' | 'signal'> {
  /** The chat to continue: its messages, the id of the recorded run, and its folder. */
  readonly earlier?: { readonly run: string; readonly said: readonly Said[]; readonly path?: string };
  /** Continues a chat that another run already continued (default: false). */
  readonly again?: boolean;
}

export interface Undone {
  /** The first of the removed messages. */
  readonly message: string;
  /** The actions that were performed for the removed messages, without the answer. Actions of an earlier run are unknown. */
  readonly actions: readonly PerformedAction[];
  /** The files of the project that they had changed, and whether they were restored. */
  readonly files: ReturnType<typeof undoFiles>;
  readonly project?: string;
  /** The earlier run that answered a removed message. Its files were not restored: see `runs undo`. */
  readonly run?: string;
}

export interface SendOptions {
  readonly signal?: AbortSignal;
  /** Files of this machine to copy into the workspace for this message. */
  readonly files?: readonly string[];
  /** Skills to load before the first model call for this message. */
  readonly required?: readonly string[];
  /** Images to show to the model with this message. The message fails if the model takes none. */
  readonly images?: AgentOptions['images'];
}

export interface PerformedAction {
  readonly action: Action;
  /** Name of the tool in the vocabulary, if it is another. */
  readonly tool?: string;
  readonly observation: Observation;
}

export interface Chat {
  /** Absent before the first message, and if nothing is recorded. */
  readonly run: string | undefined;
  readonly said: readonly Said[];
  readonly plan: Plan | undefined;
  readonly used: Budget;
  /** The skill content that was shown to the model; absent before the first message. */
  readonly ledger: ReturnType<typeof buildLedger> | undefined;
  /**
   * Works on a message until it is answered, like `runAgent`; `used` covers this message only. Aborting the signal ends the work on
   * the message, not the chat. Throws `input/invalid` for an empty message, during another message, and after the end.
   */
  send(message: string, options?: SendOptions): Promise<AgentResult>;
  useModel(model: Model): void;
  /**
   * Removes the last messages and their answers from the conversation, and restores the files of the project that they changed; a file
   * that someone else changed is left alone. Returns undefined if there are not so many messages.
   *
   * @param count how many messages (default: 1)
   */
  undo(count?: number): Undone | undefined;
  /** What the messages from one index to another (default: all) did to files of the project. Messages of an earlier run are unknown. */
  changes(from?: number, to?: number): ReturnType<typeof fileChanges>;
  /** Shortens the conversation now; loaded skills and the plan stay. Returns undefined if there is nothing to shorten. */
  compact(): { readonly before: number; readonly after: number } | undefined;
  /** Ends all programs and closes the record. Further messages are rejected. */
  end(): Promise<void>;
}

/** The conversation before a message, to which `undo` returns. */
interface Step {
  readonly before: ChatState;
  readonly actions: readonly PerformedAction[];
  /** What its actions and those of its subagents observed. */
  readonly observed: readonly Observation[];
  /** The earlier run that a message belongs to. */
  readonly run?: string;
}

interface ChatState {
  readonly conversation: Conversation | undefined;
  /** The last answer. It becomes part of the conversation with the next message. */
  readonly answer: string;
}

/** The run starts with the first message. It throws `run/resumed` if another run already continues the earlier chat. */
export function openChat({ earlier, again, ...settings }: ChatOptions): Chat {
  // Subagents inherit the options of the run, so that their events arrive here as well.
  let options = {
    ...withProtocol(settings),
    run: {
      ...settings.run,
      record(event: RunEvent) {
        if (event.type === 'observation') observed.push(event.observation);
        settings.run?.record?.(event);
      },
    },
  };
  const budget = wholeBudget(options.budget);
  const { now = () => performance.now(), protocol } = options;
  const outputs = keepOutputs();
  let messages: readonly Said[] = earlier?.said ?? [];
  let { current, steps } = rebuilt(messages, protocol, outputs, earlier?.run);
  let state: AgentState = FIRST_STATE;
  let run: Run | undefined;
  /** What of the earlier workspace and its skills is different now. */
  let change: string | undefined;
  /** The instructions of the skills that the earlier chat had loaded. */
  let restored = '';
  let performed: PerformedAction[] = [];
  /** Of subagents too, in the order of time. */
  let observed: Observation[] = [];
  let { model } = options;
  let condition: 'open' | 'busy' | 'ended' = 'open';

  const tell = (to: Run, event: OfType<RunEvent, 'chat'>['event']): void => {
    to.record({ type: 'chat', event });
    messages = reduceChat(messages, event);
  };

  const begin = async (request: string): Promise<Run> => {
    if (run !== undefined) {
      run.session.startTurn();
      return run;
    }
    const startedAt = now();
    const claim = earlier?.path === undefined ? {} : { claim: openClaim({ folder: earlier.path, again }) };
    const started = await startRecorded(
      { ...options, request, run: { ...options.run, ...claim } },
      budget,
      undefined,
      (event) => {
        const done = event.type === 'observation' ? state.open.find(({ call }) => call === event.call) : undefined;
        if (done !== undefined && event.type === 'observation')
          performed.push({ action: done.action, tool: event.tool, observation: event.observation });
        state = reduceAgent(state, event, now() - startedAt);
      },
    );
    ({ run } = started);
    if (started.options.run?.execution === undefined)
      options = { ...options, run: { ...options.run, execution: undefined } };
    if (earlier !== undefined) tell(run, { type: 'carry', run: earlier.run, said: messages });
    if (earlier?.path !== undefined) {
      const { loaded, problems } = await restoreSkills(run.session, earlier.path);
      restored = loadedText(run.session, loaded);
      const workspace = await restoreWorkspace(run, readChatWorkspace(earlier.path));
      if (workspace !== undefined || problems.length > 0)
        change = [workspace ?? 'continued in a new session', ...problems].join('; ');
      if (change !== undefined) run.record({ type: 'note', message: change });
    }
    return run;
  };

  const work = async (
    message: string,
    { signal, files = [], required = [], images }: SendOptions,
  ): Promise<AgentResult> => {
    const isFirst = run === undefined;
    const here = await begin(message);
    performed = [];
    observed = [];
    const { used: usedBefore, plan, turn } = state;
    const before = current;
    const isFirstHere = steps.length <= (earlier?.said.length ?? 0);
    const join = (opening: Opening): Conversation => {
      const skills = [isFirst ? restored : '', opening.skills].filter((text) => text !== '');
      const next = joined(before, { ...opening, skills: skills.join('\n\n') }, { turn, protocol, outputs });
      return change === undefined || !isFirstHere ? next : withRemark(next, `This chat ${change}.`);
    };
    // A message that fails before its first turn is part of the conversation as well.
    current = { conversation: join({ request: message, skills: '', choice: [] }), answer: '' };
    const attached = isFirst ? [...(options.files ?? []), ...files] : files;
    const needed = [...(isFirst ? (options.required ?? []) : []), ...required];
    const asked = { ...options, model, request: message, files: attached, required: needed, images };
    const stop = openStop(signal, budget.wallMs);
    try {
      tell(here, { type: 'message', text: message, ...defined({ images }) });
      // Before the work, so that a message that fails can be undone too.
      steps = [...steps, { before, actions: performed, observed }];
      if (plan !== undefined && isPlanDone(plan)) here.record({ type: 'plan', turn, plan: startPlan(message) });
      // Usage is counted over the whole run.
      const limits = mapBudget(budget, (amount, name) => usedBefore[name] + amount);
      const opened = {
        run: here,
        limits,
        before: usedBefore,
        stop,
        ancestry: firstAncestry(),
        replay: undefined,
        state: () => state,
        outputs,
      };
      const end = await runTurns(asked, openParts(asked, opened), stop, {
        begin: join,
        follow: (conversation) => (current = { conversation, answer: '' }),
      });
      const answer = await giveAnswer(end, here, state);
      current = { ...current, answer };
      tell(here, { type: 'answer', text: answer });
      return toAgentResult(here, {
        ...end,
        answer,
        plan: state.plan ?? startPlan(message),
        used: mapBudget(state.used, (amount, name) => amount - usedBefore[name]),
      });
    } finally {
      stop.close();
    }
  };

  return {
    get run() {
      return run?.id;
    },
    get said() {
      return messages;
    },
    get plan() {
      return state.plan;
    },
    get used() {
      return state.used;
    },
    get ledger() {
      return run?.session.ledger;
    },
    useModel: (next) => (model = next),
    async send(message, sending = {}) {
      if (condition !== 'open')
        throw wrongUse(condition === 'busy' ? 'the chat is working on another message' : 'the chat has ended');
      if (message.trim() === '') throw wrongUse('the message is empty');
      condition = 'busy';
      try {
        return await work(message, sending);
      } catch (error) {
        if (!isRecordFailure(error) || run === undefined) throw error;
        // Without a record no further action is possible.
        const { message: reason } = error;
        return toAgentResult(run, {
          outcome: 'failed',
          reason,
          answer: reason,
          plan: startPlan(message),
          used: NOTHING_USED,
        });
      } finally {
        if (condition === 'busy') condition = 'open';
      }
    },
    undo(count = 1) {
      const undone = count < 1 ? [] : steps.slice(-count);
      const [first] = undone;
      const message = messages.at(-count)?.message;
      if (condition !== 'open' || first === undefined || undone.length < count || message === undefined)
        return undefined;
      const project = run?.session.project;
      const observations = undone.flatMap((step) => step.observed);
      const files = project === undefined ? [] : undoFiles(project, fileChanges(observations));
      if (run === undefined) messages = messages.slice(0, -count);
      else {
        // Each event lists all files, because a reader keeps the changes of those that were left alone.
        const results = files.map(({ path, result }) => ({ path, result }));
        for (const _ of undone) tell(run, { type: 'undo', files: results });
        // Instructions that left the conversation count as not loaded.
        if (run.session.settings.lifetime === 'session') run.session.compact({ ceiling: 0 });
      }
      current = first.before;
      steps = steps.slice(0, -count);
      const actions = undone.flatMap((step) => step.actions).filter(({ action }) => action.type !== 'final_answer');
      return { message, actions, files, project, run: undone.findLast((step) => step.run !== undefined)?.run };
    },
    changes: (from = 0, to = steps.length) => fileChanges(steps.slice(from, to).flatMap((step) => step.observed)),
    compact() {
      const { conversation, answer } = current;
      if (condition !== 'open' || run === undefined || conversation === undefined) return undefined;
      const room = { session: run.session, outputs, ceiling: budget.contextTokens };
      const compacted = compactConversation(conversation, room);
      if (compacted === undefined) return undefined;
      const { before, after, dropped } = compacted;
      run.record({ type: 'context-compact', before, after, dropped });
      current = { conversation: compacted.conversation, answer };
      return { before, after };
    },
    async end() {
      condition = 'ended';
      if (run === undefined) return;
      try {
        await options.beforeEnd?.(run.session, run);
      } finally {
        await endQuietly(run, 'done', '');
      }
    },
  };
}

function joined(
  { conversation, answer }: ChatState,
  { request, skills, images }: Opening,
  {
    turn,
    protocol,
    outputs,
  }: { readonly turn: number; readonly protocol: ProtocolName; readonly outputs: KeptOutputs },
): Conversation {
  if (conversation === undefined) return startConversation({ request, skills, images });
  // In the form in which the model wrote it, so that it continues in the same form.
  const text = protocol === 'tools' ? answer : JSON.stringify({ action: { type: FINAL_ANSWER, payload: { answer } } });
  const message = skills === '' ? request : `${request}\n\n${skillsInUse(skills)}`;
  return withExchange(
    conversation,
    { turn, text, toolCalls: [], results: [], message, ...defined({ messageImages: images }) },
    outputs,
  );
}

function rebuilt(
  messages: readonly Said[],
  protocol: ProtocolName,
  outputs: KeptOutputs,
  run: string | undefined,
): { current: ChatState; steps: readonly Step[] } {
  let current: ChatState = { conversation: undefined, answer: '' };
  const steps: Step[] = [];
  for (const { message, images, answer } of messages) {
    steps.push({ before: current, actions: [], observed: [], run });
    const opening = { request: message, images, skills: '', choice: [] };
    current = { conversation: joined(current, opening, { turn: 0, protocol, outputs }), answer };
  }
  return { current, steps };
}

function toAgentResult({ id, path }: Run, result: Omit<AgentResult, 'run' | 'path'>): AgentResult {
  const { outcome, answer, reason, plan, used } = result;
  return { outcome, answer, reason, plan, used, run: id, path };
}

function wrongUse(message: string): SkillError<'input/invalid'> {
  return invalidInput(message, 'a message', 'send one message at a time, and none after end()');
}
